//! Endpoints as OpenAPI, and back again.

use forecourt_contract::{Catalog, Endpoint};
use forecourt_openapi::{About, Export, ImportFate, Options, export, import};
use serde_json::{Value, json};

use crate::support::{WORKSHOP, answering, at, document, endpoint, imported, one, registered, written};

fn workshop() -> Vec<Endpoint> {
    let import = import(WORKSHOP.as_bytes(), &Options::default()).unwrap();
    import
        .operations
        .iter()
        .filter(|o| matches!(o.fate, ImportFate::Written(_)))
        .map(|o| registered(written(o)))
        .collect()
}

fn exported(endpoints: &[Endpoint]) -> Export {
    let about = About { title: "Shop".into(), version: "1.0.0".into(), manifest: Some("agtp://shop.example/".into()) };
    export(endpoints, &about, &Catalog::shipped())
}

/// Everything that an agent is promised, but for the schemas.
fn promise(endpoint: &Endpoint) -> Value {
    let mut promise = endpoint.projection();
    let fields = promise.as_object_mut().unwrap();
    let input = fields.remove("input_schema").unwrap();
    fields.remove("output_schema");
    fields["errors"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    let names: Vec<String> = input["properties"].as_object().unwrap().keys().cloned().collect();
    fields.insert("input".into(), json!([names, input.get("required")]));
    promise
}

#[test]
fn s14_2_the_document_says_what_it_is_derived_from() {
    let document = exported(&workshop()).document;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["x-agtp-manifest"], "agtp://shop.example/");
    assert!(document["info"]["description"].as_str().unwrap().contains("Derived"));
}

#[test]
fn s14_2_verbs_become_the_nearest_methods() {
    let document = exported(&workshop()).document;
    let at = |path: &str, http: &str| document["paths"][path][http]["x-agtp-method"].clone();
    assert_eq!(at("/customers", "get"), "LIST");
    assert_eq!(at("/customers", "post"), "CREATE");
    assert_eq!(at("/customers/{customerId}", "put"), "REPLACE");
    assert_eq!(at("/customers/{customerId}", "delete"), "REMOVE");
    assert_eq!(at("/customers/{customerId}", "post"), "UPDATE");
    assert_eq!(at("/appointments/{id}", "post"), "CANCEL");
    assert_eq!(at("/appointments/{id}/confirm", "post"), "CONFIRM");
    assert_eq!(document["paths"]["/appointments/{id}/confirm"]["post"]["x-agtp-path"], "/appointments/{id}");
}

#[test]
fn s14_2_what_is_lost_is_listed() {
    let export = exported(&workshop());
    assert_eq!(json!(export.losses), export.document["x-agtp-losses"]);
    let says = |text: &str| export.losses.iter().any(|loss| loss.contains(text));
    assert!(says("BOOK /appointments is POST here"));
    assert!(says("CONFIRM /appointments/{id} is at /appointments/{id}/confirm here"));
    assert!(says("BOOK /appointments needs appointments:write"));
    assert!(!says("FETCH /health is GET"));
}

#[test]
fn s14_1_what_was_exported_comes_back_as_it_was() {
    let endpoints = workshop();
    let text = exported(&endpoints).document.to_string();
    let options = at("https://shop.example");
    let back = import(text.as_bytes(), &options).unwrap();
    let mut before: Vec<Value> = endpoints.iter().map(promise).collect();
    let mut after: Vec<Value> = back.operations.iter().map(|found| promise(&registered(written(found)))).collect();
    before.sort_by_key(Value::to_string);
    after.sort_by_key(Value::to_string);
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    for found in &back.operations {
        let marks = &written(found).notes.reviews;
        assert!(marks.is_empty(), "nothing is a guess: {marks:?}");
    }
}

#[test]
fn references_lead_to_where_schemas_are() {
    let export = exported(&workshop());
    let text = export.document.to_string();
    let references = text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for pointer in references {
        assert!(export.document.pointer(pointer).is_some(), "{pointer}");
        count += 1;
    }
    assert!(count > 30);
}

#[test]
fn fields_that_a_query_can_not_hold_go_into_a_body() {
    let nested = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}});
    let mut operation = answering(json!({}));
    operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": nested}}});
    operation["x-agtp-method"] = json!("QUERY");
    let document = exported(&[endpoint(&one("post", "/rooms/{id}", operation))]).document;
    let query = &document["paths"]["/rooms/{id}"]["post"];
    assert_eq!(query["parameters"].as_array().unwrap().len(), 1);
    let name = query["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
    let schema = document.pointer(&name[1..]).unwrap();
    assert!(schema["properties"].get("a").is_some() && schema["properties"].get("id").is_none(), "{schema}");
}

#[test]
fn nothing_is_exported_of_nothing() {
    let export = exported(&[]);
    assert_eq!((export.document["paths"].clone(), export.losses.len()), (json!({}), 0));
    let import = imported(&document(json!({"/a": {"head": {}}})));
    assert!(matches!(import.operations[0].fate, ImportFate::Skipped(_)));
}

#[test]
fn s14_1_properties_called_like_keywords_come_back() {
    let inner = json!({"$ref": "#/components/schemas/Inner"});
    let mut document = one("post", "/things", answering(json!({"$ref": "#/components/schemas/Inner"})));
    let names = ["default", "enum", "const", "examples", "$ref", "type", "properties", "$id", "items", "required"];
    let properties: Value =
        names.iter().map(|name| ((*name).to_owned(), inner.clone())).collect::<serde_json::Map<_, _>>().into();
    document["paths"]["/things"]["post"]["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": {"type": "object", "properties": properties}}}});
    document["components"] =
        json!({"schemas": {"Inner": {"type": "object", "properties": {"type": {"type": "integer"}, "$ref": inner}}}});
    let before = endpoint(&document);
    let back =
        import(exported(std::slice::from_ref(&before)).document.to_string().as_bytes(), &at("https://shop.example"));
    let after = registered(written(&back.unwrap().operations[0]));
    assert_eq!((before.method.as_str(), before.path.as_str()), (after.method.as_str(), after.path.as_str()));
    for name in names {
        for (value, fits) in [(json!({"type": 1, "$ref": {"type": 2}}), true), (json!({"$ref": {"type": "x"}}), false)]
        {
            // Fields of an input have plain names; what lies inside keeps its own.
            let input = json!({ name.trim_start_matches('$'): value });
            for endpoint in [&before, &after] {
                assert_eq!(endpoint.input.check(&input).is_ok(), fits, "{name}: {input}");
            }
        }
    }
}
