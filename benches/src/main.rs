//! Measures Forecourt against small honest servers, in ratios that a noisy machine cannot spoil.
//!
//! `cargo build --release -p bench -p forecourt-cli` builds what is needed, `target/release/bench NAME…` runs the named
//! benches, or all of them. Each visits its arms in shuffled rounds and reports the median of the ratios of one round.
//! What was measured is written down in `RESULTS.md`; `--table` writes the figures for it. `--smoke` shows that a bench
//! still works, in a build without optimisation too.

mod arm;
mod baseline;
mod bench;
mod cpu;
mod envoy;
mod load;
mod report;
mod run;

use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Which benches, as `--list` names them. All of them when none is named.
    names: Vec<String>,
    /// Names all benches, and runs none.
    #[arg(long)]
    list: bool,
    /// One round of each over little: that it works and that every answer is what it must be. No ratio is judged.
    #[arg(long)]
    smoke: bool,
    /// A file that each figure is added to, a line each: `what | median | least | greatest | the baseline against itself`.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

/// What the harness starts as a process of its own.
#[derive(Debug, Subcommand)]
enum Part {
    /// Serve a baseline on a free port of loopback.
    #[command(hide = true)]
    Baseline {
        /// Which one.
        name: String,
        /// The port behind it.
        to: Option<u16>,
        /// The folder of its content.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Open a search index, and say what that took.
    #[command(hide = true)]
    Open {
        /// The folder of the index.
        folder: PathBuf,
        /// How many questions it is asked then.
        questions: u64,
    },
}

fn main() -> anyhow::Result<()> {
    // As in the daemon: what is compared shares its allocator and its pages.
    nix::sys::prctl::set_thp_disable(true)?;
    let arguments = Arguments::parse();
    match arguments.part {
        Some(Part::Baseline { name, to, folder }) => baseline::serve(&name, to, folder.as_deref()),
        Some(Part::Open { folder, questions }) => bench::search::open(&folder, questions),
        None if arguments.list => {
            bench::ALL.iter().for_each(|(name, _)| println!("{name}"));
            Ok(())
        }
        None => run_all(&arguments),
    }
}

fn run_all(Arguments { names, smoke, table, .. }: &Arguments) -> anyhow::Result<()> {
    let known = |name: &String| bench::ALL.iter().any(|(bench, _)| bench == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        anyhow::bail!("there is no bench {unknown}; --list names them");
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
    for (name, bench) in bench::ALL.iter().filter(|(name, _)| wanted(name)) {
        println!("\n== {name}");
        bench(&run::Run::new(name, *smoke, table.as_deref())).with_context(|| format!("bench {name}"))?;
    }
    Ok(())
}
