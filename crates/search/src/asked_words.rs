//! Which property of an item a question asks for, by the words of both: "how loud is it?", "until when can I keep it?".

use forecourt_understanding::name_in_words;
use forecourt_vocabulary::{ItemProperty, LANGUAGES, Vocabulary, folded};

use crate::asked_data::{AskedGroup, asked};
use crate::beside_limits::QUESTIONS;
use crate::fact_words::asks_nothing;
use crate::phrases::phrases;
use crate::stated_fact::StatedFact;
use crate::stated_values::StatedValue;

/// Letters that two forms of a word share, at least, and those by which they may differ at their ends.
const SHARED_MIN: usize = 4;
const ENDING_MAX: usize = 2;
/// Letters of a word that a longer one begins or ends with.
const PART_LETTERS_MIN: usize = 4;

/// What a word of a question is worth: the word of a name itself or one for it, a part of one, one that says little.
const NAMED: usize = 4;
const PART: usize = 3;
const GENERIC: usize = 1;
/// What a property has to have for it to be meant.
pub(crate) const MEANT_MIN: usize = 3;

/// Words that ask how many there are of what stands behind them, folded.
const HOW_MANY: &[&str] = &["how many", "wie viele", "wieviele", "combien de", "combien d", "cuantos", "cuantas"];
/// Words that ask for a person, and for a day, folded.
const WHO: &[&str] = &["who", "wer", "wessen", "qui", "quien", "quienes"];
const WHEN: &[&str] = &["when", "wann", "quand", "cuando"];
/// Words at the beginning of a question of which one asks for those.
const KIND_WORDS_MAX: usize = 2;

/// The kind of value that a question asks for by its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedKind {
    /// "Who teaches it?"
    Person,
    /// "When does it come out?"
    Day,
}

impl AskedKind {
    pub(crate) fn of(question: &str) -> Option<Self> {
        let text = folded(phrases().behind_addition(question));
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.take(KIND_WORDS_MAX).find_map(|word| match word {
            _ if WHO.contains(&word) => Some(Self::Person),
            _ if WHEN.contains(&word) => Some(Self::Day),
            _ => None,
        })
    }
}

/// A question as it is compared with the names of properties.
pub(crate) struct AskedWords<'v> {
    vocabulary: &'v Vocabulary,
    /// Its words, folded; words with a hyphen in one, too.
    words: Vec<String>,
    /// Those of phrases of several words that ask for something.
    within: Vec<String>,
    /// All of it, folded, one space around each word.
    text: String,
    groups: Vec<&'static AskedGroup>,
}

impl<'v> AskedWords<'v> {
    /// Reads a question.
    pub(crate) fn read(question: &str, vocabulary: &'v Vocabulary) -> Self {
        let mut words = Vec::new();
        let mut text = String::from(" ");
        for token in folded(question).replace('’', "'").split_whitespace() {
            let token = token.trim_matches(|c: char| !c.is_alphanumeric());
            let parts: Vec<&str> =
                token.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
            if parts.len() > 1 {
                words.push(parts.concat());
            }
            for part in parts {
                words.push(part.to_owned());
                text.push_str(part);
                text.push(' ');
            }
        }
        words.retain(|word| !phrases().is_filler(word) && !is_question_word(word));
        let says = |phrase: &&'static String| text.contains(&format!(" {} ", spaced(phrase)));
        let said: Vec<(&AskedGroup, Vec<&String>)> =
            asked().asked.iter().map(|group| (group, group.says.iter().filter(says).collect())).collect();
        let phrases = said.iter().flat_map(|(_, phrases)| phrases).filter(|phrase| phrase.contains(' '));
        let within: Vec<String> = phrases.flat_map(|phrase| phrase.split(' ')).map(str::to_owned).collect();
        // "Maximum weight" asks for no weight.
        let is_meant = |phrase: &&String| phrase.contains(' ') || !within.contains(phrase);
        let groups =
            said.into_iter().filter(|(_, phrases)| phrases.iter().any(is_meant)).map(|(group, _)| group).collect();
        Self { vocabulary, words, within, text, groups }
    }

    /// How well a property fits what is asked: 0 where it isn't named, [`MEANT_MIN`] from where it is.
    pub(crate) fn fit(&self, stated: &StatedValue) -> usize {
        self.fit_name(&stated.words) + self.in_unit(stated)
    }

    /// The same of a property by its name alone.
    pub(crate) fn fit_name(&self, name: &str) -> usize {
        let name = folded(name);
        let parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 1).collect();
        let most = |word: &String| if self.within.contains(word) { PART } else { NAMED };
        let best = |word: &String| parts.iter().map(|part| worth(word, part).min(most(word))).max().unwrap_or(0);
        let own: usize = self.words.iter().map(best).sum();
        let is_group = self.groups.iter().any(|group| group.names.iter().any(|wanted| is_called(&name, wanted)));
        own + if is_group || self.known(&name) { NAMED } else { 0 }
    }

    /// Whether the vocabulary has another name for a property that the question says.
    fn known(&self, name: &str) -> bool {
        let is = |property: &&ItemProperty| {
            let paths = property.paths.iter().map(|path| folded(&name_in_words(path)));
            paths.chain(names_of(property)).any(|known| known == name)
        };
        let mut known = self.vocabulary.properties().iter().filter(is);
        known.any(|property| {
            names_of(property).any(|other| other != name && self.text.contains(&format!(" {} ", spaced(&other))))
        })
    }

    /// Whether the question says its unit: "wie viele Jahre", of "25 Jahre". Less than a name, unless it asks for nothing
    /// but how many of them there are.
    fn in_unit(&self, stated: &StatedValue) -> usize {
        let StatedFact::Text(value) = &stated.value else { return 0 };
        let value = folded(value);
        let is_number = value.starts_with(|c: char| c.is_ascii_digit());
        let units = value.split(|c: char| !c.is_alphabetic()).filter(|unit| unit.len() > 2);
        let mut units = units.filter(|_| is_number);
        let Some(unit) = units.find(|unit| self.words.iter().any(|word| is_form(word, unit))) else { return 0 };
        let asks = |asks: &&str| {
            let behind = self.text.split_once(&format!(" {asks} ")).and_then(|(_, behind)| behind.split(' ').next());
            behind.is_some_and(|word| is_form(word, unit))
        };
        if HOW_MANY.iter().any(asks) { MEANT_MIN } else { GENERIC }
    }
}

fn is_question_word(word: &str) -> bool {
    asks_nothing(word) || QUESTIONS.iter().any(|asks| folded(asks) == word)
}

fn names_of(property: &ItemProperty) -> impl Iterator<Item = String> {
    LANGUAGES.iter().flat_map(|code| property.names(code)).map(|name| folded(name))
}

/// A phrase with one space between its words.
fn spaced(phrase: &str) -> String {
    phrase.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a name is this one, has it among its words, or ends with it.
fn is_called(name: &str, wanted: &str) -> bool {
    let name = spaced(name);
    let is_end = || wanted.len() >= PART_LETTERS_MIN && !wanted.contains(' ') && name.ends_with(wanted);
    name == wanted || format!(" {name} ").contains(&format!(" {wanted} ")) || is_end()
}

/// What a word of a question is worth for a word of a name.
fn worth(word: &str, part: &str) -> usize {
    let is_generic = |word: &str| asked().generic.iter().any(|generic| generic == word);
    match () {
        () if is_form(word, part) && (is_generic(word) || is_generic(part)) => GENERIC,
        () if is_form(word, part) => NAMED,
        () if is_part(word, part) || is_part(part, word) => PART,
        () => 0,
    }
}

/// Whether a longer word is made of a shorter one and something: the "Erntezeit" of "ernten".
fn is_part(short: &str, long: &str) -> bool {
    let stem = short.strip_suffix("en").or_else(|| short.strip_suffix('e')).unwrap_or(short);
    let is_long = |stem: &str| stem.chars().count() >= PART_LETTERS_MIN;
    let is_generic = asked().generic.iter().any(|generic| generic == short);
    long.len() > short.len()
        && !is_generic
        && ((is_long(stem) && long.starts_with(stem) && long.len() > stem.len() + ENDING_MAX)
            || (is_long(short) && long.ends_with(short) && long.len() > short.len() + ENDING_MAX))
}

fn is_form(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    one == other || (shared >= SHARED_MIN && longest - shared <= ENDING_MAX)
}
