//! What items state that the vocabulary has no names for.

use forecourt_vocabulary::Vocabulary;

use super::known::KnownNames;
use super::own_name::{is_of_language, is_open, own_name, own_unit};
use super::property::{StatedProperty, StatedValues};
use crate::unit::Dimension;

/// A property whose names, or whose values' names, a vocabulary lacks.
#[derive(Debug, Clone, PartialEq)]
pub struct UnnamedProperty {
    /// The last part of its path, by which a vocabulary knows it.
    pub path: String,
    /// What it calls itself, in words.
    pub name: String,
    /// The part of the items of the types that state it at all, 0 to 1.
    pub share: f64,
    /// Whether it has no name in the vocabulary.
    pub is_unnamed: bool,
    /// Values that have no name there, as items write them, in lower case.
    pub unnamed_values: Vec<String>,
}

/// What a property or a type calls itself, in words: "fill power" for `fillPower`.
pub fn name_in_words(name: &str) -> String {
    own_name(name)
}

/// What of this a vocabulary has no names for: what most items state comes first.
pub fn unnamed(mut stated: Vec<StatedProperty>, vocabulary: &Vocabulary) -> Vec<UnnamedProperty> {
    stated.retain(|property| is_open(&property.path));
    stated.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.path.cmp(&b.path)));
    let known = KnownNames::of(vocabulary);
    let all = stated.into_iter().map(|property| {
        let path = Dimension::of_path(&property.path).map_or(property.path.as_str(), |(_, path)| path);
        let path = own_unit(path).map_or(path, |(path, _)| path);
        let name = own_name(path);
        let named = known.property(&name);
        let unnamed_values = match &property.values {
            StatedValues::Texts(values) if named.is_none_or(|property| !property.named_only) => {
                let is_language = is_of_language(&property.path);
                let id = named.map(|property| property.id.as_str());
                let is_unnamed =
                    |value: &&String| known.values_among(std::slice::from_ref(value), id, is_language).next().is_none();
                values.iter().filter(is_unnamed).cloned().collect()
            }
            _ => Vec::new(),
        };
        let last = path.rsplit('.').find(|part| own_name(part) == name).unwrap_or(path).to_owned();
        UnnamedProperty { path: last, name, share: property.share, is_unnamed: named.is_none(), unnamed_values }
    });
    let mut all: Vec<UnnamedProperty> =
        all.filter(|property| property.is_unnamed || !property.unnamed_values.is_empty()).collect();
    // One property in several measures is one.
    let mut names = std::collections::HashSet::new();
    all.retain(|property| names.insert(property.name.clone()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_vocabulary_names_is_left_out() {
        let stated = |path: &str, share: f64, values| StatedProperty { path: path.to_owned(), share, values };
        let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
        let found = unnamed(
            vec![
                stated("fillPower", 0.5, StatedValues::Numbers { are_whole: true }),
                stated("numberOfRooms", 1.0, StatedValues::Numbers { are_whole: true }),
                stated("additionalProperty.Sole type", 0.9, texts(&["full_time", "grippy"])),
                stated("offers.price", 1.0, StatedValues::Numbers { are_whole: false }),
            ],
            &Vocabulary::shipped(),
        );
        let told: Vec<(&str, &str)> = found.iter().map(|one| (one.path.as_str(), one.name.as_str())).collect();
        assert_eq!(told, [("Sole type", "sole type"), ("fillPower", "fill power")]);
        assert_eq!(found[0].unnamed_values, ["grippy"]);
        assert!(found.iter().all(|one| one.is_unnamed));
    }
}
