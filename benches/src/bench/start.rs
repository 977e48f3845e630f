//! From nothing to the first answer, with an index that exists; and the size of the binary.

use std::path::Path;
use std::time::Instant;

use crate::arm::{Arm, binary, daemon};
use crate::report::{judge, median};
use crate::run::Run;
use crate::{cpu, load};

const ROUNDS: usize = 8;

/// Cold starts of bare axum, twice, and of the kitchen.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let size = std::fs::metadata(binary()?)?.len() as f64 / 1024.0 / 1024.0;
    println!("binary {size:.1} MiB");
    run.keep("binary, MiB", &[size], &[])?;
    let kitchen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kitchen");
    let data = tempfile::tempdir()?;
    let ours = || {
        let mut command = daemon(&kitchen)?;
        command.arg("--data").arg(data.path()).env("XDG_STATE_HOME", data.path());
        Arm::forecourt_by("forecourt", command, data.path().to_owned())
    };
    let bare = || Arm::baseline("bare axum", "rest");
    let mut seen: [Vec<Started>; 3] = Default::default();
    // The first round only makes the index and warms up.
    for round in 0..=run.rounds(ROUNDS) {
        let started = [cold(bare, "/~echo?user=x")?, cold(bare, "/~echo?user=x")?, cold(ours, "/~chef?user=rhubarb")?];
        if round > 0 {
            seen.iter_mut().zip(started).for_each(|(seen, started)| seen.push(started));
        }
    }
    let names = ["bare axum", "bare axum again", "forecourt"];
    let column = |of: fn(&Started) -> f64| seen.each_ref().map(|seen| seen.iter().map(of).collect::<Vec<_>>());
    let (cpu, wall) = (column(|started| started.cpu_ms), column(|started| started.wall_ms));
    for (name, (cpu, wall)) in names.iter().zip(cpu.iter().zip(&wall)) {
        println!("{name:<15} {:.1} ms CPU, {:.0} ms to the first answer", median(cpu), median(wall));
    }
    judge(run, "", "ms of CPU", &names, &cpu)?;
    run.keep("forecourt, ms to the first answer", &wall[2], &[])
}

/// What it took until a server had answered once.
pub(super) struct Started {
    pub(super) cpu_ms: f64,
    pub(super) wall_ms: f64,
    pub(super) resident_kib: u64,
}

/// Starts a server, asks it for one thing, and ends it.
pub(super) fn cold(start: impl Fn() -> anyhow::Result<Arm>, path: &str) -> anyhow::Result<Started> {
    let begin = Instant::now();
    let arm = start()?;
    let host = format!("Host: demo.localhost:{}", arm.port);
    load::sample(arm.port, &format!("GET {path} HTTP/1.1\r\n{host}\r\nAccept: text/markdown\r\n\r\n"))?;
    let wall_ms = begin.elapsed().as_secs_f64() * 1_000.0;
    let cpu_ms = cpu::process_nanos(arm.pid()) as f64 / 1e6;
    Ok(Started { cpu_ms, wall_ms, resident_kib: cpu::resident_kib(arm.pid()) })
}
