//! Who was warned that a form is deprecated, so that nobody is warned twice. AGTP-API 5.10.

use std::collections::HashSet;

use parking_lot::Mutex;

use crate::limits::WARNED_CALLERS_MAX;

/// The callers that were warned: at most [`WARNED_CALLERS_MAX`], and then all of them are forgotten.
/// Callers without a name count as one.
#[derive(Debug, Default)]
pub(super) struct WarnedCallers(Mutex<HashSet<Option<String>>>);

impl WarnedCallers {
    /// Whether a caller was not warned before; from now on it was.
    pub(super) fn is_first(&self, agent_id: Option<&str>) -> bool {
        let mut warned = self.0.lock();
        let agent_id = agent_id.map(str::to_owned);
        if warned.contains(&agent_id) {
            return false;
        }
        if warned.len() >= WARNED_CALLERS_MAX {
            warned.clear();
        }
        warned.insert(agent_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_10_each_caller_is_warned_once() {
        let warned = WarnedCallers::default();
        assert!(warned.is_first(Some("a")) && !warned.is_first(Some("a")));
        assert!(warned.is_first(None) && !warned.is_first(None));
        assert!(warned.is_first(Some("b")));
    }

    #[test]
    fn who_was_warned_is_remembered_within_bounds() {
        let warned = WarnedCallers::default();
        for n in 0..WARNED_CALLERS_MAX {
            assert!(warned.is_first(Some(&n.to_string())));
        }
        assert!(!warned.is_first(Some("0")), "all of them are remembered");
        assert!(warned.is_first(Some("one more")));
        assert_eq!(warned.0.lock().len(), 1, "and then they begin anew");
    }
}
