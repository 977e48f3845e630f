//! What language models use for answers: who sees it, and the record of it in the audit.

use forecourt_core::Task;
use forecourt_core::usage::{AnswerUsage, ModelUsage, UsageSink};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::Request;

/// The kind of an audit record that tells what models used for an answer.
pub const MODEL_USAGE: &str = "model_usage";

/// Who sees what language models used for an agent's answers. The operator always does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsageViewers {
    /// The operator alone.
    Nobody,
    /// Those who proved who they are, for what they asked themselves.
    #[default]
    Owners,
    /// Everybody, for what they may read anyway.
    Everybody,
}

impl UsageViewers {
    /// Whether somebody sees it. `is_owner`: who asked proved who that is.
    pub(crate) fn include(self, is_owner: bool) -> bool {
        match self {
            Self::Nobody => false,
            Self::Owners => is_owner,
            Self::Everybody => true,
        }
    }
}

/// Takes what models used out of a task, for who may not see it.
pub(crate) fn hide(task: &mut Task) {
    if let Some(outcome) = &mut task.outcome {
        outcome.usage = AnswerUsage::default();
    }
}

impl UsageSink for Request {
    fn add(&self, used: ModelUsage) {
        self.used.lock().add(used);
    }

    fn so_far(&self) -> AnswerUsage {
        self.used.lock().clone()
    }
}

/// Writes into the audit what models used. A request is gone when the last who could add to it is, and nothing else
/// knows of an answer that its caller left when it is over.
impl Drop for Request {
    fn drop(&mut self) {
        let used = std::mem::take(self.used.get_mut());
        if !used.is_empty() {
            self.records.note_usage(self, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_sees_nothing_unless_that_was_set() {
        for (viewers, owner, stranger) in [
            (UsageViewers::Nobody, false, false),
            (UsageViewers::default(), true, false),
            (UsageViewers::Everybody, true, true),
        ] {
            assert_eq!((viewers.include(true), viewers.include(false)), (owner, stranger), "{viewers:?}");
        }
    }
}
