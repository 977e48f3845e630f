//! Which words mean a property or its values: those of the vocabulary, and those that items use themselves.

use forecourt_vocabulary::{ItemProperty, ItemValue, LANGUAGES, Vocabulary, compared};

use super::LearntProperties;
use super::kin;
use super::known::KnownNames;
use super::own_name::{
    BARE_PARTS, ENOUGH_FOR, FEATURES, MAXIMUM, bare_name, counted, done, first_words, free_of, is_of_language, is_open,
    last_word, led_tail, own_name, own_unit,
};
use super::property::{LearntMeaning, LearntProperty, StatedProperty, StatedValues};
use crate::distance_name;
use crate::limits::LEARNT_PROPERTIES_MAX;
use crate::paths::{CALENDAR_MONTH, CAPACITY, SEATS};
use crate::unit::Dimension;

/// Bytes of a code of a language, such as `it`.
const LANGUAGE_CODE_BYTES_MAX: usize = 3;
/// Endings of German comparatives in front of nouns.
const AGREEING: [&str; 5] = ["e", "en", "er", "es", "em"];
/// Letters of a property that is an adjective.
const ADJECTIVE_LETTERS_MIN: usize = 5;
/// What the capacity for people is called by items themselves.
const PEOPLE: &str = "capacity";
/// What the vocabulary calls what a vessel holds.
const VOLUME: &str = "volume";

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
        let is_feature = FEATURES.iter().any(|list| stated.path.starts_with(list));
        // "At least 600 Wh": a unit that only this site's items have names what it measures.
        if let Some(unit) = unit {
            LANGUAGES.iter().for_each(|code| self.phrase(code, unit, LearntMeaning::Name(at)));
        }
        self.add_phrases(&stated, &own, dimension.is_some(), names, known);
        let free_of = free_of(&own).filter(|_| matches!(stated.values, StatedValues::Truth));
        let (free_of, id) = (free_of.map(str::to_owned), known.map(|property| property.id.clone()));
        let rules_out = known.is_some_and(|property| property.rules_out);
        // "Maximum users: 6" is enough for five.
        let is_maximum = MAXIMUM.iter().chain(&ENOUGH_FOR).any(|word| own.split(' ').next() == Some(word));
        let is_seats = id.as_deref() == Some(SEATS);
        let more_will_do = is_maximum || is_seats || known.is_some_and(|property| property.more_will_do);
        self.properties.push(LearntProperty {
            stated,
            names: own_names,
            dimension,
            rules_out,
            more_will_do,
            less_will_do: known.is_some_and(|property| property.less_will_do),
            stated_if_so: known.is_some_and(|property| property.stated_if_so),
            is_count: counted(&own).is_some(),
            is_feature,
            id,
            distance_to: distance_name::target(&own).filter(|_| dimension == Some(Dimension::Length)),
            free_of,
        });
    }

    /// The phrases that mean a property, which is the next one, or say something of it.
    fn add_phrases(
        &mut self,
        stated: &StatedProperty,
        own: &str,
        is_measure: bool,
        names: &KnownNames<'_>,
        known: Option<&ItemProperty>,
    ) {
        let at = self.properties.len();
        self.add_names(at, own, known);
        // As many people as seats have a place.
        if known.is_some_and(|property| property.id == SEATS) {
            self.add_names(at, own, names.property(PEOPLE));
        }
        let is_feature = FEATURES.iter().any(|list| stated.path.starts_with(list));
        // "Sans ordonnance" is not what it is without.
        let is_denial = || !Vocabulary::shipped().absent_in(own).is_empty();
        if known.is_none() && is_feature && stated.values == StatedValues::Truth && !is_denial() {
            self.add_kind_names(at, own, names);
        }
        if is_feature && stated.values == StatedValues::Truth && !is_denial() {
            self.add_bare_names(at, own);
        }
        if matches!(stated.values, StatedValues::Numbers { .. }) {
            self.add_parts_of_name(at, own, is_measure);
        }
        if let Some(property) = known.or_else(|| names.ending(own)) {
            self.add_told(at, property, &stated.values);
        }
        if let StatedValues::Texts(values) = &stated.values {
            // What says what is not there says of what: "no experience".
            let is_named_only = known.is_some_and(|property| property.named_only);
            let says_itself = |value: &&String| !is_named_only || !Vocabulary::shipped().absent_in(value).is_empty();
            let own: Vec<String> = values.iter().filter(says_itself).cloned().collect();
            self.add_own_values(at, &own, names, is_of_language(&stated.path));
            let id = known.map(|property| property.id.as_str());
            self.add_named_values(at, values, names, (id, is_of_language(&stated.path)));
        }
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
        ];
        let others = first_words(own).filter(|_| is_measure).map(|word| Some((word, LearntMeaning::FirstWord(at))));
        for (word, meaning) in parts.into_iter().chain(others).flatten() {
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

    /// What people call a yes or a no without the words that only say that it is one: "with a grill", of a grill function,
    /// and what it does: "that mops", of a mopping function. German adjectives in front of nouns, too.
    fn add_bare_names(&mut self, at: usize, own: &str) {
        let bare = bare_name(own);
        for name in bare
            .into_iter()
            .chain(bare.iter().flat_map(|bare| done(bare)).collect::<Vec<_>>().iter().map(String::as_str))
        {
            LANGUAGES.iter().for_each(|code| self.phrase(code, name, LearntMeaning::Name(at)));
        }
        // "Gets on with cats" is asked for by "with cats".
        if let Some(tail) = led_tail(own) {
            LANGUAGES.iter().for_each(|code| self.phrase(code, tail, LearntMeaning::Name(at)));
        }
        let is_adjective = !own.contains(' ') && own.chars().count() >= ADJECTIVE_LETTERS_MIN;
        for ending in AGREEING.iter().filter(|_| is_adjective) {
            self.phrase("de", &format!("{own}{ending}"), LearntMeaning::Name(at));
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
                    // "Größer" is "die größere" in front of a noun.
                    let agreeing = AGREEING.iter().filter(|_| code == "de" && phrase.ends_with("er"));
                    agreeing.for_each(|ending| {
                        self.phrase(code, &format!("{phrase}{ending}"), LearntMeaning::Comparative(at, is_most));
                    });
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
            if let Some(shared) = kin::shared(value).filter(|_| !is_language) {
                self.kin.entry(shared).or_insert_with(|| LearntMeaning::Values(at, same.clone()));
            }
            // "Organic (EU)" is called "organic", too.
            let bare = without_brackets(value);
            for code in LANGUAGES {
                self.phrase(code, value, LearntMeaning::Values(at, same.clone()));
                if bare != value {
                    self.phrase(code, bare, LearntMeaning::Values(at, same.clone()));
                }
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
                    telling.for_each(|value| {
                        add(without_brackets(value), LearntMeaning::Values(at, vec![value.clone()]));
                    });
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
}

/// A value without what stands in brackets behind it.
fn without_brackets(value: &str) -> &str {
    value.split_once(" (").map_or(value, |(before, _)| before.trim())
}

/// The names of a value, each with its language.
fn named(value: &ItemValue) -> impl Iterator<Item = (&'static str, &String)> {
    LANGUAGES.into_iter().flat_map(|code| value.names(code).iter().map(move |name| (code, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
