//! "Without nuts, vegan, no cilantro" as a filter.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{ClassLimit, Filter, Test};

/// Classes, diets and words that an item must not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exclusion {
    /// Ids of classes of the vocabulary: `nuts`.
    pub classes: Vec<String>,
    /// Ids of diets of the vocabulary: `vegan`.
    pub diets: Vec<String>,
    /// Words that no class knows. Other words for the same thing are left out with them.
    pub words: Vec<String>,
}

impl Exclusion {
    /// What a phrase of a question means when it must not be there: the class that it names, else itself.
    pub fn of(phrase: &str, vocabulary: &Vocabulary) -> Self {
        match vocabulary.class_named(phrase) {
            Some(class) => Self { classes: vec![class.id.clone()], ..Self::default() },
            None => Self { words: vec![phrase.trim().to_lowercase()], ..Self::default() },
        }
    }

    /// The filter, worded in a language. Ids that the vocabulary does not have are passed over.
    pub fn filter(&self, vocabulary: &Vocabulary, language: &str) -> Filter {
        let diets = || self.diets.iter().filter_map(|id| vocabulary.diet(id));
        let classes = self.classes.iter().filter_map(|id| vocabulary.class(id));
        let named: Vec<String> = diets()
            .map(|diet| diet.name(language).to_owned())
            .chain(classes.clone().map(|class| vocabulary.said_without(class.name(language), language)))
            .chain(self.words.iter().map(|word| vocabulary.said_without(word, language)))
            .collect();
        let mut limits: Vec<ClassLimit> = Vec::new();
        let by_diet = diets().flat_map(|diet| &diet.without).filter_map(|id| vocabulary.class(id));
        for class in classes.chain(by_diet) {
            if !limits.iter().any(|limit| limit.class == class.id) {
                limits.push(ClassLimit { class: class.id.clone(), area: class.area.clone() });
            }
        }
        let mut words = Vec::new();
        for word in &self.words {
            // An item that names the same thing otherwise has it all the same.
            let synonyms = vocabulary.synonyms_of(word).into_iter().map(str::to_owned);
            words.extend(std::iter::once(word.clone()).chain(synonyms));
        }
        Filter { fields: Vec::new(), test: Test::Without { classes: limits, words }, words: named.join(", ") }
    }
}
