//! Which topics a client may publish to and subscribe within.

use hybrid_handshake::mqtt::topic;

/// Stands for the device id in a rule.
pub const ID: &str = "{id}";

/// Filters for every client. [`ID`] in a filter stands for the device id; a filter with it is not for anonymous clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRules {
    /// Topics that may be published to.
    pub publish: Vec<String>,
    /// Filters that a subscription has to lie within.
    pub subscribe: Vec<String>,
}

impl TopicRules {
    /// Whether the rules forbid nothing to anybody.
    #[must_use]
    pub fn allow_everything(&self) -> bool {
        let every = |filters: &[String]| filters.iter().any(|filter| filter == "#");
        every(&self.publish) && every(&self.subscribe)
    }

    /// The rules of one client: `device` is its id, or `None` for an anonymous one.
    #[must_use]
    pub fn for_client(&self, device: Option<&str>) -> Topics {
        let fill = |filters: &[String]| -> Vec<String> {
            filters
                .iter()
                .filter_map(|filter| match device {
                    Some(id) => Some(filter.replace(ID, id)),
                    None => (!filter.contains(ID)).then(|| filter.clone()),
                })
                .collect()
        };
        Topics {
            publish: fill(&self.publish),
            subscribe: fill(&self.subscribe),
        }
    }
}

/// What one client may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics {
    publish: Vec<String>,
    subscribe: Vec<String>,
}

impl Topics {
    /// Whether it may publish to `name`.
    #[must_use]
    pub fn may_publish(&self, name: &str) -> bool {
        self.publish.iter().any(|filter| topic::matches(filter, name))
    }

    /// Whether it may subscribe to `filter`: no name may match it that none of the allowed ones matches. A filter counts
    /// as a whole, so that two allowed halves do not add up.
    #[must_use]
    pub fn may_subscribe(&self, filter: &str) -> bool {
        let filter = topic::shared(filter).map_or(filter, |(_, filter)| filter);
        self.subscribe.iter().any(|allowed| topic::is_subset(filter, allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(device: Option<&str>) -> Topics {
        TopicRules {
            publish: vec!["sensors/{id}/#".into(), "news".into()],
            subscribe: vec!["commands/{id}/+".into(), "news/#".into()],
        }
        .for_client(device)
    }

    #[test]
    fn a_device_has_its_own_branch() {
        let topics = topics(Some("s1"));
        assert!(topics.may_publish("sensors/s1/temp") && topics.may_publish("news"));
        assert!(!topics.may_publish("sensors/s2/temp") && !topics.may_publish("news/x"));
        assert!(topics.may_subscribe("commands/s1/reset") && topics.may_subscribe("commands/s1/+"));
        assert!(!topics.may_subscribe("commands/s1/#") && !topics.may_subscribe("commands/+/reset"));
        assert!(!topics.may_subscribe("#") && !topics.may_subscribe("+/s1/reset"));
    }

    #[test]
    fn a_share_is_judged_by_its_filter() {
        let topics = topics(Some("s1"));
        assert!(topics.may_subscribe("$share/g/news/today"));
        assert!(!topics.may_subscribe("$share/g/commands/s2/reset"));
        assert!(!topics.may_subscribe("$share/news/#"));
    }

    #[test]
    fn anonymous_clients_have_no_rule_with_an_id() {
        let topics = topics(None);
        assert!(topics.may_publish("news") && topics.may_subscribe("news/#"));
        assert!(!topics.may_publish("sensors/{id}/x") && !topics.may_publish("sensors//x"));
        assert!(!topics.may_subscribe("commands/{id}/x"));
    }

    #[test]
    fn only_a_hash_in_both_lists_allows_everything() {
        let rules = |publish: &[&str], subscribe: &[&str]| TopicRules {
            publish: publish.iter().map(|&f| f.to_owned()).collect(),
            subscribe: subscribe.iter().map(|&f| f.to_owned()).collect(),
        };
        assert!(rules(&["a", "#"], &["#"]).allow_everything());
        assert!(!rules(&["#"], &["a/#"]).allow_everything());
        assert!(!rules(&["+"], &["#"]).allow_everything());
        assert!(!rules(&[], &[]).for_client(Some("s1")).may_publish("a"));
    }
}
