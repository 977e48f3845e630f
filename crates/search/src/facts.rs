//! What is worth saying about an item in a few words, in schema.org's vocabulary.

use forecourt_index::Hit;
use forecourt_sentences::Sentences;
use serde_json::Value;

use super::fact_data;
use super::phrases::content_words;
use super::values::{at, cut, duration, parts, text_of};

/// Facts of one item.
const FACTS_MAX: usize = 4;
/// Values of one list, such as genres.
const VALUES_MAX: usize = 2;
/// Entries of lists that are shown because the question mentions them.
const MENTIONS_MAX: usize = 3;
/// Bytes from which a word of the question is looked for in lists.
const MENTION_BYTES_MIN: usize = 3;

/// The most telling facts of an item, at most [`FACTS_MAX`].
pub(super) fn facts(say: Sentences, item: &Value) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for source in &fact_data::facts().listed {
        let value = at(item, &source.property).and_then(|value| parts(say, source.form, value, VALUES_MAX));
        let Some(fact) = value.map(|parts| cut(&parts.join(", "))) else { continue };
        if said.len() < FACTS_MAX && !said.contains(&fact) {
            said.push(fact);
        }
    }
    said
}

/// How long the item takes, in words, when it says so.
pub(super) fn time(say: Sentences, item: &Value) -> Option<String> {
    fact_data::facts().times.iter().find_map(|property| duration(say, item.get(property)?.as_str()?))
}

/// A value that satisfies a constraint, as it is best said.
pub(super) fn value(say: Sentences, text: &str) -> String {
    cut(&duration(say, text).unwrap_or_else(|| text.to_owned()))
}

/// Entries of the item's lists that a word of the question occurs in.
pub(super) fn mentions(hit: &Hit, question: &str) -> Vec<String> {
    let words: Vec<String> = content_words(question)
        .filter(|word| word.len() >= MENTION_BYTES_MIN)
        .map(|word| stem(&word.to_lowercase()).to_owned())
        .collect();
    let is_mentioned = |entry: &&str| {
        let entry = entry.to_lowercase();
        entry.split(|c: char| !c.is_alphanumeric()).any(|part| words.iter().any(|word| stem(part) == word))
    };
    let mentioned = &fact_data::facts().mentioned;
    let lists = mentioned.iter().filter_map(|property| hit.item.get(property)?.as_array());
    lists.flatten().filter_map(text_of).filter(is_mentioned).map(cut).take(MENTIONS_MAX).collect()
}

/// The word without the ends that plurals have: `chickpeas`, `tomatoes`, `berries`.
pub(super) fn stem(word: &str) -> &str {
    let ends = ["ies", "oes", "es", "s", "y", "o", "e"];
    let end = ends.iter().find(|end| word.len() > end.len() + 2 && word.ends_with(**end));
    end.map_or(word, |end| &word[..word.len() - end.len()])
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_of_any_shape_are_said() {
        let facts = |item: &Value| facts(Sentences::in_language(SpokenLanguage::English), item);
        let recipe = json!({"totalTime": "PT20M", "recipeCategory": ["Dip", "Snack", "Third"], "recipeYield": "4",
            "author": {"name": "Ann"}, "recipeCuisine": 7});
        assert_eq!(facts(&recipe), ["20 minutes", "Dip, Snack", "serves 4", "Ann"]);
        let movie = json!({"datePublished": "1999-03-31", "genre": "Action", "director": [{"name": "L."}, {"name": "L."}],
            "offers": [{"price": 9.5, "priceCurrency": "EUR"}], "brand": "x"});
        assert_eq!(facts(&movie), ["1999", "Action", "L., L.", "9.5 EUR"]);
        assert_eq!(facts(&json!({"recipeYield": 6, "datePublished": 2001})), ["2001", "serves 6"]);
        assert!(facts(&json!({"totalTime": 5, "offers": [], "startDate": "x", "genre": {}})).is_empty());
        assert!(facts(&json!("text")).is_empty());
        let german = Sentences::in_language(SpokenLanguage::German);
        assert_eq!(super::facts(german, &recipe)[2], "für 4 Personen");
    }

    #[test]
    fn entries_that_the_question_mentions_are_found_in_their_plural_too() {
        let hit = |item: Value| Hit {
            score: 1.0,
            id: String::new(),
            item: item.into(),
            name: String::new(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
            is_pinned: false,
        };
        let hit =
            hit(json!({"recipeIngredient": ["1 can chickpeas", "2 Tomatoes", "salt", "1 pea", "ham"], "actor": [7]}));
        assert_eq!(mentions(&hit, "something with chickpea and tomato"), ["1 can chickpeas", "2 Tomatoes"]);
        assert_eq!(mentions(&hit, "peas with ham"), ["1 pea", "ham"]);
        assert!(mentions(&hit, "champagne or is it").is_empty());
    }
}
