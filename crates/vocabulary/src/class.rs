//! What a vocabulary has: areas, classes, diets, kinds of things, properties.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Words by the code of their language; of names, the first one is how the thing is said back.
pub(crate) type WordsByLanguage = BTreeMap<String, Vec<String>>;

/// What a group of classes is about, and which properties of an item state it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Area {
    /// The same in all languages: lower case letters, digits and hyphens.
    pub id: String,
    /// Dot paths of the properties that say what an item is made of: `recipeIngredient`. An item without any
    /// of them states nothing in this area.
    pub stated_by: Vec<String>,
    /// Dot paths of properties that name an item: `name`. What they promise is believed, as long as nothing else
    /// contradicts it.
    pub named_by: Vec<String>,
    /// Dot paths of properties that are read beside them: `description`.
    pub also_read: Vec<String>,
    /// Dot paths of properties that name diets: `suitableForDiet`.
    pub promised_by: Vec<String>,
}

/// Things that one word stands for: "nuts".
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Class {
    /// The same in all languages: lower case letters, digits and hyphens.
    pub id: String,
    /// The id of the area that it belongs to.
    pub area: String,
    /// Ids of classes of which every item is of this one too.
    pub includes: Vec<String>,
    /// Ids of classes of which an item that is of all of them is of this one too.
    pub all_of: Vec<String>,
    /// Whether an item that promises to be free of it promises nothing about the classes that it includes:
    /// lactose-free milk is milk.
    pub(crate) is_narrow: bool,
    pub(crate) names: WordsByLanguage,
    pub(crate) members: WordsByLanguage,
    pub(crate) usually: WordsByLanguage,
    pub(crate) exceptions: WordsByLanguage,
}

impl Class {
    /// What the class is called in a language, else in English, else by its id.
    pub fn name(&self, language: &str) -> &str {
        first_name(&self.names, language).unwrap_or(&self.id)
    }

    /// All words for the class in one language.
    pub fn names(&self, language: &str) -> &[String] {
        self.names.get(language).map_or(&[], Vec::as_slice)
    }

    /// The words of items of this class, in one language.
    pub fn members(&self, language: &str) -> &[String] {
        self.members.get(language).map_or(&[], Vec::as_slice)
    }
}

/// A way to eat, and what it leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Diet {
    /// The same in all languages.
    pub id: String,
    /// Ids of the classes that it leaves out.
    pub without: Vec<String>,
    /// Values of `suitableForDiet` that promise as much: `VeganDiet`.
    pub stated_as: Vec<String>,
    /// Words that promise as much where they stand beside a thing: "vegan butter".
    pub(crate) promises: WordsByLanguage,
    pub(crate) names: WordsByLanguage,
}

impl Diet {
    /// What the diet is called in a language, else in English, else by its id.
    pub fn name(&self, language: &str) -> &str {
        first_name(&self.names, language).unwrap_or(&self.id)
    }

    /// All words for the diet in one language.
    pub fn names(&self, language: &str) -> &[String] {
        self.names.get(language).map_or(&[], Vec::as_slice)
    }
}

/// A kind of things, and its types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct ItemKind {
    /// Types of schema.org without their address: `Movie`.
    pub types: Vec<String>,
    pub(crate) names: WordsByLanguage,
}

impl ItemKind {
    /// What the kind is called in a language, else in English, else by its first type.
    pub fn name(&self, language: &str) -> &str {
        first_name(&self.names, language).or(self.types.first().map(String::as_str)).unwrap_or_default()
    }

    /// All words for the kind in one language.
    pub fn names(&self, language: &str) -> &[String] {
        self.names.get(language).map_or(&[], Vec::as_slice)
    }
}

/// Something that items say of themselves, and the properties in which they do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct ItemProperty {
    /// The same in all languages: lower case letters, digits and hyphens.
    pub id: String,
    /// Dot paths of properties, the best first: `totalTime`.
    pub paths: Vec<String>,
    pub(crate) names: WordsByLanguage,
    /// Whether who names one of its values is looking for what does not state it: a contraindication.
    #[serde(default)]
    pub rules_out: bool,
    /// Whether its values are limits only by names that people have for them: what a course asks for beforehand is also
    /// what other courses teach.
    #[serde(default)]
    pub named_only: bool,
    /// Whether who names an amount of it is served by more: what bears 150 kg bears 140 kg.
    #[serde(default)]
    pub more_will_do: bool,
    /// Whether who names an amount of it is served by less: what is warm at −10 degrees is so at −5.
    #[serde(default)]
    pub less_will_do: bool,
    /// Whether only items that have it state it, so that its values are limits however few do: work from home.
    #[serde(default)]
    pub stated_if_so: bool,
    /// Words for having least of it: "lightest".
    #[serde(default)]
    pub(crate) least: WordsByLanguage,
    /// Words for having most of it: "heaviest".
    #[serde(default)]
    pub(crate) most: WordsByLanguage,
    /// Words for having less of it than something else: "lighter".
    #[serde(default)]
    pub(crate) less: WordsByLanguage,
    /// Words for having more of it than something else: "heavier".
    #[serde(default)]
    pub(crate) more: WordsByLanguage,
    /// Words for what says no of it: "unfurnished".
    #[serde(default)]
    pub(crate) absent: WordsByLanguage,
}

impl ItemProperty {
    /// What the property is called in a language, else in English, else by its id.
    pub fn name(&self, language: &str) -> &str {
        first_name(&self.names, language).unwrap_or(&self.id)
    }

    /// All words for the property in one language.
    pub fn names(&self, language: &str) -> &[String] {
        self.names.get(language).map_or(&[], Vec::as_slice)
    }

    /// Words for having least of it, or most, in one language: "lightest".
    pub fn ends(&self, is_most: bool, language: &str) -> &[String] {
        let ends = if is_most { &self.most } else { &self.least };
        ends.get(language).map_or(&[], Vec::as_slice)
    }

    /// Words for having less of it than something else, or more, in one language: "lighter".
    pub fn comparatives(&self, is_more: bool, language: &str) -> &[String] {
        let words = if is_more { &self.more } else { &self.less };
        words.get(language).map_or(&[], Vec::as_slice)
    }

    /// Words for what says no of it, in one language: "unfurnished".
    pub fn absent(&self, language: &str) -> &[String] {
        self.absent.get(language).map_or(&[], Vec::as_slice)
    }
}

/// What people call a value that items state in another way: "full-time" for `FULL_TIME`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct ItemValue {
    /// The same in all languages: lower case letters, digits and hyphens.
    pub id: String,
    /// The value as items state it, in all its spellings.
    pub values: Vec<String>,
    /// Values of the same property that fit too, who asks for this one: what is unisex is for women.
    pub also: Vec<String>,
    /// The ages of those whom the words stand for, in years, both included: what is for women is for no child.
    pub ages: Option<(u8, u8)>,
    /// What it is one of, where questions mean it whether any item states it or not.
    #[serde(default)]
    pub area: Option<ValueArea>,
    /// The id of the only property whose value it is: "no requirements" is said of experience, and of schools.
    #[serde(default)]
    pub only_of: Option<String>,
    pub(crate) names: WordsByLanguage,
}

/// What some values are, of which there are many that no item has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum ValueArea {
    /// A country: what is from Portugal is from nowhere else.
    Country,
    /// A language: what is in Italian is in no other one.
    Language,
}

impl ItemValue {
    /// All words for the value in one language.
    pub fn names(&self, language: &str) -> &[String] {
        self.names.get(language).map_or(&[], Vec::as_slice)
    }
}

fn first_name<'a>(names: &'a WordsByLanguage, language: &str) -> Option<&'a str> {
    [language, "en"].into_iter().find_map(|code| names.get(code)?.first()).map(String::as_str)
}
