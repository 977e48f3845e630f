//! All files of vocabulary together.

use std::sync::{Arc, LazyLock};

use crate::class::{Class, Diet};
use crate::file::VocabularyFile;
use crate::fold::folded;

/// The files that come with the program.
const SHIPPED: &[(&str, &str)] = &[("food.toml", include_str!("../data/food.toml"))];

static SHIPPED_VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut vocabulary = Vocabulary::default();
    for (name, text) in SHIPPED {
        let file: VocabularyFile = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        vocabulary.add(file);
    }
    Arc::new(vocabulary)
});

/// What words mean: what came with the program, and what a deployment added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    classes: Vec<Class>,
    diets: Vec<Diet>,
}

impl Vocabulary {
    /// What comes with the program.
    pub fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED_VOCABULARY)
    }

    fn add(&mut self, file: VocabularyFile) {
        self.classes.extend(file.class.into_iter().map(Class::from));
        self.diets.extend(file.diet.into_iter().map(Diet::from));
    }

    /// The class of this id.
    pub fn class(&self, id: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.id == id)
    }

    /// The class that a phrase of any language names.
    pub fn class_named(&self, phrase: &str) -> Option<&Class> {
        let phrase = folded(phrase);
        let is_named =
            |class: &&Class| class.words.values().flat_map(|words| &words.names).any(|name| folded(name) == phrase);
        self.classes.iter().find(is_named)
    }

    /// Whether one class has both words.
    pub fn have_class_in_common(&self, one: &str, other: &str) -> bool {
        let (one, other) = (folded(one), folded(other));
        let has = |class: &Class, word: &str| {
            class.words.values().flat_map(|words| &words.members).any(|m| folded(m) == word)
        };
        self.classes.iter().any(|class| has(class, &one) && has(class, &other))
    }

    /// The diet that a phrase of any language names, in any of the forms that adjectives have.
    pub fn diet_named(&self, phrase: &str) -> Option<&Diet> {
        let phrase = folded(phrase);
        let is =
            |name: &String| phrase == *name || (phrase.starts_with(name.as_str()) && phrase.len() < name.len() + 4);
        let is_named = |diet: &&Diet| diet.names.values().flatten().map(|name| folded(name)).any(|name| is(&name));
        self.diets.iter().find(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_diets_are_named_in_several_languages() {
        let shipped = Vocabulary::shipped();
        for name in ["nuts", "Nüsse", "fruits à coque", "nueces"] {
            assert_eq!(shipped.class_named(name).map(|class| class.id.as_str()), Some("nuts"), "{name}");
        }
        for name in ["vegetarian", "vegetarisches", "végétarienne", "vegetariana"] {
            assert_eq!(shipped.diet_named(name).map(|diet| diet.id.as_str()), Some("vegetarian"), "{name}");
        }
        assert_eq!(shipped.class("nuts").unwrap().name("de"), "nuss");
        assert!(shipped.class_named("shear").is_none() && shipped.diet_named("vegetable").is_none());
    }

    #[test]
    fn diets_leave_out_classes_that_exist() {
        let shipped = Vocabulary::shipped();
        for diet in &shipped.diets {
            diet.without.iter().for_each(|class| assert!(shipped.class(class).is_some(), "{}: {class}", diet.id));
        }
    }
}
