use super::*;

#[test]
fn what_the_older_language_says_stands_where_the_newer_one_says_it() {
    let made = upgraded(&json!({
        "swagger": "2.0", "info": { "title": "Rooms", "version": "1" },
        "host": "api.example.com", "basePath": "/v1/", "schemes": ["http", "https"],
        "consumes": ["application/json"], "produces": ["application/json"],
        "definitions": { "Room": { "properties": { "floor": { "type": "integer", "x-nullable": true },
            "next": { "$ref": "#/definitions/Room" } } } },
        "parameters": { "page": { "name": "page", "in": "query", "type": "integer", "minimum": 1 } },
        "responses": { "Room": { "description": "A room", "schema": { "$ref": "#/definitions/Room" } } },
        "securityDefinitions": { "basic": { "type": "basic" },
            "oauth": { "type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://a.example",
                "tokenUrl": "https://t.example", "scopes": { "r": "reads" } } },
        "paths": { "/rooms": {
            "parameters": [{ "name": "ids", "in": "query", "type": "array", "items": { "type": "string" },
                "collectionFormat": "multi" }],
            "get": { "parameters": [{ "$ref": "#/parameters/page" }], "responses": { "200": { "$ref": "#/responses/Room" } } },
            "post": { "parameters": [{ "name": "room", "in": "body", "required": true,
                "schema": { "$ref": "#/definitions/Room" } }], "responses": { "201": { "description": "Made" } } },
            "put": { "consumes": ["multipart/form-data"], "parameters": [
                { "name": "picture", "in": "formData", "type": "file", "required": true }], "responses": {} },
        } },
    }))
    .unwrap();
    assert_eq!(made["servers"][0]["url"], "https://api.example.com/v1");
    let rooms = &made["paths"]["/rooms"];
    assert_eq!(rooms["get"]["parameters"][0]["schema"], json!({ "type": "integer", "minimum": 1 }));
    assert_eq!(
        (&rooms["get"]["parameters"][1]["style"], &rooms["get"]["parameters"][1]["explode"]),
        (&json!("form"), &json!(true))
    );
    let answer = &rooms["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    assert_eq!(answer["$ref"], "#/components/schemas/Room");
    assert_eq!(
        rooms["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/Room"
    );
    let form = &rooms["put"]["requestBody"]["content"]["multipart/form-data"]["schema"];
    assert_eq!((&form["properties"]["picture"]["format"], &form["required"]), (&json!("binary"), &json!(["picture"])));
    let room = &made["components"]["schemas"]["Room"]["properties"];
    assert_eq!(
        (&room["floor"]["nullable"], &room["next"]["$ref"]),
        (&json!(true), &json!("#/components/schemas/Room"))
    );
    let schemes = &made["components"]["securitySchemes"];
    assert_eq!(schemes["basic"]["scheme"], "basic");
    assert_eq!(schemes["oauth"]["flows"]["authorizationCode"]["tokenUrl"], "https://t.example");
}

#[test]
fn what_is_no_document_breaks_nothing() {
    for odd in [
        json!({ "swagger": "2.0" }),
        json!({ "swagger": "2.0", "paths": { "/a": 1, "/b": { "get": [] } } }),
        json!({ "swagger": "2.0", "host": "h", "paths": { "/a": { "post": { "parameters": [1, { "in": "formData" }] } } } }),
    ] {
        assert_eq!(upgraded(&odd).unwrap()["openapi"], "3.0.3");
    }
}

#[test]
fn a_property_may_be_called_as_a_keyword_is() {
    let inner = || json!({ "x-nullable": true, "$ref": "#/definitions/Room" });
    let names = ["default", "enum", "example", "x-nullable", "x-example", "discriminator", "type", "properties"];
    let named: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), inner())).collect();
    let made = schema(&json!({ "properties": named, "patternProperties": { "default": inner() }, "default": inner() }));
    let moved = json!({ "nullable": true, "$ref": "#/components/schemas/Room" });
    for name in names {
        assert_eq!(made["properties"][name], moved, "{name}");
    }
    assert_eq!(made["patternProperties"]["default"], moved);
    assert_eq!(made["default"], inner(), "a value is data");
}

/// A document of `count` operations that share a response and a parameter of so many bytes.
fn sharing(count: usize, bytes: usize) -> Value {
    let long = "x".repeat(bytes);
    let shared = |what: &str| json!({ "$ref": format!("#/{what}/Long") });
    let operation = json!({ "parameters": [shared("parameters")], "responses": { "200": shared("responses") } });
    let paths: Map<String, Value> = (0..count).map(|n| (format!("/p{n}"), json!({ "get": operation }))).collect();
    json!({
        "swagger": "2.0", "paths": paths,
        "parameters": { "Long": { "name": "a", "in": "query", "type": "string", "description": long } },
        "responses": { "Long": { "description": "Done", "schema": { "description": long } } },
    })
}

#[test]
fn what_is_shared_comes_to_so_many_bytes_at_most() {
    assert!(upgraded(&sharing(31, 1024 * 1024)).is_ok());
    assert_eq!(upgraded(&sharing(32, 1024 * 1024)), Err(OpenApiDocumentError::Repeated));
    let mut by_media = sharing(1, 1024 * 1024);
    by_media["produces"] = (0..63).map(|n| json!(format!("text/{n}"))).collect();
    assert_eq!(upgraded(&by_media), Err(OpenApiDocumentError::Repeated));
    let mut by_item = sharing(1, 1024 * 1024);
    for n in 0..33 {
        by_item["paths"][format!("/q{n}")] = json!({ "$ref": "#/paths/~1p0" });
    }
    assert_eq!(upgraded(&by_item), Err(OpenApiDocumentError::Repeated));
}
