//! This module has the questions that agents ask back, and reads the answers to them.
//!
//! A question has words, and fields in NLWeb's shape (4.1.3): `{"id", "text", "type", "options", "default"}`.
//! Protocols with forms render the fields; the others show [`Question::in_words`], and what comes back as
//! text is read by [`Question::read`], so that a caller who types `genre: comedy` and a form that sends
//! `{"genre": "comedy"}` mean the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{QUESTION_FIELDS_MAX, QUESTION_OPTIONS_MAX};

mod read;

/// A question of an agent to its caller. Its fields have the shape of NLWeb 4.1.3, the richest of the five protocols.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question in words.
    pub text: String,
    /// Structured questions, in NLWeb's shape; may be empty. [`Question::fields`] reads them.
    #[serde(default)]
    pub questions: Vec<Value>,
}

/// One field of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionField {
    /// Names it in answers. Its place, counted from 1, where the agent gave no name.
    pub id: String,
    /// The field's question, for people.
    pub text: String,
    /// The kind of answer that is accepted.
    pub kind: FieldKind,
    /// What can be chosen; at most [`crate::limits::QUESTION_OPTIONS_MAX`].
    pub options: Vec<QuestionOption>,
    /// The value that counts when there is no answer.
    pub default: Option<Value>,
}

/// The kind of answer that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Words. Also what is meant by a type that is not known here.
    Words,
    /// One of its options.
    One,
    /// Any number of its options.
    Several,
    /// A number.
    Number,
    /// Yes or no.
    Truth,
}

/// An option of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionOption {
    /// The value of the answer when this is chosen.
    pub value: String,
    /// The label for people.
    pub title: String,
}

/// The answer to one field of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// The id of the field: [`QuestionField::id`].
    pub id: String,
    /// Text, a number, a truth value, or an array of texts.
    pub value: Value,
}

impl Question {
    /// A question in words alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), questions: Vec::new() }
    }

    /// What it asks for, in its order; at most [`crate::limits::QUESTION_FIELDS_MAX`]. One without words is left out.
    pub fn fields(&self) -> Vec<QuestionField> {
        self.questions
            .iter()
            .take(QUESTION_FIELDS_MAX)
            .zip(1..)
            .filter_map(|(asked, at)| QuestionField::of(asked, at))
            .collect()
    }

    /// The whole question as text: its words, and what they leave out of names and options, with how to
    /// answer. For protocols and terminals that have no forms.
    pub fn in_words(&self) -> String {
        let fields = self.fields();
        let mut words = self.text.trim().to_owned();
        let missing = |text: &str| !self.text.contains(text);
        let is_said =
            |field: &QuestionField| !missing(&field.text) && field.options.iter().all(|option| !missing(&option.title));
        if fields.is_empty() || matches!(fields.as_slice(), [only] if is_said(only)) {
            return words;
        }
        for field in &fields {
            words.push_str(if field == &fields[0] { "\n\n" } else { "\n" });
            words.push_str(&field.in_words(fields.len() > 1));
        }
        if let [first, _, ..] = fields.as_slice() {
            words.push_str(&format!(
                "\n\nAnswer each on a line of its own, such as `{}: {}`.",
                first.id,
                first.example()
            ));
        }
        words
    }
}

impl QuestionField {
    fn of(asked: &Value, at: usize) -> Option<Self> {
        let word = |key: &str| asked.get(key).and_then(Value::as_str).filter(|word| !word.trim().is_empty());
        let text = word("text").or(word("question")).or(asked.as_str()).or(word("name"))?;
        let id = word("id").or(word("name")).map_or_else(|| at.to_string(), str::to_owned);
        let options = asked.get("options").and_then(Value::as_array).into_iter().flatten().take(QUESTION_OPTIONS_MAX);
        let options: Vec<QuestionOption> = options.filter_map(QuestionOption::of).collect();
        let kind = match word("type").unwrap_or_default() {
            // Without options a form could not be answered: then it is asked in words.
            "single_select" if !options.is_empty() => FieldKind::One,
            "multi_select" if !options.is_empty() => FieldKind::Several,
            "number" => FieldKind::Number,
            "boolean" => FieldKind::Truth,
            _ => FieldKind::Words,
        };
        let default = asked.get("default").filter(|default| !default.is_null()).cloned();
        Some(Self { id, text: text.trim().to_owned(), kind, options, default })
    }

    /// A line of markdown: what is asked, by which name it is answered if there are several, and from what
    /// one chooses.
    fn in_words(&self, is_named: bool) -> String {
        let name = if is_named { format!("- `{}`: ", self.id) } else { String::new() };
        let titles: Vec<&str> = self.options.iter().map(|option| option.title.as_str()).collect();
        let choice = match self.kind {
            _ if !titles.is_empty() => format!(" ({})", titles.join(", ")),
            FieldKind::Truth => " (yes, no)".to_owned(),
            FieldKind::Number => " (a number)".to_owned(),
            _ => String::new(),
        };
        format!("{name}{}{choice}", self.text)
    }

    /// An answer to show how one is written.
    fn example(&self) -> &str {
        match (self.options.first(), self.kind) {
            (Some(option), _) => &option.title,
            (None, FieldKind::Truth) => "yes",
            (None, FieldKind::Number) => "3",
            (None, _) => "…",
        }
    }
}

impl QuestionOption {
    /// A text, or `{"value", "title"}` as forms with titles have them.
    fn of(option: &Value) -> Option<Self> {
        let of = |key: &str| option.get(key).and_then(Value::as_str);
        // `const` and `title` are how JSON Schema, and so the forms of MCP, spell an option.
        let value = option.as_str().or_else(|| of("value")).or_else(|| of("const"))?;
        let title = of("title").or_else(|| of("text")).unwrap_or(value);
        Some(Self { value: value.to_owned(), title: title.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn s4_1_3_fields_are_read_by_name_type_and_options() {
        let question = Question {
            text: "Tell me more.".to_owned(),
            questions: vec![
                json!({"id": "diet", "text": "Which diet?", "type": "single_select", "options": ["vegan", {"value": "o", "title": "other"}]}),
                json!({"id": "people", "text": "How many?", "type": "number", "default": 4}),
                json!({"text": "Spicy?", "type": "boolean"}),
                json!("And what else?"),
                json!({"id": "empty", "type": "single_select"}),
                json!({"id": "later", "text": "Drawn?", "type": "drawing"}),
                json!(17),
            ],
        };
        let fields = question.fields();
        let told: Vec<_> = fields.iter().map(|field| (field.id.as_str(), field.kind)).collect();
        let (one, number, truth, words) = (FieldKind::One, FieldKind::Number, FieldKind::Truth, FieldKind::Words);
        assert_eq!(told, [("diet", one), ("people", number), ("3", truth), ("4", words), ("later", words)]);
        assert_eq!(fields[0].options[1], QuestionOption { value: "o".to_owned(), title: "other".to_owned() });
        assert_eq!(fields[1].default, Some(json!(4)));
        assert_eq!(
            question.in_words(),
            "Tell me more.\n\n- `diet`: Which diet? (vegan, other)\n- `people`: How many? (a number)\n\
             - `3`: Spicy? (yes, no)\n- `4`: And what else?\n- `later`: Drawn?\n\n\
             Answer each on a line of its own, such as `diet: vegan`."
        );
    }

    #[test]
    fn what_the_words_say_already_is_not_said_twice() {
        let asked = |text: &str| Question {
            text: text.to_owned(),
            questions: vec![json!({"id": "g", "text": "Which genre?", "type": "single_select", "options": ["a", "b"]})],
        };
        assert_eq!(asked("Which genre? For example a, b.").in_words(), "Which genre? For example a, b.");
        assert_eq!(asked("One thing.").in_words(), "One thing.\n\nWhich genre? (a, b)");
        assert_eq!(Question::new("Which?").in_words(), "Which?");
    }

    #[test]
    fn fields_and_options_end_at_their_bounds() {
        let fields =
            |count: usize| Question { text: String::new(), questions: vec![json!("x?"); count] }.fields().len();
        assert_eq!(
            (fields(QUESTION_FIELDS_MAX), fields(QUESTION_FIELDS_MAX + 1)),
            (QUESTION_FIELDS_MAX, QUESTION_FIELDS_MAX)
        );
        let options = |count: usize| {
            let one = json!({"id": "a", "text": "x", "type": "single_select", "options": vec!["o"; count]});
            Question { text: String::new(), questions: vec![one] }.fields()[0].options.len()
        };
        assert_eq!(
            (options(QUESTION_OPTIONS_MAX), options(QUESTION_OPTIONS_MAX + 1)),
            (QUESTION_OPTIONS_MAX, QUESTION_OPTIONS_MAX)
        );
    }
}
