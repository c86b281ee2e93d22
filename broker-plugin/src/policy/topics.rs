//! Which topics a client may publish to and subscribe within.

use hybrid_handshake::mqtt::topic;

/// Stands for the device id in a rule.
pub const ID: &str = "{id}";

/// Rules for topics: of all devices, of anonymous clients, or of one device. [`ID`] in a filter stands for the device id; a
/// filter with it is not for anonymous clients. A list that is `None` says nothing: the more general rules count, and
/// without any rule everything is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicRules {
    /// Topics that may be published to.
    pub publish: Option<Vec<String>>,
    /// Filters that a subscription has to lie within.
    pub subscribe: Option<Vec<String>>,
}

impl TopicRules {
    /// The first filter that cannot be a rule: it is no topic filter, is a shared subscription (which is judged by the
    /// filter behind its name) or has control characters.
    #[must_use]
    pub fn invalid(&self) -> Option<&str> {
        let lists = [&self.publish, &self.subscribe].into_iter().flatten();
        lists.flatten().map(String::as_str).find(|filter| !is_rule(filter))
    }

    /// These rules, and where they say nothing, those of `general`.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        Self {
            publish: self.publish.as_ref().or(general.publish.as_ref()).cloned(),
            subscribe: self.subscribe.as_ref().or(general.subscribe.as_ref()).cloned(),
        }
    }

    /// Whether nothing is forbidden to anybody.
    #[must_use]
    pub fn allow_everything(&self) -> bool {
        let every = |list: &Option<Vec<String>>| {
            list.as_ref()
                .is_none_or(|filters| filters.iter().any(|filter| filter == EVERY))
        };
        every(&self.publish) && every(&self.subscribe)
    }

    /// What one client may do, `None` for everything: `device` is its id, or `None` for an anonymous one.
    #[must_use]
    pub fn for_client(&self, device: Option<&str>) -> Option<Topics> {
        let fill = |list: &Option<Vec<String>>| -> Vec<String> {
            let Some(filters) = list else {
                return vec![EVERY.to_owned()];
            };
            filters
                .iter()
                .filter_map(|filter| match device {
                    Some(id) => Some(filter.replace(ID, id)),
                    None => (!filter.contains(ID)).then(|| filter.clone()),
                })
                .collect()
        };
        (!self.allow_everything()).then(|| Topics {
            publish: fill(&self.publish),
            subscribe: fill(&self.subscribe),
        })
    }
}

/// Whether `filter` may stand in [`TopicRules`].
pub(crate) fn is_rule(filter: &str) -> bool {
    let filled = filter.replace(ID, "x");
    topic::check_filter(&filled).is_ok() && topic::shared(&filled).is_none() && !filter.contains(char::is_control)
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

const EVERY: &str = "#";

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    fn rules(publish: &[&str], subscribe: &[&str]) -> TopicRules {
        let list = |filters: &[&str]| Some(filters.iter().map(|&filter| filter.to_owned()).collect());
        TopicRules {
            publish: list(publish),
            subscribe: list(subscribe),
        }
    }

    fn topics(device: Option<&str>) -> Topics {
        let rules = rules(&["sensors/{id}/#", "news"], &["commands/{id}/+", "news/#"]);
        rules.for_client(device).expect("not everything")
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
        assert!(rules(&["a", "#"], &["#"]).allow_everything() && TopicRules::default().allow_everything());
        assert!(!rules(&["#"], &["a/#"]).allow_everything());
        assert!(!rules(&["+"], &["#"]).allow_everything());
        assert_eq!(TopicRules::default().for_client(None), None);
        assert!(!rules(&[], &[]).for_client(Some("s1")).unwrap().may_publish("a"));
    }

    #[test]
    fn each_list_of_a_device_counts_before_the_general_one() {
        let general = rules(&["sensors/{id}/#"], &["news/#"]);
        let own = TopicRules {
            publish: Some(vec!["alarms/{id}".to_owned()]),
            subscribe: None,
        };
        let topics = own.or(&general).for_client(Some("s1")).unwrap();
        assert!(topics.may_publish("alarms/s1") && !topics.may_publish("sensors/s1/t"));
        assert!(topics.may_subscribe("news/today") && !topics.may_subscribe("alarms/s1"));
        // Without general rules, the list that is not there allows everything.
        let topics = own.or(&TopicRules::default()).for_client(Some("s1")).unwrap();
        assert!(topics.may_subscribe("a/#") && !topics.may_publish("a"));
        // An empty list allows nothing, and is not the same as none.
        let silent = rules(&[], &["#"]).or(&general).for_client(Some("s1")).unwrap();
        assert!(!silent.may_publish("sensors/s1/t") && silent.may_subscribe("a"));
    }

    #[test]
    fn what_cannot_be_a_rule_is_found() {
        assert_eq!(rules(&["a/{id}/#", "+"], &["$SYS/#"]).invalid(), None);
        assert_eq!(rules(&["a"], &["b", "c#"]).invalid(), Some("c#"));
        for filter in ["", "a/{id}+", "$share/g/a", "a\nb", "#/a"] {
            assert_eq!(rules(&[filter], &[]).invalid(), Some(filter));
        }
    }

    /// Levels that tell filters and names apart, among them those with a meaning of their own.
    fn level() -> impl Strategy<Value = &'static str> {
        select(vec!["", "a", "b", "\u{e9}", "$SYS", "$share", "{id}"])
    }

    fn name() -> impl Strategy<Value = String> {
        vec(level(), 1..5).prop_map(|levels| levels.join("/"))
    }

    fn filter() -> impl Strategy<Value = String> {
        let last = prop_oneof![level(), Just("+"), Just("#")];
        let levels = (vec(prop_oneof![level(), Just("+")], 0..4), last);
        levels.prop_map(|(mut levels, last)| {
            levels.push(last);
            levels.join("/")
        })
    }

    proptest! {
        /// Whoever may subscribe to a filter may have every message that comes by it.
        #[test]
        fn what_a_filter_brings_is_allowed_if_it_is(
            allowed in vec(filter(), 1..4),
            wanted in filter(),
            names in vec(name(), 1..50),
            share in any::<bool>(),
        ) {
            prop_assume!(topic::check_filter(&wanted).is_ok() && topic::shared(&wanted).is_none());
            let rules = TopicRules { publish: Some(allowed.clone()), subscribe: Some(allowed) };
            prop_assume!(rules.invalid().is_none() && !rules.allow_everything());
            let topics = rules.for_client(Some("b")).unwrap();
            let subscribed = if share { format!("$share/group/{wanted}") } else { wanted.clone() };
            if topics.may_subscribe(&subscribed) {
                for name in names.iter().filter(|name| topic::matches(&wanted, name)) {
                    prop_assert!(topics.may_publish(name), "{wanted} brings {name}, {topics:?}");
                }
            } else if topic::check_name(&wanted).is_ok() {
                prop_assert!(!topics.may_publish(&wanted), "a filter without wildcards is the name itself");
            }
        }
    }
}
