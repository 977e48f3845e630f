//! What another agent may do in a task that was handed to it. Base 3.1, 7.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock, Weak};

use forecourt_contract::Call;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Message};
use forecourt_host::{Host, InvokeOutcome};
use forecourt_surface::endpoint;
use forecourt_surface::tool::ToolCall;
use forecourt_testhost::resident;
use forecourt_testkit::card;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::service::ConnectionInfo;
use crate::tests::support::{Server, blueprint, body, certificate_of, server_of};

const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

/// Does what a message asks for, in the name of whoever sent it, and says what came of it: an endpoint by its
/// method, or as JSON what to hand on.
#[derive(Default)]
struct Obedient(Arc<OnceLock<Weak<Host>>>);

impl Agent for Obedient {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let (host, message) = (self.0.get().and_then(Weak::upgrade).unwrap(), admitted.into_message());
        let said = async move {
            let wanted = message.parts[0].as_text().unwrap();
            match serde_json::from_str::<Value>(wanted) {
                Ok(onward) => hand_on(&host, &message, &onward).await,
                Err(_) => call_endpoint(&host, &message, wanted).await,
            }
        };
        let told = |said| stream::iter([Event::Text(said), Event::Ending(Ending::Complete)]);
        stream::once(said).flat_map(told).boxed()
    }
}

async fn call_endpoint(host: &Host, message: &Message, method: &str) -> String {
    let mut endpoints = host.contract().registry.iter().map(|registered| registered.endpoint.clone());
    let endpoint = endpoints.find(|endpoint| endpoint.method.as_str() == method).unwrap();
    let call = ToolCall {
        arguments: json!({"room": "five"}),
        sender: message.sender.clone(),
        hop: message.hop + 1,
        language: None,
        via: "test",
        gives_tasks: false,
        answered: None,
        visited: None,
        payment: None,
    };
    let called = endpoint::call(host, &endpoint, call).await;
    if called.is_error { format!("refused: {}", called.structured) } else { "done".to_owned() }
}

async fn hand_on(host: &Host, message: &Message, onward: &Value) -> String {
    let (method, path) = ("DELEGATE".to_owned(), "/".to_owned());
    let caller = host.caller(message.sender.clone()).await.unwrap();
    let body = onward.as_object().unwrap().clone();
    let call = Call { method, path, body, caller, depth: message.hop + 1, ..Call::default() };
    let Ok(InvokeOutcome::Answered(outcome)) = host.invoke(call, "test").await else { panic!() };
    match outcome.answer {
        Ok(answer) => answer["result"]["content"].as_str().unwrap().to_owned(),
        Err(refusal) => format!("refused: {refusal:?}"),
    }
}

/// A server with `chef`, who declared `booking:room` and `documents:query`, and `gate`, who obey.
async fn server() -> Server {
    server_with("").await
}

/// The same with a section of its own.
async fn server_with(section: &str) -> Server {
    let hosts: [Arc<OnceLock<Weak<Host>>>; 2] = Default::default();
    let mut blueprint = blueprint(section);
    blueprint.residents = ["chef", "gate"]
        .into_iter()
        .zip(&hosts)
        .map(|(name, host)| resident(card(name), Arc::new(Obedient(host.clone())), Vec::new()))
        .collect();
    let server = server_of(blueprint).await;
    for host in hosts {
        host.set(Arc::downgrade(&server.mounted.mount.host)).unwrap();
    }
    server
}

/// What `chef`, who shows its certificate, is answered.
async fn ask(server: &Server, method: &str, fields: &str, parameters: &Value) -> Value {
    let id = server.id("chef");
    let line = ConnectionInfo { certificate: Some(Ok(certificate_of(&id))), ..ConnectionInfo::new(ELSEWHERE, None) };
    let mut client = server.connect_by(line);
    client.say(&format!("{method} /\r\nAgent-ID: {id}{fields}"), &parameters.to_string()).await;
    body(&client.hear().await.unwrap())
}

fn delegation(to: &str, task: &str, scopes: &[&str]) -> Value {
    json!({"target_agent_id": to, "task": task, "authority_scope": scopes, "delegation_token": "d-1"})
}

/// What `gate` says of a task that `chef` hands to it.
async fn delegated(server: &Server, task: &str, scopes: &[&str]) -> String {
    let answer = ask(server, "DELEGATE", "", &delegation(&server.id("gate"), task, scopes)).await;
    answer["result"]["content"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn is_refused_for(said: &str, scope: &str) -> bool {
    said.starts_with("refused: ") && said.contains("scope-violation") && said.contains(scope)
}

#[tokio::test]
async fn s3_1_an_endpoint_beyond_what_was_granted_is_refused_with_its_scope() {
    let server = server().await;
    for granted in [&["documents:query"][..], &[]] {
        let said = delegated(&server, "BOOK", granted).await;
        assert!(is_refused_for(&said, "booking:room"), "{granted:?}: {said}");
    }
    assert_eq!(delegated(&server, "BOOK", &["booking:room"]).await, "done");
    let said = delegated(&server, "PURCHASE", &["booking:room"]).await;
    assert!(is_refused_for(&said, "payments:take"), "what was never the caller's: {said}");
}

#[tokio::test]
async fn s3_1_what_is_handed_on_is_held_to_what_was_handed_over() {
    let server = server().await;
    let onward = |scopes: &[&str], task: &str| delegation(&server.id("chef"), task, scopes).to_string();
    let said = delegated(&server, &onward(&["documents:query"], "BOOK"), &["booking:room"]).await;
    assert!(said.starts_with("refused: ") && said.contains("documents:query"), "it was not granted: {said}");
    let said = delegated(&server, &onward(&["booking:room"], "BOOK"), &["booking:room"]).await;
    assert!(said.starts_with("refused: ") && said.contains("delegation-not-a-subset"), "it is all of it: {said}");
    let said = delegated(&server, &onward(&[], "BOOK"), &["booking:room"]).await;
    assert!(is_refused_for(&said, "booking:room"), "nothing was handed on: {said}");
}

#[tokio::test]
async fn s7_3_what_an_agent_does_is_held_to_what_the_request_claims() {
    let server = server().await;
    let query = async |server: &Server, claim: &str| {
        let answer = ask(server, "QUERY", claim, &json!({"intent": "BOOK"})).await;
        answer["results"][0]["content"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    assert_eq!(query(&server, "\r\nAuthority-Scope: booking:room").await, "done");
    let said = query(&server, "").await;
    assert!(is_refused_for(&said, "booking:room"), "s8_7: claims are wanted here, and none was made: {said}");
    let open = server_with("[endpoints]\nscope_required = false").await;
    assert_eq!(query(&open, "").await, "done", "all that was declared");
    assert!(is_refused_for(&query(&server, "\r\nAuthority-Scope: documents:query").await, "booking:room"));
}
