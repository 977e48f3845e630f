//! From nothing to the first answer, with an index that exists; and the size of the binary.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::Context;

use crate::arm::{binary, daemon};
use crate::report::median;
use crate::{cpu, load};

const ROUNDS: usize = 8;

/// Cold starts of bare axum and of the kitchen.
pub(super) fn run() -> anyhow::Result<()> {
    let size = std::fs::metadata(binary()?)?.len();
    println!("release binary {:.1} MiB", size as f64 / 1024.0 / 1024.0);
    let kitchen = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kitchen");
    let data = tempfile::tempdir()?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let mut command = daemon(&kitchen)?;
        command.arg("--data").arg(data.path()).env("XDG_STATE_HOME", data.path());
        let mine = cold(command, "in a browser   http://demo.localhost:", "/~chef?user=rhubarb")?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", "rest"]);
        let theirs = cold(command, "listening ", "/~echo?user=x")?;
        if round > 0 {
            ours.push(mine);
            bare.push(theirs);
        }
    }
    let cpu = |of: &[Started]| median(&of.iter().map(|s| s.cpu_ms).collect::<Vec<_>>());
    let wall = |of: &[Started]| median(&of.iter().map(|s| s.wall_ms).collect::<Vec<_>>());
    let ratios: Vec<f64> = ours.iter().zip(&bare).map(|(o, b)| o.cpu_ms / b.cpu_ms).collect();
    println!("forecourt {:.1} ms CPU, {:.0} ms to the first answer", cpu(&ours), wall(&ours));
    println!(
        "bare axum {:.1} ms CPU, {:.0} ms to the first answer; ratio {:.2}",
        cpu(&bare),
        wall(&bare),
        median(&ratios)
    );
    Ok(())
}

struct Started {
    cpu_ms: f64,
    wall_ms: f64,
}

fn cold(mut command: Command, marker: &str, path: &str) -> anyhow::Result<Started> {
    use std::io::{BufRead, BufReader, Read as _};
    let begin = Instant::now();
    let mut child = Killed(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    let output = child.0.stdout.take().context("a child has an output")?;
    let mut output = BufReader::new(output);
    let line = output.by_ref().lines().map_while(Result::ok).find(|line| line.contains(marker));
    let line = line.context("the server did not start")?;
    let port: u16 = line.split(marker).nth(1).unwrap_or_default().trim_end_matches('/').parse()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nAccept: text/markdown\r\n\r\n");
    load::sample(port, &request)?;
    let wall_ms = begin.elapsed().as_secs_f64() * 1_000.0;
    Ok(Started { cpu_ms: cpu::process_nanos(child.0.id()) as f64 / 1e6, wall_ms })
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
