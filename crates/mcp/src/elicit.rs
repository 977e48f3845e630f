//! Questions of tools, put to the person behind the client: forms, and pages to visit.

use forecourt_core::PolicyPart;
use forecourt_core::reply::Question;
use forecourt_surface::tool::Answered;
use rmcp::model::{ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

use crate::limits::{FIELDS_MAX, QUESTION_BYTES_MAX};

/// The field of a question without structure.
const ANSWER: &str = "answer";

/// What a client can put to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The form for a question: flat, with a field for each. `None` when it can't be a form, or would ask
/// for more than a person fills in.
pub(crate) fn form(question: &Question) -> Option<ElicitRequestParams> {
    if question.questions.len() > FIELDS_MAX || question.text.len() > QUESTION_BYTES_MAX {
        return None;
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for one in &question.questions {
        let id = one["id"].as_str()?;
        properties.insert(id.to_owned(), field(one)?);
        required.push(id);
    }
    if properties.is_empty() {
        properties.insert(ANSWER.to_owned(), json!({"type": "string", "title": "Your answer"}));
        required.push(ANSWER);
    }
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let mut requested_schema = serde_json::from_value::<ElicitationSchema>(schema).ok()?;
    // People are asked in the agent's order; objects have none by themselves.
    requested_schema.property_order.clone_from(&requested_schema.required);
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message: question.text.clone(), requested_schema })
}

/// One field, by the types of questions of NLWeb 4.1.3. Types of later versions are free text.
fn field(question: &Value) -> Option<Value> {
    let title = question["text"].as_str()?;
    let options = question["options"].as_array();
    let options: Vec<&str> = options.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut field = match (question["type"].as_str(), options.is_empty()) {
        (Some("single_select"), false) => json!({"type": "string", "enum": options}),
        (Some("multi_select"), false) => json!({"type": "array", "items": {"type": "string", "enum": options}}),
        (Some("number"), _) => json!({"type": "number"}),
        (Some("boolean"), _) => json!({"type": "boolean"}),
        _ => json!({"type": "string"}),
    };
    field["title"] = title.into();
    match &question["default"] {
        Value::Null => {}
        default => field["default"] = default.clone(),
    }
    Some(field)
}

/// The page on which a person can meet the condition of a refusal.
pub(crate) fn page(part: &PolicyPart, id: String) -> Option<ElicitRequestParams> {
    let url = part.url.clone()?;
    Some(ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: part.message.clone(),
        url,
        elicitation_id: id,
    })
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
pub(crate) fn words(answered: &Answered) -> String {
    if let (1, Some(answer)) = (answered.answers.len(), answered.answers.get(ANSWER)) {
        return plain(answer);
    }
    let text_of = |id: &str| {
        let found = answered.question.questions.iter().find(|question| question["id"] == id);
        found.and_then(|question| question["text"].as_str()).unwrap_or(id).to_owned()
    };
    let lines = answered.answers.iter().map(|(id, answer)| format!("{} {}", text_of(id), plain(answer)));
    lines.collect::<Vec<_>>().join("\n")
}

fn plain(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
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
    fn s5_each_type_of_question_is_a_field() {
        let form = serde_json::to_value(form(&question())).expect("a form is JSON");
        let fields = &form["requestedSchema"]["properties"];
        assert_eq!(fields["diet"]["items"]["enum"], json!(["vegan", "none"]));
        assert_eq!(fields["protein"]["enum"], json!(["tofu", "fish"]));
        assert_eq!((&fields["minutes"]["type"], &fields["minutes"]["default"]), (&json!("number"), &json!(30.0)));
        assert_eq!(fields["spicy"]["type"], "boolean");
        assert_eq!(fields["else"]["type"], "string");
        assert_eq!(form["message"], "Tell me more.");
    }

    #[test]
    fn questions_are_put_in_their_order() {
        let form = serde_json::to_string(&form(&question())).expect("a form is JSON");
        let places = ["diet", "protein", "minutes", "spicy", "else"].map(|id| form.find(&format!("\"{id}\":{{")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form}");
    }

    #[test]
    fn a_question_without_structure_is_one_field() {
        let form = form(&Question { text: "Which one?".into(), questions: Vec::new() });
        let form = serde_json::to_value(form).expect("a form is JSON");
        assert_eq!(form["requestedSchema"]["properties"]["answer"]["type"], "string");
    }

    #[test]
    fn forms_are_bounded() {
        let of = |count: usize| {
            let one = json!({"id": "a", "text": "A?", "type": "free_text"});
            form(&Question { text: "Q".into(), questions: vec![one; count] }).is_some()
        };
        assert!(of(FIELDS_MAX) && !of(FIELDS_MAX + 1));
    }

    #[test]
    fn answers_read_like_words() {
        let answers = json!({"diet": ["vegan"], "spicy": true, "minutes": 20});
        let answers = answers.as_object().cloned().unwrap_or_default();
        let answered = Answered { question: question(), answers, earlier: Value::Null };
        assert_eq!(words(&answered), "Which diet? vegan\nHow long? 20\nSpicy? yes");
        let single = Answered { answers: Map::from_iter([("answer".into(), "the red one".into())]), ..answered };
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
