//! Questions of agents as forms: the structured questions of one, each a field. Those that name a `form` of
//! their own are put by it, the rest together, so that an agent may ask for several things at once.

use forecourt_core::reply::Question;
use rmcp::model::{ElicitRequestParams, ElicitationSchema};
use serde_json::{Map, Value, json};

use crate::limits::{FIELDS_MAX, QUESTION_BYTES_MAX};

/// The field of a question without structure, and the key of its form.
pub(crate) const ANSWER: &str = "answer";

/// A field by its name, as JSON Schema describes it.
type Field = (String, Value);

/// One thing that a person is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// Names it among those of one question: what its questions say under `form`, else the id of the first of
    /// them.
    pub(crate) key: String,
    /// What the client is sent.
    pub(crate) request: ElicitRequestParams,
    /// The fields that count in an answer. Empty for a page, which is visited.
    pub(crate) fields: Vec<String>,
}

impl Form {
    /// What was said to its fields; what else a client sends is passed over.
    pub(crate) fn answers(&self, mut said: Map<String, Value>) -> Map<String, Value> {
        said.retain(|name, _| self.fields.contains(name));
        said
    }
}

/// The forms for a question, in the order of the agent. `None` when it can't be put into forms, or would ask
/// for more than a person fills in.
pub(crate) fn forms(question: &Question) -> Option<Vec<Form>> {
    if question.questions.len() > FIELDS_MAX || question.text.len() > QUESTION_BYTES_MAX {
        return None;
    }
    if question.questions.is_empty() {
        let field = (ANSWER.to_owned(), json!({"type": "string", "title": "Your answer"}));
        return Some(vec![form(ANSWER.to_owned(), &question.text, vec![field])?]);
    }
    let mut groups: Vec<(Option<&str>, Vec<Field>)> = Vec::new();
    for one in &question.questions {
        let (named, id) = (one["form"].as_str(), one["id"].as_str()?.to_owned());
        let entry = (id, field(one)?);
        match groups.iter_mut().find(|(of, _)| *of == named) {
            Some((_, fields)) => fields.push(entry),
            None => groups.push((named, vec![entry])),
        }
    }
    let all = groups.into_iter().map(|(named, fields)| {
        let key = named.or(fields.first().map(|(id, _)| id.as_str()))?.to_owned();
        form(key, &question.text, fields)
    });
    all.collect()
}

/// A flat form with these fields.
fn form(key: String, text: &str, fields: Vec<Field>) -> Option<Form> {
    let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    let properties: Map<String, Value> = fields.into_iter().collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    let mut requested_schema = serde_json::from_value::<ElicitationSchema>(schema).ok()?;
    // People are asked in the agent's order; objects have none by themselves.
    requested_schema.property_order.clone_from(&requested_schema.required);
    let request = ElicitRequestParams::FormElicitationParams { meta: None, message: text.to_owned(), requested_schema };
    Some(Form { key, request, fields: names })
}

/// One field, by the types of questions of NLWeb 4.1.3, and `integer`. Types of later versions are free text.
fn field(question: &Value) -> Option<Value> {
    let title = question["text"].as_str()?;
    let choices = choices(question);
    let mut field = match (question["type"].as_str(), choices) {
        (Some("single_select"), Some(Choices::Plain(values))) => json!({"type": "string", "enum": values}),
        (Some("single_select"), Some(Choices::Titled(all))) => json!({"type": "string", "oneOf": all}),
        (Some("multi_select"), Some(Choices::Plain(values))) => {
            json!({"type": "array", "items": {"type": "string", "enum": values}})
        }
        (Some("multi_select"), Some(Choices::Titled(all))) => json!({"type": "array", "items": {"anyOf": all}}),
        (Some("number"), _) => json!({"type": "number"}),
        (Some("integer"), _) => json!({"type": "integer"}),
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

/// What can be chosen.
enum Choices<'a> {
    /// Values that speak for themselves.
    Plain(Vec<&'a str>),
    /// Values with a title each, as JSON Schema writes them.
    Titled(Vec<Value>),
}

/// The `options` of a question, with their `option_titles` where each has one.
fn choices(question: &Value) -> Option<Choices<'_>> {
    let texts =
        |key: &str| -> Vec<&str> { question[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect() };
    let (values, titles) = (texts("options"), texts("option_titles"));
    match (values.is_empty(), titles.len() == values.len()) {
        (true, _) => None,
        (false, false) => Some(Choices::Plain(values)),
        (false, true) => {
            let titled = |(value, title)| json!({"const": value, "title": title});
            Some(Choices::Titled(values.into_iter().zip(titles).map(titled).collect()))
        }
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

    fn only(question: &Question) -> Form {
        let [form] = forms(question).expect("forms").try_into().expect("one form");
        form
    }

    #[test]
    fn s5_questions_that_name_a_form_are_put_by_it() {
        let questions = json!([
            {"id": "name", "form": "user", "text": "Name?", "type": "free_text"},
            {"id": "sure", "text": "Sure?", "type": "boolean"},
            {"id": "age", "form": "user", "text": "Age?", "type": "integer", "default": 30},
        ]);
        let question = Question { text: "Q".into(), questions: questions.as_array().cloned().unwrap_or_default() };
        let forms = forms(&question).expect("forms");
        let keys: Vec<_> = forms.iter().map(|form| (form.key.as_str(), form.fields.join(" "))).collect();
        assert_eq!(keys, [("user", "name age".to_owned()), ("sure", "sure".to_owned())]);
        let user = serde_json::to_value(&forms[0].request).expect("a form is JSON");
        let age = &user["requestedSchema"]["properties"]["age"];
        assert_eq!((&age["type"], &age["default"]), (&json!("integer"), &json!(30)));
        let said = json!({"name": "Ann", "sure": true, "more": 1}).as_object().cloned().unwrap_or_default();
        assert_eq!(Value::from(forms[0].answers(said)), json!({"name": "Ann"}));
    }

    #[test]
    fn s5_options_may_have_titles() {
        let questions = json!([
            {"id": "one", "text": "?", "type": "single_select", "options": ["a", "b"], "option_titles": ["A", "B"]},
            {"id": "many", "text": "?", "type": "multi_select", "options": ["a"], "option_titles": ["A"]},
            {"id": "few", "text": "?", "type": "single_select", "options": ["a", "b"], "option_titles": ["A"]},
        ]);
        let question = Question { text: "Q".into(), questions: questions.as_array().cloned().unwrap_or_default() };
        let form = serde_json::to_value(only(&question).request).expect("a form is JSON");
        let fields = &form["requestedSchema"]["properties"];
        assert_eq!(fields["one"]["oneOf"][1], json!({"const": "b", "title": "B"}));
        assert_eq!(fields["many"]["items"]["anyOf"], json!([{"const": "a", "title": "A"}]));
        assert_eq!(fields["few"]["enum"], json!(["a", "b"]), "titles that do not fit are left out");
    }

    #[test]
    fn s5_each_type_of_question_is_a_field() {
        let form = serde_json::to_value(&only(&question()).request).expect("a form is JSON");
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
        let form = serde_json::to_string(&only(&question()).request).expect("a form is JSON");
        let places = ["diet", "protein", "minutes", "spicy", "else"].map(|id| form.find(&format!("\"{id}\":{{")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form}");
    }

    #[test]
    fn a_question_without_structure_is_one_field() {
        let form = only(&Question { text: "Which one?".into(), questions: Vec::new() });
        assert_eq!((form.key.as_str(), form.fields.as_slice()), ("answer", &["answer".to_owned()][..]));
        let form = serde_json::to_value(form.request).expect("a form is JSON");
        assert_eq!(form["requestedSchema"]["properties"]["answer"]["type"], "string");
    }

    #[test]
    fn forms_are_bounded() {
        let of = |count: usize| {
            let one = json!({"id": "a", "text": "A?", "type": "free_text"});
            forms(&Question { text: "Q".into(), questions: vec![one; count] }).is_some()
        };
        assert!(of(FIELDS_MAX) && !of(FIELDS_MAX + 1));
    }
}
