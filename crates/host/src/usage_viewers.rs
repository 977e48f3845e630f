//! Who sees what language models used for answers.

use forecourt_core::{AnswerUsage, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
