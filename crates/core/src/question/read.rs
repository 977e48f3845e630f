//! This module reads a caller's answers to a question, from text or from values by field name.

use serde_json::{Map, Value};

use super::{FieldKind, Question, QuestionAnswer, QuestionField};

impl Question {
    /// The answers that a text gives: a JSON object by id, or lines that begin with a field's id or its words
    /// (`diet: vegan`, `Which diet? vegan`). A text without such lines answers a question that has one field
    /// alone. Empty: the text answers nothing here.
    pub fn read(&self, text: &str) -> Vec<QuestionAnswer> {
        let fields = self.fields();
        // Clients that render the fields as a form may send its values as a JSON text.
        if let Ok(Value::Object(given)) = serde_json::from_str(text) {
            return by_name(&fields, &given);
        }
        let mut answers: Vec<QuestionAnswer> = Vec::new();
        let mut last: Option<&QuestionField> = None;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((field, words)) = fields.iter().find_map(|field| Some((field, field.behind_name(line)?))) {
                answers.retain(|answer| answer.id != field.id);
                answers.push(field.answer(words));
                last = Some(field);
            } else if let (Some(FieldKind::Words), Some(answer)) = (last.map(|field| field.kind), answers.last_mut()) {
                // Words may go on for several lines.
                let so_far = answer.value.as_str().unwrap_or_default();
                answer.value = format!("{so_far}\n{line}").into();
            }
        }
        answers.retain(|answer| !is_blank(&answer.value));
        match fields.as_slice() {
            // With several fields a text without names could mean any of them: then nothing is answered, and the agent
            // gets the text.
            [only] if answers.is_empty() && !text.trim().is_empty() => vec![only.answer(text.trim())],
            _ => answers,
        }
    }

    /// The answers that a turn gives: those that came by name, else what its text says.
    pub fn answers(&self, text: &str, given: &[QuestionAnswer]) -> Vec<QuestionAnswer> {
        let given = given.iter().map(|answer| (answer.id.clone(), answer.value.clone())).collect();
        match by_name(&self.fields(), &given) {
            answers if answers.is_empty() => self.read(text),
            answers => answers,
        }
    }
}

fn by_name(fields: &[QuestionField], given: &Map<String, Value>) -> Vec<QuestionAnswer> {
    let answer = |field: &QuestionField| {
        let value = given.get(&field.id).filter(|value| !is_blank(value))?;
        Some(match value {
            Value::String(words) => field.answer(words),
            value => QuestionAnswer { id: field.id.clone(), value: value.clone() },
        })
    };
    fields.iter().filter_map(answer).collect()
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl QuestionField {
    /// What a line says behind this field's name, if it begins with that.
    fn behind_name<'a>(&self, line: &'a str) -> Option<&'a str> {
        // The names are shown as a markdown list with code (`Question::in_words`), and come back as they were copied.
        let line = line.trim_start_matches(['-', '*', ' ', '`']);
        let named =
            behind(line, &self.id).and_then(|rest| rest.trim_start_matches('`').trim_start().strip_prefix([':', '=']));
        let asked = || behind(line, &self.text).filter(|rest| rest.is_empty() || rest.starts_with([' ', ':', '\t']));
        named.or_else(asked).map(|rest| rest.trim_start_matches([':', ' ', '\t']).trim())
    }

    /// The answer that these words give.
    fn answer(&self, words: &str) -> QuestionAnswer {
        let value = match self.kind {
            FieldKind::Words => words.into(),
            FieldKind::One => self.chosen(words).into(),
            FieldKind::Several => parts(words).map(|part| Value::from(self.chosen(part))).collect(),
            FieldKind::Number => number(words).unwrap_or_else(|| words.into()),
            FieldKind::Truth => truth(words).map_or_else(|| words.into(), Value::from),
        };
        QuestionAnswer { id: self.id.clone(), value }
    }

    /// The option that words name, by what it is or by how it is shown; the words themselves if none is.
    fn chosen(&self, words: &str) -> String {
        let plain = words.trim().trim_end_matches(['.', '!']);
        let is_it = |text: &str| text.to_lowercase() == plain.to_lowercase();
        let option = self.options.iter().find(|option| is_it(&option.value) || is_it(&option.title));
        option.map_or_else(|| words.trim().to_owned(), |option| option.value.clone())
    }
}

/// The rest of `line` after `name`, compared without case. `None`: the line begins otherwise.
fn behind<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = line.split_at_checked(name.len())?;
    // Checked, as the length of the name may fall inside a character of the line.
    head.to_lowercase().eq(&name.to_lowercase()).then_some(rest)
}

/// The things of a list in words: `a, b and c`.
fn parts(words: &str) -> impl Iterator<Item = &str> {
    let parts =
        words.split([',', ';', '/', '\n']).flat_map(|part| part.split(" and ")).flat_map(|part| part.split(" or "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn number(words: &str) -> Option<Value> {
    let words = words.trim();
    words.parse::<i64>().map(Value::from).ok().or_else(|| {
        // A decimal comma (`2,5`). `from_f64` refuses `inf` and `nan`, which `parse` takes.
        let number = words.replace(',', ".").parse::<f64>().ok()?;
        serde_json::Number::from_f64(number).map(Value::Number)
    })
}

fn truth(words: &str) -> Option<bool> {
    match words.trim().trim_end_matches(['.', '!']).to_lowercase().as_str() {
        "yes" | "y" | "true" | "ja" | "oui" | "sí" | "si" => Some(true),
        "no" | "n" | "false" | "nein" | "non" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn several() -> Question {
        Question {
            text: "Tell me more.".to_owned(),
            questions: vec![
                json!({"id": "diet", "text": "Which diet?", "type": "single_select", "options": ["vegan", {"value": "o", "title": "Other things"}]}),
                json!({"id": "without", "text": "What to leave out?", "type": "multi_select", "options": ["nuts", "eggs", "milk"]}),
                json!({"id": "people", "text": "How many?", "type": "number"}),
                json!({"id": "spicy", "text": "Spicy?", "type": "boolean"}),
                json!({"id": "note", "text": "Anything else?", "type": "free_text"}),
            ],
        }
    }

    fn told(question: &Question, text: &str) -> Value {
        let answers = question.read(text);
        Value::Object(answers.into_iter().map(|answer| (answer.id, answer.value)).collect())
    }

    #[test]
    fn lines_by_name_answer_several_fields_at_once() {
        let lines = "diet: Vegan\n- without: nuts, Eggs and milk\n`people`: 4\nSPICY = yes\nnote: by eight\nor nine";
        let all = json!({"diet": "vegan", "without": ["nuts", "eggs", "milk"], "people": 4, "spicy": true, "note": "by eight\nor nine"});
        assert_eq!(told(&several(), lines), all);
        assert_eq!(told(&several(), &all.to_string()), all, "a form says the same");
        let by_words = "Which diet? other things\nHow many? 2,5\nAnything else?: no";
        assert_eq!(told(&several(), by_words), json!({"diet": "o", "people": 2.5, "note": "no"}));
    }

    #[test]
    fn what_names_no_field_answers_nothing_where_there_are_several() {
        for text in ["", "vegan", "dietary: vegan", "the diet: vegan", "{}", "[1]", "{\"other\": 1}", "diet:\n"] {
            assert_eq!(told(&several(), text), json!({}), "{text}");
        }
        assert_eq!(
            told(&several(), "diet: vegan\nthat is all\ndiet: none"),
            json!({"diet": "none"}),
            "the last counts"
        );
    }

    #[test]
    fn any_words_answer_a_single_field() {
        let one = Question { questions: several().questions[..1].to_vec(), ..several() };
        assert_eq!(told(&one, " Vegan! "), json!({"diet": "vegan"}));
        assert_eq!(told(&one, "diet: VEGAN"), json!({"diet": "vegan"}));
        assert_eq!(told(&one, "whatever you like"), json!({"diet": "whatever you like"}));
        assert_eq!(told(&Question::new("Which?"), "this one"), json!({}), "there is nothing with a name");
    }

    #[test]
    fn s4_1_3_answers_by_name_go_before_words_and_are_held_to_the_question() {
        let given = |id: &str, value: Value| QuestionAnswer { id: id.to_owned(), value };
        let answers = several().answers("people: 9", &[given("diet", json!("OTHER things")), given("x", json!(1))]);
        assert_eq!(answers, [given("diet", json!("o"))]);
        let answers = several().answers("people: 9", &[given("x", json!(1)), given("diet", json!(""))]);
        assert_eq!(answers, [given("people", json!(9))]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(diet|Which diet\\?|people|[:= \\n,.{}\"é-]|\\PC){0,60}") {
            let question = several();
            let ids: Vec<String> = question.fields().into_iter().map(|field| field.id).collect();
            let answers = question.read(&text);
            prop_assert!(answers.iter().all(|answer| ids.contains(&answer.id)));
            prop_assert!(answers.len() <= ids.len());
        }
    }
}
