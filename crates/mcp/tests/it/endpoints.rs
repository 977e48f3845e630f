//! Endpoints with a contract as tools: what the transport says of refusals, and what is promised of results.

use std::sync::Arc;

use axum::body::Body;
use forecourt_contract::endpoint::{Binding, Definition, EndpointOffer, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::{Dispatcher, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry};
use forecourt_surface::endpoint;
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::support::{Answer, Place, Setup, modern};

struct Room;

impl Handler for Room {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        Box::pin(async move {
            match invocation.input["nights"].as_i64() {
                Some(0) => Err(Failure::Named {
                    code: "no_nights".to_owned(),
                    message: "Stay for a night at least.".to_owned(),
                    details: json!({"nights_min": 1}),
                }),
                nights => Ok(json!({"nights": nights})),
            }
        })
    }
}

fn definition(method: &str, path: &str, scopes: &[&str]) -> Definition {
    Definition {
        method: Some(method.to_owned()),
        path: Some(path.to_owned()),
        description: Some("Books a room.".to_owned()),
        semantic: json!({
            "intent": "Book a room.", "actor": "agent", "outcome": "A room is booked.", "capability": "transaction",
            "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        }),
        input_schema: Some(json!({
            "type": "object", "properties": {"nights": {"type": "integer"}}, "additionalProperties": false,
        })),
        output_schema: Some(json!({
            "type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"],
        })),
        errors: Some(vec!["no_nights".to_owned()]),
        required_scopes: scopes.iter().map(ToString::to_string).collect(),
        offers: EndpointOffer::ALL.to_vec(),
        binding: Some(Binding::RegisteredFunction { function: "f".to_owned(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}

async fn place() -> Place {
    let mut contract = Dispatcher::default();
    let settings = MethodPolicySettings { disallow: vec!["CANCEL".to_owned()], ..MethodPolicySettings::default() };
    contract.policy = MethodPolicy::new(&settings, &contract.catalog).unwrap().0;
    let (policy, recipes) = (MethodPolicy::default(), RecipeBook::default());
    let around = RegistrationContext::new(&contract.catalog, &policy, &recipes);
    let mut registry = Registry::default();
    for (method, path, scopes) in [
        ("BOOK", "/rooms", &["booking:room", "booking:read"][..]),
        ("BOOK", "/suites", &["booking:suite"]),
        ("CANCEL", "/rooms", &["booking:cancel"]),
    ] {
        let endpoint = Endpoint::register(definition(method, path, scopes), &around).unwrap();
        registry.insert(Arc::new(endpoint), Arc::new(Room)).unwrap();
    }
    contract.registry = registry;
    let contract = Arc::new(contract);
    Setup { issuer: true, contract, ..Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"])) }
        .start()
        .await
}

async fn book(place: &Place, nights: Value, token: Option<String>) -> Answer {
    let params = json!({"name": "book_rooms", "arguments": {"nights": nights}});
    let mut request = modern("/mcp", "tools/call", params, json!({}));
    if let Some(token) = token {
        request.headers_mut().insert("authorization", token.parse().unwrap());
    }
    place.send(request).await
}

#[tokio::test]
async fn s6_a_call_without_a_token_is_401_and_says_where_to_get_which() {
    let place = place().await;
    let answer = book(&place, json!(1), None).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let challenge = answer.field("www-authenticate");
    let leads = "resource_metadata=\"https://demo.localhost/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge.contains(leads) && challenge.contains("scope=\"booking:"), "{challenge}");
    assert!(!challenge.contains("error="), "nothing was wrong with a token that was not there: {challenge}");
}

#[tokio::test]
async fn s6_too_little_scope_is_403_with_all_that_is_needed() {
    let place = place().await;
    let answer = book(&place, json!(1), Some(place.token_for("ann", "booking:read"))).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let challenge = answer.field("www-authenticate");
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("booking:room") && challenge.contains("booking:read"), "{challenge}");
    assert!(challenge.contains("resource_metadata="), "{challenge}");
    let answer = book(&place, json!(1), Some(place.token_for("ann", "booking:read booking:room"))).await;
    assert_eq!(answer.last()["result"]["structuredContent"], json!({"nights": 1}));
}

#[tokio::test]
async fn s6_the_metadata_names_the_scopes_of_its_own_resource() {
    let place = place().await;
    let get = |path: &str| {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        Request::get(path).header("host", "demo.localhost").body(Body::empty()).unwrap()
    };
    let host = place.send(get("/mcp")).await;
    assert_eq!(host.last()["scopes_supported"], json!(["booking:read", "booking:room", "booking:suite"]));
    let agent = place.send(get("/mcp/chef")).await;
    assert_eq!(agent.last()["resource"], "https://demo.localhost/mcp/chef");
    assert_eq!(agent.last()["scopes_supported"], Value::Null);
}

#[tokio::test]
async fn s3_a_refusal_does_not_contradict_what_the_tool_promises() {
    let place = place().await;
    let token = || Some(place.token_for("ann", "booking:*"));
    let answer = book(&place, json!(0), token()).await;
    let result = &answer.last()["result"];
    assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(true), &Value::Null));
    let error = &result["_meta"]["mentionable"]["error"];
    assert_eq!((&error["code"], &error["details"]), (&json!("no_nights"), &json!({"nights_min": 1})));
    assert!(result["content"][1]["text"].as_str().unwrap().contains("nights_min"), "{result}");
    let wrong = book(&place, json!("many"), token()).await;
    let error = &wrong.last()["result"]["_meta"]["mentionable"]["error"];
    assert_eq!(error["details"]["field"], "/nights", "{error}");
}

#[tokio::test]
async fn s5_5_an_integer_may_be_written_with_a_fraction_of_zero() {
    let place = place().await;
    let answer = book(&place, json!(2.0), Some(place.token_for("ann", "booking:*"))).await;
    assert_eq!(answer.last()["result"]["structuredContent"]["nights"].to_string(), "2");
}

#[tokio::test]
async fn s9_what_the_policy_refuses_is_not_listed() {
    let place = place().await;
    assert_eq!(endpoint::offered(place.host().contract()).len(), 2);
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    let names: Vec<&str> =
        listed.last()["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"book_rooms") && !names.contains(&"cancel_rooms"), "{names:?}");
}
