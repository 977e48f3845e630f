//! This module counts the tokens that language models used for an answer, and their cost. It holds no content.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Models that are told apart in one answer. What further ones use is added to the last of them, which is then
/// [`OTHER_MODELS`].
pub(crate) const MODELS_PER_ANSWER_MAX: usize = 8;
/// Characters of the name of a model. The rest is left out.
pub(crate) const MODEL_NAME_CHARS_MAX: usize = 128;
/// The name of the models that found no place of their own.
pub(crate) const OTHER_MODELS: &str = "other";

/// The usage of one model for one answer, all its requests together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The model, as the settings name it: at most [`MODEL_NAME_CHARS_MAX`] characters.
    pub model: String,
    /// How often its provider was asked.
    pub requests: u64,
    /// Tokens that it read.
    pub input_tokens: u64,
    /// Those of them that its provider had in its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Tokens that it wrote, its thoughts included.
    pub output_tokens: u64,
    /// What they cost, in millionths of the unit of money of the prices that are set. `None` where there is no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Whether a provider counted nothing, so that some of it is estimated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
}

impl ModelUsage {
    /// Adds what the same model used besides.
    fn add(&mut self, more: &Self) {
        // The numbers are a provider's text: one that answers `u64::MAX` must not panic or wrap to a small bill.
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.requests, more.requests);
        add(&mut self.input_tokens, more.input_tokens);
        add(&mut self.cached_tokens, more.cached_tokens);
        add(&mut self.output_tokens, more.output_tokens);
        if let Some(micros) = more.cost_micros {
            add(self.cost_micros.get_or_insert_default(), micros);
        }
        self.is_estimated |= more.is_estimated;
    }
}

/// What all models used for one answer: a line each, [`MODELS_PER_ANSWER_MAX`] at most, in the order in which they
/// were asked first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnswerUsage(Vec<ModelUsage>);

impl AnswerUsage {
    /// Adds what a model used.
    pub fn add(&mut self, mut used: ModelUsage) {
        // At a character's border: `truncate` panics inside one.
        if let Some((end, _)) = used.model.char_indices().nth(MODEL_NAME_CHARS_MAX) {
            used.model.truncate(end);
        }
        if let Some(line) = self.0.iter_mut().find(|line| line.model == used.model) {
            return line.add(&used);
        }
        let is_full = self.0.len() >= MODELS_PER_ANSWER_MAX;
        match self.0.last_mut().filter(|_| is_full) {
            Some(last) => {
                OTHER_MODELS.clone_into(&mut last.model);
                last.add(&used);
            }
            None => self.0.push(used),
        }
    }

    /// Adds what was used for another turn of the same work.
    pub fn add_all(&mut self, more: &Self) {
        more.0.iter().cloned().for_each(|used| self.add(used));
    }

    /// A line for each model.
    pub fn models(&self) -> &[ModelUsage] {
        &self.0
    }

    /// Whether no model was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cost of all models together, in millionths. `None` where no model has a price.
    pub fn cost_micros(&self) -> Option<u64> {
        self.0.iter().filter_map(|line| line.cost_micros).reduce(u64::saturating_add)
    }
}

/// Sums the model usage of one answer.
pub trait UsageSink: Send + Sync {
    /// A model used this.
    fn add(&self, used: ModelUsage);

    /// The usage so far.
    fn so_far(&self) -> AnswerUsage;
}

/// A handle to the sum of one answer's usage; without a sink it counts nothing. Clones add to the same sum.
#[derive(Clone, Default)]
pub struct UsageMeter(Option<Arc<dyn UsageSink>>);

impl UsageMeter {
    /// A meter that adds up in `sink`.
    pub fn new(sink: Arc<dyn UsageSink>) -> Self {
        Self(Some(sink))
    }

    /// A model used this.
    pub fn add(&self, used: ModelUsage) {
        if let Some(sink) = &self.0 {
            sink.add(used);
        }
    }

    /// The usage so far; empty without a sink.
    pub fn so_far(&self) -> AnswerUsage {
        self.0.as_ref().map(|sink| sink.so_far()).unwrap_or_default()
    }
}

impl fmt::Debug for UsageMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UsageMeter").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(model: &str, tokens: u64, cost_micros: Option<u64>) -> ModelUsage {
        let model = model.to_owned();
        ModelUsage { model, requests: 1, input_tokens: tokens, output_tokens: 1, cost_micros, ..ModelUsage::default() }
    }

    #[test]
    fn what_a_model_uses_adds_up_and_a_price_that_is_unknown_stays_unknown() {
        let mut usage = AnswerUsage::default();
        assert_eq!(usage.cost_micros(), None);
        usage.add(used("small", 10, None));
        usage.add(used("small", 5, None));
        assert_eq!((usage.models().len(), usage.cost_micros()), (1, None));
        usage.add(used("large", 7, Some(30)));
        usage.add(ModelUsage { is_estimated: true, ..used("large", u64::MAX, Some(12)) });
        let [small, large] = usage.models() else { panic!("{usage:?}") };
        assert_eq!((small.requests, small.input_tokens, small.output_tokens), (2, 15, 2));
        assert_eq!((large.input_tokens, large.cost_micros, large.is_estimated), (u64::MAX, Some(42), true));
        assert_eq!(usage.cost_micros(), Some(42));
        let mut twice = usage.clone();
        twice.add_all(&usage);
        assert_eq!((twice.models().len(), twice.models()[0].requests), (2, 4));
    }

    #[test]
    fn models_and_their_names_are_bounded() {
        let mut usage = AnswerUsage::default();
        for number in 0..MODELS_PER_ANSWER_MAX {
            usage.add(used(&format!("m{number}"), 1, None));
        }
        assert!(usage.models().iter().all(|line| line.model != OTHER_MODELS && line.requests == 1));
        usage.add(used("one more", 1, None));
        usage.add(used("and one", 1, None));
        let last = usage.models().last().unwrap();
        assert_eq!(
            (usage.models().len(), last.model.as_str(), last.requests),
            (MODELS_PER_ANSWER_MAX, OTHER_MODELS, 3)
        );
        let chars = |count: usize| {
            let mut usage = AnswerUsage::default();
            usage.add(used(&"ä".repeat(count), 1, None));
            usage.models()[0].model.chars().count()
        };
        assert_eq!(chars(MODEL_NAME_CHARS_MAX), MODEL_NAME_CHARS_MAX);
        assert_eq!(chars(MODEL_NAME_CHARS_MAX + 1), MODEL_NAME_CHARS_MAX);
    }

    #[test]
    fn a_meter_that_nobody_reads_takes_everything() {
        let meter = UsageMeter::default();
        meter.add(used("small", 1, None));
        assert!(meter.so_far().is_empty());
    }
}
