//! The environment of a deployment that is tested: what is not set has a value that opens nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use forecourt::sandbox::STAND_IN;
use forecourt_settings::{Environment, ProcessEnvironment};

/// How variables begin that nothing names, and that are looked for all the same.
const UNNAMED: &str = "OTEL_";

/// The environment of this process, in which every other variable has a stand-in: recorded models need no keys, and a
/// machine that tests should have none.
#[derive(Clone, Default)]
pub(crate) struct StandInEnvironment {
    unset: Arc<Mutex<BTreeSet<String>>>,
}

impl StandInEnvironment {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The variables that were asked for and are not set.
    pub(crate) fn unset(&self) -> Vec<String> {
        self.unset.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Environment for StandInEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        ProcessEnvironment.variable(name).or_else(|| {
            if name.starts_with(UNNAMED) {
                return None;
            }
            self.unset.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
            Some(STAND_IN.to_owned())
        })
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        ProcessEnvironment.names(prefix)
    }
}
