//! The rule `require_consent` wants a person to agree to a text first. PolicyPart 3.3.4. Whether one did is for the
//! host to know.

use forecourt_core::policy::{ConsentTerms, Demand, Objection, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::CONSENT_TEXT_BYTES_MAX;
use crate::span::Span;
use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, requirement_unless_wrong, rule};

/// What is agreed to. Another text or version is another consent, and is asked for anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsentRule {
    /// What a person agrees to, whole. At most 16 KiB.
    pub text: String,
    /// Which version of it that is.
    pub version: Option<String>,
    /// How long a consent holds: seconds, or a number with a unit such as `30d`. For good when absent.
    pub lifetime: Option<Span>,
    /// More that is agreed to, for programs: any keys but `text` and `version`.
    #[serde(default)]
    pub scope: Map<String, Value>,
}

impl ConsentRule {
    /// Which version, and for how long.
    pub(crate) fn summary(&self) -> String {
        let version = self.version.as_ref().map(|version| format!("version {version}"));
        let lifetime = self.lifetime.map(|span| format!("for {span}"));
        [version, lifetime].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn build(&self, words: &RuleWords, _: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let requirement = self.requirement(words)?;
        requirement_unless_wrong(&requirement, words)?;
        Ok(rule(move |_, _| Err(Objection::from(requirement.clone()))))
    }

    fn requirement(&self, words: &RuleWords) -> Result<Requirement, RuleProblem> {
        if self.text.trim().is_empty() || self.text.len() > CONSENT_TEXT_BYTES_MAX {
            return Err(RuleProblem::of("text", format!("must be 1 to {CONSENT_TEXT_BYTES_MAX} bytes long")));
        }
        let mut scope = self.scope.clone();
        if let Some(key) = ["text", "version"].into_iter().find(|key| scope.contains_key(*key)) {
            return Err(RuleProblem::of("scope", format!("`{key}` stands beside `scope`, not within it")));
        }
        // Text and version are part of the scope whose hash names the consent: a change of either asks anew.
        scope.insert("text".to_owned(), self.text.clone().into());
        if let Some(version) = &self.version {
            scope.insert("version".to_owned(), version.clone().into());
        }
        let lifetime_seconds = self.lifetime.map(Span::seconds);
        Ok(Requirement {
            rule: words.name.clone().unwrap_or_else(|| "require_consent".to_owned()),
            title: words.title.clone(),
            message: words.message(&self.text),
            message_translations: words.translations(),
            demand: Demand::Consent(ConsentTerms { scope, lifetime_seconds }),
        })
    }
}
