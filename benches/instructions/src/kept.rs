//! The counts that are kept in the repository.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::arm::Arm;

/// By how much a count may be over the one that is kept: libraries choose their code by the processor, so the same
/// program counts some percent differently on another machine.
const TOLERANCE: f64 = 0.08;

/// Instructions of one request, by the name of its path.
pub(crate) struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// Reads the file; none is as good as an empty one.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        Ok(Self(toml::from_str(&text).with_context(|| format!("{} is no list of counts", file.display()))?))
    }

    /// Prints what was counted beside what is kept, checks it when that is wanted, and writes it into `file`.
    ///
    /// # Errors
    /// When `check` is on and a count is missing or over the one that is kept by more than the tolerance.
    pub(crate) fn hold(mut self, counted: Vec<(Arm, u64)>, check: bool, file: Option<&Path>) -> anyhow::Result<()> {
        let mut over = Vec::new();
        println!("{:<12} {:>12} {:>12} {:>8}  against its baseline", "path", "counted", "kept", "change");
        for (arm, count) in &counted {
            let kept = self.0.get(arm.name()).copied();
            let change = kept.map(|kept| *count as f64 / kept as f64 - 1.0);
            let baseline = arm.baseline().and_then(|of| counted.iter().find(|(other, _)| *other == of));
            let ratio = baseline.map(|(_, base)| format!("{:.2}", *count as f64 / *base as f64)).unwrap_or_default();
            let shown = change.map(|change| format!("{:+.1} %", change * 100.0)).unwrap_or_default();
            println!("{:<12} {count:>12} {:>12} {shown:>8}  {ratio}", arm.name(), kept.unwrap_or_default());
            if change.is_none_or(|change| change > TOLERANCE) {
                over.push(arm.name());
            }
            self.0.insert(arm.name().to_owned(), *count);
        }
        if let Some(file) = file {
            let head = "# Instructions of one request, server and client together, in the profile `instructions`.\n\
                        # Made by `cargo run --profile instructions -p bench-instructions -- count --write`.\n";
            std::fs::write(file, format!("{head}{}", toml::to_string(&self.0)?))?;
        }
        ensure!(
            !check || over.is_empty(),
            "these take more than {} % over what is kept: {}",
            TOLERANCE * 100.0,
            over.join(", ")
        );
        Ok(())
    }
}
