//! The shipped vocabulary and the ingredients of the example kitchen: every phrase was judged.

use std::collections::BTreeSet;
use std::path::Path;

use forecourt_vocabulary::Vocabulary;
use serde_json::Value;

/// Every distinct ingredient of the example.
fn ingredients() -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen/content/recipes.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let recipes = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    recipes
        .flat_map(|recipe| recipe["recipeIngredient"].as_array().cloned().unwrap_or_default())
        .filter_map(|ingredient| ingredient.as_str().map(str::to_owned))
        .collect()
}

#[test]
fn every_ingredient_of_the_kitchen_was_judged() {
    let (shipped, all) = (Vocabulary::shipped(), ingredients());
    assert!(all.len() > 16_000, "{}", all.len());
    let unjudged: Vec<String> = all
        .iter()
        .filter_map(|phrase| {
            let unknown = shipped.unknown_words(phrase, "en");
            (!unknown.is_empty()).then(|| format!("{phrase}: {}", unknown.join(", ")))
        })
        .collect();
    let advice = "add each word to a class or to food-neutral.toml";
    assert!(unjudged.is_empty(), "nobody has judged these, {advice}:\n{}", unjudged.join("\n"));
    assert_eq!(shipped.unknown_words("2 cups chopped xyzzy", "en"), ["xyzzy"]);
}

/// Phrases with the classes that a person found in them, of those that the sheet is about.
#[test]
fn judged_phrases_are_of_their_classes() {
    let sheet = include_str!("../data/judged_phrases.tsv");
    let mut lines = sheet.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let about: Vec<&str> = lines.next().unwrap().split('\t').nth(1).unwrap().split(' ').collect();
    let shipped = Vocabulary::shipped();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines {
        let mut columns = line.split('\t');
        let (phrase, expected, language) = (columns.next().unwrap(), columns.next().unwrap(), columns.next());
        let expected: BTreeSet<&str> = expected.split(' ').filter(|id| !id.is_empty()).collect();
        let found = shipped.classes_in(phrase, language.unwrap_or("en"));
        let found: BTreeSet<&str> = found.of.iter().map(String::as_str).filter(|id| about.contains(id)).collect();
        count += 1;
        if found != expected {
            wrong.push(format!("{phrase}: {found:?}, and not {expected:?}"));
        }
    }
    assert!(wrong.is_empty() && count >= 200, "of {count}:\n{}", wrong.join("\n"));
}
