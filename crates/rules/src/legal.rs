//! The rule `legal` refuses every message, since a law or a court forbids to answer. RFC 7725.

use forecourt_core::policy::{Objection, RefusalKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid, rule};

/// Refuses everybody. Needs `message`; `url` says who forbids it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegalRule {}

impl LegalRule {
    /// Its message says everything.
    #[expect(clippy::unused_self, reason = "each kind of rule has one")]
    pub(crate) fn summary(&self) -> String {
        String::new()
    }

    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        if words.message.is_none() {
            return Err(RuleProblem::whole("needs `message`: which law, or which court"));
        }
        let refusal = words.refusal(RefusalKind::UnavailableForLegalReasons, "");
        refused_unless_valid(&refusal, context.site)?;
        Ok(rule(move |_, _| Err(Objection::from(refusal.clone()))))
    }
}
