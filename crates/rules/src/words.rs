//! What a rule says to people, in the languages that its operator wrote.

use std::collections::BTreeMap;

use forecourt_core::policy::{RefusalKind, Requirement, Translation};
use forecourt_core::{Language, PolicyPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RuleProblem;

/// What every rule may say, whatever its kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RuleWords {
    /// Names the rule in records and in `forecourt check`. Default: its kind. `agent` is no name: records have it
    /// for what an agent itself refused.
    pub name: Option<String>,
    /// A short summary. Default: the one of the refusal's kind.
    pub title: Option<String>,
    /// What a person reads.
    pub message: Option<String>,
    /// Translations by language tag: a message, or `{ title, message }`. Callers get the one that suits the
    /// languages they ask for best.
    pub translations: BTreeMap<String, TranslatedWords>,
    /// A page on this host where a person can act: sign in, or read who forbids it.
    pub url: Option<String>,
    /// What the link to that page is called.
    pub action_label: Option<String>,
}

/// A translation: the message alone, or with its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TranslatedWords {
    /// The message.
    Message(String),
    /// Title and message.
    Both(WordsInLanguage),
}

/// Title and message in another language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsInLanguage {
    /// The short summary.
    pub title: Option<String>,
    /// What a person reads.
    pub message: String,
}

impl RuleWords {
    /// Fails when the name is that of what agents require, or a translation has a key that is no language tag.
    pub(crate) fn check(&self) -> Result<(), RuleProblem> {
        if self.name.as_deref() == Some(Requirement::AGENT) {
            let message = format!("`{}` means what agents require themselves: choose another name", Requirement::AGENT);
            return Err(RuleProblem::of("name", message));
        }
        match self.translations.keys().find(|tag| Language::parse(tag).is_none()) {
            Some(tag) => Err(RuleProblem::of("translations", format!("`{tag}` is not a BCP 47 language tag"))),
            None => Ok(()),
        }
    }

    /// The refusal of `kind` in these words, or in `own` where the operator wrote none.
    pub(crate) fn refusal(&self, kind: RefusalKind, own: &str) -> PolicyPart {
        let mut part = PolicyPart::new(kind, self.message(own));
        part.title.clone_from(&self.title);
        part.message_translations = self.translations();
        part.url.clone_from(&self.url);
        part.action_label.clone_from(&self.action_label);
        part
    }

    pub(crate) fn message(&self, own: &str) -> String {
        self.message.clone().unwrap_or_else(|| own.to_owned())
    }

    pub(crate) fn translations(&self) -> BTreeMap<String, Translation> {
        let translated = |words: &TranslatedWords| match words {
            TranslatedWords::Message(message) => Translation { title: None, message: message.clone() },
            TranslatedWords::Both(both) => Translation { title: both.title.clone(), message: both.message.clone() },
        };
        self.translations.iter().map(|(tag, words)| (tag.clone(), translated(words))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rule_is_called_as_what_agents_require() {
        let named = |name: &str| RuleWords { name: Some(name.to_owned()), ..RuleWords::default() }.check();
        assert_eq!(named("agents"), Ok(()));
        assert_eq!(named("agent").unwrap_err().key, Some("name"));
    }
}
