//! Counts the instructions of hot paths under callgrind, which no load disturbs, and holds them against
//! the counts that are kept beside this program. See `counts.toml`.

mod arm;
mod client;
mod count;
mod kept;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use forecourt_telemetry::LinesOfRequests;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

use crate::arm::Arm;

#[derive(Parser)]
#[command(about = "Counts the instructions that one request takes, server and client together")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Counts, and shows each path beside its baseline and the count that is kept.
    Count {
        /// The paths to count; all when none is named.
        arms: Vec<Arm>,
        /// Fail where a count is over the one that is kept by more than the tolerance.
        #[arg(long)]
        check: bool,
        /// Write what was counted into the file.
        #[arg(long, conflicts_with = "check")]
        write: bool,
        /// The file of counts.
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.toml"))]
        file: PathBuf,
    },
    /// Asks one path again and again: what runs under callgrind.
    Run {
        /// The path.
        arm: Arm,
    },
}

/// Logs as the daemon does where nothing else is set.
fn log() -> anyhow::Result<()> {
    let lines = LinesOfRequests::new(fmt::layer().with_target(false).with_writer(std::io::stderr));
    Ok(tracing_subscriber::registry().with(EnvFilter::new("info")).with(lines).try_init()?)
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Run { arm } => {
            log()?;
            client::ask_again_and_again(arm)
        }
        Command::Count { arms, check, write, file } => {
            let arms = if arms.is_empty() { Arm::all() } else { arms };
            let counts = arms.into_iter().map(|arm| Ok((arm, count::count(arm)?))).collect::<anyhow::Result<_>>()?;
            kept::Counts::read(&file)?.hold(counts, check, write.then_some(file.as_path()))
        }
    }
}
