//! What items state a distance to.

use forecourt_vocabulary::{LANGUAGES, compared};

use crate::learnt::LearntProperty;
use crate::scope::ReadingAids;

/// Whether items state how far it is to what a word names.
pub(crate) fn is_stated(word: &str, aids: ReadingAids<'_>) -> bool {
    !stated(word, aids).is_empty()
}

/// The properties that state how far it is to what a word or two name, in whichever language.
pub(crate) fn stated<'a>(word: &str, aids: ReadingAids<'a>) -> Vec<&'a LearntProperty> {
    let mut distances =
        aids.learnt.all().filter_map(|(_, property)| Some((property, property.distance_to.as_deref()?))).peekable();
    // Most indexes have none, and this is asked of every word.
    if distances.peek().is_none() {
        return Vec::new();
    }
    let synonyms = aids.vocabulary.synonyms_of(word);
    let is = |thing: &str| {
        let is_same = |word: &str| LANGUAGES.iter().any(|code| compared(word, code) == compared(thing, code));
        is_same(word) || synonyms.iter().any(|other| is_same(other))
    };
    distances.filter(|(_, to)| is(to) || to.split(' ').any(is)).map(|(property, _)| property).collect()
}
