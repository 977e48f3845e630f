//! What people call properties and values of schema.org, in the languages of pages: data in `assets/names.json`, each in
//! the order of [`SpokenLanguage::ALL`]. A name that is not in it stays as it is written.

use std::collections::HashMap;
use std::sync::LazyLock;

use forecourt_sentences::SpokenLanguage;
use serde::Deserialize;

use super::kinds::{in_language, word};

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    // A file of this crate, which its tests load.
    serde_json::from_str(include_str!("../../assets/names.json")).expect("assets/names.json is well-formed")
});

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    properties: HashMap<String, [String; 4]>,
    values: HashMap<String, [String; 4]>,
}

/// What a property is called. `None` for one that a site has of its own.
pub(crate) fn property(name: &str, language: SpokenLanguage) -> Option<&'static str> {
    NAMES.properties.get(name).map(|said| in_language(said, language))
}

/// What a value of a vocabulary is called, such as `VeganDiet`. `None` for other text.
pub(crate) fn value(name: &str, language: SpokenLanguage) -> Option<&'static str> {
    NAMES.values.get(name).map(|said| in_language(said, language)).or_else(|| word(name, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_in_every_language() {
        for (name, said) in NAMES.properties.iter().chain(&NAMES.values) {
            assert!(said.iter().all(|said| !said.trim().is_empty()), "{name}");
        }
    }

    #[test]
    fn what_a_site_has_of_its_own_has_no_other_name() {
        assert_eq!(property("totalTime", SpokenLanguage::German), Some("Gesamtzeit"));
        assert_eq!(value("VeganDiet", SpokenLanguage::French), Some("Végane"));
        assert_eq!(value("OTC", SpokenLanguage::German), Some("Rezeptfrei"), "what cards tell is known too");
        for own in ["", "fireResistance", "totaltime", "\u{202e}"] {
            assert_eq!((property(own, SpokenLanguage::English), value(own, SpokenLanguage::English)), (None, None));
        }
    }
}
