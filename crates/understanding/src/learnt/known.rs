//! What a vocabulary calls properties and values, by how items write them: worked out once for all properties of an
//! index.

use std::collections::HashMap;

use forecourt_vocabulary::{ItemProperty, ItemValue, LANGUAGES, ValueArea, Vocabulary, compared};

use super::own_name::own_name;

/// Letters of a name that a longer one ends with.
const ENDING_LETTERS_MIN: usize = 4;

pub(super) struct KnownNames<'v> {
    /// By what the last part of a path says.
    properties: HashMap<String, &'v ItemProperty>,
    values: Vec<KnownValue<'v>>,
    /// Of each country, the words for what comes from it, each with its language.
    origins: Vec<Vec<(&'static str, &'v String)>>,
}

/// A value with names, and how items write it and what fits too.
struct KnownValue<'v> {
    value: &'v ItemValue,
    is: Vec<String>,
    also: Vec<String>,
}

impl<'v> KnownNames<'v> {
    pub(super) fn of(vocabulary: &'v Vocabulary) -> Self {
        let mut properties = HashMap::new();
        let is_named = |property: &&ItemProperty| LANGUAGES.iter().any(|code| !property.names(code).is_empty());
        for property in vocabulary.properties().iter().filter(is_named) {
            for path in &property.paths {
                // The first one counts: words of a deployment go before those of the program.
                properties.entry(own_name(path)).or_insert(property);
            }
        }
        // Sites write in their own language: "Aufzug" is a lift. A name that several have says of none what it is.
        for (name, property) in unambiguous(vocabulary.properties()) {
            properties.entry(name).or_insert(property);
        }
        // "Plazas" are told as "plaza" in the vocabulary.
        for code in LANGUAGES {
            let singular = properties.iter().map(|(name, property)| (compared(name, code), *property));
            for (name, property) in singular.collect::<Vec<_>>() {
                properties.entry(name).or_insert(property);
            }
        }
        let all = |values: &[String]| values.iter().map(|value| plain(value)).collect();
        let known = |value: &'v ItemValue| KnownValue { value, is: all(&value.values), also: all(&value.also) };
        // Codes of countries are words, and those of languages, too: places are read by a rule of their own.
        let values = vocabulary.values().iter().filter(|value| value.area != Some(ValueArea::Country));
        let origins = vocabulary.values().iter().filter(|value| value.area == Some(ValueArea::Country)).map(origin);
        Self { properties, values: values.map(known).collect(), origins: origins.collect() }
    }

    /// The property that is called so.
    pub(super) fn property(&self, own_name: &str) -> Option<&'v ItemProperty> {
        let singular = || LANGUAGES.iter().find_map(|code| self.properties.get(&compared(own_name, code)));
        self.properties.get(own_name).or_else(singular).copied()
    }

    /// The property whose name a longer one ends with: an eventual height is a height, and so is an "Arbeitshöhe".
    pub(super) fn ending(&self, own_name: &str) -> Option<&'v ItemProperty> {
        let starts = own_name.char_indices().skip(1).map(|(at, _)| &own_name[at..]);
        let ends = starts.filter(|end| end.chars().count() >= ENDING_LETTERS_MIN && !end.starts_with(' '));
        ends.into_iter().find_map(|end| self.properties.get(end).copied())
    }

    /// A value of a property as it is, with the other spellings of it that are among those of the property.
    pub(super) fn spellings_among(&self, value: &String, stated: &[String]) -> Vec<String> {
        let own = plain(value);
        let same: Vec<&String> =
            self.values.iter().filter(|known| known.is.contains(&own)).flat_map(|known| &known.is).collect();
        let others = stated.iter().filter(|other| *other != value && same.contains(&&plain(other)));
        std::iter::once(value).chain(others).cloned().collect()
    }

    /// What comes from one country among the values of a property, with what people call it: some items are "Italian", and
    /// others "Italienisch".
    pub(super) fn origins_among(
        &self,
        stated: &[String],
    ) -> impl Iterator<Item = (&[(&'static str, &'v String)], Vec<String>)> {
        self.origins.iter().filter_map(|names| {
            let is = |value: &&String| names.iter().any(|(_, name)| **name == value.to_lowercase());
            let fits: Vec<String> = stated.iter().filter(is).cloned().collect();
            (!fits.is_empty()).then_some((names.as_slice(), fits))
        })
    }

    /// The languages that no value of a property is in: what is asked for in one of them is not there.
    pub(super) fn languages_lacking(&self, stated: &[String]) -> impl Iterator<Item = &'v ItemValue> {
        let stated: Vec<String> = stated.iter().map(|value| plain(value)).collect();
        let is_lacking = move |known: &&KnownValue<'v>| {
            known.value.area == Some(ValueArea::Language) && !known.is.iter().any(|value| stated.contains(value))
        };
        self.values.iter().filter(is_lacking).map(|known| known.value)
    }

    /// The values with names that are among those of a property, each with the ones that fit who asks for it.
    pub(super) fn values_among(
        &self,
        stated: &[String],
        of: Option<&str>,
        is_language: bool,
    ) -> impl Iterator<Item = (&'v ItemValue, Vec<String>)> {
        let stated: Vec<(String, &String)> = stated.iter().map(|value| (plain(value), value)).collect();
        // "De" is German where languages are stated, and no language anywhere else.
        let may_be_language =
            move |known: &&KnownValue<'v>| is_language || known.value.area != Some(ValueArea::Language);
        // Some words say something of one property alone.
        let may_be = move |known: &&KnownValue<'v>| {
            may_be_language(known) && known.value.only_of.as_deref().is_none_or(|only| of == Some(only))
        };
        self.values.iter().filter(move |known| may_be(known)).filter_map(move |known| {
            let of = |wanted: &[String]| -> Vec<String> {
                let fits = stated.iter().filter(|(plain, _)| wanted.iter().any(|wanted| is_a(plain, wanted)));
                fits.map(|(_, value)| (*value).clone()).collect()
            };
            let is = of(&known.is);
            (!is.is_empty()).then(|| (known.value, is.into_iter().chain(of(&known.also)).collect()))
        })
    }
}

/// The words for what comes from a country.
fn origin(country: &ItemValue) -> Vec<(&'static str, &String)> {
    let is_noun = |name: &&String| country.values.iter().any(|value| value.to_lowercase() == **name);
    let all = LANGUAGES.iter().flat_map(|code| country.names(code).iter().map(move |name| (*code, name)));
    all.filter(|(_, name)| !is_noun(name)).collect()
}

/// Letters of a name by which a property of a site's own is known in any language.
const NAME_LETTERS_MIN: usize = 4;

/// The names that properties have in any language, as far as one of them alone has it.
fn unambiguous(properties: &[ItemProperty]) -> impl Iterator<Item = (String, &ItemProperty)> {
    let mut named: HashMap<String, Option<&ItemProperty>> = HashMap::new();
    for property in properties {
        for name in LANGUAGES.iter().flat_map(|code| property.names(code)) {
            let known = named.entry(own_name(name)).or_insert(Some(property));
            if known.is_some_and(|known| known.id != property.id) {
                *known = None;
            }
        }
    }
    let is_long = |name: &String| name.chars().count() >= NAME_LETTERS_MIN;
    named.into_iter().filter_map(move |(name, property)| Some((name, property?))).filter(move |(name, _)| is_long(name))
}

/// Whether a value is another one, or one of its kind: a film-coated tablet is a tablet.
fn is_a(value: &str, wanted: &str) -> bool {
    value.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// A value as it is compared with what the vocabulary says of it.
fn plain(value: &str) -> String {
    compared(&value.replace('_', " "), "en")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_by_how_items_write_them() {
        let vocabulary = Vocabulary::shipped();
        let known = KnownNames::of(&vocabulary);
        let among = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            known.values_among(&values, None, true).map(|(value, fits)| (value.id.clone(), fits)).collect::<Vec<_>>()
        };
        assert_eq!(among(&["full_time", "x"]), [("full-time".to_owned(), vec!["full_time".to_owned()])]);
        let tablets = vec!["coated tablet".to_owned()];
        assert_eq!(among(&["coated tablet", "tabletop"]), [("tablets".to_owned(), tablets)]);
        let women = vec!["female".to_owned(), "unisex".to_owned()];
        assert!(among(&["female", "male", "unisex"]).contains(&("women".to_owned(), women)));
        let spellings = ["en", "english", "de"].map(str::to_owned);
        assert_eq!(known.spellings_among(&spellings[1], &spellings), ["english", "en"]);
        assert_eq!(known.spellings_among(&"x".to_owned(), &spellings), ["x"]);
        assert_eq!(known.property("number of rooms").map(|property| property.id.as_str()), Some("rooms"));
        assert!(known.property("number of dwarfs").is_none());
    }
}
