//! Which properties of items say what a question asks for.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::word_class::Unit;

/// What questions ask a quantity of: the tables of `quantities.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// How long it takes to make, in minutes.
    Time,
    /// How long it lasts, in minutes.
    Length,
    /// What it costs.
    Price,
    /// What people think of it.
    Rating,
    /// When it was made or takes place, in days since 1970.
    Date,
    /// For how many people it is.
    People,
    /// Of how many things it is made.
    Parts,
    /// How many calories it has.
    Calories,
    /// How difficult it is.
    Difficulty,
    /// From which age it is meant for, in years.
    Age,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Time,
        Self::Length,
        Self::Price,
        Self::Rating,
        Self::Date,
        Self::People,
        Self::Parts,
        Self::Calories,
        Self::Difficulty,
        Self::Age,
    ];

    /// Its name in the files of vocabulary.
    pub fn id(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Length => "length",
            Self::Price => "price",
            Self::Rating => "rating",
            Self::Date => "date",
            Self::People => "people",
            Self::Parts => "parts",
            Self::Calories => "calories",
            Self::Difficulty => "difficulty",
            Self::Age => "age",
        }
    }
}

/// Properties that say something in words: the keys of `[texts]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextProperties {
    /// Lists of what is in an item, or what it is called.
    pub lists: Vec<String>,
    /// Lists of what an item is made of.
    pub made_of: Vec<String>,
    /// Ways to eat that an item is for.
    pub diets: Vec<String>,
    /// Whether it can be had.
    pub availability: Vec<String>,
    /// Values of that which say yes.
    pub in_stock: Vec<String>,
    /// Values of that which say no.
    pub out_of_stock: Vec<String>,
    /// Its size.
    pub size: Vec<String>,
    /// Its colour.
    pub colour: Vec<String>,
    /// Whether it costs nothing.
    pub free_of_charge: Vec<String>,
}

/// Dot paths of properties by what they say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyTable {
    quantity: BTreeMap<Quantity, QuantityEntry>,
    unit: BTreeMap<Unit, BTreeMap<Quantity, f64>>,
    /// What is said in words.
    pub texts: TextProperties,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuantityEntry {
    /// What it is, for people.
    #[serde(rename = "about")]
    _about: String,
    paths: Vec<String>,
    #[serde(default)]
    low: Vec<String>,
    #[serde(default)]
    high: Vec<String>,
}

static SHIPPED_TABLE: LazyLock<PropertyTable> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/quantities.toml")).unwrap_or_else(|error| panic!("quantities.toml: {error}"))
});

impl PropertyTable {
    /// What comes with the program.
    pub fn shipped() -> &'static Self {
        &SHIPPED_TABLE
    }

    /// The properties that say a quantity, the most telling first.
    pub fn paths(&self, quantity: Quantity) -> &[String] {
        self.quantity.get(&quantity).map_or(&[], |entry| &entry.paths)
    }

    /// Words that say little (`false`) or much of a quantity where it is no number.
    pub fn level(&self, quantity: Quantity, is_high: bool) -> &[String] {
        self.quantity.get(&quantity).map_or(&[], |entry| if is_high { &entry.high } else { &entry.low })
    }

    /// What a unit is of each quantity that it measures.
    pub fn measured(&self, unit: Unit) -> impl Iterator<Item = (Quantity, f64)> + '_ {
        self.unit.get(&unit).into_iter().flatten().map(|(quantity, factor)| (*quantity, *factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_properties_and_units_measure_them() {
        let table = PropertyTable::shipped();
        for quantity in Quantity::ALL {
            assert!(!table.paths(quantity).is_empty(), "{quantity:?}");
        }
        assert_eq!(table.measured(Unit::Hour).collect::<Vec<_>>(), [(Quantity::Time, 60.0), (Quantity::Length, 60.0)]);
        assert_eq!(table.measured(Unit::Kilogram).count(), 0);
    }
}
