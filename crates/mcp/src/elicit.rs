//! Questions of tools, put to the person behind the client: forms, and pages to visit.

use forecourt_core::PolicyPart;
use forecourt_surface::tool::ElicitedAnswer;
use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    InputRequests,
};
use serde_json::{Map, Value};

use crate::forms::{ANSWER, Form};

/// The key of a page that a person is asked to visit.
pub(crate) const PAGE: &str = "input";

/// What a client can put to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Modes {
    /// Forms.
    pub(crate) form: bool,
    /// Pages to visit.
    pub(crate) url: bool,
}

impl Modes {
    /// What the client declared. An empty declaration means forms.
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(declared) = capabilities.and_then(|all| all.elicitation.as_ref()) else {
            return Self { form: false, url: false };
        };
        let url = declared.url.is_some();
        Self { form: declared.form.is_some() || !url, url }
    }
}

/// The page on which a person can meet the condition of a refusal.
pub(crate) fn page(part: &PolicyPart, id: String) -> Option<Form> {
    let (message, url) = (part.message.clone(), part.url.clone()?);
    let request = ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id: id };
    Some(Form { key: PAGE.to_owned(), request, fields: Vec::new() })
}

/// The page that a call waits for, whatever its address was.
pub(crate) fn visited() -> Form {
    let (message, url, elicitation_id) = Default::default();
    let request = ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id };
    Form { key: PAGE.to_owned(), request, fields: Vec::new() }
}

/// Forms as a client is asked to put them, by their keys.
pub(crate) fn requests(forms: Vec<Form>) -> InputRequests {
    let request = |form: Form| (form.key, InputRequest::Elicitation(ElicitRequest::new(form.request)));
    forms.into_iter().map(request).collect()
}

/// What the person said; `None` when there is nothing to go on with.
pub(crate) fn accepted(result: ElicitResult) -> Option<Map<String, Value>> {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(answers))) => Some(answers),
        (ElicitationAction::Accept, None) => Some(Map::new()),
        _ => None,
    }
}

/// Answers in words, as a person would write them to an agent.
pub(crate) fn words(answered: &ElicitedAnswer) -> String {
    if let (1, Some(answer)) = (answered.answers.len(), answered.answers.get(ANSWER)) {
        return plain(answer);
    }
    let questions = &answered.question.questions;
    let place = |id: &str| questions.iter().position(|question| question["id"] == id);
    let mut answers: Vec<_> = answered.answers.iter().map(|(id, answer)| (place(id), id, answer)).collect();
    // In the order in which they were asked; what was not asked comes last.
    answers.sort_by_key(|(place, ..)| place.unwrap_or(usize::MAX));
    let text = |place: Option<usize>| place.and_then(|place| questions[place]["text"].as_str());
    let lines = answers.into_iter().map(|(place, id, said)| format!("{} {}", text(place).unwrap_or(id), plain(said)));
    lines.collect::<Vec<_>>().join("\n")
}

fn plain(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        // Some clients have one type for all numbers.
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => {
            number.to_string().trim_end_matches(".0").to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::reply::Question;
    use serde_json::json;

    use super::*;

    fn question() -> Question {
        let questions = json!([
            {"id": "diet", "text": "Which diet?", "type": "multi_select", "options": ["vegan", "none"]},
            {"id": "protein", "text": "Which protein?", "type": "single_select", "options": ["tofu", "fish"]},
            {"id": "minutes", "text": "How long?", "type": "number", "default": 30},
            {"id": "spicy", "text": "Spicy?", "type": "boolean"},
            {"id": "else", "text": "Anything else?", "type": "free_text"},
        ]);
        Question { text: "Tell me more.".into(), questions: questions.as_array().cloned().unwrap_or_default() }
    }

    #[test]
    fn answers_read_like_words() {
        let answers = json!({"diet": ["vegan"], "spicy": true, "minutes": 20.0});
        let answers = answers.as_object().cloned().unwrap_or_default();
        let answered = ElicitedAnswer { question: question(), answers, earlier: Value::Null };
        assert_eq!(words(&answered), "Which diet? vegan\nHow long? 20\nSpicy? yes");
        let single = ElicitedAnswer { answers: Map::from_iter([("answer".into(), "the red one".into())]), ..answered };
        assert_eq!(words(&single), "the red one");
    }

    #[test]
    fn s5_an_empty_declaration_means_forms() {
        let modes = |declared: Value| {
            let capabilities: ClientCapabilities = serde_json::from_value(declared).expect("capabilities");
            Modes::of(Some(&capabilities))
        };
        assert_eq!(modes(json!({"elicitation": {}})), Modes { form: true, url: false });
        assert_eq!(modes(json!({"elicitation": {"url": {}}})), Modes { form: false, url: true });
        assert_eq!(modes(json!({"elicitation": {"url": {}, "form": {}}})), Modes { form: true, url: true });
        assert_eq!(modes(json!({})), Modes { form: false, url: false });
    }
}
