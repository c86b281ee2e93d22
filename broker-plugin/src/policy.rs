//! From the handshake's identity to what the back end sees: client id, user name, password.

mod topics;

use hybrid_handshake::suite::SuiteId;

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
    /// Handed to the back end with the user name of an enrolled device.
    pub(crate) password: Option<Vec<u8>>,
    /// `None` where every topic is allowed.
    pub(crate) topics: Option<TopicRules>,
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
            password: None,
            topics: None,
            server_reference: None,
        }
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
