//! What a vocabulary calls properties and values, by how items write them: worked out once for all properties of an
//! index.

use std::collections::HashMap;

use forecourt_vocabulary::{ItemProperty, ItemValue, LANGUAGES, Vocabulary, compared};

use super::own_name;

pub(super) struct KnownNames<'v> {
    /// By what the last part of a path says.
    properties: HashMap<String, &'v ItemProperty>,
    values: Vec<KnownValue<'v>>,
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
        let all = |values: &[String]| values.iter().map(|value| plain(value)).collect();
        let known = |value: &'v ItemValue| KnownValue { value, is: all(&value.values), also: all(&value.also) };
        Self { properties, values: vocabulary.values().iter().map(known).collect() }
    }

    /// The property that is called so.
    pub(super) fn property(&self, own_name: &str) -> Option<&'v ItemProperty> {
        self.properties.get(own_name).copied()
    }

    /// A value of a property as it is, with the other spellings of it that are among those of the property.
    pub(super) fn spellings_among(&self, value: &String, stated: &[String]) -> Vec<String> {
        let own = plain(value);
        let same: Vec<&String> =
            self.values.iter().filter(|known| known.is.contains(&own)).flat_map(|known| &known.is).collect();
        let others = stated.iter().filter(|other| *other != value && same.contains(&&plain(other)));
        std::iter::once(value).chain(others).cloned().collect()
    }

    /// The values with names that are among those of a property, each with the ones that fit who asks for it.
    pub(super) fn values_among(&self, stated: &[String]) -> impl Iterator<Item = (&'v ItemValue, Vec<String>)> {
        let stated: Vec<(String, &String)> = stated.iter().map(|value| (plain(value), value)).collect();
        self.values.iter().filter_map(move |known| {
            let of = |wanted: &[String]| -> Vec<String> {
                let fits = stated.iter().filter(|(plain, _)| wanted.iter().any(|wanted| is_a(plain, wanted)));
                fits.map(|(_, value)| (*value).clone()).collect()
            };
            let is = of(&known.is);
            (!is.is_empty()).then(|| (known.value, is.into_iter().chain(of(&known.also)).collect()))
        })
    }
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
            known.values_among(&values).map(|(value, fits)| (value.id.clone(), fits)).collect::<Vec<_>>()
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
