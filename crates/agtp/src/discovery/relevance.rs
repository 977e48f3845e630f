//! How well an agent fits what is looked for: by the words that both have. Base 3.1.

use std::collections::BTreeSet;

use forecourt_core::AgentCard;
use serde_json::Value;

use crate::limits::CRITERIA_WORDS_MAX;
use crate::words::{is_akin, words};

/// A word in the name of an agent or of a skill.
const IN_NAME: f64 = 1.0;
/// A word in what a skill is said to do.
const IN_SKILL: f64 = 0.8;
/// A word in what the agent says of itself.
const IN_DESCRIPTION: f64 = 0.6;

/// What is looked for: different words, in lower case. None: every agent fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchWords(BTreeSet<String>);

impl SearchWords {
    /// The first [`CRITERIA_WORDS_MAX`] words of all texts in a value.
    pub(super) fn of(criteria: &Value) -> Self {
        let mut texts = Vec::new();
        gather(criteria, &mut texts);
        Self(texts.into_iter().flat_map(words).take(CRITERIA_WORDS_MAX).collect())
    }

    /// From 0, nothing fits, to 1, every word is in a name; in hundredths.
    pub(super) fn relevance(&self, card: &AgentCard) -> f64 {
        if self.0.is_empty() {
            return 1.0;
        }
        let weighted = weighted_words(card);
        let sum: f64 = self.0.iter().map(|word| best(word, &weighted)).sum();
        (sum / self.0.len() as f64 * 100.0).round() / 100.0
    }
}

/// Every word that an agent says of itself, with what it is worth.
fn weighted_words(card: &AgentCard) -> Vec<(String, f64)> {
    let weighted = |text: &str, worth: f64| words(text).map(move |word| (word, worth)).collect::<Vec<_>>();
    let mut all = weighted(card.handle().as_str(), IN_NAME);
    all.extend(weighted(&card.name, IN_NAME));
    all.extend(weighted(&card.description, IN_DESCRIPTION));
    for skill in &card.skills {
        all.extend(weighted(&skill.name, IN_NAME));
        all.extend(skill.tags.iter().flat_map(|tag| weighted(tag, IN_NAME)));
        all.extend(weighted(&skill.description, IN_SKILL));
    }
    all
}

fn best(word: &str, weighted: &[(String, f64)]) -> f64 {
    let worth = |(other, worth): &(String, f64)| match other {
        same if same == word => *worth,
        akin if is_akin(word, akin) => worth / 2.0,
        _ => 0.0,
    };
    weighted.iter().map(worth).fold(0.0, f64::max)
}

fn gather<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
