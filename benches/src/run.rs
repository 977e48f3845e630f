//! One run of one bench: how much it does, and where its figures go.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::report::{least, median, most, spread};

/// How long a smoke run visits each arm.
const SMOKE_VISIT: Duration = Duration::from_millis(150);

/// What a bench is told.
#[derive(Debug)]
pub(crate) struct Run {
    bench: &'static str,
    smoke: bool,
    table: Option<PathBuf>,
}

impl Run {
    /// A run of a bench. A smoke run is one round over little: it shows that the bench works and that the
    /// answers are what they must be, and judges no ratio.
    pub(crate) fn new(bench: &'static str, smoke: bool, table: Option<&Path>) -> Self {
        Self { bench, smoke, table: table.map(Path::to_owned) }
    }

    /// The first of a whole run, the second of a smoke run.
    pub(crate) fn of<T>(&self, whole: T, smoke: T) -> T {
        if self.smoke { smoke } else { whole }
    }

    /// Whether this is a smoke run.
    pub(crate) fn is_smoke(&self) -> bool {
        self.smoke
    }

    /// Rounds of it.
    pub(crate) fn rounds(&self, whole: usize) -> usize {
        self.of(whole, 1)
    }

    /// How long one arm is visited in a round.
    pub(crate) fn visit(&self, whole: Duration) -> Duration {
        self.of(whole, SMOKE_VISIT)
    }

    /// Adds a figure to the table, when one is wanted: what it is, the middle, the least and the greatest of all
    /// rounds, and the same of the baseline against itself where there is one. What a smoke run sees is no figure.
    pub(crate) fn keep(&self, what: impl Display, values: &[f64], again: &[f64]) -> anyhow::Result<()> {
        let Some(table) = self.table.as_ref().filter(|_| !self.smoke) else { return Ok(()) };
        let again = match again {
            [] => "–".to_owned(),
            again => spread(again),
        };
        let [middle, low, high] = [median(values), least(values), most(values)].map(figure);
        let line = format!("{}, {what} | {middle} | {low} | {high} | {again}\n", self.bench);
        let file = OpenOptions::new().create(true).append(true).open(table);
        let mut file = file.with_context(|| table.display().to_string())?;
        Ok(file.write_all(line.as_bytes())?)
    }
}

/// A number with the digits that say something.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.3}"),
        size if size < 1_000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
