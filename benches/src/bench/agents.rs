//! The first start of 10,000 agents, each of which gets an identity then; and a start over what that left.

use crate::arm::{Arm, OPEN_LIMITS, daemon, deployment};
use crate::report::spread;
use crate::run::Run;

use super::start::{Started, cold};

const AGENTS: usize = 10_000;
const AGENTS_SMOKE: usize = 100;

/// What is read off a start.
type Figure = fn(&Started) -> f64;

/// Two first starts, each followed by a start over its state.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let count = run.of(AGENTS, AGENTS_SMOKE);
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..run.of(2, 1) {
        let folder = deployment(&files(count))?;
        let data = folder.path().join(".forecourt");
        let start = || Arm::forecourt_by("forecourt", daemon(folder.path())?, data.clone());
        let path = format!("/~agent-{}?user=hello", count / 2);
        first.push(cold(start, &path)?);
        later.push(cold(start, &path)?);
    }
    for (what, starts) in [("first start", &first), ("later start", &later)] {
        let figures: [(&str, Figure); 3] = [
            ("s of CPU", |started| started.cpu_ms / 1_000.0),
            ("s to the first answer", |started| started.wall_ms / 1_000.0),
            ("MiB resident", |started| started.resident_kib as f64 / 1024.0),
        ];
        for (unit, figure) in figures {
            let values: Vec<f64> = starts.iter().map(figure).collect();
            println!("{count} agents, {what}: {} {unit}", spread(&values));
            run.keep(format_args!("{what}, {unit}"), &values[..1], &[values[values.len() - 1] / values[0]])?;
        }
    }
    Ok(())
}

fn files(count: usize) -> Vec<(String, String)> {
    let agents = (0..count).map(|number| {
        let agent = format!("handle = \"agent-{number}\"\nname = \"Agent {number}\"\n[backend]\nkind = \"echo\"\n");
        (format!("agents/agent-{number}.toml"), agent)
    });
    std::iter::once(("forecourt.toml".to_owned(), OPEN_LIMITS.to_owned())).chain(agents).collect()
}
