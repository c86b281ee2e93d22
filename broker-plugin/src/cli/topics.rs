//! `topics`: what one device may publish and subscribe to.

use clap::Args;
use kemqtt_broker::{Config, RegistryError, policy::TopicRules, registry::Registry};

/// Arguments of `topics`.
#[derive(Args)]
pub(crate) struct Topics {
    /// Device id.
    id: String,
    #[command(flatten)]
    allowed: Allowed,
    /// Drop the rules of this device: those of the configuration count.
    #[arg(long, conflicts_with_all = ["publish", "subscribe"])]
    default: bool,
}

/// The rules of one device.
#[derive(Args)]
pub(crate) struct Allowed {
    /// Topic filter that the device may publish to, in place of those of the configuration; {id} is its id. May be given
    /// several times; an empty text stands for none.
    #[arg(long = "allow-publish", id = "publish", value_name = "FILTER")]
    publish: Option<Vec<String>>,
    /// The same for subscriptions, which have to lie within a filter.
    #[arg(long = "allow-subscribe", id = "subscribe", value_name = "FILTER")]
    subscribe: Option<Vec<String>>,
}

impl Allowed {
    /// The rules as they are stored.
    pub(crate) fn rules(&self) -> TopicRules {
        let list = |filters: &Option<Vec<String>>| {
            let filters = filters.as_ref()?.iter();
            Some(filters.filter(|filter| !filter.is_empty()).cloned().collect())
        };
        TopicRules {
            publish: list(&self.publish),
            subscribe: list(&self.subscribe),
        }
    }
}

impl Topics {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<()> {
        let rules = super::with_registry(&config, async |registry| self.change(registry).await).await?;
        show("publish", &rules.publish, &config.topics.publish);
        show("subscribe", &rules.subscribe, &config.topics.subscribe);
        Ok(())
    }

    /// The device's rules behind the change.
    async fn change(&self, registry: &Registry) -> anyhow::Result<TopicRules> {
        let device = registry.device(&self.id).await?;
        let before = device
            .ok_or_else(|| RegistryError::UnknownDevice(self.id.clone()))?
            .topics;
        let given = self.allowed.rules();
        let rules = if self.default {
            TopicRules::default()
        } else {
            // A list that is not given stays as it is.
            given.or(&before)
        };
        if self.default || given != TopicRules::default() {
            registry.set_topics(&self.id, &rules).await?;
        }
        Ok(rules)
    }
}

/// Rules in one line: each list that there is.
pub(crate) fn in_line(rules: &TopicRules) -> String {
    let lists = [("publish", &rules.publish), ("subscribe", &rules.subscribe)];
    let shown: Vec<String> = lists
        .into_iter()
        .filter_map(|(name, list)| Some(format!("{name}={}", text(list.as_ref()?))))
        .collect();
    if shown.is_empty() {
        "-".to_owned()
    } else {
        shown.join(" ")
    }
}

fn show(name: &str, own: &Option<Vec<String>>, general: &Option<Vec<String>>) {
    match own {
        Some(filters) => println!("{name:<9}  {}", text(filters)),
        None => println!(
            "{name:<9}  {}  (configuration)",
            text(general.as_deref().unwrap_or_default())
        ),
    }
}

fn text(filters: &[String]) -> String {
    if filters.is_empty() {
        "none".to_owned()
    } else {
        filters.join(",")
    }
}
