//! Reason codes (MQTT 5.0 section 2.4).

use core::fmt;

/// Makes the enum, `from_code` and `name` from one table.
macro_rules! reason_codes {
    ($($(#[$doc:meta])* $code:literal $variant:ident $name:literal,)+) => {
        /// A reason code of MQTT 5.0 (section 2.4). `code as u8` is its byte on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ReasonCode {
            $($(#[$doc])* #[doc = $name] $variant = $code,)+
        }

        impl ReasonCode {
            /// The code of a byte from the wire; `None` if MQTT 5.0 does not define it.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The name that MQTT 5.0 gives it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

reason_codes! {
    /// Also Normal disconnection and Granted QoS 0.
    0x00 Success "Success",
    0x01 GrantedQos1 "Granted QoS 1",
    0x02 GrantedQos2 "Granted QoS 2",
    0x04 DisconnectWithWill "Disconnect with Will Message",
    0x10 NoMatchingSubscribers "No matching subscribers",
    0x11 NoSubscriptionExisted "No subscription existed",
    0x18 ContinueAuthentication "Continue authentication",
    0x19 ReAuthenticate "Re-authenticate",
    0x80 UnspecifiedError "Unspecified error",
    0x81 MalformedPacket "Malformed Packet",
    0x82 ProtocolError "Protocol Error",
    0x83 ImplementationSpecificError "Implementation specific error",
    0x84 UnsupportedProtocolVersion "Unsupported Protocol Version",
    0x85 ClientIdentifierNotValid "Client Identifier not valid",
    0x86 BadUserNameOrPassword "Bad User Name or Password",
    0x87 NotAuthorized "Not authorized",
    0x88 ServerUnavailable "Server unavailable",
    0x89 ServerBusy "Server busy",
    0x8a Banned "Banned",
    0x8b ServerShuttingDown "Server shutting down",
    0x8c BadAuthenticationMethod "Bad authentication method",
    0x8d KeepAliveTimeout "Keep Alive timeout",
    0x8e SessionTakenOver "Session taken over",
    0x8f TopicFilterInvalid "Topic Filter invalid",
    0x90 TopicNameInvalid "Topic Name invalid",
    0x91 PacketIdentifierInUse "Packet Identifier in use",
    0x92 PacketIdentifierNotFound "Packet Identifier not found",
    0x93 ReceiveMaximumExceeded "Receive Maximum exceeded",
    0x94 TopicAliasInvalid "Topic Alias invalid",
    0x95 PacketTooLarge "Packet too large",
    0x96 MessageRateTooHigh "Message rate too high",
    0x97 QuotaExceeded "Quota exceeded",
    0x98 AdministrativeAction "Administrative action",
    0x99 PayloadFormatInvalid "Payload format invalid",
    0x9a RetainNotSupported "Retain not supported",
    0x9b QosNotSupported "QoS not supported",
    0x9c UseAnotherServer "Use another server",
    0x9d ServerMoved "Server moved",
    0x9e SharedSubscriptionsNotSupported "Shared Subscriptions not supported",
    0x9f ConnectionRateExceeded "Connection rate exceeded",
    0xa0 MaximumConnectTime "Maximum connect time",
    0xa1 SubscriptionIdentifiersNotSupported "Subscription Identifiers not supported",
    0xa2 WildcardSubscriptionsNotSupported "Wildcard Subscriptions not supported",
}

impl ReasonCode {
    /// Whether the operation failed: codes of 0x80 and above.
    pub const fn is_error(self) -> bool {
        self as u8 >= 0x80
    }

    /// The return code that says it best in a CONNACK of MQTT 3.1 and 3.1.1 (MQTT 3.1.1 table 3.1).
    pub const fn return_code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::UnsupportedProtocolVersion => 1,
            Self::ClientIdentifierNotValid => 2,
            Self::ImplementationSpecificError
            | Self::ServerUnavailable
            | Self::ServerBusy
            | Self::ServerShuttingDown
            | Self::PacketTooLarge
            | Self::QuotaExceeded
            | Self::UseAnotherServer
            | Self::ServerMoved
            | Self::ConnectionRateExceeded => 3,
            Self::BadUserNameOrPassword => 4,
            _ => 5,
        }
    }

    /// The reason code for a return code of MQTT 3.1 and 3.1.1; [`Self::UnspecifiedError`] for one that they do not
    /// define.
    pub const fn from_return_code(code: u8) -> Self {
        match code {
            0 => Self::Success,
            1 => Self::UnsupportedProtocolVersion,
            2 => Self::ClientIdentifierNotValid,
            3 => Self::ServerUnavailable,
            4 => Self::BadUserNameOrPassword,
            5 => Self::NotAuthorized,
            _ => Self::UnspecifiedError,
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (0x{:02X})", self.name(), *self as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_43_codes_of_mqtt_5() {
        let known = (0..=255).filter_map(ReasonCode::from_code);
        assert_eq!(known.clone().count(), 43);
        assert!(known.clone().all(|c| ReasonCode::from_code(c as u8) == Some(c)));
        assert_eq!(known.filter(|c| c.is_error()).count(), 35);
    }

    #[test]
    fn return_codes_of_refusals_inside_m4() {
        for (code, return_code) in [
            (0x87, 5),
            (0x85, 2),
            (0x88, 3),
            (0x95, 3),
            (0x81, 5),
            (0x84, 1),
            (0x86, 4),
            (0x8c, 5),
        ] {
            assert_eq!(
                ReasonCode::from_code(code).unwrap().return_code(),
                return_code,
                "{code:#x}"
            );
        }
        for code in 0..=5 {
            assert_eq!(ReasonCode::from_return_code(code).return_code(), code);
        }
    }
}
