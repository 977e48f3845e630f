//! What a caller answers to a question of ours: options by name, by number, several of them or none, and words beside
//! them that narrow the question down as well.

use forecourt_core::{Part, Question, QuestionAnswer};
use forecourt_vocabulary::{ItemPosition, folded};
use serde_json::Value;

use super::elicit::{self, is_any};
use super::filters::{data, in_words};
use super::name_role::is_same;
use super::phrases::{content, is_short, phrases};

/// An answer to a question of ours.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ElicitedAnswer {
    /// The property that was asked about.
    pub(super) field: &'static str,
    /// The options that are chosen, as they are written.
    pub(super) chosen: Vec<String>,
    /// The words that chose no option.
    pub(super) rest: String,
    /// Why nothing could be made of it, as the name of a sentence.
    pub(super) problem: Option<&'static str>,
    /// The whole answer in the caller's words.
    pub(super) words: String,
}

/// Words in front of an option that is not wanted.
const NOT: [&str; 12] =
    ["no", "not", "without", "except", "but", "excluding", "ohne", "kein", "keine", "sans", "pas", "sin"];
/// Letters that may be wrong in a word of so many.
const ERRORS: [(usize, usize); 2] = [(8, 2), (5, 1)];

/// What a turn answers to `question`. `None`: it answers nothing, but asks something of its own.
pub(super) fn read(
    question: &Question,
    text: &str,
    parts: &[Part],
    given: &[QuestionAnswer],
) -> Option<ElicitedAnswer> {
    let field = elicit::asked_about(question)?;
    let mut given = given.to_vec();
    given.extend(in_parts(parts, field));
    let answer = question.answers(text, &given).into_iter().find(|answer| answer.id == field)?;
    let words = in_words(&answer.value)?;
    let by_name = given.iter().any(|given| given.id == field);
    // A long turn, or one that replaces something, is a new question and no answer.
    if !by_name && (!is_short(&words) || phrases().replacement(&words).is_some()) {
        return None;
    }
    let options: Vec<String> = question
        .fields()
        .into_iter()
        .find(|asked| asked.id == field)?
        .options
        .into_iter()
        .map(|option| option.value)
        .collect();
    // `No preference` is offered too and is no value of the property.
    let options: Vec<String> = options.into_iter().filter(|option| !is_any(option)).collect();
    Some(ElicitedAnswer { field, ..of(&options, &words) })
}

/// Answers as data parts of other protocols give them: by the property's name, as one with its id, or in a table.
fn in_parts(parts: &[Part], field: &str) -> Vec<QuestionAnswer> {
    let answer = |value: &Value| QuestionAnswer { id: field.to_owned(), value: value.clone() };
    let read = |part: &Part| {
        let data = data(part)?;
        let named = data.get(field).or_else(|| data.get("answers")?.get(field));
        let with_id = || data.get("value").filter(|_| data.get("id").and_then(Value::as_str) == Some(field));
        let listed = || {
            let all = data.get("answers")?.as_array()?;
            all.iter().find(|one| one["id"] == field)?.get("value")
        };
        named.or_else(with_id).or_else(listed).map(answer)
    };
    parts.iter().filter_map(read).collect()
}

/// The options that an answer chooses, or why it chooses none.
fn of(options: &[String], words: &str) -> ElicitedAnswer {
    let plain = ElicitedAnswer { words: words.to_owned(), ..ElicitedAnswer::default() };
    if let Some(exact) = options.iter().find(|option| folded(option) == folded(words)) {
        return ElicitedAnswer { chosen: vec![exact.clone()], ..plain };
    }
    if is_any(words) {
        return plain;
    }
    if phrases().is_both(words) {
        return match options {
            [_, _] => ElicitedAnswer { chosen: options.to_vec(), ..plain },
            _ => ElicitedAnswer { problem: Some("ambiguous_both"), ..plain },
        };
    }
    if let Some(found) = phrases().item_reference(words, "").filter(|found| !found.is_question) {
        let chosen = match found.position {
            ItemPosition::Nth(number) => number.checked_sub(1).and_then(|at| options.get(at)),
            ItemPosition::Last => options.last(),
            ItemPosition::That => None,
        };
        return match chosen {
            Some(option) => ElicitedAnswer { chosen: vec![option.clone()], ..plain },
            None => ElicitedAnswer { problem: Some("unusable_answer"), ..plain },
        };
    }
    let (chosen, rest) = named(options, words);
    let rest = if content(&rest).is_empty() { String::new() } else { rest };
    let problem = (chosen.is_empty() && rest.is_empty()).then_some("unusable_answer");
    ElicitedAnswer { chosen, rest, problem, ..plain }
}

/// The options that words name, however they are spelled, and what is left of the words.
fn named(options: &[String], words: &str) -> (Vec<String>, String) {
    let mut left: Vec<&str> = words.split_whitespace().collect();
    let mut chosen = Vec::new();
    // Options that are spelled right come first, so that a typing error can't take the word of another option.
    for is_alike in [is_same as fn(&str, &str) -> bool, is_almost] {
        for option in options {
            let wanted: Vec<&str> = option.split_whitespace().collect();
            let at = (0..(left.len() + 1).saturating_sub(wanted.len())).find(|at| {
                let here = &left[*at..*at + wanted.len()];
                here.iter().zip(&wanted).all(|(word, wanted)| is_alike(bare(word), bare(wanted)))
                    && !is_unwanted(&left[..*at])
            });
            if let Some(at) = at.filter(|_| !wanted.is_empty() && !chosen.contains(option)) {
                left.drain(at..at + wanted.len());
                chosen.push(option.clone());
            }
        }
    }
    let joins = |word: &&str| {
        !matches!(bare(word), "and" | "or" | "und" | "oder" | "et" | "ou" | "y" | "o" | "both" | "either" | "")
    };
    let rest: Vec<&str> = if chosen.is_empty() { left } else { left.into_iter().filter(joins).collect() };
    (chosen, rest.join(" "))
}

fn is_unwanted(before: &[&str]) -> bool {
    before.last().is_some_and(|word| NOT.contains(&bare(word).to_lowercase().as_str()))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether a word is another one with a letter or two wrong.
fn is_almost(word: &str, wanted: &str) -> bool {
    let (word, wanted) = (folded(word), folded(wanted));
    let chars = wanted.chars().count();
    let errors = ERRORS.iter().find(|(least, _)| chars >= *least).map_or(0, |(_, errors)| *errors);
    // People seldom mistype the first letter of a word: with another one it is another word.
    errors > 0 && word.chars().next() == wanted.chars().next() && strsim::damerau_levenshtein(&word, &wanted) <= errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question() -> Question {
        let options = json!(["Dessert", "Main Dish", "Soup", "no preference"]);
        let field =
            json!({"id": "recipeCategory", "text": "Which kind of dish?", "type": "single_select", "options": options});
        Question { text: "Which kind of dish?".to_owned(), questions: vec![field] }
    }

    fn answer(text: &str) -> ElicitedAnswer {
        read(&question(), text, &[], &[]).unwrap_or_else(|| panic!("`{text}` answers nothing"))
    }

    #[test]
    fn options_are_chosen_by_name_number_and_almost() {
        for (text, chosen) in [
            ("soup", &["Soup"][..]),
            ("Soups please!", &["Soup"]),
            ("a main dish", &["Main Dish"]),
            ("desert", &["Dessert"]),
            ("2", &["Main Dish"]),
            ("the second one", &["Main Dish"]),
            ("the last one", &["Soup"]),
            ("soup or dessert", &["Dessert", "Soup"]),
            ("recipeCategory: soup", &["Soup"]),
            ("no preference", &[]),
            ("egal", &[]),
            ("I don't care", &[]),
        ] {
            let answer = answer(text);
            let expected: Vec<String> = chosen.iter().map(|option| (*option).to_owned()).collect();
            assert_eq!((answer.chosen, answer.rest.as_str(), answer.problem), (expected, "", None), "{text}");
        }
    }

    #[test]
    fn words_beside_options_are_kept() {
        let kept = |text: &str| (answer(text).chosen, answer(text).rest);
        assert_eq!(kept("I would like pasta please"), (vec![], "I would like pasta please".to_owned()));
        assert_eq!(kept("a soup with chicken"), (vec!["Soup".to_owned()], "a with chicken".to_owned()));
        assert_eq!(kept("no soup"), (vec![], "no soup".to_owned()));
    }

    #[test]
    fn what_says_nothing_is_said() {
        for (text, problem) in [("both", "ambiguous_both"), ("9", "unusable_answer"), ("please", "unusable_answer")] {
            assert_eq!(answer(text).problem, Some(problem), "{text}");
        }
    }

    #[test]
    fn s4_1_3_data_parts_of_every_shape_answer() {
        for data in [
            json!({"recipeCategory": "Soup"}),
            json!({"id": "recipeCategory", "value": "soup"}),
            json!({"answers": {"recipeCategory": ["Soup"]}}),
            json!({"answers": [{"id": "recipeCategory", "value": "Soup"}]}),
        ] {
            let answer = read(&question(), "", &[Part::data(data.clone())], &[]).unwrap_or_else(|| panic!("{data}"));
            assert_eq!(answer.chosen, ["Soup"], "{data}");
        }
        assert_eq!(read(&question(), "", &[Part::data(json!({"other": 1}))], &[]), None);
    }

    #[test]
    fn a_question_of_its_own_answers_nothing() {
        for text in [
            "no, show me bread instead",
            "What would you cook on a cold evening when guests with many wishes come over?",
        ] {
            assert_eq!(read(&question(), text, &[], &[]), None, "{text}");
        }
    }
}
