//! The formal model of the handshake: composes each flow with each scenario, runs Verifpal, compares the verdicts.

mod scenario;

use std::{
    path::Path,
    process::Command,
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::setup;
use scenario::Table;

/// How far to look.
#[derive(Args)]
pub(crate) struct Options {
    /// One session per principal and no slow rows: about a minute instead of four.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only scenarios whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Print the composed models instead of running them.
    #[arg(long)]
    pub(crate) print: bool,
}

/// Runs the table in `hybrid-handshake/proofs/scenarios.toml`.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    let folder = crate::root().join("hybrid-handshake/proofs");
    let table = Table::load(&folder)?;
    let mut jobs = Vec::new();
    for row in table.rows(options.quick) {
        if options.only.as_ref().is_none_or(|text| row.name.contains(text)) {
            let model = row.scenario.compose(&folder.join(row.flow).with_extension("vp"))?;
            jobs.push(Job { row, model });
        }
    }
    ensure!(!jobs.is_empty(), "no scenario has such a name");
    if options.print {
        for Job { row, model } in &jobs {
            println!("// {}: {}\n{model}", row.flow, row.name);
        }
        return Ok(());
    }
    setup::verifpal(shell)?;
    let wrong = verify(&jobs)?;
    ensure!(
        wrong.is_empty(),
        "verdicts differ from the table:\n{}",
        wrong.join("\n")
    );
    println!("{} verdicts as in the table", jobs.len());
    Ok(())
}

struct Job<'a> {
    row: scenario::Row<'a>,
    model: String,
}

/// Runs the jobs, one per processor at a time, and returns the verdicts that differ.
fn verify(jobs: &[Job<'_>]) -> Result<Vec<String>> {
    let queue = Mutex::new(jobs.iter());
    let (send, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (queue, send) = (&queue, send.clone());
            scope.spawn(move || {
                let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some(job) = next() {
                    let start = Instant::now();
                    let found = verdict(&job.model, job.row.sessions);
                    if send.send((job, found, start.elapsed())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut wrong = Vec::new();
        for (Job { row, .. }, found, time) in results {
            let found = found.with_context(|| format!("{}, {}", row.name, row.flow))?;
            let mark = if found == row.expected { "ok   " } else { "WRONG" };
            println!(
                "{mark} {:<14} x{} {found:<18} {:>4} s  {}",
                row.flow,
                row.sessions,
                time.as_secs(),
                row.name
            );
            if found != row.expected {
                wrong.push(format!(
                    "{}, {}: expected {}, found {found}",
                    row.name, row.flow, row.expected
                ));
            }
        }
        Ok(wrong)
    })
}

/// Verifpal's verdicts on a model, such as `c0a1`.
fn verdict(model: &str, sessions: u8) -> Result<String> {
    let folder = Shell::new()?.create_temp_dir()?;
    let file: &Path = &folder.path().join("model.vp");
    std::fs::write(file, model)?;
    let run = Command::new("verifpal")
        .arg("verify")
        .arg(file)
        .args(["--sessions", &sessions.to_string(), "--format", "json"])
        .output()?;
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).context("Verifpal printed no report")?;
    let code = report["models"][0]["analysis"]["code"].as_str();
    Ok(code
        .with_context(|| {
            format!(
                "Verifpal does not take the model: {}\n{model}",
                report["models"][0]["error"]
            )
        })?
        .to_owned())
}
