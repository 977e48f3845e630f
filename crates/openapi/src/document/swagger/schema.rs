//! Schemas of Swagger 2.0 in the words of OpenAPI 3.0.

use serde_json::{Map, Value, json};

/// A schema with the newer words: references lead to the new place, files are texts, discriminators are objects.
pub(super) fn schema(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(schema).collect(),
        Value::Object(keywords) => {
            let mut made = Map::new();
            for (key, value) in keywords {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) => {
                        let moved = reference.replacen("#/definitions/", "#/components/schemas/", 1);
                        made.insert(key.clone(), json!(moved));
                    }
                    ("discriminator", Value::String(name)) => {
                        made.insert(key.clone(), json!({ "propertyName": name }));
                    }
                    ("x-nullable", Value::Bool(truth)) => drop(made.insert("nullable".to_owned(), json!(truth))),
                    ("x-example", example) => drop(made.insert("example".to_owned(), example.clone())),
                    ("type", Value::String(name)) if name == "file" => {
                        made.insert("type".to_owned(), json!("string"));
                        made.insert("format".to_owned(), json!("binary"));
                    }
                    // Values of these are data.
                    ("default" | "enum" | "example" | "examples", data) => drop(made.insert(key.clone(), data.clone())),
                    // Their keys are names: a property may be called `default`.
                    ("properties" | "patternProperties", Value::Object(named)) => {
                        let named: Map<String, Value> =
                            named.iter().map(|(name, inner)| (name.clone(), schema(inner))).collect();
                        made.insert(key.clone(), Value::Object(named));
                    }
                    (_, inner) => drop(made.insert(key.clone(), schema(inner))),
                }
            }
            Value::Object(made)
        }
        other => other.clone(),
    }
}
