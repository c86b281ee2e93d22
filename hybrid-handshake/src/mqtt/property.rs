//! Properties (MQTT 5.0 section 2.2.2): one table of identifiers, types and places.

use super::{Reader, Writer};
use crate::{Error, Malformed};

/// Where properties stand: in a packet, or in the will of a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum Place {
    Connect,
    Will,
    Connack,
    Publish,
    /// PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK and UNSUBACK: all allow the same two.
    Acknowledgement,
    Subscribe,
    Unsubscribe,
    Disconnect,
    Auth,
}

/// The properties of one packet, checked: each is known, of its type, in its place and, but for User Property and the
/// Subscription Identifiers of a PUBLISH, there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties<'a>(&'a [u8]);

impl<'a> Properties<'a> {
    /// None.
    pub const EMPTY: Self = Self(&[]);

    /// Checks the properties that follow a Property Length.
    ///
    /// # Errors
    /// [`Malformed::Property`] for an unknown, misplaced or repeated property, [`Malformed::Value`] for a value that
    /// MQTT forbids, and the errors of [`Reader`].
    pub fn check(raw: &'a [u8], place: Place) -> Result<Self, Malformed> {
        let mut seen = 0_u64;
        let mut r = Reader::new(raw);
        while !r.is_empty() {
            let id = r.u8()?;
            let property = Property::read(id, &mut r)?;
            let bit = 1_u64.checked_shl(id.into()).ok_or(Malformed::Property)?;
            let repeats = seen & bit != 0 && !property.may_repeat(place);
            if repeats || !property.belongs(place) {
                return Err(Malformed::Property);
            }
            property.check_value()?;
            seen |= bit;
        }
        Ok(Self(raw))
    }

    /// Reads a Property Length and checks what it spans.
    ///
    /// # Errors
    /// As [`Properties::check`].
    pub fn read(r: &mut Reader<'a>, place: Place) -> Result<Self, Malformed> {
        Self::check(r.block()?, place)
    }

    /// The bytes behind the Property Length.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes Property Length and properties.
    pub fn write(&self, w: &mut Writer<'_>) {
        w.varint_len(self.0.len());
        w.bytes(self.0);
    }

    /// Writes `properties` into `buf` and checks them: how to make some for a packet of one's own.
    ///
    /// # Errors
    /// As [`Properties::check`]; [`Error::Misuse`] for a string or data without encoding; [`Error::Buffer`].
    pub fn build(buf: &'a mut [u8], place: Place, properties: &[Property<'_>]) -> Result<Self, Error> {
        let mut w = Writer::new(buf);
        for property in properties {
            property.write(&mut w);
        }
        let len = w.finish()?;
        Ok(Self::check(buf.get(..len).unwrap_or_default(), place)?)
    }

    /// Each property in wire order.
    pub const fn iter(&self) -> Iter<'a> {
        Iter {
            rest: Reader::new(self.0),
        }
    }
}

impl<'a> IntoIterator for Properties<'a> {
    type Item = Property<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// See [`Properties::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    rest: Reader<'a>,
}

impl<'a> Iter<'a> {
    /// The next property and its bytes on the wire, identifier included.
    pub fn next_with_bytes(&mut self) -> Option<(Property<'a>, &'a [u8])> {
        let before = self.rest.rest();
        let property = self.next()?;
        before
            .get(..before.len() - self.rest.rest().len())
            .map(|bytes| (property, bytes))
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Property<'a>;

    fn next(&mut self) -> Option<Property<'a>> {
        let id = self.rest.u8().ok()?;
        Property::read(id, &mut self.rest).ok()
    }
}

/// Makes the enum, its reader and its place map from one table.
macro_rules! properties {
    ($($id:literal $name:ident $kind:ident in $($place:ident)|+,)+) => {
        /// One property (MQTT 5.0 section 2.2.2.2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are the standard's")]
        pub enum Property<'a> {
            $($name(kind!($kind)),)+
        }

        impl<'a> Property<'a> {
            /// The identifier on the wire.
            pub const fn id(&self) -> u8 {
                match self {
                    $(Self::$name(_) => $id,)+
                }
            }

            fn read(id: u8, r: &mut Reader<'a>) -> Result<Self, Malformed> {
                Ok(match id {
                    $($id => Self::$name(read!($kind, r)),)+
                    _ => return Err(Malformed::Property),
                })
            }

            /// Writes identifier and value.
            pub fn write(&self, w: &mut Writer<'_>) {
                w.u8(self.id());
                match *self {
                    $(Self::$name(value) => write!($kind, w, value),)+
                }
            }

            const fn belongs(&self, place: Place) -> bool {
                matches!((self, place), $((Self::$name(_), $(Place::$place)|+))|+)
            }
        }
    };
}

macro_rules! kind {
    (u8) => { u8 };
    (u16) => { u16 };
    (u32) => { u32 };
    (varint) => { u32 };
    (string) => { &'a str };
    (binary) => { &'a [u8] };
    (pair) => { (&'a str, &'a str) };
}

macro_rules! read {
    (pair, $r:ident) => {
        ($r.string()?, $r.string()?)
    };
    ($kind:ident, $r:ident) => {
        $r.$kind()?
    };
}

macro_rules! write {
    (pair, $w:ident, $value:ident) => {{
        $w.string($value.0);
        $w.string($value.1);
    }};
    ($kind:ident, $w:ident, $value:ident) => {
        $w.$kind($value)
    };
}

properties! {
    0x01 PayloadFormatIndicator u8 in Publish | Will,
    0x02 MessageExpiryInterval u32 in Publish | Will,
    0x03 ContentType string in Publish | Will,
    0x08 ResponseTopic string in Publish | Will,
    0x09 CorrelationData binary in Publish | Will,
    0x0b SubscriptionIdentifier varint in Publish | Subscribe,
    0x11 SessionExpiryInterval u32 in Connect | Connack | Disconnect,
    0x12 AssignedClientIdentifier string in Connack,
    0x13 ServerKeepAlive u16 in Connack,
    0x15 AuthenticationMethod string in Connect | Connack | Auth,
    0x16 AuthenticationData binary in Connect | Connack | Auth,
    0x17 RequestProblemInformation u8 in Connect,
    0x18 WillDelayInterval u32 in Will,
    0x19 RequestResponseInformation u8 in Connect,
    0x1a ResponseInformation string in Connack,
    0x1c ServerReference string in Connack | Disconnect,
    0x1f ReasonString string in Connack | Acknowledgement | Disconnect | Auth,
    0x21 ReceiveMaximum u16 in Connect | Connack,
    0x22 TopicAliasMaximum u16 in Connect | Connack,
    0x23 TopicAlias u16 in Publish,
    0x24 MaximumQos u8 in Connack,
    0x25 RetainAvailable u8 in Connack,
    0x26 UserProperty pair in Connect | Will | Connack | Publish | Acknowledgement | Subscribe | Unsubscribe | Disconnect | Auth,
    0x27 MaximumPacketSize u32 in Connect | Connack,
    0x28 WildcardSubscriptionAvailable u8 in Connack,
    0x29 SubscriptionIdentifierAvailable u8 in Connack,
    0x2a SharedSubscriptionAvailable u8 in Connack,
}

impl Property<'_> {
    const fn may_repeat(&self, place: Place) -> bool {
        matches!(
            (self, place),
            (Self::UserProperty(_), _) | (Self::SubscriptionIdentifier(_), Place::Publish)
        )
    }

    /// Values that section 3 of MQTT 5.0 calls a Protocol Error.
    fn check_value(&self) -> Result<(), Malformed> {
        let allowed = match *self {
            Self::PayloadFormatIndicator(v)
            | Self::RequestProblemInformation(v)
            | Self::RequestResponseInformation(v)
            | Self::MaximumQos(v)
            | Self::RetainAvailable(v)
            | Self::WildcardSubscriptionAvailable(v)
            | Self::SubscriptionIdentifierAvailable(v)
            | Self::SharedSubscriptionAvailable(v) => v <= 1,
            Self::ReceiveMaximum(v) | Self::TopicAlias(v) => v != 0,
            Self::SubscriptionIdentifier(v) | Self::MaximumPacketSize(v) => v != 0,
            Self::ResponseTopic(topic) => return super::topic::check_name(topic),
            _ => true,
        };
        if allowed { Ok(()) } else { Err(Malformed::Value) }
    }
}

#[cfg(test)]
mod tests;
