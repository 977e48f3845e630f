//! Rounds, ratios and medians.

use std::time::Duration;

use anyhow::ensure;

use crate::arm::Arm;
use crate::load::Asked;
use crate::{cpu, load};

/// Rounds of one bench.
const ROUNDS: usize = 10;
/// How long each arm is visited in a round.
const VISIT: Duration = Duration::from_millis(2_000);
/// How far the baseline may stray from itself before a run says nothing.
const STRAY: f64 = 0.08;

/// Visits all arms in shuffled rounds with one request and prints CPU per request and ratios to the
/// first arm. The second arm is the first one again: their ratio tells whether the run says anything.
pub(crate) fn compare(arms: &[Arm], request: impl Fn(u16) -> Asked) -> anyhow::Result<()> {
    ensure!(arms.len() >= 3, "a comparison has a baseline, the baseline again, and ours");
    let mut costs = vec![Vec::new(); arms.len()];
    let mut rates = vec![Vec::new(); arms.len()];
    for arm in arms {
        load::visit(arm.port, &request(arm.port), VISIT / 4)?;
    }
    for round in 0..ROUNDS {
        for index in shuffled(arms.len(), round) {
            let arm = &arms[index];
            let before = cpu::process_nanos(arm.pid());
            let visit = load::visit(arm.port, &request(arm.port), VISIT)?;
            let spent = cpu::process_nanos(arm.pid()) - before;
            costs[index].push(spent as f64 / 1_000.0 / visit.requests as f64);
            rates[index].push(visit.requests as f64 / visit.elapsed.as_secs_f64());
        }
    }
    for (index, arm) in arms.iter().enumerate() {
        let ratios: Vec<f64> = costs[index].iter().zip(&costs[0]).map(|(ours, base)| ours / base).collect();
        println!(
            "{:<22} {:7.1} µs CPU/request  ratio {:.3} ({:.3} to {:.3})  {:7.0} requests/s  {:6} KiB",
            arm.name,
            median(&costs[index]),
            median(&ratios),
            least(&ratios),
            most(&ratios),
            median(&rates[index]),
            cpu::resident_kib(arm.pid()),
        );
        if index == 1 && (median(&ratios) - 1.0).abs() > STRAY {
            println!("  the baseline strays from itself: this run says nothing");
        }
    }
    Ok(())
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
