//! The formal model of the handshake: composes each flow with each scenario, runs Verifpal, compares the verdicts.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;
use xshell::{Shell, cmd};

/// How far to look.
#[derive(Args)]
pub(crate) struct Options {
    /// One session per principal instead of two, and no slow scenarios: minutes instead of an hour.
    #[arg(long)]
    quick: bool,
    /// Only scenarios whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Runs the table in `hybrid-handshake/proofs/scenarios.toml`.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    if cmd!(shell, "verifpal --version")
        .quiet()
        .ignore_stderr()
        .read()
        .is_err()
    {
        eprintln!("installing Verifpal (a few minutes, once)");
        cmd!(
            shell,
            "cargo install --quiet --locked --ignore-rust-version verifpal --version 1.6.7"
        )
        .run()?;
    }
    let folder = crate::root().join("hybrid-handshake/proofs");
    let table: Table = toml::from_str(&shell.read_file(folder.join("scenarios.toml"))?)?;
    let sessions = if options.quick { "1" } else { "2" };
    let mut wrong = Vec::new();
    for scenario in &table.scenario {
        if (options.quick && scenario.slow) || options.only.as_ref().is_some_and(|text| !scenario.name.contains(text)) {
            continue;
        }
        for (flow, expected) in &scenario.expect {
            let found = verdict(
                shell,
                &scenario.compose(&folder.join(flow).with_extension("vp"))?,
                sessions,
            )?;
            println!(
                "{} {flow:<14} {found}  {}",
                if found == *expected { "ok   " } else { "WRONG" },
                scenario.name
            );
            if found != *expected {
                wrong.push(format!("{}, {flow}: expected {expected}, found {found}", scenario.name));
            }
        }
    }
    ensure!(
        wrong.is_empty(),
        "verdicts differ from the table:\n{}",
        wrong.join("\n")
    );
    Ok(())
}

#[derive(Deserialize)]
struct Table {
    scenario: Vec<Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    name: String,
    /// For the reader of the table.
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    slow: bool,
    /// Names to leak per marker of the flows; those of `end-ROLE` leak in a phase after the session.
    #[serde(default)]
    leaks: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    replace: Vec<(String, String)>,
    expect: BTreeMap<String, String>,
}

impl Scenario {
    /// The flow with this scenario's leaks and replacements.
    fn compose(&self, flow: &Path) -> Result<String> {
        let mut text = std::fs::read_to_string(flow).with_context(|| flow.display().to_string())?;
        for (from, to) in &self.replace {
            ensure!(
                text.contains(from),
                "{}: {} has no line {from:?}",
                self.name,
                flow.display()
            );
            text = text.replace(from, to);
        }
        let mut composed = String::new();
        for line in text.lines() {
            match line.trim().strip_prefix("//@ ") {
                Some("end") => composed += &self.afterwards(&text),
                Some(marker) => {
                    if let Some(names) = self.names(marker, &text) {
                        composed += &format!("\tleaks {names}\n");
                    }
                }
                None => composed += &format!("{line}\n"),
            }
        }
        Ok(composed)
    }

    /// A second phase, in which the principals of this flow leak what they had.
    fn afterwards(&self, text: &str) -> String {
        let roles = ["Broker", "Client", "Issuer"].into_iter().filter_map(|role| {
            let names = self.names(&format!("end-{}", role.to_lowercase()), text)?;
            text.contains(&format!("principal {role}["))
                .then(|| format!("principal {role}[\n\tleaks {names}\n]\n\n"))
        });
        let roles: String = roles.collect();
        if roles.is_empty() {
            roles
        } else {
            format!("phase[1]\n\n{roles}")
        }
    }

    /// Those of the marker's names that the flow has, as Verifpal writes a list.
    fn names(&self, marker: &str, text: &str) -> Option<String> {
        let mut words = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect::<Vec<_>>();
        words.sort_unstable();
        let names: Vec<_> = self
            .leaks
            .get(marker)?
            .iter()
            .filter(|name| words.binary_search(&name.as_str()).is_ok())
            .cloned()
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Verifpal's verdicts on a model, such as `c0a1`.
fn verdict(shell: &Shell, model: &str, sessions: &str) -> Result<String> {
    let folder = shell.create_temp_dir()?;
    let file = folder.path().join("model.vp");
    shell.write_file(&file, model)?;
    let report = cmd!(shell, "verifpal verify {file} --sessions {sessions} --format json")
        .quiet()
        .ignore_stderr()
        .ignore_status()
        .read()?;
    let report: serde_json::Value = serde_json::from_str(&report)?;
    let code = &report["models"][0]["analysis"]["code"];
    Ok(code
        .as_str()
        .with_context(|| {
            format!(
                "Verifpal does not take the model: {}\n{model}",
                report["models"][0]["error"]
            )
        })?
        .to_owned())
}
