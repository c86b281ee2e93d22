use std::fmt;

use anyhow::{Context, Result};
use serde_json::Value;

/// What a node did, as the simulator tells it: one JSON object a line.
pub struct Events(Vec<Value>);

impl Events {
    /// Parses the simulator's output.
    pub fn parse(output: &[u8]) -> Result<Self> {
        let lines = std::str::from_utf8(output)?.lines();
        let events = lines.map(serde_json::from_str).collect::<Result<_, _>>();
        Ok(Self(events.context("the simulator prints JSON")?))
    }

    /// Parses the whole lines of a node that still runs.
    pub fn parse_running(output: &str) -> Self {
        Self(
            output
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        )
    }

    /// The node's log.
    pub fn log(&self) -> Vec<&str> {
        self.of("log").filter_map(|event| event["text"].as_str()).collect()
    }

    /// Whether a line of the log starts so.
    pub fn logged(&self, text: &str) -> bool {
        self.log().iter().any(|line| line.starts_with(text))
    }

    /// The cycles of every region with this id, in order.
    pub fn cycles(&self, id: u8) -> Vec<u64> {
        let marks = self.of("mark").filter(|event| event["id"] == id);
        marks.filter_map(|event| event["cycles"].as_u64()).collect()
    }

    /// The first bytes of the packets that the node has sent since the last log line that starts so.
    pub fn sent_since(&self, text: &str) -> Vec<u64> {
        let is_line = |event: &Value| event["text"].as_str().is_some_and(|line| line.starts_with(text));
        let since = self.0.iter().rposition(is_line).unwrap_or(self.0.len());
        let sent = self.0[since..].iter().filter(|event| event["event"] == "sent");
        sent.filter_map(|event| event["first"].as_u64()).collect()
    }

    /// How often the node was reset by its watchdog.
    pub fn resets(&self) -> Option<u64> {
        self.of("end").last()?["resets"].as_u64()
    }

    /// Bytes of stack at the deepest.
    pub fn stack(&self) -> Option<u64> {
        self.of("end").last()?["stack"].as_u64()
    }

    /// Bytes of RAM: static variables, and the stack at the deepest.
    pub fn ram(&self) -> Option<u64> {
        let variables = self.of("end").last()?["variables"].as_u64()?;
        Some(variables + self.stack()?)
    }

    /// The events of each connection: those from one dial to the next.
    pub fn connections(&self) -> Vec<Events> {
        let mut connections = Vec::new();
        for event in &self.0 {
            if event["event"] == "dialled" {
                connections.push(Self(Vec::new()));
            }
            if let Some(Self(events)) = connections.last_mut() {
                events.push(event.clone());
            }
        }
        connections
    }

    fn of<'a>(&'a self, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
        self.0.iter().filter(move |event| event["event"] == kind)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

/// Regions that the firmware marks.
pub mod mark {
    /// Taking this boot's seed.
    pub const BOOT: u8 = 1;
    /// Making M1.
    pub const PREPARE: u8 = 2;
    /// M1 is on its way, M2 not here yet.
    pub const WAIT_M2: u8 = 3;
    /// Opening box2.
    pub const M2: u8 = 4;
    /// Making M3.
    pub const M3: u8 = 5;
    /// M3 is on its way, M4 not here yet.
    pub const WAIT_M4: u8 = 6;
    /// Opening box4.
    pub const M4: u8 = 7;
    /// Sealing and sending one message.
    pub const PUBLISH: u8 = 8;
}
