//! The table of scenarios, and how one changes a flow.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// `scenarios.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    scenario: Vec<Scenario>,
}

/// One run of Verifpal and what it has to say.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) flow: &'a str,
    pub(crate) scenario: &'a Scenario,
    /// Concurrent sessions of every principal.
    pub(crate) sessions: u8,
    /// Verifpal's code: a letter and a digit per query.
    pub(crate) expected: &'a str,
}

/// What leaks, and what is different from the protocol.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    name: String,
    /// For the reader of the table.
    #[serde(rename = "about")]
    _about: String,
    /// Flows that take too long for a quick run.
    #[serde(default)]
    slow: Vec<String>,
    /// Ends the flow after M3.
    #[serde(default)]
    until_m3: bool,
    /// Names to leak per marker of the flows; those of `end-ROLE` leak in a phase after the session.
    #[serde(default)]
    leaks: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    replace: Vec<(String, String)>,
    /// Verdicts per flow with one session.
    #[serde(default)]
    expect: BTreeMap<String, String>,
    /// The same with two.
    #[serde(default)]
    two_sessions: BTreeMap<String, String>,
}

impl Table {
    /// Reads the table in this folder.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        Ok(toml::from_str(&std::fs::read_to_string(
            folder.join("scenarios.toml"),
        )?)?)
    }

    /// Its rows in order; the quick ones only if asked.
    pub(crate) fn rows(&self, quick: bool) -> impl Iterator<Item = Row<'_>> {
        self.scenario.iter().flat_map(move |scenario| {
            let one = scenario
                .expect
                .iter()
                .filter(move |(flow, _)| !quick || !scenario.slow.contains(flow));
            let two = scenario.two_sessions.iter().filter(move |_| !quick);
            let rows = one.map(|verdict| (1, verdict)).chain(two.map(|verdict| (2, verdict)));
            rows.map(|(sessions, (flow, expected))| Row {
                name: &scenario.name,
                flow,
                scenario,
                sessions,
                expected,
            })
        })
    }
}

impl Scenario {
    /// The flow with this scenario's leaks and replacements.
    pub(crate) fn compose(&self, flow: &Path) -> Result<String> {
        let text = std::fs::read_to_string(flow).with_context(|| flow.display().to_string())?;
        self.apply(text)
            .with_context(|| format!("{} in {}", self.name, flow.display()))
    }

    fn apply(&self, mut text: String) -> Result<String> {
        for (from, to) in &self.replace {
            ensure!(text.contains(from), "there is no {from:?}");
            text = text.replace(from, to);
        }
        if self.until_m3 {
            text = until_m3(&text)?;
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
        let names: Vec<_> = self
            .leaks
            .get(marker)?
            .iter()
            .filter(|name| words(text).any(|word| word == *name))
            .cloned()
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// The flow up to its marker `m4`, with the queries that still have their names.
fn until_m3(text: &str) -> Result<String> {
    let (start, rest) = text.split_once("//@ m4\n").context("there is no marker m4")?;
    let (_, rest) = rest.split_once("//@ end").context("there is no marker end")?;
    let (between, queries) = rest.split_once("queries[\n").context("there are no queries")?;
    let kept: String = queries
        .lines()
        .filter(|line| match line.split_once("? ") {
            Some((_, subject)) => words(subject).all(|name| words(start).any(|word| word == name)),
            None => true,
        })
        .map(|line| format!("{line}\n"))
        .collect();
    Ok(format!("{start}//@ end{between}queries[\n{kept}"))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::Table;

    const FLOW: &str = "principal Broker[\n\tknows private dk\n\t//@ broker-static\n]\nBroker -> Client: m2\n\
        //@ m4\nBroker -> Client: m4\n//@ end\nqueries[\n\tauthentication? Broker -> Client: m2\n\tconfidentiality? m4\n]\n";

    fn composed(scenario: &str) -> anyhow::Result<String> {
        let table = format!("[[scenario]]\nname = \"n\"\nabout = \"a\"\n{scenario}");
        let table: Table = toml::from_str(&table)?;
        table.scenario[0].apply(FLOW.to_owned())
    }

    #[test]
    fn leaks_stand_where_the_marker_stood_and_only_with_names_of_the_flow() {
        let model = composed("leaks.broker-static = [\"dk\", \"psk\"]").unwrap();
        assert!(
            model.starts_with("principal Broker[\n\tknows private dk\n\tleaks dk\n]"),
            "{model}"
        );
        assert!(!model.contains("//@"), "{model}");
    }

    #[test]
    fn later_leaks_are_a_second_phase_before_the_queries() {
        let model = composed("leaks.end-broker = [\"dk\"]").unwrap();
        assert!(
            model.contains("phase[1]\n\nprincipal Broker[\n\tleaks dk\n]\n\nqueries["),
            "{model}"
        );
    }

    #[test]
    fn until_m3_drops_m4_and_what_is_asked_about_it() {
        let model = composed("until_m3 = true").unwrap();
        assert!(
            model.ends_with("Broker -> Client: m2\nqueries[\n\tauthentication? Broker -> Client: m2\n]\n"),
            "{model}"
        );
    }

    #[test]
    fn a_replacement_that_matches_nothing_is_an_error() {
        assert!(composed("replace = [[\"psk\", \"zero\"]]").is_err());
        assert!(
            composed("replace = [[\"m2\", \"m3\"]]")
                .unwrap()
                .contains("Broker -> Client: m3")
        );
    }

    #[test]
    fn every_row_of_the_table_fits_its_flow() {
        let folder = crate::root().join("hybrid-handshake/proofs");
        let table = Table::load(&folder).unwrap();
        assert!(table.rows(true).count() < table.rows(false).count());
        for row in table.rows(false) {
            let model = row
                .scenario
                .compose(&folder.join(row.flow).with_extension("vp"))
                .unwrap();
            let queries = words_with_question_mark(&model);
            assert_eq!(row.expected.len(), 2 * queries, "{}: {}", row.name, row.flow);
        }
    }

    fn words_with_question_mark(model: &str) -> usize {
        let queries = model.split_once("queries[").unwrap().1;
        queries.matches("? ").count()
    }
}
