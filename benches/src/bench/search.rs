//! Search by words, top ten as markdown, against tantivy alone; and what loading and opening cost.

mod ours;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, anyhow, ensure};
use bench_baseline::bare::Bare;
use bench_baseline::items::Pantry;

use crate::cpu;
use crate::report::{judge, median, shuffled};
use crate::run::Run;
use ours::Ours;

const SMALL: u64 = 100_000;
const LARGE: u64 = 1_000_000;
const QUESTIONS: u64 = 100;
const ROUNDS: usize = 12;
/// Rounds of loading alone.
const LOADS: usize = 4;
const ITEMS: &str = "items.jsonl";

/// Runs the comparison with 100,000 items.
pub(super) fn small(run: &Run) -> anyhow::Result<()> {
    with(run, run.of(SMALL, 300))
}

/// Runs the comparison with 1,000,000 items.
pub(super) fn large(run: &Run) -> anyhow::Result<()> {
    with(run, run.of(LARGE, 600))
}

/// Loads 100,000 items anew, twice, and into tantivy alone.
pub(super) fn loading(run: &Run) -> anyhow::Result<()> {
    let (count, pantry) = (run.of(SMALL, 300), Pantry::stocked()?);
    let mut rates = [const { Vec::new() }; 3];
    for round in 0..run.rounds(LOADS) {
        for index in shuffled(rates.len(), round) {
            let folder = tempfile::tempdir_in(beside()?)?;
            pantry.write(&folder.path().join(ITEMS), count)?;
            rates[index].push(match index {
                2 => load_bare(folder.path(), count)?,
                _ => load_ours(folder.path(), count)?,
            });
        }
    }
    println!("{:.0} items a second of CPU; tantivy alone {:.0}", median(&rates[0]), median(&rates[2]));
    run.keep("forecourt, items a second of CPU", &rates[0], &[])?;
    judge(run, "", "items a second of CPU", &["forecourt", "forecourt again", "tantivy alone"], &rates)
}

/// Loads what is not there from an earlier run, opens it in a process of its own, and asks.
fn with(run: &Run, count: u64) -> anyhow::Result<()> {
    let folder = beside()?.join(format!("bench-items-{count}"));
    std::fs::create_dir_all(&folder)?;
    let pantry = Pantry::stocked()?;
    load(&folder, &pantry, count)?;
    let asked = run.of(QUESTIONS * 10, 3).to_string();
    let opened = Command::new(std::env::current_exe()?).arg("open").arg(&folder).arg(asked).output()?;
    ensure!(opened.status.success(), "opening failed: {}", String::from_utf8_lossy(&opened.stderr));
    print!("{}", String::from_utf8_lossy(&opened.stdout));
    let ours = Ours::new(&folder)?;
    let bare = Bare::open(&folder.join("bare"))?;
    let questions: Vec<String> = (0..run.of(QUESTIONS, 3)).map(|n| pantry.question(n)).collect();
    compare(run, &[&|q| bare.ask(q), &|q| bare.ask(q), &|q| ours.ask(q)], &questions)
}

/// Fills both indexes, unless an earlier run of the same program has.
fn load(folder: &Path, pantry: &Pantry, count: u64) -> anyhow::Result<()> {
    if is_loaded(folder, count)? {
        println!("{count} items were loaded by an earlier run");
        return Ok(());
    }
    std::fs::remove_dir_all(folder)?;
    std::fs::create_dir_all(folder)?;
    pantry.write(&folder.join(ITEMS), count)?;
    let (mine, raw) = (load_ours(folder, count)?, load_bare(folder, count)?);
    println!("loaded {mine:.0} items for each second of CPU; tantivy alone {raw:.0}");
    Ok(())
}

/// Items that ours loads in a second of CPU.
fn load_ours(folder: &Path, count: u64) -> anyhow::Result<f64> {
    let ours = Ours::new(folder)?;
    let ours = ours.indexing()?;
    let rate = timed(count, || {
        ours.index(&mut |_| {}).map_err(|e| anyhow!("{e}"))?;
        Ok(())
    })?;
    ensure!(ours.items() == count, "{} of {count} items were loaded", ours.items());
    Ok(rate)
}

/// Items that tantivy alone loads in a second of CPU.
fn load_bare(folder: &Path, count: u64) -> anyhow::Result<f64> {
    let mut bare = Bare::open(&folder.join("bare"))?;
    timed(count, || bare.load(&folder.join(ITEMS)))
}

/// The folder of this program, where indexes stay between runs.
fn beside() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.parent().context("a program is in a folder")?.to_owned())
}

fn is_loaded(folder: &Path, count: u64) -> anyhow::Result<bool> {
    let ours = Ours::new(folder)?;
    Ok(ours.indexing()?.items() == count && Bare::open(&folder.join("bare"))?.count() == count)
}

/// Items for each second of CPU.
fn timed(count: u64, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let before = cpu::own_seconds()?;
    work()?;
    Ok(count as f64 / (cpu::own_seconds()? - before))
}

/// Opens an index and says what that took: the part of the bench that has a process of its own.
pub(crate) fn open(folder: &Path, questions: u64) -> anyhow::Result<()> {
    let before = cpu::resident_kib(std::process::id());
    let begin = Instant::now();
    let ours = Ours::new(folder)?;
    let items = ours.indexing()?.items();
    let millis = begin.elapsed().as_secs_f64() * 1_000.0;
    let opened = cpu::resident_kib(std::process::id());
    let pantry = Pantry::stocked()?;
    for n in 0..questions {
        ours.ask(&pantry.question(n))?;
    }
    let asked = cpu::resident_kib(std::process::id());
    println!(
        "{items} items open in {millis:.0} ms; resident {:.0} MiB before, {:.0} MiB open, {:.0} MiB after {} questions",
        before as f64 / 1024.0,
        opened as f64 / 1024.0,
        asked as f64 / 1024.0,
        questions
    );
    Ok(())
}

type Ask<'a> = &'a dyn Fn(&str) -> anyhow::Result<usize>;

/// Asks every question of every arm in each round. The second arm is the first one again.
fn compare(run: &Run, arms: &[Ask<'_>; 3], questions: &[String]) -> anyhow::Result<()> {
    const NAMES: [&str; 3] = ["tantivy", "tantivy again", "forecourt"];
    let mut costs = vec![Vec::new(); arms.len()];
    for round in 0..=run.rounds(ROUNDS) {
        for index in shuffled(arms.len(), round) {
            let before = cpu::process_nanos(std::process::id());
            for question in questions {
                ensure!(arms[index](question)? > 0, "{question} finds nothing");
            }
            let spent = cpu::process_nanos(std::process::id()) - before;
            // The first round only warms up.
            if round > 0 {
                costs[index].push(spent as f64 / 1_000.0 / questions.len() as f64);
            }
        }
    }
    for (name, cost) in NAMES.iter().zip(&costs) {
        println!("{name:<14} {:7.0} µs CPU/question", median(cost));
    }
    judge(run, "", "µs of CPU a question", &NAMES, &costs)
}
