//! A property that items state, and what words may mean of it.

use forecourt_vocabulary::LANGUAGES;

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
    pub(super) names: [String; LANGUAGES.len()],
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
    /// Whether it says how many there are of something.
    pub(crate) is_count: bool,
    /// Whether it is one of a list of features, of which each item states those that it has.
    pub(crate) is_feature: bool,
    /// The id of the property in the vocabulary, if it has one.
    pub(crate) id: Option<String>,
    /// What it is the distance to: "beach".
    pub(crate) distance_to: Option<String>,
    /// What an item is free of that says yes: "sugar".
    pub(super) free_of: Option<String>,
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
    /// A word of the name of the measured property at this place that is not its last one: "chest" of "chest girth".
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
