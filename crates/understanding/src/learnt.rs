//! What the items of an index state of themselves, learnt from them: their properties, and the words by which
//! questions name these and their values. Nothing here knows of any trade.

mod known;
mod unnamed;

use std::collections::HashMap;

use forecourt_core::findings::URL_HOST;
use forecourt_vocabulary::{
    ItemProperty, ItemValue, LANGUAGES, PropertyTable, Quantity, QuestionToken, Vocabulary, compared,
};

use self::known::KnownNames;
pub use self::unnamed::{UnnamedProperty, name_in_words, unnamed};
use crate::distance_name;
use crate::limits::{LEARNT_PROPERTIES_MAX, LEARNT_WORDS_MAX};
use crate::paths::{
    AGES, CALENDAR_MONTH, CAPACITY, EVENT_BEGINS, EVENT_DAYS, EVENT_EVERY, EVENT_SERIES, EVENT_WEEKDAYS, HOURLY_PRICE,
    LAST_DAY, MONTHLY_PRICE, OFFERED, OPENING_TIMES, PLACE_PATHS, PRICE_LEVEL, RANGE_ENDS, SORT_PATHS, WORK_HOURS,
    YEARLY_PAY,
};
use crate::unit::Dimension;

/// A property as items state it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedProperty {
    /// Dot path: `numberOfRooms`, `additionalProperty.Water column.metre`.
    pub path: String,
    /// The part of the items of the types that state it at all, 0 to 1.
    pub share: f64,
    /// What its values are.
    pub values: StatedValues,
}

/// What the values of a property are.
#[derive(Debug, Clone, PartialEq)]
pub enum StatedValues {
    /// Quantities.
    Numbers {
        /// Whether all of them are whole: then "more than 3" begins at 4.
        are_whole: bool,
    },
    /// Yes or no.
    Truth,
    /// A few short texts that many items share, in lower case.
    Texts(Vec<String>),
    /// Sentences that forbid something, allow it or send to somebody who knows.
    Warnings,
}

/// A property with the words for it.
#[derive(Debug)]
pub(crate) struct LearntProperty {
    pub(crate) stated: StatedProperty,
    /// Its name in each of [`LANGUAGES`], for answers.
    names: [String; LANGUAGES.len()],
    /// What its numbers measure, where items say it.
    pub(crate) dimension: Option<Dimension>,
    /// Whether items that state it are not for those who name one of its values: a contraindication.
    pub(crate) rules_out: bool,
    /// Whether who names an amount of it is served by more: what bears 150 kg bears 140 kg.
    pub(crate) more_will_do: bool,
    /// Whether who names an amount of it is served by less: what is warm at −10 degrees is so at −5.
    pub(crate) less_will_do: bool,
    /// Whether only items that have it state it: its values are limits however few do.
    pub(crate) stated_if_so: bool,
    /// Whether it is one of a list of features, of which each item states those that it has.
    pub(crate) is_feature: bool,
    /// The id of the property in the vocabulary, if it has one.
    pub(crate) id: Option<String>,
    /// What it is the distance to: "beach".
    pub(crate) distance_to: Option<String>,
    /// What an item is free of that says yes: "sugar".
    free_of: Option<String>,
}

impl LearntProperty {
    /// Whether items say yes or no of it.
    pub(crate) fn is_truth(&self) -> bool {
        match &self.stated.values {
            StatedValues::Truth => true,
            // Some sites say more than yes: "Cats only".
            StatedValues::Texts(values) => values.iter().any(|value| value == "true"),
            StatedValues::Numbers { .. } | StatedValues::Warnings => false,
        }
    }

    /// Whether items warn in it: "do not use during pregnancy".
    pub(crate) fn is_warning(&self) -> bool {
        self.stated.values == StatedValues::Warnings
    }

    /// What it is called in a language.
    pub(crate) fn name(&self, language: &str) -> &str {
        let at = LANGUAGES.iter().position(|code| *code == language).unwrap_or(0);
        &self.names[at]
    }
}

/// What a phrase of a question may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LearntMeaning {
    /// The property at this place.
    Name(usize),
    /// The last word of the name of the property at this place: "factor" of "sun protection factor".
    ShortName(usize),
    /// The first word of the name of the measured property at this place: "chest" of "chest girth".
    FirstWord(usize),
    /// One of these values of the property at this place.
    Values(usize, Vec<String>),
    /// Ages, in years, and whether an item has to state one.
    Ages(f64, f64),
    /// The least (`false`) or the most of the property at this place.
    End(usize, bool),
    /// Less (`false`) of the property at this place than something else, or more.
    Comparative(usize, bool),
    /// What says no of the property at this place.
    Absent(usize),
}

/// What the items of an index state, and the words for it.
#[derive(Debug, Default)]
pub struct LearntProperties {
    properties: Vec<LearntProperty>,
    /// For each of [`LANGUAGES`], what phrases mean.
    phrases: [HashMap<String, Vec<LearntMeaning>>; LANGUAGES.len()],
    /// Words of the longest phrase.
    longest: usize,
    /// The names and paths of properties that name months.
    calendars: Vec<(String, String)>,
}

/// Bytes of a code of a language, such as `it`.
const LANGUAGE_CODE_BYTES_MAX: usize = 3;
/// How names begin of what says how much something can take.
const MAXIMUM: [&str; 5] = ["maximum", "max", "maximale", "maximal", "máximo"];
/// What the vocabulary calls what a vessel holds.
const VOLUME: &str = "volume";
/// Lists of features: each names what an item has.
const FEATURES: [&str; 2] = ["amenityFeature.", "additionalProperty."];
/// Parts of paths that name no property by themselves.
const BARE_PARTS: &[&str] = &["value", "minvalue", "maxvalue", "name", "id", "type"];
/// Properties that no question limits by their own name: what names an item, and what other rules read.
const UNNAMED: &[&str] = &[
    "unitText",
    "unitCode",
    "priceCurrency",
    "currency",
    "@id",
    "@type",
    "url",
    "image",
    "sku",
    "identifier",
    "position",
    "latitude",
    "longitude",
    CALENDAR_MONTH,
    RANGE_ENDS[0],
    RANGE_ENDS[1],
];

impl LearntProperties {
    /// Learns the words for what items state: names from the vocabulary, else the property's own. Of more than
    /// [`LEARNT_PROPERTIES_MAX`] properties those that most items state.
    pub fn of(mut stated: Vec<StatedProperty>, vocabulary: &Vocabulary) -> Self {
        let calendar = |property: &StatedProperty| {
            let path = property.path.strip_suffix(CALENDAR_MONTH)?.strip_suffix('.')?;
            // The values of all properties together name none.
            let is_own = !BARE_PARTS.contains(&path.rsplit('.').next().unwrap_or(path));
            is_own.then(|| (own_name(path), path.to_owned()))
        };
        let calendars = stated.iter().filter_map(calendar).take(LEARNT_PROPERTIES_MAX).collect();
        stated.retain(|property| is_open(&property.path));
        stated.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.path.cmp(&b.path)));
        stated.truncate(LEARNT_PROPERTIES_MAX);
        let mut learnt = Self { calendars, ..Self::default() };
        let known = KnownNames::of(vocabulary);
        for property in stated {
            learnt.add(property, &known);
        }
        learnt.add_other_names(vocabulary);
        for value in vocabulary.values().iter().filter(|value| value.ages.is_some()) {
            learnt.add_ages(value);
        }
        learnt
    }

    fn add(&mut self, stated: StatedProperty, names: &KnownNames<'_>) {
        let at = self.properties.len();
        let (dimension, path) = match Dimension::of_path(&stated.path) {
            Some((dimension, path)) => (Some(dimension), path),
            None => (None, stated.path.as_str()),
        };
        let (path, unit) = own_unit(path).map_or((path, None), |(path, unit)| (path, Some(unit)));
        let own = own_name(path);
        // A capacity in litres is no number of people.
        let known = match names.property(&own) {
            Some(people) if people.id == CAPACITY && dimension == Some(Dimension::Volume) => names.property(VOLUME),
            known => known,
        };
        let own_names = LANGUAGES.map(|language| {
            let first = known.and_then(|property| property.names(language).first());
            first.unwrap_or(&own).clone()
        });
        self.add_names(at, &own, known);
        let is_feature = FEATURES.iter().any(|list| stated.path.starts_with(list));
        if known.is_none() && is_feature && stated.values == StatedValues::Truth {
            self.add_kind_names(at, &own, names);
        }
        // "At least 600 Wh": a unit that only this site's items have names what it measures.
        if let Some(unit) = unit {
            LANGUAGES.iter().for_each(|code| self.phrase(code, unit, LearntMeaning::Name(at)));
        }
        if matches!(stated.values, StatedValues::Numbers { .. }) {
            self.add_parts_of_name(at, &own, dimension.is_some());
        }
        if let Some(property) = known.or_else(|| names.ending(&own)) {
            self.add_told(at, property, &stated.values);
        }
        if let StatedValues::Texts(values) = &stated.values {
            if known.is_none_or(|property| !property.named_only) {
                self.add_own_values(at, values, names, is_of_language(&stated.path));
            }
            let id = known.map(|property| property.id.as_str());
            self.add_named_values(at, values, names, (id, is_of_language(&stated.path)));
        }
        let free_of = own.strip_suffix(" free").filter(|_| matches!(stated.values, StatedValues::Truth));
        let (free_of, id) = (free_of.map(str::to_owned), known.map(|property| property.id.clone()));
        let rules_out = known.is_some_and(|property| property.rules_out);
        // "Maximum users: 6" is enough for five.
        let is_maximum = MAXIMUM.iter().any(|word| own.split(' ').next() == Some(word));
        let more_will_do = is_maximum || known.is_some_and(|property| property.more_will_do);
        self.properties.push(LearntProperty {
            stated,
            names: own_names,
            dimension,
            rules_out,
            more_will_do,
            less_will_do: known.is_some_and(|property| property.less_will_do),
            stated_if_so: known.is_some_and(|property| property.stated_if_so),
            is_feature,
            id,
            distance_to: distance_name::target(&own).filter(|_| dimension == Some(Dimension::Length)),
            free_of,
        });
    }

    /// What a property is called, here and in the vocabulary.
    fn add_names(&mut self, at: usize, own: &str, known: Option<&ItemProperty>) {
        for code in LANGUAGES {
            for phrase in known.map(|property| property.names(code)).unwrap_or_default() {
                self.phrase(code, phrase, LearntMeaning::Name(at));
            }
            self.phrase(code, own, LearntMeaning::Name(at));
        }
    }

    /// Words of the name of a number by which people call it: what is counted, the last one, and the first one of a measure.
    fn add_parts_of_name(&mut self, at: usize, own: &str, is_measure: bool) {
        let parts = [
            counted(own).map(|word| (word, LearntMeaning::Name(at))),
            last_word(own).map(|word| (word, LearntMeaning::ShortName(at))),
            first_word(own).filter(|_| is_measure).map(|word| (word, LearntMeaning::FirstWord(at))),
        ];
        for (word, meaning) in parts.into_iter().flatten() {
            LANGUAGES.iter().for_each(|code| self.phrase(code, word, meaning.clone()));
        }
    }

    /// What people call the kind of a feature: "piscine privée" is a pool, and "private garden" a garden. Its first word says
    /// it, or its last one.
    fn add_kind_names(&mut self, at: usize, own: &str, names: &KnownNames<'_>) {
        let Some((first, last)) = own.split_once(' ').map(|(first, rest)| (first, rest.rsplit(' ').next())) else {
            return;
        };
        // What is counted is no feature: a bed is none of bed linen.
        let is_counted = |property: &ItemProperty| property.paths.iter().any(|path| path.starts_with("numberOf"));
        let kind = [Some(first), last].into_iter().flatten().find_map(|word| names.property(word));
        for code in LANGUAGES {
            for phrase in kind.filter(|kind| !is_counted(kind)).map_or(&[][..], |kind| kind.names(code)) {
                self.phrase(code, phrase, LearntMeaning::Name(at));
            }
        }
    }

    /// What people say of the numbers of a property, and of what says no of it.
    fn add_told(&mut self, at: usize, property: &ItemProperty, values: &StatedValues) {
        let are_numbers = matches!(values, StatedValues::Numbers { .. });
        for code in LANGUAGES {
            for is_most in [false, true].into_iter().filter(|_| are_numbers) {
                for phrase in property.ends(is_most, code) {
                    self.phrase(code, phrase, LearntMeaning::End(at, is_most));
                }
                for phrase in property.comparatives(is_most, code) {
                    self.phrase(code, phrase, LearntMeaning::Comparative(at, is_most));
                }
            }
            for phrase in property.absent(code).iter().filter(|_| !are_numbers) {
                self.phrase(code, phrase, LearntMeaning::Absent(at));
            }
        }
    }

    /// The values of a property, as items write them: a language for all spellings that items have of it. Codes of
    /// languages are none that people say: "it" and "no" are words.
    fn add_own_values(&mut self, at: usize, values: &[String], names: &KnownNames<'_>, is_language: bool) {
        let is_code = |value: &String| is_language && value.len() <= LANGUAGE_CODE_BYTES_MAX;
        for value in values.iter().filter(|value| !is_code(value)) {
            let same = if is_language { names.spellings_among(value, values) } else { vec![value.clone()] };
            for code in LANGUAGES {
                self.phrase(code, value, LearntMeaning::Values(at, same.clone()));
            }
        }
    }

    /// What people call the values of a property.
    fn add_named_values(
        &mut self,
        at: usize,
        values: &[String],
        names: &KnownNames<'_>,
        (id, is_language): (Option<&str>, bool),
    ) {
        for (known, fits) in names.values_among(values, id, is_language) {
            for (code, phrase) in named(known) {
                self.phrase(code, phrase, LearntMeaning::Values(at, fits.clone()));
            }
        }
        for (origins, fits) in names.origins_among(values).filter(|_| !is_language) {
            for (code, phrase) in origins {
                self.phrase(code, phrase, LearntMeaning::Values(at, fits.clone()));
            }
        }
        for known in names.languages_lacking(values).filter(|_| is_language) {
            for (code, phrase) in named(known) {
                self.phrase(code, phrase, LearntMeaning::Values(at, known.values.clone()));
            }
        }
    }

    /// What people of all languages call properties and values that only the items name: "Anhängerkupplung" is a
    /// `towBar`. They come last, where nothing else has the phrase.
    fn add_other_names(&mut self, vocabulary: &Vocabulary) {
        let mut named: Vec<(&'static str, String, LearntMeaning)> = Vec::new();
        let mut add = |name: &str, meaning: LearntMeaning| {
            let names: Vec<(&str, &str)> = LANGUAGES.iter().flat_map(|code| vocabulary.names_of(name, code)).collect();
            // A phrase that means something else, too, is no name of it: "vino tinto" is red wine before it is a Bordeaux.
            let is_own = |(_, other): &(&str, &str)| *other == name || names.iter().any(|(_, own)| own == other);
            let is_sure = |(code, other): &&(&str, &str)| {
                !other.contains(' ') || vocabulary.names_of(other, code).iter().all(is_own)
            };
            let sure = names.iter().filter(is_sure).map(|(code, other)| (*code, (*other).to_owned(), meaning.clone()));
            named.extend(sure.collect::<Vec<_>>());
        };
        for (at, property) in self.properties.iter().enumerate() {
            match &property.stated.values {
                StatedValues::Texts(values) => {
                    let telling = values.iter().filter(|_| property.id.is_none() || property.is_feature);
                    telling.for_each(|value| add(value, LearntMeaning::Values(at, vec![value.clone()])));
                }
                _ if property.id.is_none() => add(&own_name(&property.stated.path), LearntMeaning::Name(at)),
                _ => {}
            }
        }
        // Known before any is added: several properties may have the same value. What some items call a terrace and others
        // a "Terrasse" is both.
        let is_truth = |meaning: &LearntMeaning| match meaning {
            LearntMeaning::Name(at) => self.properties[*at].is_truth(),
            _ => false,
        };
        let is_new = |(code, phrase, meaning): &(&'static str, String, LearntMeaning)| {
            let language = LANGUAGES.iter().position(|known| known == code).unwrap_or_default();
            let known = self.phrases[language].get(&compared(phrase, code));
            known.is_none_or(|known| is_truth(meaning) && known.iter().all(is_truth))
        };
        named.retain(is_new);
        for (code, phrase, meaning) in named {
            self.phrase(code, &phrase, meaning);
        }
    }

    fn add_ages(&mut self, value: &ItemValue) {
        let Some((from, to)) = value.ages else { return };
        for (code, phrase) in named(value) {
            self.phrase(code, phrase, LearntMeaning::Ages(f64::from(from), f64::from(to)));
        }
    }

    fn phrase(&mut self, language: &str, phrase: &str, meaning: LearntMeaning) {
        let Some(at) = LANGUAGES.iter().position(|code| *code == language) else { return };
        let key = compared(phrase, language);
        let words = key.split(' ').count();
        // A letter or a number alone names nothing.
        if words > LEARNT_WORDS_MAX || key.chars().filter(|c| c.is_alphabetic()).count() < 2 {
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
            compared(free_of, "en") == wanted
                || (class.is_some() && class_of(free_of) == class)
                || synonyms.contains(&free_of)
        };
        stated.find(|(_, free_of)| is(free_of)).map(|(at, _)| at)
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

/// Whether the values of a property are languages.
pub(crate) fn is_of_language(path: &str) -> bool {
    path.to_lowercase().ends_with("language")
}

/// The path of a property of a site's own whose numbers are kept beside a unit that is none of [`Dimension`], and the unit.
fn own_unit(path: &str) -> Option<(&str, &str)> {
    let (property, unit) = path.rsplit_once('.')?;
    let is_own = FEATURES.iter().any(|list| property.strip_prefix(list).is_some_and(|name| !name.contains('.')));
    (is_own && !BARE_PARTS.contains(&unit.to_lowercase().as_str()) && !UNNAMED.contains(&unit))
        .then_some((property, unit))
}

/// The names of a value, each with its language.
fn named(value: &ItemValue) -> impl Iterator<Item = (&'static str, &String)> {
    LANGUAGES.into_iter().flat_map(|code| value.names(code).iter().map(move |name| (code, name)))
}

/// Whether questions limit a property by its own words: not what other rules read with rules of their own.
fn is_open(path: &str) -> bool {
    let table = PropertyTable::shipped();
    let texts = &table.texts;
    let is_quantity = Quantity::ALL.iter().any(|quantity| table.paths(*quantity).iter().any(|known| known == path));
    let read =
        texts.availability.iter().chain(&texts.size).chain(&texts.made_of).chain(&texts.colour).chain(&texts.diets);
    let is_read = read
        .map(String::as_str)
        .chain(SORT_PATHS.iter().copied())
        .chain(PLACE_PATHS.iter().copied())
        .any(|known| known == path);
    let last = path.rsplit('.').next().unwrap_or(path);
    let is_time =
        path.starts_with(OPENING_TIMES) || [EVENT_WEEKDAYS, EVENT_BEGINS, EVENT_EVERY, EVENT_SERIES].contains(&path);
    let is_offer = YEARLY_PAY.contains(&path)
        || WORK_HOURS.contains(&path)
        || [MONTHLY_PRICE, HOURLY_PRICE, OFFERED].contains(&path);
    let is_derived = is_time
        || is_offer
        || AGES.contains(&path)
        || EVENT_DAYS.contains(&path)
        || [LAST_DAY, URL_HOST, PRICE_LEVEL].contains(&path);
    // For how much of it a price is says nothing of the item.
    let is_reference = path.contains("referenceQuantity");
    let is_name = is_derived || is_reference || last == "name" || UNNAMED.contains(&last) || path.ends_with(".count");
    // The values of all properties of a site's own together: each is known by its name, too.
    let of_all = Dimension::of_path(path).map_or(path, |(_, path)| path);
    let is_of_all =
        FEATURES.iter().any(|list| of_all.strip_prefix(list).is_some_and(|part| BARE_PARTS.contains(&part)));
    !is_quantity && !is_read && !is_name && !is_of_all
}

/// The last word of a name that has several, where it is long enough to say something.
fn last_word(name: &str) -> Option<&str> {
    name.rsplit_once(' ').map(|(_, last)| last).filter(|last| last.chars().count() >= LETTERS_MIN)
}

/// How names begin and end that say how many there are of something.
const NUMBER_OF: &[&str] = &["number of ", "anzahl der ", "anzahl ", "nombre de ", "nombre d'", "número de "];
const COUNT_ENDS: &[&str] = &["anzahl", "zahl"];

/// What a property counts by its name: the "Stufen" of a "Stufenanzahl".
fn counted(name: &str) -> Option<&str> {
    let begun = NUMBER_OF.iter().find_map(|begin| name.strip_prefix(begin));
    let counted = begun.or_else(|| COUNT_ENDS.iter().find_map(|end| name.strip_suffix(end)))?;
    (counted.chars().count() >= LETTERS_MIN).then_some(counted)
}

/// The first word of such a name, unless it only says that a measure is an end.
fn first_word(name: &str) -> Option<&str> {
    let first = name.split_once(' ').map(|(first, _)| first).filter(|first| first.chars().count() >= LETTERS_MIN)?;
    (!MAXIMUM.contains(&first) && first != "minimum").then_some(first)
}

/// Letters of a word that may stand for a whole name.
const LETTERS_MIN: usize = 4;

/// What a property calls itself: the last part of its path that says something, in words.
fn own_name(path: &str) -> String {
    let parts = path.rsplit('.').filter(|part| !BARE_PARTS.contains(&part.to_lowercase().as_str()));
    let part = parts.into_iter().next().unwrap_or(path);
    let mut words = String::new();
    let mut before_is_lower = false;
    for c in part.chars() {
        match c {
            _ if !c.is_alphanumeric() => words.push(' '),
            _ if c.is_uppercase() && before_is_lower => {
                words.push(' ');
                words.extend(c.to_lowercase());
            }
            _ => words.extend(c.to_lowercase()),
        }
        before_is_lower = c.is_lowercase();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::SHARE_MIN;

    #[test]
    fn a_property_is_called_by_the_last_part_that_says_something() {
        for (path, name) in [
            ("numberOfRooms", "number of rooms"),
            ("mileageFromOdometer.value", "mileage from odometer"),
            ("additionalProperty.Water column", "water column"),
            ("additionalProperty.waterColumn", "water column"),
            ("emissionsCO2", "emissions co2"),
            ("value", "value"),
        ] {
            assert_eq!(own_name(path), name, "{path}");
        }
    }

    #[test]
    fn what_other_rules_read_is_not_learnt() {
        for path in [
            "additionalProperty.value",
            "additionalProperty.value.gram",
            "offers.price",
            "totalTime",
            "brand.name",
            "@type",
            "offers.availability",
            "keywords.count",
            "url.host",
            "lastDay",
        ] {
            assert!(!is_open(path), "{path}");
        }
        assert!(is_open("numberOfRooms") && is_open("amenityFeature.Garden"));
    }

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

    #[test]
    fn no_more_properties_are_learnt_than_the_bound() {
        let many = |n: usize| {
            (0..n).map(|at| StatedProperty { path: format!("p{at}"), share: 1.0, values: StatedValues::Truth })
        };
        let count = |n: usize| LearntProperties::of(many(n).collect(), &Vocabulary::shipped()).properties.len();
        assert_eq!(count(LEARNT_PROPERTIES_MAX), LEARNT_PROPERTIES_MAX);
        assert_eq!(count(LEARNT_PROPERTIES_MAX + 1), LEARNT_PROPERTIES_MAX);
    }
}
