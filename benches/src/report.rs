//! Rounds, ratios and medians.

use std::time::Duration;

use anyhow::ensure;

use crate::arm::Arm;
use crate::load::Asked;
use crate::run::Run;
use crate::{cpu, load};

/// Rounds of one bench.
const ROUNDS: usize = 10;
/// How long each side is visited in a round.
const VISIT: Duration = Duration::from_millis(2_000);
/// How far the baseline may stray from itself before a run says nothing.
const STRAY: f64 = 0.08;

/// What is asked of a server, and what that is called.
pub(crate) struct Side<'a> {
    pub name: &'a str,
    pub arm: &'a Arm,
    pub asked: Asked,
}

/// The same request to every server.
pub(crate) fn sides(arms: &[Arm], request: impl Fn(u16) -> Asked) -> Vec<Side<'_>> {
    arms.iter().map(|arm| Side { name: arm.name, arm, asked: request(arm.port) }).collect()
}

/// Visits all sides in shuffled rounds and prints CPU per request and ratios to the first of them. The second one
/// is the first one again: their ratio tells whether the run says anything.
pub(crate) fn compare(run: &Run, what: &str, sides: &[Side<'_>]) -> anyhow::Result<()> {
    ensure!(sides.len() >= 3, "a comparison has a baseline, the baseline again, and ours");
    let mut costs = vec![Vec::new(); sides.len()];
    let mut rates = vec![Vec::new(); sides.len()];
    for side in sides {
        load::visit(side.arm.port, &side.asked, run.visit(VISIT / 4))?;
    }
    for round in 0..run.rounds(ROUNDS) {
        for index in shuffled(sides.len(), round) {
            let Side { arm, asked, name } = &sides[index];
            let before = cpu::process_nanos(arm.pid());
            let visit = load::visit(arm.port, asked, run.visit(VISIT))?;
            let spent = cpu::process_nanos(arm.pid()).saturating_sub(before);
            ensure!(visit.requests > 0 && spent > 0, "{name} answered nothing");
            costs[index].push(spent as f64 / 1_000.0 / visit.requests as f64);
            rates[index].push(visit.requests as f64 / visit.elapsed.as_secs_f64());
        }
    }
    for (index, side) in sides.iter().enumerate() {
        println!(
            "{:<22} {:7.1} µs CPU/request  {:7.0} requests/s  {:6} KiB",
            side.name,
            median(&costs[index]),
            median(&rates[index]),
            cpu::resident_kib(side.arm.pid()),
        );
    }
    let names: Vec<&str> = sides.iter().map(|side| side.name).collect();
    judge(run, what, "µs of CPU", &names, &costs)
}

/// Prints and keeps the ratios of each row of values to the first one, round by round. The first row is the baseline,
/// the second one the baseline again.
pub(crate) fn judge(run: &Run, what: &str, unit: &str, names: &[&str], values: &[Vec<f64>]) -> anyhow::Result<()> {
    let base = &values[0];
    let ratios_of = |row: &Vec<f64>| row.iter().zip(base).map(|(one, base)| one / base).collect::<Vec<f64>>();
    let again = ratios_of(&values[1]);
    for (name, row) in names.iter().zip(values).skip(1) {
        let ratios = ratios_of(row);
        println!("{name:<22} ratio {}", spread(&ratios));
        run.keep(format_args!("{what}{name}, ratio"), &ratios, &again)?;
        run.keep(format_args!("{what}{name}, {unit}"), row, &[])?;
    }
    if (median(&again) - 1.0).abs() > STRAY && !run.is_smoke() {
        println!("  the baseline strays from itself: this run says nothing");
    }
    Ok(())
}

/// The middle of some values, the least and the greatest.
pub(crate) fn spread(values: &[f64]) -> String {
    format!("{:.3} ({:.3} to {:.3})", median(values), least(values), most(values))
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The least value.
pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The greatest value.
pub(crate) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// 0 to `n` in an order that differs from round to round and is the same in every run.
pub(crate) fn shuffled(n: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = (round as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for i in (1..n).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(i, (state % (i as u64 + 1)) as usize);
    }
    order
}
