//! This module holds forms: questions of agents and servers that a person answers, and what an answer means.

use serde_json::{Map, Value};

/// A form that a person fills in: a text and the questions below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// What it is about.
    pub text: String,
    /// The questions, in the order in which they are put.
    pub fields: Vec<Field>,
}

/// One question of a form, and what counts as its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Names it in the answer.
    pub name: String,
    /// The question in words.
    pub title: String,
    /// What can be answered.
    pub kind: AnswerKind,
    /// Whether the form is no use without it.
    pub required: bool,
    /// What is taken when nothing is said.
    pub default: Option<Value>,
}

/// What can be answered to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerKind {
    /// Words.
    Text,
    /// A number, and whether it must be whole.
    Number {
        /// Whether it must be whole.
        whole: bool,
    },
    /// Yes or no.
    Boolean,
    /// One of these.
    One(Vec<Choice>),
    /// Any of these.
    Many(Vec<Choice>),
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub title: String,
}

impl Field {
    /// The value that somebody meant with `answer`: `None` when it is no answer to this question. Choices are
    /// named by their number, their title or their value.
    pub fn value(&self, answer: &str) -> Option<Value> {
        let answer = answer.trim();
        match &self.kind {
            _ if answer.is_empty() => self.default.clone(),
            AnswerKind::Text => Some(answer.into()),
            AnswerKind::Number { whole: true } => answer.parse::<i64>().ok().map(Value::from),
            AnswerKind::Number { whole: false } => {
                // `parse` takes `inf` and `NaN`, for which JSON has no number.
                answer.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from)
            }
            AnswerKind::Boolean => match answer.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true.into()),
                "n" | "no" | "false" => Some(false.into()),
                _ => None,
            },
            AnswerKind::One(choices) => chosen(choices, answer).map(Value::from),
            AnswerKind::Many(choices) => {
                answer.split(',').map(|one| chosen(choices, one.trim()).map(Value::from)).collect::<Option<_>>()
            }
        }
    }

    /// The values of all fields, from the answer to each. `None` when one that is required is missing.
    pub fn values(fields: &[(Self, Option<Value>)]) -> Option<Map<String, Value>> {
        let given = |(field, value): &(Self, Option<Value>)| match value {
            Some(value) => Some(Some((field.name.clone(), value.clone()))),
            None => (!field.required).then_some(None),
        };
        fields.iter().map(given).collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    }
}

fn chosen(choices: &[Choice], answer: &str) -> Option<String> {
    let numbered = answer.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let is_meant = |choice: &&Choice| choice.value == answer || choice.title.eq_ignore_ascii_case(answer);
    // The number comes last: a choice may itself be called `2`.
    choices.iter().find(is_meant).or(numbered).map(|choice| choice.value.clone())
}
