//! Measures Forecourt against small honest servers, in ratios that a noisy machine cannot spoil.
//!
//! `cargo run --release -p bench -- NAME…` runs the named benches, or all of them. Each visits its
//! arms in shuffled rounds and reports the median of the ratios of one round. What was measured is
//! written down in `RESULTS.md`.

mod arm;
mod baseline;
mod bench;
mod cpu;
mod load;
mod report;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    baseline: Option<Baseline>,
    /// Which benches: rest, search, load, sse, idle, tasks, start. All when none is named.
    names: Vec<String>,
}

/// The other side of a comparison, started by the harness as a process of its own.
#[derive(Debug, Subcommand)]
enum Baseline {
    /// Serve a baseline on a free port of loopback.
    #[command(hide = true)]
    Baseline {
        /// Which one.
        name: String,
    },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Some(Baseline::Baseline { name }) = arguments.baseline {
        return baseline::serve(&name);
    }
    let all = bench::ALL;
    let wanted = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|n| n == name);
    for (name, run) in all.iter().filter(|(name, _)| wanted(name)) {
        println!("\n== {name}");
        run()?;
    }
    Ok(())
}
