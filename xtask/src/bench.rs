//! The rows that both bench tasks print.

use anyhow::{Context, Result, ensure};
use serde::Serialize;

/// A measured operation, or why there is no measurement.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Median over the runs.
    cycles: u64,
    /// Fewest and most cycles: equal, unless the work depends on public values (matrices by rejection sampling).
    spread: [u64; 2],
    /// Largest over the runs, in bytes, without the caller's buffers for keys and messages.
    stack: u64,
    /// What the whole image has in flash beyond an empty one, in bytes.
    flash: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
}

impl Row {
    /// Sums up the cycles and stack of each run.
    pub(crate) fn of_runs(name: &str, runs: impl IntoIterator<Item = (u64, u64)>, flash: u64) -> Result<Self> {
        let (mut cycles, stacks): (Vec<u64>, Vec<u64>) = runs.into_iter().unzip();
        cycles.sort_unstable();
        let extremes = cycles.first().zip(cycles.last());
        let (&least, &most) = extremes.with_context(|| format!("{name} was never run"))?;
        Ok(Self {
            name: name.to_owned(),
            cycles: cycles[cycles.len() / 2],
            spread: [least, most],
            stack: stacks.into_iter().max().unwrap_or_default(),
            flash,
            missing: None,
        })
    }

    pub(crate) fn missing(name: &str, reason: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            cycles: 0,
            spread: [0, 0],
            stack: 0,
            flash: 0,
            missing: Some(reason),
        }
    }
}

/// Prints the rows whose name contains `only`, as JSON or as a table.
pub(crate) fn print(mut rows: Vec<Row>, only: Option<&str>, json: bool) -> Result<()> {
    let only = only.unwrap_or_default();
    rows.retain(|row| row.name.contains(only));
    ensure!(!rows.is_empty(), "no row contains {only:?}");
    if json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("| operation | cycles | stack, B | flash of the image, B |\n|---|---:|---:|---:|");
    for row in &rows {
        match row.missing {
            Some(reason) => println!("| {} | {reason} | | |", row.name),
            None => println!("| {} | {} | {} | {} |", row.name, row.cycles, row.stack, row.flash),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn a_row_is_the_median_and_the_deepest_stack_of_its_runs() {
        let row = Row::of_runs("a/b", [(30, 5), (10, 7), (20, 6)], 900).expect("it ran");
        assert_eq!((row.cycles, row.spread, row.stack, row.flash), (20, [10, 30], 7, 900));
        assert!(Row::of_runs("a/c", [], 0).is_err());
    }
}
