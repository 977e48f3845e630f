//! Documents of other versions: Swagger 2.0 and what OpenAPI 3.2 added; and what documents say that HTTP does not.

use forecourt_contract::endpoint::Binding;
use forecourt_openapi::{Options, import};
use serde_json::{Value, json};

use crate::support::{answering, document, endpoint, imported, one, registered, taking, written};

#[test]
fn swagger_2_0_becomes_endpoints() {
    let swagger = json!({
        "swagger": "2.0", "info": { "title": "Rooms", "version": "1" },
        "host": "api.example.com", "basePath": "/v1", "schemes": ["https"],
        "definitions": { "Room": { "type": "object", "required": ["floor"],
            "properties": { "id": { "type": "integer", "readOnly": true }, "floor": { "type": "integer" } } } },
        "securityDefinitions": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } },
        "security": [{ "key": [] }],
        "paths": { "/rooms": { "post": { "operationId": "createRoom", "parameters": [
            { "name": "hotel", "in": "query", "required": true, "type": "string" },
            { "name": "room", "in": "body", "required": true, "schema": { "$ref": "#/definitions/Room" } }],
            "responses": { "201": { "description": "Made", "schema": { "$ref": "#/definitions/Room" } } } } } },
    });
    let endpoint = endpoint(&swagger);
    assert_eq!((endpoint.method.as_str(), endpoint.path.as_str()), ("CREATE", "/rooms"));
    assert!(endpoint.input.check(&json!({ "hotel": "h", "floor": 2 })).is_ok());
    assert!(endpoint.input.check(&json!({ "hotel": "h", "floor": 2, "id": 1 })).is_err(), "id is read-only");
    assert!(endpoint.output.check(&json!({ "id": 1, "floor": 2 })).is_ok());
    let Binding::ExternalService(service) = &endpoint.binding else { panic!() };
    assert!(service.url.starts_with("https://api.example.com/v1/rooms"), "{}", service.url);
    assert!(service.headers.0.contains_key("X-Key"));
}

#[test]
fn a_query_is_a_get_with_a_body() {
    let mut query = taking(json!({ "type": "object", "properties": { "floor": { "type": "integer" } } }));
    query["summary"] = json!("Search rooms");
    let mut newer = one("query", "/rooms", query);
    newer["openapi"] = json!("3.2.0");
    let endpoint = endpoint(&newer);
    assert_eq!(json!(endpoint.semantic.impact), "informational");
    let Binding::ExternalService(service) = &endpoint.binding else { panic!() };
    assert_eq!(service.method, "QUERY");
    let mut more = document(json!({ "/rooms": { "additionalOperations": { "COPY": answering(json!({})) } } }));
    more["openapi"] = json!("3.2.0");
    assert_eq!(imported(&more).operations[0].http, "COPY");
}

#[test]
fn fragments_tell_paths_apart_and_are_not_sent() {
    let operation = |summary: &str| {
        let mut operation = answering(json!({ "type": "object" }));
        operation["summary"] = json!(summary);
        operation
    };
    let import = imported(&document(json!({
        "/files/{id}": { "get": operation("Get a file") },
        "/files/{id}#shared_link": { "get": operation("Get the shared link of a file") },
    })));
    let found: Vec<_> = import.operations.iter().map(|operation| registered(written(operation))).collect();
    assert_eq!(found.iter().map(|e| e.path.as_str()).collect::<Vec<_>>(), ["/files/{id}", "/files/{id}/shared-link"]);
    for endpoint in found {
        let Binding::ExternalService(service) = &endpoint.binding else { panic!() };
        assert_eq!(service.url, "https://api.example.com/v1/files/{id}");
    }
}

#[test]
fn s14_1_what_has_no_body_has_no_schema() {
    let schema = json!({ "type": "object", "required": ["id"], "properties": { "id": {} } });
    let content = json!({ "application/json": { "schema": schema } });
    let operation = json!({ "responses": { "204": { "description": "Done", "content": content } } });
    let endpoint = endpoint(&one("delete", "/rooms/{id}", operation));
    assert!(endpoint.output.check(&json!({})).is_ok());
}

#[test]
fn s14_1_a_conflict_that_nobody_declared_is_one() {
    let ids = |http: &str| {
        let endpoint = endpoint(&one(http, "/rooms/{id}", json!({ "responses": { "200": { "description": "OK" } } })));
        let Binding::ExternalService(service) = &endpoint.binding else { panic!() };
        assert!(service.passes_reasons);
        service.error_map.clone()
    };
    let map = ids("put");
    assert_eq!((map["404"].as_str(), map["409"].as_str(), map["422"].as_str()), ("not_found", "conflict", "invalid"));
    assert!(!ids("get").contains_key("409"), "nothing that is read is in conflict");
}

#[test]
fn s14_1_words_of_another_operation_are_not_taken() {
    let said = |id: &str| {
        json!({ "operationId": id, "summary": "List rooms",
        "responses": { "200": { "description": "OK" } } })
    };
    let import = imported(&document(json!({
        "/rooms/search": { "get": said("listRooms"), "post": said("") },
    })));
    let of = |http: &str| {
        let found = import.operations.iter().find(|found| found.http == http).unwrap();
        registered(written(found)).semantic
    };
    assert_ne!(of("POST").intent, "List rooms.", "the words are a GET's");
    assert_eq!(json!(of("POST").impact), "reversible", "copied words are no proof");
}

#[test]
fn s6_4_a_field_that_is_read_only_in_one_branch_is_there_for_the_others() {
    let branch = |value: &str, flag: bool| {
        json!({ "type": "object", "required": ["type"],
            "properties": { "type": { "$ref": format!("#/components/schemas/{value}") , "readOnly": flag }, value: {} } })
    };
    let mut whole = one("post", "/things", taking(json!({ "oneOf": [branch("cat", false), branch("dog", true)] })));
    whole["components"] =
        json!({ "schemas": { "cat": { "const": "cat" }, "dog": { "const": "dog", "readOnly": true } } });
    let endpoint = endpoint(&whole);
    assert!(endpoint.input.check(&json!({ "type": "cat", "cat": 1 })).is_ok(), "{}", endpoint.input.source());
    assert!(endpoint.input.check(&json!({ "dog": 1 })).is_ok(), "{}", endpoint.input.source());
}

#[test]
fn formats_of_documents_only_tell_what_is_meant() {
    let text = |document: &Value| {
        let import = import(document.to_string().as_bytes(), &Options::default()).unwrap();
        written(&import.operations[0]).files[0].text.clone()
    };
    let dated = taking(json!({ "type": "object", "properties": { "day": { "type": "string", "format": "date" } } }));
    let dated = one("post", "/days", dated);
    assert!(text(&dated).contains("format = \"annotate\""));
    assert!(endpoint(&dated).input.check(&json!({ "day": "soon" })).is_ok());
    assert!(!text(&one("get", "/days", answering(json!({})))).contains("format ="));
}

#[test]
fn a_parameter_without_a_name_is_none() {
    let mut operation = answering(json!({ "type": "object" }));
    operation["parameters"] = json!([{ "name": "", "in": "header", "schema": { "type": "string" } }]);
    assert!(endpoint(&one("get", "/pages", operation)).input.properties().is_some_and(|all| all.is_empty()));
}
