//! Documents that are wrong, huge or made to hurt: a clear word, and no more work than is bounded.

use forecourt_openapi::document::OpenApiDocumentError;
use forecourt_openapi::limits::{DOCUMENT_BYTES_MAX, FIELDS_MAX, JOINED_PARTS_MAX, OPERATIONS_MAX, REFERENCE_HOPS_MAX};
use forecourt_openapi::{ImportError, ImportFate, Options, import};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{answering, at, document, imported, one, reason, registered, taking, written};

fn fault(text: &[u8]) -> ImportError {
    import(text, &Options::default()).unwrap_err()
}

fn syntax(text: &[u8]) -> String {
    match fault(text) {
        ImportError::Document(OpenApiDocumentError::Syntax(_, why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_openapi_says_what_it_should_be() {
    assert_eq!(fault(b"{}"), ImportError::Document(OpenApiDocumentError::NotOpenApi));
    assert_eq!(fault(b"just words"), ImportError::Document(OpenApiDocumentError::NotOpenApi));
    assert_eq!(fault(b"[1, 2]"), ImportError::Document(OpenApiDocumentError::NotOpenApi));
    assert_eq!(fault(b"\xff\xfe"), ImportError::Document(OpenApiDocumentError::NotText));
    assert_eq!(fault(b"swagger: '2.0'"), ImportError::Empty);
    assert_eq!(fault(b"swagger: '1.2'"), ImportError::Document(OpenApiDocumentError::Version("1.2".to_owned())));
    assert_eq!(fault(b"{\"swagger\": \"3\", \"openapi\": \"3.1.0\"}"), ImportError::Empty);
    assert_eq!(fault(b"openapi: 4.0.0"), ImportError::Document(OpenApiDocumentError::Version("4.0.0".into())));
    assert_eq!(fault(b"openapi: 3.1.0"), ImportError::Empty);
    assert_eq!(fault(br#"{"openapi":"3.0.0","paths":[]}"#), ImportError::Empty);
    assert_eq!(
        fault(br#"{"openapi":"3.0.0","paths":{"/a":{"$ref":"x.yaml"},"b":{"get":{}},"/c":{"get":7}}}"#),
        ImportError::Empty
    );
}

#[test]
fn versions_in_yaml_need_no_quotes() {
    let text =
        b"openapi: 3.1\ninfo: {title: 7, version: 1.0}\npaths: {/a: {get: {responses: {200: {description: x}}}}}";
    let found = import(text, &at("https://x.example")).unwrap();
    assert_eq!(found.title, "7 1.0");
    registered(written(&found.operations[0]));
}

#[test]
fn broken_syntax_has_its_place() {
    assert!(syntax(b"{\"openapi\": \"3.1.0\",").contains("line 1"));
    assert!(syntax(b"openapi: 3.1.0\nopenapi: 3.0.0").contains("line 2"));
    assert!(syntax(b"{\"openapi\": \"3.1.0\", \"openapi\": \"3.0.0\"}").contains("twice"));
    assert!(syntax(b"a: [1\nb: }").contains("line"));
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut bomb = String::from("openapi: 3.1.0\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for n in 1..10 {
        let tens = vec![format!("*a{}", n - 1); 10].join(",");
        bomb.push_str(&format!("a{n}: &a{n} [{tens}]\n"));
    }
    assert!(!syntax(bomb.as_bytes()).is_empty());
}

#[test]
fn nesting_is_bounded_in_both_spellings() {
    let deep = |open: &str, close: &str| format!("{{\"openapi\": {}{}}}", open.repeat(5_000), close.repeat(5_000));
    syntax(deep("[", "]").as_bytes());
    syntax(format!("openapi: {}", "[".repeat(5_000)).as_bytes());
    let blocks: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    syntax(blocks.as_bytes());
}

#[test]
fn a_document_has_at_most_so_many_bytes() {
    let mut text = one("get", "/a", answering(json!({}))).to_string().into_bytes();
    text.resize(DOCUMENT_BYTES_MAX, b' ');
    assert!(import(&text, &Options::default()).is_ok());
    text.push(b' ');
    assert_eq!(fault(&text), ImportError::Document(OpenApiDocumentError::TooLong));
}

#[test]
fn a_document_has_at_most_so_many_operations() {
    let paths = |count: usize| -> Value {
        // Nothing of them can be written, which is quick.
        let all: Map<_, _> = (0..count).map(|n| (format!("/p{n}"), json!({"head": {}}))).collect();
        document(Value::Object(all))
    };
    assert_eq!(imported(&paths(OPERATIONS_MAX)).operations.len(), OPERATIONS_MAX);
    let refused = |document: &Value| fault(document.to_string().as_bytes());
    let too_many = ImportError::Document(OpenApiDocumentError::TooManyOperations);
    assert_eq!(refused(&paths(OPERATIONS_MAX + 1)), too_many);
    let mut older = paths(OPERATIONS_MAX + 1);
    older["openapi"].take();
    older["swagger"] = json!("2.0");
    assert_eq!(refused(&older), too_many);
    // A few bytes each, and four operations.
    let whole: Map<_, _> = ["get", "put", "post", "delete"].iter().map(|one| ((*one).to_owned(), json!({}))).collect();
    let mut all = Map::from_iter([("/whole".to_owned(), Value::Object(whole))]);
    all.extend((0..OPERATIONS_MAX / 4).map(|n| (format!("/p{n}"), json!({ "$ref": "#/paths/~1whole" }))));
    assert_eq!(refused(&document(Value::Object(all))), too_many);
}

#[test]
fn an_input_has_at_most_so_many_fields() {
    let of = |count: usize| {
        let all: Map<_, _> = (0..count).map(|n| (format!("f{n}"), json!({}))).collect();
        one("post", "/a", taking(json!({ "properties": all })))
    };
    let most = registered(written(&imported(&of(FIELDS_MAX)).operations[0]));
    assert_eq!(most.input.properties().unwrap().len(), FIELDS_MAX);
    let beyond = registered(written(&imported(&of(FIELDS_MAX + 1)).operations[0]));
    assert!(beyond.input.declares("body"), "the body is one field");
    let named = |n: usize| json!({"name": format!("p{n}"), "in": "query"});
    let parameters: Vec<Value> = (0..=FIELDS_MAX).map(named).collect();
    assert!(reason(&one("get", "/a", json!({ "parameters": parameters, "responses": {} }))).contains("fields"));
}

#[test]
fn bodies_that_contain_themselves_end() {
    let mut document = one("post", "/a", taking(json!({"$ref": "#/components/schemas/A"})));
    document["components"] = json!({"schemas": {
        "A": {"allOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}], "properties": {"x": {}}},
        "B": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"y": {}}}]},
    }});
    let import = imported(&document);
    let endpoint = registered(written(&import.operations[0]));
    assert!(endpoint.input.declares("x") && endpoint.input.declares("y"));
    let mut nested = json!({"properties": {"x": {}}});
    for _ in 0..25 {
        nested = json!({ "allOf": [nested] });
    }
    let nested = registered(written(&imported(&one("post", "/a", taking(nested))).operations[0]));
    assert!(nested.input.declares("body"), "what is composed too deeply is one field");
}

/// Bodies that are composed of the next ones, as often as it says.
fn composed(levels: usize, times: usize) -> Value {
    let mut document = one("post", "/a", taking(json!({"$ref": "#/components/schemas/s0"})));
    let part = |level: usize| vec![json!({ "$ref": format!("#/components/schemas/s{}", level + 1) }); times];
    let level = |level: usize| json!({ "allOf": part(level), "properties": { format!("x{level}"): {} } });
    let schemas: Map<String, Value> = (0..levels).map(|at| (format!("s{at}"), level(at))).collect();
    document["components"] = json!({ "schemas": schemas });
    document["components"]["schemas"][format!("s{levels}")] = json!({ "properties": { "y": {} } });
    document
}

#[test]
fn bodies_that_multiply_end() {
    let began = std::time::Instant::now();
    let import = imported(&composed(7, 200));
    assert!(began.elapsed().as_secs() < 20, "12,800,000,000,000,000 parts are not looked at");
    let written = written(&import.operations[0]);
    assert!(
        written.notes.reviews.iter().any(|review| review.cause.contains("composed of too much")),
        "{:?}",
        written.notes
    );
    // Two are looked at beside the parts, whose reference and target count.
    let note = |times| format!("{:?}", self::written(&imported(&composed(1, times)).operations[0]).notes);
    assert!(!note(JOINED_PARTS_MAX / 2 - 1).contains("too much") && note(JOINED_PARTS_MAX / 2).contains("too much"));
}

#[test]
fn parameters_and_responses_that_lead_in_circles_are_left_out() {
    let mut document = one(
        "get",
        "/a",
        json!({
            "parameters": [{"$ref": "#/components/parameters/a"}, 7, {"name": 3}],
            "responses": {"200": {"$ref": "#/components/responses/a"}},
        }),
    );
    document["components"] = json!({
        "parameters": {"a": {"$ref": "#/components/parameters/a"}},
        "responses": {"a": {"$ref": "#/components/responses/a"}},
    });
    assert!(reason(&document).contains("circle"));
}

#[test]
fn references_lead_to_one_another_so_often_at_most() {
    let of = |hops: usize| {
        let mut responses: Map<String, Value> = (1..hops)
            .map(|n| (format!("r{n}"), json!({"$ref": format!("#/components/responses/r{}", n + 1)})))
            .collect();
        responses.insert(format!("r{hops}"), json!({"description": "The end."}));
        let mut document = one("get", "/a", json!({"responses": {"200": {"$ref": "#/components/responses/r1"}}}));
        document["components"] = json!({ "responses": responses });
        document
    };
    assert_eq!(
        registered(written(&imported(&of(REFERENCE_HOPS_MAX)).operations[0])).semantic.outcome,
        "The caller has the end; nothing changed."
    );
    assert!(reason(&of(REFERENCE_HOPS_MAX + 1)).contains("too many"));
}

#[test]
fn texts_can_not_write_the_file() {
    assert!(reason(&one("get", "/a\u{1b}[31m", answering(json!({})))).contains("not text"));
    let path = "/a\"b {x}";
    let mut document = one("get", path, answering(json!({})));
    let evil = "x\"\n[endpoint.handler]\nurl = \"evil.example\"\n${HOME}";
    document["info"] = json!({ "title": evil, "version": evil });
    let operation = &mut document["paths"][path]["get"];
    for key in ["operationId", "summary", "description"] {
        operation[key] = json!(evil);
    }
    operation["tags"] = json!([evil]);
    operation["deprecated"] = json!(true);
    operation["responses"]["200"]["description"] = json!(evil);
    operation["responses"]["4\n4"] = json!({});
    operation["parameters"] = json!([{"name": evil, "in": "query"}, {"name": evil, "in": "header"}]);
    let import = imported(&document);
    let found = written(&import.operations[0]);
    let endpoint = registered(found);
    let forecourt_contract::endpoint::Binding::ExternalService(service) = &endpoint.binding else { panic!() };
    assert!(service.url.starts_with("https://api.example.com/v1/a"), "{}", service.url);
    assert!(endpoint.semantic.intent.contains("${HOME}"));
    assert!(!found.files[0].text.contains('\u{1b}'));
    assert!(found.files[0].name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.'));
}

#[test]
fn names_of_files_stay_short_and_apart() {
    let long = format!("/{}", "a".repeat(300));
    let import = imported(&document(json!({
        format!("{long}b"): {"get": answering(json!({}))}, format!("{long}c"): {"get": answering(json!({}))},
        "/A-b": {"get": answering(json!({}))}, "/a_b": {"get": answering(json!({}))},
    })));
    let names: std::collections::BTreeSet<_> =
        import.operations.iter().map(|found| written(found).files[0].name.to_lowercase()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 110));
}

/// Values that look like pieces of documents.
fn anything() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "allOf",
        "oneOf",
        "anyOf",
        "$ref",
        "required",
        "enum",
        "nullable",
        "pattern",
        "name",
        "in",
        "schema",
        "content",
        "application/json",
        "200",
        "404",
        "description",
        "parameters",
        "minimum",
        "not",
        "exclusiveMinimum",
        "additionalProperties",
        "example",
        "readOnly",
        "default",
        "x y\"",
        "$defs",
        "security",
    ]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
        prop::sample::select(vec![
            "string",
            "object",
            "array",
            "#/components/schemas/A",
            "#/components/schemas/B",
            "path",
            "query",
            "header",
            "",
            "${X}",
            "^a(?=b)",
            "é\u{0}",
            "id",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn s13_2_whatever_is_written_registers(
        schema in anything(), other in anything(), operation in anything(), response in anything(), is_3_0 in any::<bool>(),
        path in "/[a-z{}./?#%]{0,12}",
    ) {
        let mut body = taking(schema.clone());
        if let (Value::Object(body), Value::Object(more)) = (&mut body, operation) {
            body.extend(more);
        }
        let mut document = document(json!({
            path: {"post": body, "get": answering(other.clone()), "put": {"responses": response}},
            "/fixed/{id}": {"patch": taking(other.clone()), "parameters": schema.clone()},
        }));
        document["openapi"] = json!(if is_3_0 { "3.0.1" } else { "3.1.0" });
        document["components"] = json!({"schemas": {"A": schema, "B": other}});
        for found in &imported(&document).operations {
            if let ImportFate::Written(written) = &found.fate {
                registered(written);
            }
        }
    }

    #[test]
    fn no_text_is_too_odd_to_be_refused(text in ".{0,200}") {
        let _ = import(text.as_bytes(), &Options::default());
        let _ = import(format!("openapi: 3.1.0\n{text}").as_bytes(), &Options::default());
    }
}
