//! Measures Forecourt against small honest servers, in ratios that a noisy machine cannot spoil.
//!
//! `cargo run --release -p bench -- NAME…` runs the named benches, or all of them. Each visits its
//! arms in shuffled rounds and reports the median of the ratios of one round. What was measured is
//! written down in `RESULTS.md`.

mod arm;
mod baseline;
mod bench;
mod cpu;
mod envoy;
mod load;
mod report;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Which benches: rest, search, search-million, retrieval, ask, ask-million, sse, idle, tasks, tasks-postgres, start, jwt, rules, contracts,
    /// records, a2a, a2a-proxy, a2a-many, a2a-streams, a2a-push, agtp, agtp-new, agtp-plain, agtp-dispatch, agtp-manifest,
    /// agtp-idle. All when none is named.
    names: Vec<String>,
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
    },
}

fn main() -> anyhow::Result<()> {
    // As in the daemon: what is compared shares its allocator and its pages.
    nix::sys::prctl::set_thp_disable(true)?;
    let arguments = Arguments::parse();
    match arguments.part {
        Some(Part::Baseline { name, to, folder }) => baseline::serve(&name, to, folder.as_deref()),
        Some(Part::Open { folder }) => bench::search::open(&folder),
        None => run(&arguments.names),
    }
}

fn run(names: &[String]) -> anyhow::Result<()> {
    let known = |name: &String| bench::ALL.iter().any(|(bench, _)| bench == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        anyhow::bail!("there is no bench {unknown}");
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
    for (name, run) in bench::ALL.iter().filter(|(name, _)| wanted(name)) {
        println!("\n== {name}");
        run()?;
    }
    Ok(())
}
