//! Questions that an agent asks back over REST: put on the terminal one after the other, or named with how to answer
//! them later. The shapes are NLWeb's (4.1.3).

use forecourt_client::ask::AskArguments;
use forecourt_client::form::{AnswerKind, Choice, Field, Form};
use forecourt_client::output::{Failure, stderrln};
use forecourt_client::printable::{line, shell_word};
use forecourt_client::terminal::Terminal;
use serde_json::{Map, Value};

/// Questions that are put; a person would hardly answer more.
const QUESTIONS_MAX: usize = 20;
/// Characters of somebody else's word.
const WORD_CHARS_MAX: usize = 200;
/// Characters of a token.
const TOKEN_CHARS_MAX: usize = 300;

/// How it can go on after an answer: the token of the conversation, the questions that were asked back, and what the
/// agent wants first.
#[derive(Debug, Default)]
pub(super) struct AnswerRest {
    /// The conversation to go on with.
    pub(super) session: Option<String>,
    /// What the agent asks back.
    pub(super) questions: Vec<Value>,
    /// The refusal, where that is the answer: a PolicyPart in JSON.
    pub(super) policy: Option<Value>,
}

impl AnswerRest {
    /// Takes notice of a part of an answer: the questions stand in one of data.
    pub(super) fn note(&mut self, part: &Value) {
        if let Some(Value::Array(questions)) = part.pointer("/data/questions").filter(|_| part["kind"] == "data") {
            let left = QUESTIONS_MAX.saturating_sub(self.questions.len());
            self.questions.extend(questions.iter().take(left).cloned());
        }
    }
}

/// The next message of a conversation, when the agent asked and somebody answered. `None` when there is none: then what
/// to go on with is said.
pub(super) async fn answer(ask: AskArguments, rest: AnswerRest) -> Result<Option<AskArguments>, Failure> {
    let AnswerRest { session, questions, .. } = rest;
    let Some(session) = session.filter(|_| !ask.json) else { return Ok(None) };
    let fields: Vec<Field> = questions.iter().enumerate().filter_map(|(at, one)| field(at, one)).collect();
    let terminal = Terminal::new();
    let given = match !fields.is_empty() && terminal.is_attended() {
        true => terminal.fill_in(Form { text: String::new(), fields: fields.clone() }).await,
        false => None,
    };
    if let Some(answers) = given.map(|given| lines(&fields, &given)).filter(|answers| !answers.is_empty()) {
        return Ok(Some(AskArguments {
            session: Some(session),
            // It was used by the message that is answered.
            state: None,
            text: Vec::new(),
            attach: Vec::new(),
            answers,
            ..ask
        }));
    }
    stderrln!("continue with: --session {}", line(&session, TOKEN_CHARS_MAX));
    if !fields.is_empty() {
        let names = fields.iter().map(|field| format!("--answer {}=…", shell_word(&line(&field.name, WORD_CHARS_MAX))));
        stderrln!("answer with: {}", names.collect::<Vec<_>>().join(" "));
    }
    Ok(None)
}

/// The name and the value of an `--answer`. The value is behind the first `=`.
pub(super) fn split(answer: &str) -> Result<(&str, &str), Failure> {
    let wrong = || Failure::usage(format!("`--answer {}` is not NAME=VALUE", line(answer, WORD_CHARS_MAX)));
    answer.split_once('=').filter(|(name, _)| !name.trim().is_empty()).ok_or_else(wrong)
}

/// A question as it is put. `None` for what can't be asked.
fn field(at: usize, question: &Value) -> Option<Field> {
    let word = |key: &str| question[key].as_str().filter(|word| !word.trim().is_empty());
    let title = word("text").or(word("question")).or(question.as_str()).or(word("name"))?;
    // Its words name a question that has no id. None with `=` can be told from its value.
    let name = word("id").or(word("name")).or(Some(title)).filter(|name| !name.contains('='))?;
    let choices = || -> Vec<Choice> {
        let all = question["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.map(|one| Choice { value: one.to_owned(), title: one.to_owned() }).collect()
    };
    let kind = match word("type").unwrap_or_default() {
        "single_select" => AnswerKind::One(choices()),
        "multi_select" => AnswerKind::Many(choices()),
        "number" => AnswerKind::Number { whole: false },
        "boolean" => AnswerKind::Boolean,
        _ => AnswerKind::Text,
    };
    if at >= QUESTIONS_MAX
        || matches!(&kind, AnswerKind::One(choices) | AnswerKind::Many(choices) if choices.is_empty())
    {
        return None;
    }
    Some(Field {
        name: name.to_owned(),
        title: title.to_owned(),
        kind,
        required: false,
        default: question.get("default").filter(|default| !default.is_null()).cloned(),
    })
}

/// What was answered, as `--answer` has it.
fn lines(fields: &[Field], given: &Map<String, Value>) -> Vec<String> {
    let named = fields.iter().filter_map(|field| Some((&field.name, given.get(&field.name)?)));
    named
        .flat_map(|(name, value)| match value {
            Value::Array(values) => values.iter().map(|value| format!("{name}={}", plain(value))).collect(),
            value => vec![format!("{name}={}", plain(value))],
        })
        .collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        // Whole numbers without the point that they have as floating ones.
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> Vec<Field> {
        let all = json!([
            {"id": "kind", "text": "Which kind?", "type": "single_select", "options": ["Pea", "Bean"]},
            {"id": "with", "text": "With what?", "type": "multi_select", "options": ["Rice", "Corn"]},
            {"id": "minutes", "text": "How long?", "type": "number", "default": 20},
            {"text": "Hot?", "type": "boolean"},
            {"text": "Nothing to choose", "type": "single_select", "options": []}, {}, 7,
        ]);
        all.as_array().unwrap().iter().enumerate().filter_map(|(at, one)| field(at, one)).collect()
    }

    #[test]
    fn what_was_answered_is_named_by_its_question() {
        let given = json!({"kind": "Pea", "with": ["Rice", "Corn"], "minutes": 20.0, "Hot?": true});
        let Value::Object(given) = given else { panic!("an object") };
        assert_eq!(lines(&fields(), &given), ["kind=Pea", "with=Rice", "with=Corn", "minutes=20", "Hot?=yes"]);
    }

    #[test]
    fn questions_are_noted_once_and_bounded() {
        let mut answered = AnswerRest::default();
        answered.note(&json!({"kind": "data", "data": {"questions": vec!["a"; QUESTIONS_MAX]}}));
        answered.note(&json!({"kind": "data", "data": {"questions": ["b"]}}));
        answered.note(&json!({"kind": "link", "data": {"questions": ["c"]}}));
        assert_eq!(answered.questions, vec![json!("a"); QUESTIONS_MAX]);
    }

    #[test]
    fn an_answer_has_a_name_and_a_value() {
        assert_eq!(split("Which kind?=Pea=Bean").unwrap(), ("Which kind?", "Pea=Bean"));
        assert_eq!(split("kind=").unwrap(), ("kind", ""));
        assert!(split("Pea").is_err() && split("=Pea").is_err());
    }
}
