//! Words of questions: numbers, units, comparisons, negations, dates and superlatives of several languages, and
//! the wordings in which limits are said back.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::fold::folded;
use crate::holiday::YearlyDays;
use crate::property::Quantity;
use crate::time_word::{DateWord, DayPart, TimeWord};
use crate::token::{QuestionToken, tokens};
use crate::vocabulary::Vocabulary;
use crate::word_class::{RelativeDate, Unit, WordClass};
use crate::words::LANGUAGES;

/// What the files `data/languages/CODE.toml` say, as a test writes it down ([`crate::shipped`]).
const SHIPPED: &str = include_str!("../data/languages.json");
/// Letters that may follow a word that is written with `*`.
const ENDING_LETTERS_MAX: usize = 3;
/// Letters of a word that may be spelled almost right: shorter ones become others too easily.
const ALMOST_LETTERS_MIN: usize = 6;
/// Words by which a limit is known, whatever stands around them.
const LIMIT_WORDS: &[WordClass] = &[
    WordClass::Without,
    WordClass::AtMost,
    WordClass::LessThan,
    WordClass::AtLeast,
    WordClass::MoreThan,
    WordClass::Between,
    WordClass::Available,
    WordClass::Unavailable,
];
/// The language that has a wording for everything.
const FALLBACK: &str = "en";

/// What a phrase means in a question.
#[derive(Debug, Clone, PartialEq)]
pub enum PhraseMeaning {
    /// A number.
    Number(f64),
    /// A unit.
    Unit(Unit),
    /// An amount of time with its unit, in minutes.
    Minutes(f64),
    /// A month, 1 to 12.
    Month(i8),
    /// A day of the week, 1 (Monday) to 7.
    Weekday(i8),
    /// A date told from today.
    Relative(RelativeDate),
    /// The first year of a decade.
    Decade(i16),
    /// A holiday or a season.
    Yearly(YearlyDays),
    /// A part of a month or a year, or one of its weeks.
    DateWord(DateWord),
    /// Every such day of the week, 1 (Monday) to 7: "on Sundays".
    Every(i8),
    /// A part of every day, and whether it is one only behind a day: "evening" of "Friday evening".
    DayPart(DayPart, bool),
    /// A word beside a time of day.
    Time(TimeWord),
    /// What an amount of money is paid for: an hour up to a year.
    Period(Unit),
    /// A word with a task.
    Word(WordClass),
    /// Little (`false`) or much of a quantity, without a number: "cheap".
    Level(Quantity, bool),
    /// The least (`false`) or the most of a quantity: "cheapest".
    Order(Quantity, bool),
    /// What somebody has who can't have things of a class, by its id.
    Condition(String),
    /// A way to eat, by its id.
    Diet(String),
}

/// Words of questions in all languages.
#[derive(Debug, Clone, Default)]
pub struct QuestionLexicon {
    /// The shipped words, shared by all lexicons: a copy for each index took half a megabyte.
    words: Arc<LanguageWords>,
    /// The names of diets.
    diets: PhrasesByWord,
}

/// Phrases by their first word.
type PhrasesByWord = HashMap<String, Vec<Phrase>>;

/// The words of all languages, as their files say them.
#[derive(Debug, Default)]
struct LanguageWords {
    phrases: PhrasesByWord,
    /// The words by which a limit, an order or a date is known by itself, by their first letter.
    limits: HashMap<char, Vec<String>>,
    /// Endings of words that say that there is none of what stands before, and whether that has to be what a
    /// class is called.
    endings: Vec<(String, bool)>,
    /// Wordings by the code of their language.
    wordings: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Phrase {
    /// Its further words.
    rest: Vec<String>,
    /// Whether its last word may have an ending.
    is_open: bool,
    meaning: PhraseMeaning,
}

/// A file of one language, as it is written.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageFile {
    code: String,
    numbers: BTreeMap<String, f64>,
    units: BTreeMap<Unit, Vec<String>>,
    #[serde(default)]
    spans: BTreeMap<String, f64>,
    dates: DatesEntry,
    #[serde(default)]
    decades: BTreeMap<String, i16>,
    #[serde(default)]
    holidays: BTreeMap<YearlyDays, Vec<String>>,
    date_words: BTreeMap<DateWord, Vec<String>>,
    /// Days of the week that come back, Monday first.
    every: [Vec<String>; 7],
    /// Parts of the day that say it by themselves.
    times: BTreeMap<DayPart, Vec<String>>,
    /// Those that say it only behind a day.
    times_of_days: BTreeMap<DayPart, Vec<String>>,
    time_words: BTreeMap<TimeWord, Vec<String>>,
    periods: BTreeMap<Unit, Vec<String>>,
    words: BTreeMap<WordClass, Vec<String>>,
    level: BTreeMap<Quantity, LevelEntry>,
    order: BTreeMap<Quantity, OrderEntry>,
    #[serde(default)]
    conditions: BTreeMap<String, Vec<String>>,
    endings: EndingsEntry,
    say: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct DatesEntry {
    months: [Vec<String>; 12],
    weekdays: [Vec<String>; 7],
    #[serde(flatten)]
    relative: BTreeMap<RelativeDate, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct EndingsEntry {
    /// Behind a thing: there is none of it.
    free: Vec<String>,
    /// The same, behind what a class is called only: boneless meat is meat.
    less: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct LevelEntry {
    low: Vec<String>,
    high: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct OrderEntry {
    least: Vec<String>,
    greatest: Vec<String>,
}

static SHIPPED_LEXICON: LazyLock<QuestionLexicon> = LazyLock::new(|| {
    let mut words = LanguageWords::default();
    // A test holds it against the files.
    let files: Vec<LanguageFile> = serde_json::from_str(SHIPPED).unwrap_or_else(|error| panic!("languages: {error}"));
    files.into_iter().for_each(|file| words.add(file));
    QuestionLexicon { words: words.into(), diets: PhrasesByWord::new() }
});

impl QuestionLexicon {
    /// The languages that come with the program.
    pub fn shipped() -> &'static Self {
        &SHIPPED_LEXICON
    }

    /// The same with the names of a vocabulary's diets.
    pub fn of(vocabulary: &Vocabulary) -> Self {
        let mut lexicon = SHIPPED_LEXICON.clone();
        for diet in vocabulary.diets() {
            for name in LANGUAGES.iter().flat_map(|code| diet.names(code)) {
                // Adjectives have endings in most languages.
                add_phrase(&mut lexicon.diets, &format!("{name}*"), PhraseMeaning::Diet(diet.id.clone()));
            }
        }
        lexicon
    }
}

impl LanguageWords {
    fn add(&mut self, file: LanguageFile) {
        use PhraseMeaning as Means;
        file.numbers.iter().for_each(|(phrase, number)| self.phrase(phrase, Means::Number(*number)));
        file.spans.iter().for_each(|(phrase, minutes)| self.phrase(phrase, Means::Minutes(*minutes)));
        file.decades.iter().for_each(|(phrase, year)| self.phrase(phrase, Means::Decade(*year)));
        file.holidays.iter().for_each(|(days, phrases)| self.phrases(phrases, &Means::Yearly(*days)));
        file.units.iter().for_each(|(unit, phrases)| self.phrases(phrases, &Means::Unit(*unit)));
        file.words.iter().for_each(|(class, phrases)| self.phrases(phrases, &Means::Word(*class)));
        let DatesEntry { months, weekdays, relative } = file.dates;
        months.iter().zip(1..).for_each(|(names, month)| self.phrases(names, &Means::Month(month)));
        weekdays.iter().zip(1..).for_each(|(names, day)| self.phrases(names, &Means::Weekday(day)));
        relative.iter().for_each(|(date, phrases)| self.phrases(phrases, &Means::Relative(*date)));
        file.date_words.iter().for_each(|(word, phrases)| self.phrases(phrases, &Means::DateWord(*word)));
        file.every.iter().zip(1..).for_each(|(names, day)| self.phrases(names, &Means::Every(day)));
        file.times.iter().for_each(|(part, phrases)| self.phrases(phrases, &Means::DayPart(*part, false)));
        file.times_of_days.iter().for_each(|(part, phrases)| self.phrases(phrases, &Means::DayPart(*part, true)));
        file.time_words.iter().for_each(|(word, phrases)| self.phrases(phrases, &Means::Time(*word)));
        file.periods.iter().for_each(|(unit, phrases)| self.phrases(phrases, &Means::Period(*unit)));
        for (quantity, LevelEntry { low, high }) in &file.level {
            self.phrases(low, &Means::Level(*quantity, false));
            self.phrases(high, &Means::Level(*quantity, true));
        }
        for (quantity, OrderEntry { least, greatest }) in &file.order {
            self.phrases(least, &Means::Order(*quantity, false));
            self.phrases(greatest, &Means::Order(*quantity, true));
        }
        file.conditions.iter().for_each(|(class, phrases)| self.phrases(phrases, &Means::Condition(class.clone())));
        self.endings.extend(file.endings.free.iter().map(|ending| (folded(ending), false)));
        self.endings.extend(file.endings.less.iter().map(|ending| (folded(ending), true)));
        self.wordings.insert(file.code, file.say);
    }

    fn phrases(&mut self, phrases: &[String], meaning: &PhraseMeaning) {
        phrases.iter().for_each(|phrase| self.phrase(phrase, meaning.clone()));
    }

    fn phrase(&mut self, phrase: &str, meaning: PhraseMeaning) {
        let is_limit = is_limit(&meaning);
        let Some(word) = add_phrase(&mut self.phrases, phrase, meaning).filter(|_| is_limit) else { return };
        if let Some(first) = word.chars().next().filter(|_| word.chars().count() >= ALMOST_LETTERS_MIN) {
            let same = self.limits.entry(first).or_default();
            if !same.contains(&word) {
                same.push(word);
            }
        }
    }
}

/// Adds a phrase; gives its word, where it has only one.
fn add_phrase(phrases: &mut PhrasesByWord, phrase: &str, meaning: PhraseMeaning) -> Option<String> {
    let (written, is_open) = phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true));
    let mut words = tokens(written).into_iter().map(|token| token.word);
    let first = words.next()?;
    let phrase = Phrase { rest: words.collect(), is_open, meaning };
    let only = phrase.rest.is_empty().then(|| first.clone());
    let same_start = phrases.entry(first).or_default();
    if !same_start.contains(&phrase) {
        same_start.push(phrase);
    }
    only
}

/// Whether a limit, an order or a date is known by these words alone.
fn is_limit(meaning: &PhraseMeaning) -> bool {
    use PhraseMeaning as Means;
    match meaning {
        Means::Level(..) | Means::Order(..) | Means::Month(_) | Means::Weekday(_) | Means::Relative(_) => true,
        Means::Word(class) => LIMIT_WORDS.contains(class),
        _ => false,
    }
}

impl QuestionLexicon {
    /// What the phrases mean that `tokens` begin with, each with how many of the tokens it takes.
    pub fn meanings<'l>(&'l self, tokens: &[QuestionToken]) -> Vec<(&'l PhraseMeaning, usize)> {
        let Some(first) = tokens.first() else { return Vec::new() };
        let word = first.word.as_str();
        let mut found = Vec::new();
        // The word as it is first, then without its last letters, for phrases that may have an ending.
        for ending in 0..=ENDING_LETTERS_MAX {
            let Some((stem, _)) = without_letters(word, ending) else { break };
            let phrases = [&self.words.phrases, &self.diets].into_iter().filter_map(|phrases| phrases.get(stem));
            let here = phrases.flatten().filter(|phrase| phrase.matches(&tokens[1..], ending));
            found.extend(here.map(|phrase| (&phrase.meaning, 1 + phrase.rest.len())));
        }
        found
    }

    /// The one word of limits, orders and dates that a word is spelled almost like: one letter is wrong, missing, too many
    /// or swapped with its neighbour. The first letter is right: hardly anybody gets that one wrong. `None` for short words,
    /// and where there are several.
    pub fn almost(&self, word: &str) -> Option<&str> {
        let of_first = word.chars().next().and_then(|first| self.words.limits.get(&first));
        let mut near = of_first.into_iter().flatten().filter(|known| is_one_error(known, word));
        let found = near.next().filter(|_| word.chars().count() >= ALMOST_LETTERS_MIN)?;
        near.next().is_none().then_some(found)
    }

    /// What a word says that there is none of: `gluten` of `glutenfrei`, and whether that has to be what a class
    /// is called.
    pub fn free_of<'w>(&self, word: &'w str) -> impl Iterator<Item = (&'w str, bool)> {
        let stems =
            self.words.endings.iter().map(move |(ending, by_name)| (word.strip_suffix(ending.as_str()), *by_name));
        stems.filter_map(|(stem, by_name)| stem.filter(|stem| stem.len() > 1).map(|stem| (stem, by_name)))
    }

    /// A wording in a language, else in English, with each `{}` replaced by the next value. Empty for a key
    /// that English does not have.
    pub fn say(&self, language: &str, key: &str, values: &[&str]) -> String {
        let wording = |code: &str| self.words.wordings.get(code)?.get(key);
        let wording = wording(language).or_else(|| wording(FALLBACK)).map_or("", String::as_str);
        let mut parts = wording.split("{}");
        let mut said = parts.next().unwrap_or_default().to_owned();
        for (at, part) in parts.enumerate() {
            said.push_str(values.get(at).copied().unwrap_or_default());
            said.push_str(part);
        }
        said
    }
}

/// Whether two words with the same first letter differ by one that is wrong, missing or too many, or by two neighbours that
/// are swapped. With an ending it is another word: "tonight's".
fn is_one_error(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (a, b) = (&one[same..], &other[same..]);
    let is_swapped = || a.len() > 1 && b.len() > 1 && (a[0], a[1]) == (b[1], b[0]) && a[2..] == b[2..];
    match (a, b) {
        ([], _) | (_, []) => false,
        ([_, rest @ ..], _) if rest == b => true,
        (_, [_, rest @ ..]) if rest == a => true,
        ([_, rest @ ..], [_, more @ ..]) => rest == more || is_swapped(),
    }
}

/// A word without its last letters, and those. `None` when nothing would be left of it.
fn without_letters(word: &str, letters: usize) -> Option<(&str, &str)> {
    if letters == 0 {
        return Some((word, ""));
    }
    let (at, _) = word.char_indices().rev().nth(letters - 1)?;
    (at > 0).then(|| word.split_at(at))
}

impl Phrase {
    /// Whether the tokens behind the first one are its further words. `ending` letters of the first were cut.
    fn matches(&self, tokens: &[QuestionToken], ending: usize) -> bool {
        if self.rest.is_empty() {
            return ending == 0 || self.is_open;
        }
        if ending > 0 || tokens.len() < self.rest.len() {
            return false;
        }
        let (last, inner) = self.rest.split_last().expect("it has words");
        let is_last = |word: &str| {
            let letters = word.strip_prefix(last.as_str()).map(|ending| ending.chars().count());
            letters.is_some_and(|letters| letters == 0 || (self.is_open && letters <= ENDING_LETTERS_MAX))
        };
        inner.iter().zip(tokens).all(|(word, token)| *word == token.word) && is_last(&tokens[inner.len()].word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, meaning: &PhraseMeaning, length: usize) -> bool {
        QuestionLexicon::shipped().meanings(&tokens(text)).contains(&(meaning, length))
    }

    #[test]
    fn phrases_are_found_in_all_languages_however_they_are_spelled() {
        use PhraseMeaning as Means;
        for (text, meaning, length) in [
            ("doesn’t need", Means::Word(WordClass::AuxiliaryNot), 1),
            ("w/o nuts", Means::Word(WordClass::Without), 3),
            ("HALF AN hour", Means::Number(0.5), 2),
            ("günstiges Hemd", Means::Level(Quantity::Price, false), 1),
            ("plus ancien", Means::Order(Quantity::Date, false), 2),
            ("jusqu’à 20", Means::Word(WordClass::AtMost), 2),
            ("gut bewertetes Hotel", Means::Level(Quantity::Rating, true), 2),
            ("week-ends", Means::Unit(Unit::Week), 1),
        ] {
            assert!(has(text, &meaning, length), "{text}: {:?}", QuestionLexicon::shipped().meanings(&tokens(text)));
        }
        assert!(!has("cheapskate", &Means::Level(Quantity::Price, false), 1));
    }

    #[test]
    fn a_word_of_a_limit_may_be_spelled_almost_right() {
        let lexicon = QuestionLexicon::shipped();
        for (written, meant) in [
            ("witout", "without"),
            ("wihtout", "without"),
            ("cheepest", "cheapest"),
            ("betwen", "between"),
            ("satturday", "saturday"),
            ("billigtse", "billigste"),
        ] {
            assert_eq!(lexicon.almost(written), Some(meant));
        }
        for word in ["without", "uner", "leather", "vithout", "motorcycle", "tonights", "withou", ""] {
            assert_eq!(lexicon.almost(word), None, "{word}");
        }
    }

    #[test]
    fn every_wording_is_there_in_all_languages() {
        let lexicon = QuestionLexicon::shipped();
        let english = &lexicon.words.wordings[FALLBACK];
        for (code, wordings) in &lexicon.words.wordings {
            assert!(wordings.keys().eq(english.keys()), "{code}");
            for (key, wording) in wordings {
                let places = |wording: &str| wording.matches("{}").count();
                assert_eq!(places(wording), places(&english[key]), "{code}: {key}");
            }
        }
        assert_eq!(lexicon.say("fr", "price_between", &["10", "20"]), "de 10 à 20");
        assert_eq!(lexicon.say("xx", "price_most", &["10"]), "at most 10");
        assert_eq!(lexicon.say("en", "unheard of", &["10"]), "");
    }
}
