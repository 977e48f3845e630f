//! Places that are called otherwise in other languages, and what lies in regions.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::fold::folded;

/// How deep regions lie in each other.
const LEVELS_MAX: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceFile {
    place: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// What it is called, in any language.
    names: Vec<String>,
    /// Names of places that lie in it.
    #[serde(default)]
    has: Vec<String>,
}

struct Places {
    all: Vec<Place>,
    /// Of each name, as it is compared, its place in the list.
    named: HashMap<String, usize>,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let file: PlaceFile =
        toml::from_str(include_str!("../data/places.toml")).unwrap_or_else(|error| panic!("places.toml: {error}"));
    let mut named = HashMap::new();
    for (at, place) in file.place.iter().enumerate() {
        for name in &place.names {
            named.entry(plain(name)).or_insert(at);
        }
    }
    Places { all: file.place, named }
});

/// What a place is called that has this name in some language, and what the places are called that lie in it, the place
/// itself first. Empty: no such place is known.
pub fn place_names(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    add(name, &mut found, LEVELS_MAX);
    found
}

fn add(name: &str, found: &mut Vec<&'static str>, levels: usize) {
    let Some(place) = PLACES.named.get(&plain(name)).map(|at| &PLACES.all[*at]).filter(|_| levels > 0) else { return };
    for name in &place.names {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    for part in &place.has {
        if !found.contains(&part.as_str()) {
            found.push(part);
        }
        add(part, found, levels - 1);
    }
}

/// A name as it is compared: without accents, and hyphens are spaces.
fn plain(name: &str) -> String {
    folded(&name.replace('’', "'").replace('-', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_by_its_names_in_any_language_and_by_what_lies_in_it() {
        for (name, first, has) in [
            ("Straßburg", "Strasbourg", "Estrasburgo"),
            ("köln", "Cologne", "Colonia"),
            ("Schottland", "Scotland", "Glasgow"),
            ("Écosse", "Scotland", "Édimbourg"),
            ("Südfrankreich", "South of France", "Antibes"),
            ("côte d’azur", "French Riviera", "Nizza"),
        ] {
            let names = place_names(name);
            assert_eq!(names.first(), Some(&first), "{name}");
            assert!(names.contains(&has), "{name}: {names:?}");
        }
        assert!(place_names("Atlantis").is_empty() && place_names("").is_empty());
    }

    #[test]
    fn no_name_is_that_of_two_places() {
        let mut seen = HashMap::new();
        for (at, place) in PLACES.all.iter().enumerate() {
            for name in &place.names {
                assert_eq!(*seen.entry(plain(name)).or_insert(at), at, "{name}");
            }
        }
    }
}
