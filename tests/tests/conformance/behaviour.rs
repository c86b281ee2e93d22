//! A behaviour of MQTT 5: a script, and what the standard says it has to see.

use std::{pin::Pin, sync::Arc};

use anyhow::Result;
use rumqttc::v5::mqttbytes::v5::Publish;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    session::World,
    site::{Engine, Site, Way},
};

/// One row of the table.
pub(crate) struct Behaviour {
    pub(crate) name: &'static str,
    /// What the script sees of a broker that does as MQTT 5.0 says.
    pub(crate) standard: &'static str,
    script: Script,
}

type Script = Box<dyn Fn(World) -> Pin<Box<dyn Future<Output = Result<String>> + Send>> + Send + Sync>;

impl Behaviour {
    /// A row.
    pub(crate) fn new<F, R>(name: &'static str, standard: &'static str, script: F) -> Self
    where
        F: Fn(World) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String>> + Send + 'static,
    {
        let script = Box::new(move |world| Box::pin(script(world)) as Pin<Box<_>>);
        Self { name, standard, script }
    }
}

/// What one behaviour looked like both ways.
pub(crate) struct Verdict {
    pub(crate) name: &'static str,
    pub(crate) standard: &'static str,
    pub(crate) direct: String,
    pub(crate) secure: String,
}

impl Verdict {
    /// Both ways show the same.
    pub(crate) fn is_equal(&self) -> bool {
        self.direct == self.secure
    }

    /// The front shows the same, or what the standard says, or anything at all where the engine alone does not answer.
    pub(crate) fn is_equal_or_better(&self) -> bool {
        let answers = |seen: &str| !seen.starts_with(NO_ANSWER);
        self.is_equal() || self.is_standard() || (answers(&self.secure) && !answers(&self.direct))
    }

    /// The front shows what the standard says.
    pub(crate) fn is_standard(&self) -> bool {
        self.secure == self.standard
    }
}

/// Runs every behaviour both ways, several at a time, and prints the table.
pub(crate) async fn run(engine: Engine, behaviours: Vec<Behaviour>) -> Result<Vec<Verdict>> {
    let site = Site::start(engine).await?;
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for (number, behaviour) in behaviours.into_iter().enumerate() {
        let (site, turns) = (site.clone(), turns.clone());
        running.spawn(async move {
            let _turn = turns.acquire().await;
            let one = |way| observe(&behaviour, site.clone(), way, number);
            let (direct, secure) = tokio::join!(one(Way::Direct), one(Way::Secure));
            let verdict = Verdict {
                name: behaviour.name,
                standard: behaviour.standard,
                direct,
                secure,
            };
            (number, verdict)
        });
    }
    let mut verdicts = running.join_all().await;
    verdicts.sort_by_key(|(number, _)| *number);
    let verdicts: Vec<_> = verdicts.into_iter().map(|(_, verdict)| verdict).collect();
    print(engine, &verdicts);
    Ok(verdicts)
}

/// How a message looks in a verdict.
pub(crate) fn show(world: &World, message: &Publish) -> String {
    let topic = String::from_utf8_lossy(&message.topic);
    let payload = String::from_utf8_lossy(&message.payload);
    let mut text = format!("{}={payload}@{}", world.local(&topic), message.qos as u8);
    if message.retain {
        text += " retained";
    }
    if message.dup {
        text += " dup";
    }
    text
}

/// The same for several.
pub(crate) fn show_all(world: &World, messages: &[Publish]) -> String {
    let texts: Vec<_> = messages.iter().map(|message| show(world, message)).collect();
    format!("[{}]", texts.join(", "))
}

async fn observe(behaviour: &Behaviour, site: Arc<Site>, way: Way, number: usize) -> String {
    let seen = async { (behaviour.script)(World::new(site, way, &format!("{number}")).await?).await };
    // An error is a verdict too: what differs between the ways must not hide behind it, so it keeps its words.
    seen.await.unwrap_or_else(|error| format!("{NO_ANSWER}{error:#}"))
}

fn print(engine: Engine, verdicts: &[Verdict]) {
    println!("{engine:?}: + as MQTT 5.0 says, = the same without the front, * better than without it, ! worse");
    for verdict in verdicts {
        let standard = verdict.is_standard();
        let mark = match (verdict.is_equal(), verdict.is_equal_or_better()) {
            (true, _) if standard => "+",
            (true, _) => "=",
            (false, true) => "*",
            (false, false) => "!",
        };
        println!("{mark} {}", verdict.name);
        if !standard || !verdict.is_equal() {
            println!("    standard {}", verdict.standard);
            println!("    direct   {}", verdict.direct);
            println!("    secure   {}", verdict.secure);
        }
    }
}

/// How the verdict of a script begins that did not come to its end.
const NO_ANSWER: &str = "error: ";

/// Behaviours mostly wait; this many handshakes at once do not make a small machine late.
const AT_ONCE: usize = 6;
