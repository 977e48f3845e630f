//! What a question is read with, and what there is to ask about.

use forecourt_core::Language;
use forecourt_vocabulary::{QuestionLexicon, Vocabulary};
use jiff::civil::Date;

use crate::filter::Filter;
use crate::learnt::LearntProperties;
use crate::shelves::Shelves;

/// What a question is read with: an index, the vocabulary, the language of the answer and today's date.
#[derive(Clone, Copy)]
pub struct ReadingAids<'a> {
    /// The index that is asked, as far as questions need to know it.
    pub known: &'a dyn QuestionScope,
    /// The meanings of words in items: classes, diets, synonyms.
    pub vocabulary: &'a Vocabulary,
    /// The meanings of words in questions: units, comparisons, negations.
    pub lexicon: &'a QuestionLexicon,
    /// The language in which limits are said back.
    pub answer_in: &'a Language,
    /// What the items state of themselves.
    pub learnt: &'a LearntProperties,
    /// The day that it is. Without it, "tomorrow" is not understood.
    pub today: Option<Date>,
    /// The minute of that day. Without it, "now" is not understood.
    pub minute: Option<u16>,
}

impl ReadingAids<'_> {
    /// A number in the language of the answer, with two places behind the point at most.
    pub(crate) fn spell(&self, number: f64) -> String {
        let rounded = (number * 100.0).round() / 100.0;
        rounded.to_string().replace('.', &self.lexicon.say(self.answer_in.as_str(), "decimal", &[]))
    }
}

/// What there is to ask about: an index says it of its items. Questions are read by what it answers, so that no
/// limit is understood that nothing could be held against.
pub trait QuestionScope {
    /// Whether some item has a quantity at this path.
    fn has_number(&self, path: &str) -> bool;
    /// Whether some item has this word in the property at this path.
    fn has_word(&self, path: &str, word: &str) -> bool;
    /// Whether some item has exactly this value at this path, apart from case.
    fn has_value(&self, path: &str, value: &str) -> bool;
    /// The part of the items that have this property, 0 to 1, about.
    fn share(&self, path: &str) -> f64;
    /// The quantity at this path that `part` of the items do not exceed, about.
    fn quantile(&self, path: &str, part: f64) -> Option<f64>;
    /// Whether some item has all words of a text and keeps all limits.
    fn finds(&self, text: &str, filters: &[Filter]) -> bool;
    /// Whether some item has this word anywhere, in any form.
    fn has_written(&self, _word: &str) -> bool {
        false
    }
    /// Whether a text may be the name of an item: all its neighbouring words stand together in names.
    fn is_name(&self, text: &str) -> bool;
    /// Whether some item states of which classes of this area of the vocabulary it is.
    fn states(&self, area: &str) -> bool;
    /// Whether some item promises not to be of this class of the vocabulary, by a diet that it suits or in its name.
    fn promises(&self, _class: &str) -> bool {
        false
    }
    /// The shelves that items lie on.
    fn shelves(&self) -> Option<&Shelves> {
        None
    }
    /// The part of the items that keep a limit which state a property, 0 to 1.
    fn share_among(&self, _path: &str, _limit: &Filter) -> f64 {
        0.0
    }
    /// Where something of this name is, as latitude and longitude: a place that items are in, or an item.
    fn position(&self, _name: &str) -> Option<(f64, f64)> {
        None
    }
}
