//! Whether an item keeps a limit only because it promises to.

use forecourt_understanding::ClassLimit;
use forecourt_vocabulary::{ItemClasses, Vocabulary};
use serde_json::{Value, json};

use crate::classes::Classifier;

/// Where an item says that it is free of something, without stating what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// In its name.
    Name,
    /// Somewhere else: a diet that it is said to suit, a label.
    Source,
}

impl Promise {
    /// The promise by which an item is of none of these classes. `None`: it states what is in it, or promises nothing.
    pub(crate) fn of(vocabulary: &Vocabulary, item: &Value, limits: &[ClassLimit], language: &str) -> Option<Self> {
        let mut classifier = Classifier::new();
        let mut classes = |item: &Value| classifier.classes(vocabulary, item, language);
        let whole = classes(item);
        let is_stated = |limit: &&ClassLimit| !whole.stated.contains(&limit.area);
        let unstated: Vec<&ClassLimit> = limits.iter().filter(is_stated).collect();
        let promises = |found: &ItemClasses| unstated.iter().all(|limit| found.free_of.contains(&limit.class));
        if unstated.is_empty() || !promises(&whole) {
            return None;
        }
        let named = classes(&json!({"name": item.get("name")}));
        Some(if promises(&named) { Self::Name } else { Self::Source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_told_apart_from_what_an_item_states() {
        let vocabulary = Vocabulary::shipped();
        let gluten = [ClassLimit { class: "gluten".to_owned(), area: "food".to_owned() }];
        let of = |item: Value, language: &str| Promise::of(&vocabulary, &item, &gluten, language);
        let cookies = "Gluten-Free Cookies";
        assert_eq!(of(json!({"@type": "Product", "name": cookies}), "en"), Some(Promise::Name));
        assert_eq!(of(json!({"name": "Glutenfreie Kekse"}), "de"), Some(Promise::Name));
        assert_eq!(of(json!({"name": "Biscuits sans gluten"}), "fr"), Some(Promise::Name));
        assert_eq!(of(json!({"name": "Galletas sin gluten"}), "es"), Some(Promise::Name));
        let labelled = json!({"name": "Rice cakes", "suitableForDiet": "https://schema.org/GlutenFreeDiet"});
        assert_eq!(of(labelled, "en"), Some(Promise::Source));
        assert_eq!(of(json!({"name": cookies, "recipeIngredient": ["rice", "sugar"]}), "en"), None);
        assert_eq!(of(json!({"name": "Cookies"}), "en"), None);
    }
}
