//! From the simulator's events to rows.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::firmware::Sizes;

/// A phase of the node's work.
#[derive(Serialize, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    /// Cycles in the foreground, without interrupt handlers; waiting is no phase.
    pub(super) cycles: u64,
    /// Bytes from the top of the memory to the deepest stack pointer in the phase.
    pub(super) stack: u64,
    /// Bytes of the whole image.
    pub(super) flash: u64,
    /// Bytes of static variables of the whole image.
    pub(super) ram: u64,
    /// Bytes on the wire, both directions, MQTT framing included.
    pub(super) bytes: u64,
}

/// What turns cycles into time and energy.
pub(super) struct Supply {
    pub(super) mhz: f64,
    pub(super) milliampere: f64,
    pub(super) volt: f64,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Mark {
        id: u8,
        cycles: u64,
        peak: u64,
    },
    Sent {
        first: u8,
        len: u64,
    },
    Received {
        first: u8,
        len: u64,
    },
    #[serde(other)]
    Other,
}

/// One row for each phase of the first session, each message of the handshake included.
pub(super) fn rows(prefix: &str, events: &str, sizes: &Sizes) -> Result<Vec<Row>> {
    let events = events
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Event>, _>>()?;
    let mut rows = Vec::new();
    let marks = |id: u8| {
        let marks = events.iter().filter_map(|event| match event {
            Event::Mark {
                id: found,
                cycles,
                peak,
            } if *found == id => Some((*cycles, *peak)),
            _ => None,
        });
        marks.unzip::<u64, u64, Vec<_>, Vec<_>>()
    };
    for (id, phase) in PHASES {
        let (mut cycles, peaks) = marks(id);
        ensure!(!cycles.is_empty(), "the image never marked the phase {phase}");
        cycles.sort_unstable();
        rows.push(Row {
            name: format!("{prefix}/{phase}"),
            cycles: cycles[cycles.len() / 2],
            stack: peaks.into_iter().max().unwrap_or(0),
            flash: sizes.flash,
            ram: sizes.ram,
            bytes: bytes(phase, &events),
        });
    }
    let handshake = ["prepare", "m2", "m3", "m4"].map(|phase| format!("{prefix}/{phase}"));
    let parts = || rows.iter().filter(|row| handshake.contains(&row.name));
    let whole = Row {
        name: format!("{prefix}/handshake"),
        cycles: parts().map(|row| row.cycles).sum(),
        stack: parts().map(|row| row.stack).max().context("it has phases")?,
        flash: sizes.flash,
        ram: sizes.ram,
        bytes: parts().map(|row| row.bytes).sum(),
    };
    rows.push(whole);
    let (steps, peaks) = marks(REAUTH);
    if let Some(stack) = peaks.into_iter().max() {
        rows.push(Row {
            name: format!("{prefix}/reauth"),
            cycles: steps.into_iter().sum(),
            stack,
            flash: sizes.flash,
            ram: sizes.ram,
            bytes: 0,
        });
    }
    Ok(rows)
}

/// Bytes of the message that the phase makes or takes. M2 comes in pieces, each but the first asked for by an empty AUTH.
fn bytes(phase: &str, events: &[Event]) -> u64 {
    let sent = |kind: u8| {
        let packets = events.iter().filter_map(move |event| match event {
            Event::Sent { first, len } if first >> 4 == kind => Some(*len),
            _ => None,
        });
        packets.collect::<Vec<_>>()
    };
    let received = |kind: u8| {
        let packets = events.iter().filter_map(move |event| match event {
            Event::Received { first, len } if first >> 4 == kind => Some(*len),
            _ => None,
        });
        packets.collect::<Vec<_>>()
    };
    let (asked, m3) = match sent(AUTH).split_last() {
        Some((m3, asked)) => (asked.iter().sum(), *m3),
        None => (0, 0),
    };
    match phase {
        "prepare" => sent(CONNECT).first().copied().unwrap_or(0),
        "m2" => received(AUTH).iter().sum::<u64>() + asked,
        "m3" => m3,
        "m4" => received(CONNACK).first().copied().unwrap_or(0),
        "publish" => sent(RECORD).last().copied().unwrap_or(0),
        _ => 0,
    }
}

/// Prints a table for people.
pub(super) fn print(rows: &[Row], supply: &Supply) {
    let Supply { mhz, milliampere, volt } = supply;
    println!("| phase | cycles | ms at {mhz} MHz | µJ at {milliampere} mA, {volt} V | stack, B | wire, B |");
    println!("|---|---:|---:|---:|---:|---:|");
    for row in rows {
        let ms = row.cycles as f64 / mhz / 1000.0;
        println!(
            "| {} | {} | {ms:.2} | {:.1} | {} | {} |",
            row.name,
            row.cycles,
            ms * milliampere * volt,
            row.stack,
            row.bytes
        );
    }
    if let Some(row) = rows.first() {
        println!("\nflash {} B, static RAM {} B", row.flash, row.ram);
    }
}

/// The image's marks, in the order of a session.
const PHASES: [(u8, &str); 7] = [
    (1, "boot"),
    (2, "prepare"),
    (4, "m2"),
    (5, "m3"),
    (7, "m4"),
    (8, "publish"),
    (9, "record"),
];

/// The steps of a re-authentication, where there is one.
const REAUTH: u8 = 11;

const RECORD: u8 = 0;
const CONNECT: u8 = 1;
const CONNACK: u8 = 2;
const AUTH: u8 = 15;

#[cfg(test)]
mod tests {
    use super::{Row, rows};
    use crate::firmware::Sizes;

    const EVENTS: &str = r#"{"event":"mark","id":1,"cycles":10,"stack":1,"peak":90}
{"event":"mark","id":2,"cycles":1000,"stack":1,"peak":100}
{"event":"dialled","up":true}
{"event":"sent","first":16,"len":1230}
{"event":"received","first":240,"len":256}
{"event":"sent","first":240,"len":11}
{"event":"received","first":240,"len":100}
{"event":"mark","id":3,"cycles":999999,"stack":1,"peak":100}
{"event":"mark","id":4,"cycles":50,"stack":1,"peak":300}
{"event":"mark","id":5,"cycles":2000,"stack":1,"peak":200}
{"event":"sent","first":240,"len":602}
{"event":"received","first":32,"len":47}
{"event":"mark","id":7,"cycles":60,"stack":1,"peak":100}
{"event":"mark","id":8,"cycles":30,"stack":1,"peak":100}
{"event":"mark","id":8,"cycles":20,"stack":1,"peak":110}
{"event":"mark","id":8,"cycles":25,"stack":1,"peak":100}
{"event":"sent","first":0,"len":40}
{"event":"mark","id":9,"cycles":7,"stack":1,"peak":100}
{"event":"end","why":"Log","cycles":1,"stack":1,"resets":0}"#;

    #[test]
    fn a_session_becomes_rows() {
        let sizes = Sizes { flash: 5, ram: 6 };
        let rows = rows("p", EVENTS, &sizes).expect("a whole session");
        let row = |name: &str, cycles, stack, bytes| Row {
            name: name.into(),
            cycles,
            stack,
            flash: 5,
            ram: 6,
            bytes,
        };
        let wanted = [
            row("p/boot", 10, 90, 0),
            row("p/prepare", 1000, 100, 1230),
            row("p/m2", 50, 300, 367),
            row("p/m3", 2000, 200, 602),
            row("p/m4", 60, 100, 47),
            row("p/publish", 25, 110, 40),
            row("p/record", 7, 100, 0),
            row("p/handshake", 3110, 300, 2246),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn the_steps_of_a_reauthentication_are_one_row() {
        let steps = [(100, 500), (700, 600), (10, 400)]
            .map(|(cycles, peak)| format!(r#"{{"event":"mark","id":11,"cycles":{cycles},"stack":1,"peak":{peak}}}"#));
        let events = format!("{EVENTS}\n{}", steps.join("\n"));
        let rows = rows("p", &events, &Sizes { flash: 5, ram: 6 }).expect("a whole session");
        let row = rows.last().expect("a row");
        assert_eq!((row.name.as_str(), row.cycles, row.stack), ("p/reauth", 810, 600));
    }

    #[test]
    fn a_session_without_a_phase_is_an_error() {
        let cut = EVENTS.replace("\"id\":7", "\"id\":70");
        assert!(rows("p", &cut, &Sizes { flash: 5, ram: 6 }).is_err());
    }
}
