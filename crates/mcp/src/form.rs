//! The forms of others: questions that a server asks in the middle of a call, by the schema that it sends.

use forecourt_client::form::{AnswerKind, Choice, Field, Form};
use serde_json::Value;

use crate::limits::FIELDS_MAX;

/// Reads the schema of a form: a flat object, its fields in this order, at most [`FIELDS_MAX`]. What can't be read
/// is asked for in words.
pub(crate) fn read_schema(text: String, schema: &Value, order: &[String]) -> Form {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let field = |name| schema["properties"].get(name).map(|field| (name, field));
    let all = order.iter().filter_map(field).take(FIELDS_MAX);
    let fields = all.map(|(name, field)| Field {
        name: name.clone(),
        title: words(field, &["title", "description"]).unwrap_or(name).to_owned(),
        kind: kind(field),
        required: is_required(name),
        default: field.get("default").cloned(),
    });
    Form { text, fields: fields.collect() }
}

fn words<'a>(field: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| field[key].as_str())
}

fn kind(field: &Value) -> AnswerKind {
    let choices = choices(field);
    match field["type"].as_str() {
        Some("array") => AnswerKind::Many(self::choices(&field["items"])),
        Some("integer") => AnswerKind::Number { whole: true },
        Some("number") => AnswerKind::Number { whole: false },
        Some("boolean") => AnswerKind::Boolean,
        _ if !choices.is_empty() => AnswerKind::One(choices),
        _ => AnswerKind::Text,
    }
}

/// Choices in any of the three forms: `enum`, `enum` with `enumNames`, and `const` with `title`.
fn choices(field: &Value) -> Vec<Choice> {
    let list = |key: &str| field[key].as_array().map_or(&[][..], Vec::as_slice);
    let titled = list("oneOf").iter().chain(list("anyOf")).filter_map(|one| {
        let value = one["const"].as_str()?;
        Some(Choice { value: value.to_owned(), title: one["title"].as_str().unwrap_or(value).to_owned() })
    });
    let names = list("enumNames");
    let plain = list("enum").iter().enumerate().filter_map(|(index, value)| {
        let value = value.as_str()?;
        let title = names.get(index).and_then(Value::as_str).unwrap_or(value);
        Some(Choice { value: value.to_owned(), title: title.to_owned() })
    });
    titled.chain(plain).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    fn form(properties: Value) -> Form {
        let order: Vec<String> = properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let schema = json!({"type": "object", "properties": properties, "required": ["a"]});
        read_schema("Tell me.".into(), &schema, &order)
    }

    #[test]
    fn s5_each_form_of_a_choice_is_read() {
        for field in [
            json!({"type": "string", "enum": ["x", "y"]}),
            json!({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]}),
            json!({"type": "string", "oneOf": [{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]}),
        ] {
            let field = form(json!({"a": field})).fields.remove(0);
            for said in ["y", "2", " y "] {
                assert_eq!(field.value(said), Some("y".into()), "{said}");
            }
            assert_eq!(field.value("z"), None);
            assert_eq!(field.value("3"), None);
        }
        let many = json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}, {"const": "y"}]}});
        let field = form(json!({"a": many})).fields.remove(0);
        assert_eq!(field.value("ex, 2"), Some(json!(["x", "y"])));
        assert_eq!(field.value("ex, nothing"), None);
    }

    #[test]
    fn s5_what_is_said_has_the_type_of_the_field() {
        let value = |kind: &str, said: &str| form(json!({"a": {"type": kind}})).fields[0].value(said);
        assert_eq!(value("integer", "3"), Some(3.into()));
        assert_eq!(value("integer", "3.5"), None);
        assert_eq!(value("number", "3.5"), Some(3.5.into()));
        assert_eq!(value("number", "nan"), None);
        assert_eq!(value("boolean", "Yes"), Some(true.into()));
        assert_eq!(value("boolean", "perhaps"), None);
        assert_eq!(value("string", "7"), Some("7".into()));
        assert_eq!(value("string", " "), None);
    }

    #[test]
    fn what_is_required_must_be_there_and_defaults_are_taken() {
        let form = form(json!({"a": {"type": "string"}, "b": {"type": "number", "default": 4}}));
        let said = |a: &str, b: &str| {
            let given: Vec<_> =
                form.fields.iter().zip([a, b]).map(|(field, said)| (field.clone(), field.value(said))).collect();
            Field::values(&given).map(Value::Object)
        };
        assert_eq!(said("x", ""), Some(json!({"a": "x", "b": 4})));
        assert_eq!(said("", "5"), None);
    }

    #[test]
    fn forms_are_bounded() {
        let of = |count: usize| {
            let all = (0..count).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect::<Map<_, _>>();
            form(Value::Object(all)).fields.len()
        };
        assert_eq!((of(FIELDS_MAX), of(FIELDS_MAX + 1)), (FIELDS_MAX, FIELDS_MAX));
    }

    proptest! {
        #[test]
        fn no_schema_and_no_answer_is_too_strange(schema in "\\PC{0,200}", said in "\\PC{0,40}") {
            let odd = [json!({"a": schema}), json!({"a": {"type": "array", "items": schema}}), json!(schema)];
            for properties in odd {
                for field in form(properties).fields {
                    let _ = field.value(&said);
                }
            }
        }
    }
}
