//! Where the service is and how it knows the host.

use std::collections::BTreeMap;

use forecourt_contract::endpoint::{Binding, ExternalService};
use forecourt_openapi::{Options, import};
use serde_json::{Value, json};

use crate::support::{answering, at, endpoint, imported, one, registered, taking, written};

fn service(document: &Value) -> ExternalService {
    match endpoint(document).binding {
        Binding::ExternalService(service) => *service,
        other => panic!("{other:?}"),
    }
}

fn secured(schemes: Value, security: Value) -> Value {
    let mut document = one("get", "/a", answering(json!({})));
    document["components"] = json!({ "securitySchemes": schemes });
    document["security"] = security;
    document
}

#[test]
fn credentials_become_header_fields() {
    for (scheme, name, value) in [
        (json!({"type": "http", "scheme": "bearer"}), "Authorization", "Bearer ${UPSTREAM_TEST_K}"),
        (json!({"type": "http", "scheme": "Basic"}), "Authorization", "Basic ${UPSTREAM_TEST_K}"),
        (json!({"type": "oauth2", "flows": {}}), "Authorization", "Bearer ${UPSTREAM_TEST_K}"),
        (json!({"type": "openIdConnect"}), "Authorization", "Bearer ${UPSTREAM_TEST_K}"),
        (json!({"type": "apiKey", "in": "header", "name": "X-Key"}), "X-Key", "${UPSTREAM_TEST_K}"),
        (json!({"type": "apiKey", "in": "cookie", "name": "sid"}), "Cookie", "sid=${UPSTREAM_TEST_K}"),
    ] {
        let import = imported(&secured(json!({ "k": scheme }), json!([{ "k": [] }])));
        let text = &written(&import.operations[0]).files[0].text;
        assert!(text.contains(&format!("{name} = \"{value}\"")), "{text}");
        assert!(import.variables.contains_key("UPSTREAM_TEST_K"));
    }
}

#[test]
fn of_several_ways_the_first_that_can_be_carried_is_taken() {
    let schemes = json!({
        "query": {"type": "apiKey", "in": "query", "name": "key"},
        "bearer": {"type": "http", "scheme": "bearer"},
        "other": {"type": "apiKey", "in": "header", "name": "X-Other"},
    });
    let either = secured(schemes.clone(), json!([{"query": []}, {"bearer": [], "other": []}]));
    let headers = service(&either).headers.0;
    assert_eq!(headers.keys().collect::<Vec<_>>(), ["Authorization", "X-Other"]);
    let only = imported(&secured(schemes, json!([{"query": []}])));
    let losses = &written(&only.operations[0]).notes.losses;
    assert!(losses[0].contains("goes into the query"), "{losses:?}");
}

#[test]
fn a_credential_that_is_not_described_is_a_loss() {
    let import = imported(&secured(json!({}), json!([{"gone": []}])));
    assert!(written(&import.operations[0]).notes.losses[0].contains("does not say what gone is"));
}

#[test]
fn the_services_scopes_are_what_agents_must_hold_at_first() {
    let document = secured(json!({"o": {"type": "oauth2"}}), json!([{"o": ["pets:read", "https://x/y", "admin"]}]));
    let scopes = endpoint(&document).required_scopes;
    assert_eq!(scopes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["pets:read"]);
    let none = endpoint(&one("get", "/v1/rooms/{id}", answering(json!({}))));
    assert_eq!(none.required_scopes[0].as_str(), "rooms:read");
}

#[test]
fn header_fields_have_one_value_for_all_callers() {
    let parameters = json!([
        {"name": "X-Tenant", "in": "header", "required": true, "schema": {"type": "string"}},
        {"name": "X-Version", "in": "header", "required": true, "schema": {"enum": ["2"]}},
        {"name": "X-Odd", "in": "header", "required": true, "schema": {"const": "${HOME}"}},
        {"name": "X-Organization", "in": "header"},
        {"name": "Accept", "in": "header", "required": true, "schema": {"default": "application/json;version=2"}},
        {"name": "sid", "in": "cookie", "required": true},
        {"name": "session", "in": "cookie"},
    ]);
    let document = one("get", "/a", json!({ "parameters": parameters, "responses": {} }));
    let headers = service(&document).headers.0;
    assert_eq!(headers["X-Tenant"], "s3cret");
    assert_eq!(headers["X-Version"], "2");
    assert_eq!(headers["X-Odd"], "${HOME}", "no variable of ours");
    assert_eq!(headers["Cookie"], "sid=s3cret");
    assert_eq!(headers["Accept"], "application/json;version=2", "it is the document's own");
    assert_eq!(headers.len(), 5);
    let import = imported(&document);
    assert_eq!(written(&import.operations[0]).notes.losses.len(), 2, "an optional tenant and an optional session");
    assert_eq!(import.variables.keys().collect::<Vec<_>>(), ["UPSTREAM_TEST_SID", "UPSTREAM_TEST_X_TENANT"]);
}

#[test]
fn s12_3_the_server_is_absolute_and_https() {
    let with = |servers: Value| {
        let mut document = one("get", "/a", answering(json!({})));
        document["servers"] = servers;
        document
    };
    assert_eq!(service(&with(json!([{"url": "https://a.example"}]))).url, "https://a.example/a");
    let several = json!([{"url": "http://a.example"}, {"url": "https://b.example/x/"}]);
    assert_eq!(service(&with(several)).url, "https://b.example/x/a");
    let filled = json!([{"url": "https://{region}.example", "variables": {"region": {"default": "eu"}}}]);
    assert_eq!(service(&with(filled)).url, "https://eu.example/a");
    assert_eq!(service(&with(json!([{"url": "http://localhost:1"}]))).url, "http://localhost:1/a");
    for wrong in [
        json!([]),
        json!([{"url": "/v1"}]),
        json!([{"url": "http://a.example"}]),
        json!([{"url": "https://{x}.example"}]),
        json!([{"url": "https://u:p@a.example"}]),
    ] {
        let fault = import(with(wrong.clone()).to_string().as_bytes(), &Options::default()).unwrap_err();
        assert!(fault.to_string().contains("--base-url"), "{wrong}: {fault}");
    }
}

#[test]
fn an_operation_may_lack_what_others_have() {
    let mut document = one("get", "/a", answering(json!({})));
    document["paths"]["/b"] = json!({"servers": [{"url": "/here"}], "get": answering(json!({}))});
    let import = imported(&document);
    assert!(import.operations[0].fate.written().is_some() && import.operations[1].fate.written().is_none());
}

#[test]
fn servers_that_are_paths_are_where_the_document_came_from() {
    let address = "https://docs.example/specs/openapi.json?v=1";
    let urls = |document: &Value| -> Vec<String> {
        let options = Options { address: Some(address.parse().unwrap()), ..Options::default() };
        let import = import(document.to_string().as_bytes(), &options).unwrap();
        let url = |operation| match registered(written(operation)).binding {
            Binding::ExternalService(service) => service.url,
            other => panic!("{other:?}"),
        };
        import.operations.iter().map(url).collect()
    };
    let mut document = one("get", "/a", answering(json!({})));
    document["paths"]["/b"] = json!({"servers": [{"url": "https://upload.example/u"}], "get": answering(json!({}))});
    let mut own = answering(json!({}));
    own["servers"] = json!([{"url": "../v2"}]);
    document["paths"]["/c"] = json!({ "get": own });
    for (servers, first) in [
        (json!([]), "https://docs.example/a"),
        (json!([{"url": "/v1/"}]), "https://docs.example/v1/a"),
        (json!([{"url": "v1"}]), "https://docs.example/specs/v1/a"),
        (json!([{"url": "//api.example"}]), "https://api.example/a"),
        (json!([{"url": "https://api.example"}, {"url": "/v1"}]), "https://api.example/a"),
        (json!([{"url": "{base}", "variables": {"base": {"default": "/v3"}}}]), "https://docs.example/v3/a"),
    ] {
        document["servers"] = servers;
        assert_eq!(urls(&document), [first, "https://upload.example/u/b", "https://docs.example/v2/c"]);
    }
    let older = json!({
        "swagger": "2.0", "info": { "title": "Rooms", "version": "1" }, "basePath": "/v1",
        "paths": { "/rooms": { "get": { "responses": { "200": { "description": "OK" } } } } },
    });
    assert_eq!(urls(&older), ["https://docs.example/v1/rooms"]);
}

#[test]
fn a_base_that_is_given_goes_before_all_servers() {
    let document = one("get", "/a", answering(json!({}))).to_string();
    let with = |base: &str| import(document.as_bytes(), &at(base));
    let text = written(&with("https://b.example/api/").unwrap().operations[0]).files[0].text.clone();
    assert!(text.contains("url = \"https://b.example/api/a\""), "{text}");
    for wrong in
        ["", "b.example", "ftp://b.example", "https://b.example?x", "https://b.example/{x}", "https://b .example"]
    {
        assert!(with(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn scopes_that_are_none_leave_nothing_open() {
    let stating = |scopes: Value| {
        let mut operation = answering(json!({}));
        operation["x-agtp-required-scopes"] = scopes;
        endpoint(&one("get", "/orders", operation)).required_scopes
    };
    let texts = |stated: Value| stating(stated).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(json!(["booking:room"])), ["booking:room"]);
    assert!(texts(json!([])).is_empty());
    for stated in [json!(["Booking"]), json!(["booking:*"]), json!([7]), json!(["booking:room", "booking"])] {
        assert_eq!(texts(stated), ["orders:read"]);
    }
}

#[test]
fn no_document_can_ask_for_a_variable_of_something_else() {
    for title in ["AWS", "aws secret access", "PATH", "", "7", "UPSTREAM"] {
        let schemes = json!({"secret_access_key": {"type": "http", "scheme": "bearer"}});
        let mut document = secured(schemes, json!([{"secret_access_key": []}]));
        document["info"]["title"] = title.into();
        let variables = imported(&document).variables;
        assert!(!variables.is_empty() && variables.keys().all(|name| name.starts_with("UPSTREAM_")), "{variables:?}");
    }
}

/// What becomes of a parameter of an operation: its field of the input, and how it is written.
fn written_as(http: &str, parameter: Value) -> (Value, Value) {
    let mut operation = taking(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    if http == "get" {
        operation = answering(json!({"type": "object"}));
    }
    operation["parameters"] = json!([parameter]);
    let service = service(&one(http, "/a", operation));
    (
        json!(service.input_transform),
        json!(service.styles.iter().map(|(f, s)| (f, s.name())).collect::<BTreeMap<_, _>>()),
    )
}

#[test]
fn s12_3_query_parameters_are_written_as_the_document_says() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let object = json!({"type": "object", "properties": {"min": {"type": "integer"}}});
    for (more, schema, on_get, on_post) in [
        (json!({}), json!({"type": "string"}), None, None),
        (json!({}), list.clone(), None, Some("repeat")),
        (json!({"explode": false}), list.clone(), Some("comma"), Some("comma")),
        (json!({"style": "pipeDelimited"}), list.clone(), Some("pipe"), Some("pipe")),
        (json!({"style": "spaceDelimited", "explode": false}), list.clone(), Some("space"), Some("space")),
        (json!({"style": "spaceDelimited", "explode": true}), list, None, Some("repeat")),
        (json!({"style": "deepObject"}), object.clone(), Some("deep"), Some("deep")),
        (json!({}), object.clone(), Some("fields"), Some("fields")),
        (json!({"explode": false}), object, Some("comma"), Some("comma")),
        (json!({"content": {"application/json": {"schema": {}}}}), json!({}), Some("json"), Some("json")),
    ] {
        let mut parameter = json!({"name": "q", "in": "query", "schema": schema});
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        for (http, style) in [("get", on_get), ("post", on_post)] {
            let expected = style.map_or(json!({}), |style| json!({"q": style}));
            assert_eq!(written_as(http, parameter.clone()), (json!({}), expected), "{http} {parameter}");
        }
    }
}

#[test]
fn s12_3_header_fields_that_say_nothing_of_who_calls_are_the_callers() {
    let header = |name: &str| json!({"name": name, "in": "header", "schema": {"type": "string"}});
    assert_eq!(written_as("get", header("If-Match")), (json!({"if_match": "If-Match"}), json!({"if_match": "header"})),);
    assert_eq!(written_as("get", header("X-Trace")), (json!({"x_trace": "X-Trace"}), json!({"x_trace": "header"})));
    assert_eq!(
        written_as("get", json!({"name": "theme", "in": "cookie", "schema": {"type": "string"}})),
        (json!({"theme": "theme"}), json!({"theme": "cookie"}))
    );
    for name in ["X-Tenant", "X-Api-Key", "X-Forwarded-For", "X-On-Behalf-Of", "From", "X-User-Id", "Host"] {
        assert_eq!(written_as("get", header(name)), (json!({}), json!({})), "{name} says who calls");
    }
}
