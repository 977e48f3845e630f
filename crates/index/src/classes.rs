//! Of which classes of the vocabulary an item is, decided when it is indexed and kept among its facts.

use forecourt_vocabulary::{ClassJudge, ItemClasses, TextRole, Vocabulary};
use serde_json::Value;

use crate::limits::{CLASS_TEXTS_MAX, PATH_BYTES_MAX};
use forecourt_loaders::limits::PATH_LEVELS_MAX;

/// Where the ids of an item's classes are kept. No property has such a name: see `facts`.
pub(crate) const CLASS: &str = "\u{1}class";
/// Where the ids of the classes are kept that an item promises not to be of.
pub(crate) const FREE_OF: &str = "\u{1}free";
/// Where the ids of the areas are kept in which an item states what it is made of.
pub(crate) const STATED: &str = "\u{1}stated";

/// Judges one item after the other.
pub(crate) struct Classifier {
    judge: ClassJudge,
}

impl Classifier {
    pub(crate) fn new() -> Self {
        Self { judge: ClassJudge::default() }
    }

    /// Visits what the vocabulary says of an item in this language: path and id.
    pub(crate) fn visit(
        &mut self,
        vocabulary: &Vocabulary,
        item: &Value,
        language: &str,
        mut take: impl FnMut(&'static str, &str),
    ) {
        let ItemClasses { stated, of, free_of } = self.classes(vocabulary, item, language);
        for (path, ids) in [(STATED, stated), (CLASS, of), (FREE_OF, free_of)] {
            ids.iter().for_each(|id| take(path, id));
        }
    }

    /// Of which classes an item is.
    pub(crate) fn classes(&mut self, vocabulary: &Vocabulary, item: &Value, language: &str) -> ItemClasses {
        let mut texts = Vec::new();
        gather(item, &mut String::new(), 0, vocabulary, &mut texts);
        match texts.is_empty() {
            true => ItemClasses::default(),
            false => self.judge.judge(vocabulary, language, &texts),
        }
    }
}

/// The texts of an item that say something of its classes, at most [`CLASS_TEXTS_MAX`].
fn gather<'i>(
    value: &'i Value,
    path: &mut String,
    level: usize,
    vocabulary: &Vocabulary,
    out: &mut Vec<(TextRole, &'i str)>,
) {
    match value {
        Value::String(text) => {
            let role = vocabulary.text_role(path).filter(|_| out.len() < CLASS_TEXTS_MAX);
            out.extend(role.map(|role| (role, text.as_str())));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, path, level, vocabulary, out)),
        Value::Object(fields) if level < PATH_LEVELS_MAX => {
            for (key, value) in fields {
                let before = path.len();
                if before + key.len() + 1 > PATH_BYTES_MAX {
                    continue;
                }
                // The value of a JSON-LD value object belongs to the property that holds it.
                if key != "@value" {
                    if before > 0 {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                gather(value, path, level + 1, vocabulary, out);
                path.truncate(before);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn classes(item: &Value) -> ItemClasses {
        Classifier::new().classes(&Vocabulary::shipped(), item, "en")
    }

    #[test]
    fn a_name_promises_for_its_own_class_only() {
        let cookies = json!({"name": "Peanut Butter Cookies (Egg-Free)",
            "recipeIngredient": ["1 cup peanut butter", "1 cup flour", "2 bananas"]});
        let found = classes(&cookies);
        assert_eq!(found.stated, ["food"]);
        assert!(found.of.contains(&"nuts".to_owned()) && found.of.contains(&"gluten".to_owned()), "{found:?}");
        assert!(found.free_of.contains(&"eggs".to_owned()) && !found.of.contains(&"eggs".to_owned()), "{found:?}");
    }

    #[test]
    fn ingredients_contradict_a_name() {
        let pizza = json!({"name": "Vegetarian Pizza", "recipeIngredient": ["4 hot dogs, sliced", "1 pizza crust"]});
        let found = classes(&pizza);
        assert!(found.of.contains(&"meat".to_owned()) && !found.free_of.contains(&"meat".to_owned()), "{found:?}");
    }

    #[test]
    fn an_item_without_ingredients_states_nothing_but_its_promises() {
        let found = classes(&json!({"@type": "Product", "name": "Gluten-free bread", "description": "With butter."}));
        assert!(found.stated.is_empty() && found.of.is_empty(), "{found:?}");
        assert_eq!(found.free_of.first().map(String::as_str), Some("gluten"));
        let found = classes(&json!({"name": "Bar", "suitableForDiet": ["https://schema.org/VeganDiet"]}));
        assert!(found.free_of.contains(&"eggs".to_owned()), "{found:?}");
    }

    #[test]
    fn texts_are_judged_up_to_the_bound() {
        let item = |before: usize| {
            let mut texts = vec![json!("salt"); before];
            texts.push(json!("1 egg"));
            json!({"name": "Soup", "recipeIngredient": texts})
        };
        let has_eggs = |before| classes(&item(before)).of.contains(&"eggs".to_owned());
        assert!(has_eggs(CLASS_TEXTS_MAX - 2) && !has_eggs(CLASS_TEXTS_MAX));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(name in any::<String>(), ingredient in any::<String>()) {
            classes(&json!({"name": name, "recipeIngredient": [ingredient]}));
        }
    }
}
