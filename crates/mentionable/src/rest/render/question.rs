//! What an agent asks back, on a wire that has no form of its own for questions: words that name every question and
//! what can be chosen, and the questions themselves as data for programs.

use forecourt_core::{Part, Question};
use forecourt_pages::clean;
use serde_json::{Value, json};

use crate::rest::limits::{OPTIONS_SHOWN_MAX, QUESTIONS_SHOWN_MAX};

/// The question in words. Below the agent's own words stands each question that they do not put already, with the
/// id that its answer may be named by and what can be chosen.
pub(crate) fn words(question: &Question) -> String {
    let (text, all) = (&question.text, &question.questions);
    let open = |one: &&Value| all.len() > 1 || !is_put(text, one);
    let lines: Vec<String> = all.iter().take(QUESTIONS_SHOWN_MAX).filter(open).filter_map(line).collect();
    match (text.trim().is_empty(), lines.is_empty()) {
        (_, true) => text.clone(),
        (true, false) => lines.join("\n"),
        (false, false) => format!("{text}\n\n{}", lines.join("\n")),
    }
}

/// The questions for programs, as A2A has them. `None` when there are words alone.
pub(crate) fn data(question: &Question) -> Option<Part> {
    let questions = &question.questions;
    (!questions.is_empty()).then(|| Part::data(json!({"questions": questions})))
}

/// Whether the words of an agent put its only question themselves: its text, and some of what can be chosen.
fn is_put(text: &str, question: &Value) -> bool {
    let options = options(question);
    let named = word(question, "text").is_some_and(|asked| text.contains(asked));
    named && (options.is_empty() || options.iter().any(|option| text.contains(option.as_str())))
}

/// `- Which kind? (`kind`: Pea, Bean)`. `None` for what can't be asked.
fn line(question: &Value) -> Option<String> {
    let id = word(question, "id").or(word(question, "name"));
    let text = word(question, "text").or(word(question, "question")).or(question.as_str()).or(id)?;
    let id = id.filter(|id| *id != text).map(|id| format!("`{}`", clean::line(id).replace('`', "'")));
    let choices = choices(question);
    let aside = match (id, choices) {
        (None, None) => String::new(),
        (Some(one), None) | (None, Some(one)) => format!(" ({one})"),
        (Some(id), Some(choices)) => format!(" ({id}: {choices})"),
    };
    Some(format!("- {}{aside}", clean::line(text)))
}

fn choices(question: &Value) -> Option<String> {
    let listed = options(question).join(", ");
    match word(question, "type").unwrap_or_default() {
        "single_select" if !listed.is_empty() => Some(listed),
        "multi_select" if !listed.is_empty() => Some(format!("any of {listed}")),
        "boolean" => Some("yes or no".to_owned()),
        "number" => Some("a number".to_owned()),
        _ => None,
    }
}

/// What can be chosen, as it is shown.
fn options(question: &Value) -> Vec<String> {
    let all = question["options"].as_array().into_iter().flatten();
    let shown = |option: &Value| match option {
        Value::String(text) => Some(clean::line(text)).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    all.filter_map(shown).take(OPTIONS_SHOWN_MAX).collect()
}

fn word<'a>(question: &'a Value, key: &str) -> Option<&'a str> {
    question.get(key).and_then(Value::as_str).filter(|word| !word.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, questions: Value) -> String {
        words(&Question { text: text.to_owned(), questions: questions.as_array().cloned().unwrap_or_default() })
    }

    #[test]
    fn several_questions_are_named_with_what_can_be_chosen() {
        let questions = json!([
            {"id": "kind", "text": "Which kind?", "type": "single_select", "options": ["Pea", "Bean"]},
            {"id": "with", "text": "With what?", "type": "multi_select", "options": ["Rice", 2]},
            {"id": "minutes", "text": "How long?", "type": "number"},
            {"id": "hot", "text": "Hot?", "type": "boolean"},
            {"id": "name", "text": "Your name?", "type": "free_text"},
            {"type": "number"}, 7,
        ]);
        assert_eq!(
            said("Tell me more.", questions),
            "Tell me more.\n\n- Which kind? (`kind`: Pea, Bean)\n- With what? (`with`: any of Rice, 2)\n\
             - How long? (`minutes`: a number)\n- Hot? (`hot`: yes or no)\n- Your name? (`name`)"
        );
    }

    #[test]
    fn a_question_that_the_words_put_is_not_put_again() {
        let one =
            json!([{"id": "genre", "text": "Which genre?", "type": "single_select", "options": ["Drama", "Noir"]}]);
        let text = "24 films fit. Which genre? For example Drama.";
        assert_eq!(said(text, one.clone()), text);
        assert_eq!(said("Which genre?", one.clone()), "Which genre?\n\n- Which genre? (`genre`: Drama, Noir)");
        assert_eq!(said("", one), "- Which genre? (`genre`: Drama, Noir)");
        assert_eq!(said("Which one?", json!([])), "Which one?");
    }

    #[test]
    fn what_is_shown_is_bounded_and_keeps_its_line() {
        let one = json!({"text": "a\n- b", "type": "single_select", "options": vec!["x\ny"; OPTIONS_SHOWN_MAX + 1]});
        let text = said("", Value::Array(vec![one; QUESTIONS_SHOWN_MAX + 1]));
        assert_eq!(text.lines().count(), QUESTIONS_SHOWN_MAX);
        assert_eq!(text.lines().next().map(|line| line.matches("x y").count()), Some(OPTIONS_SHOWN_MAX));
    }
}
