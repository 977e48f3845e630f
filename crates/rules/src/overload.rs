//! The rule `overload` refuses messages while too many replies are in the making on this host.

use forecourt_core::policy::{Objection, RefusalKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid, rule};

/// Refuses while more than so many replies are in the making.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverloadRule {
    /// Replies in the making on this host, of whose callers wait for them, over which it refuses.
    pub replies_running: usize,
    /// Seconds after which to try again. Default: 5.
    pub retry_after_seconds: Option<u64>,
}

impl OverloadRule {
    /// Over how much it refuses.
    pub(crate) fn summary(&self) -> String {
        format!("over {} replies", self.replies_running)
    }

    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(self.retry_after_seconds.unwrap_or(5)) };
        let mut refusal = words.refusal(kind, "This agent has too much to do now. Try again in a moment.");
        refusal.code = Some("mentionable:overloaded".to_owned());
        refused_unless_valid(&refusal, context.site)?;
        let (most, services) = (self.replies_running, context.services.clone());
        // Without a host nothing is under way.
        Ok(rule(move |_, _| match services.get().is_some_and(|services| services.replies_running() > most) {
            true => Err(Objection::from(refusal.clone())),
            false => Ok(()),
        }))
    }
}
