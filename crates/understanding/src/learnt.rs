//! What the items of an index state of themselves, learnt from them: their properties, and the words by which
//! questions name these and their values. Nothing here knows of any trade.

mod kin;
mod known;
mod learning;
mod own_name;
mod property;
mod unnamed;

use std::collections::HashMap;

use forecourt_vocabulary::{LANGUAGES, QuestionToken, Vocabulary, compared, folded};

pub(crate) use self::own_name::is_of_language;
pub(crate) use self::property::{LearntMeaning, LearntProperty};
pub use self::property::{StatedProperty, StatedValues};
pub use self::unnamed::{UnnamedProperty, name_in_words, unnamed};
use crate::limits::LEARNT_WORDS_MAX;

/// Letters that two forms of a word share, at least, and those by which they may differ at their ends.
const FORM_LETTERS_MIN: usize = 5;
const FORM_ENDING_MAX: usize = 2;

/// Letters of what something is free of that may be in the plural, and the endings of that.
const FREE_LETTERS_MIN: usize = 4;
const FREE_ENDINGS: &[&str] = &["e", "n", "en", "s"];

/// What the items of an index state, and the words for it.
#[derive(Debug, Default)]
pub struct LearntProperties {
    properties: Vec<LearntProperty>,
    /// For each of [`LANGUAGES`], what phrases mean.
    phrases: [HashMap<String, Vec<LearntMeaning>>; LANGUAGES.len()],
    /// Words of the longest phrase.
    longest: usize,
    /// By what words of one family share, the values of one word.
    kin: HashMap<String, LearntMeaning>,
    /// The names and paths of properties that name months.
    calendars: Vec<(String, String)>,
}

impl LearntProperties {
    /// Adds what a phrase of a language may mean.
    fn phrase(&mut self, language: &str, phrase: &str, meaning: LearntMeaning) {
        let Some(at) = LANGUAGES.iter().position(|code| *code == language) else { return };
        let key = compared(phrase, language);
        let words = key.split(' ').count();
        // A letter or a number alone names nothing; "C1" and "A4" do.
        let letters = key.chars().filter(|c| c.is_alphabetic()).count();
        let says = letters > 1 || (letters == 1 && !key.contains(' ') && key.chars().any(char::is_numeric));
        if words > LEARNT_WORDS_MAX || !says {
            return;
        }
        self.longest = self.longest.max(words);
        // "Mit 3 Zimmern": the case that German numbers of things stand in most.
        let dative = (language == "de" && key.ends_with(['r', 'l', 'e'])).then(|| format!("{key}n"));
        for key in std::iter::once(key).chain(dative) {
            let meanings = self.phrases[at].entry(key).or_default();
            if !meanings.contains(&meaning) {
                meanings.push(meaning.clone());
            }
        }
    }

    /// The value that a word is of one family with: "klassisch" means "Klassik".
    pub(crate) fn related(&self, word: &str) -> Option<&LearntMeaning> {
        self.kin.get(&kin::shared(word)?)
    }

    /// The place of the property that says that an item is free of something, in whichever language that is named, and
    /// that at least this `share` of the items state.
    pub(crate) fn free_of(&self, thing: &str, vocabulary: &Vocabulary, share: f64) -> Option<usize> {
        let stated = self.all().filter(|(_, property)| property.stated.share >= share);
        let mut stated = stated.filter_map(|(at, property)| Some((at, property.free_of.as_deref()?))).peekable();
        // Most indexes have none, and this is asked of every word behind "without".
        stated.peek()?;
        let class_of = |words: &str| vocabulary.class_named(words).map(|class| &class.id);
        let (wanted, class, synonyms) = (compared(thing, "en"), class_of(thing), vocabulary.synonyms_of(thing));
        let is = |free_of: &str| {
            let own = compared(free_of, "en");
            let rest = wanted.strip_prefix(own.as_str()).filter(|_| own.chars().count() >= FREE_LETTERS_MIN);
            own == wanted
                // "Parabene", of what is "parabenfrei".
                || rest.is_some_and(|ending| FREE_ENDINGS.contains(&ending))
                || (class.is_some() && class_of(free_of) == class)
                || synonyms.contains(&free_of)
        };
        stated.find(|(_, free_of)| is(free_of)).map(|(at, _)| at)
    }

    /// Whether a word is of the name of a property, in whichever form: "garanti" of a "Garantie".
    pub fn names_word(&self, word: &str) -> bool {
        let word = folded(word);
        let is_form = |other: &str| {
            let shared = other.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
            let longest = other.chars().count().max(word.chars().count());
            other == word || (shared >= FORM_LETTERS_MIN && longest - shared <= FORM_ENDING_MAX)
        };
        let says = |property: &LearntProperty| {
            LANGUAGES
                .iter()
                .any(|code| folded(property.name(code)).split(' ').any(|part| part.len() > 2 && is_form(part)))
                || own_name::own_name(&property.stated.path)
                    .split(' ')
                    .any(|part| part.len() > 2 && is_form(&folded(part)))
        };
        word.chars().count() > 2 && self.properties.iter().any(says)
    }

    /// The paths of properties whose values are texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.properties.iter().filter(|property| matches!(property.stated.values, StatedValues::Texts(_)));
        texts.map(|property| property.stated.path.as_str())
    }

    /// The names and paths of properties that name months, such as a season.
    pub(crate) fn calendars(&self) -> &[(String, String)] {
        &self.calendars
    }

    pub(crate) fn get(&self, at: usize) -> &LearntProperty {
        &self.properties[at]
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &LearntProperty)> {
        self.properties.iter().enumerate()
    }

    /// What the phrases mean that begin at each token, the longest first, each with the token behind it.
    pub(crate) fn meanings(&self, tokens: &[QuestionToken]) -> Vec<Vec<(&LearntMeaning, usize)>> {
        let mut found: Vec<Vec<(&LearntMeaning, usize)>> = vec![Vec::new(); tokens.len()];
        if self.properties.is_empty() {
            return found;
        }
        for (language, phrases) in LANGUAGES.iter().zip(&self.phrases) {
            let words: Vec<String> = tokens.iter().map(|token| compared(&token.word, language)).collect();
            for (at, found) in found.iter_mut().enumerate() {
                let mut key = String::new();
                for (end, word) in words.iter().enumerate().skip(at).take(self.longest) {
                    if word.is_empty() {
                        break;
                    }
                    if !key.is_empty() {
                        key.push(' ');
                    }
                    key.push_str(word);
                    for meaning in phrases.get(&key).into_iter().flatten() {
                        if !found.contains(&(meaning, end + 1)) {
                            found.push((meaning, end + 1));
                        }
                    }
                }
            }
        }
        found.iter_mut().for_each(|found| found.sort_by_key(|(_, end)| std::cmp::Reverse(*end)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::SHARE_MIN;

    #[test]
    fn one_item_that_is_free_of_something_says_nothing_of_the_others() {
        let vocabulary = Vocabulary::shipped();
        let found = |share: f64, thing: &str| {
            let stated = StatedProperty { path: "glutenFree".to_owned(), share, values: StatedValues::Truth };
            LearntProperties::of(vec![stated], &vocabulary).free_of(thing, &vocabulary, SHARE_MIN)
        };
        assert_eq!((found(SHARE_MIN, "gluten"), found(SHARE_MIN, "Gluten")), (Some(0), Some(0)));
        assert_eq!((found(SHARE_MIN - 0.01, "gluten"), found(SHARE_MIN, "nuts")), (None, None));
    }
}
