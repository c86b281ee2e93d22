//! From the handshake's identity to what the back end sees: client id, user name, password.

mod topics;

use hybrid_handshake::suite::SuiteId;

pub(crate) use topics::is_rule;
pub use topics::{ID, TopicRules, Topics};

/// Prefix of the user name that a back end sees for an enrolled device.
pub const DEFAULT_USER_PREFIX: &str = "kem:";

/// What a front allows, and what its back end is told.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) allow_anonymous: bool,
    pub(crate) client_id: ClientIdPolicy,
    /// The weakest suite of the listener.
    pub(crate) lowest_suite: Option<SuiteId>,
    pub(crate) user_prefix: String,
    pub(crate) user_form: UserForm,
    /// Handed to the back end with the user name of an enrolled device.
    pub(crate) password: Option<Vec<u8>>,
    /// Of devices without rules of their own.
    pub(crate) topics: TopicRules,
    /// Of anonymous clients, before `topics`.
    pub(crate) anonymous_topics: TopicRules,
    /// What clients see in place of a Server Reference of the back end.
    pub(crate) server_reference: Option<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            allow_anonymous: false,
            client_id: ClientIdPolicy::default(),
            lowest_suite: None,
            user_prefix: DEFAULT_USER_PREFIX.to_owned(),
            user_form: UserForm::default(),
            password: None,
            topics: TopicRules::default(),
            anonymous_topics: TopicRules::default(),
            server_reference: None,
        }
    }
}

impl Policy {
    /// Whether the listener takes this suite.
    pub(crate) fn allows_suite(&self, suite: SuiteId) -> bool {
        self.lowest_suite.is_none_or(|floor| suite.meets(floor))
    }

    /// What a device with these rules may do, or an anonymous client; `None` for everything.
    pub(crate) fn topics(&self, device: Option<(&str, &TopicRules)>) -> Option<Topics> {
        match device {
            Some((id, own)) => own.or(&self.topics).for_client(Some(id)),
            None => self.anonymous_topics.or(&self.topics).for_client(None),
        }
    }
}

/// How a device id stands in the user name that a back end sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserForm {
    /// As it is.
    #[default]
    Plain,
    /// For back ends that read a user name as a JID, which knows no capitals and not all characters: whatever is not a
    /// small letter, a digit, `-`, `.` or `_` becomes `\` and two hexadecimal digits. No two ids give one JID.
    Jid,
}

impl UserForm {
    /// The user name of device `id`.
    #[must_use]
    pub fn user_name(self, prefix: &str, id: &str) -> String {
        let mut name = prefix.to_owned();
        for byte in id.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => name.push(char::from(byte)),
                _ if self == Self::Plain => name.push(char::from(byte)),
                _ => name.push_str(&format!("\\{byte:02x}")),
            }
        }
        name
    }

    /// Whether `name` may belong to a device, so that an anonymous client may not use it.
    #[must_use]
    pub fn is_reserved(self, prefix: &str, name: &str) -> bool {
        match self {
            Self::Plain => name.starts_with(prefix),
            // Other alphabets have letters that a JID takes for these.
            Self::Jid => !name.is_ascii() || name.to_ascii_lowercase().starts_with(prefix),
        }
    }

    /// Whether a prefix of this form keeps names apart.
    #[must_use]
    pub fn allows_prefix(self, prefix: &str) -> bool {
        self == Self::Plain || Self::Jid.user_name("", prefix) == prefix
    }
}

/// Which MQTT client ids an enrolled device may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientIdPolicy {
    /// Exactly the device id.
    #[default]
    Equal,
    /// The device id, or the device id, `/` and anything.
    Prefix,
    /// The device id or an entry of the device's list in the registry.
    Map,
}

impl ClientIdPolicy {
    /// Whether device `id` with the registry's list `mapped` may use `client_id`.
    #[must_use]
    pub fn allows(self, id: &str, mapped: &[String], client_id: &str) -> bool {
        match self {
            Self::Equal => client_id == id,
            Self::Prefix => client_id
                .strip_prefix(id)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            Self::Map => client_id == id || mapped.iter().any(|entry| entry == client_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_apart_where_names_are_jids() {
        let jid = |id| UserForm::Jid.user_name("kem.", id);
        assert_eq!(jid("pump-1.a_b"), "kem.pump-1.a_b");
        assert_eq!(jid("Pump:1"), r"kem.\50ump\3a1");
        assert_eq!(jid("pump@host"), r"kem.pump\40host");
        // What looks escaped already is escaped too.
        assert_eq!(jid(r"\50ump"), r"kem.\5c50ump");
        assert_eq!(UserForm::Plain.user_name("kem:", "Pump:1"), "kem:Pump:1");
        for (name, reserved) in [("kem.x", true), ("KEM.x", true), ("\u{ff4b}em.x", true), ("me", false)] {
            assert_eq!(UserForm::Jid.is_reserved("kem.", name), reserved, "{name}");
        }
        assert!(UserForm::Plain.is_reserved("kem:", "kem:x") && !UserForm::Plain.is_reserved("kem:", "KEM:x"));
        assert!(UserForm::Jid.allows_prefix("kem.") && UserForm::Plain.allows_prefix("kem:"));
        assert!(!UserForm::Jid.allows_prefix("kem:") && !UserForm::Jid.allows_prefix("Kem."));
    }

    #[test]
    fn equal_allows_only_the_id() {
        assert!(ClientIdPolicy::Equal.allows("s1", &[], "s1"));
        assert!(!ClientIdPolicy::Equal.allows("s1", &["x".into()], "x"));
        assert!(!ClientIdPolicy::Equal.allows("s1", &[], "s1/a"));
        assert!(!ClientIdPolicy::Equal.allows("s1", &[], ""));
    }

    #[test]
    fn prefix_allows_a_slash_and_nothing_else_behind_the_id() {
        assert!(ClientIdPolicy::Prefix.allows("s1", &[], "s1"));
        assert!(ClientIdPolicy::Prefix.allows("s1", &[], "s1/a"));
        assert!(!ClientIdPolicy::Prefix.allows("s1", &[], "s11"));
        assert!(!ClientIdPolicy::Prefix.allows("s1", &[], "s"));
    }

    #[test]
    fn map_allows_the_listed_ids() {
        let list = ["pump".to_owned()];
        assert!(ClientIdPolicy::Map.allows("s1", &list, "pump"));
        assert!(ClientIdPolicy::Map.allows("s1", &list, "s1"));
        assert!(!ClientIdPolicy::Map.allows("s1", &list, "valve"));
    }
}
