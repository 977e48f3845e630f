//! The floor from bytes to bytes, one test for each rule, with agents that do what the test says.

mod cognitive;
mod delegated;
mod lifecycle;
mod mechanics;
mod once;
mod refusals;
mod sessions;

use std::sync::Arc;

use forecourt_core::findings::ItemFindings;
use forecourt_core::{Agent, AgentCard, Ending, Event, Findings, Part, Question};
use forecourt_testhost::resident;
use forecourt_testkit::{ScriptedAgent, Step, card};
use serde_json::{Value, json};

use crate::tests::support::{Server, blueprint, body, server_of};

/// A server on which `chef` is this agent; `gate` says hello.
async fn server_with(agent: Arc<dyn Agent>) -> Server {
    server_as(card("chef"), agent).await
}

/// The same, with another card.
async fn server_as(card: AgentCard, agent: Arc<dyn Agent>) -> Server {
    let mut blueprint = blueprint("");
    blueprint.residents[0] = resident(card, agent, Vec::new());
    server_of(blueprint).await
}

async fn server() -> Server {
    server_with(ScriptedAgent::saying(["Hello."])).await
}

/// What `chef` is answered when it calls a method with these parameters.
async fn call(server: &Server, method: &str, parameters: Value) -> (u16, Value) {
    call_with(server, method, "", parameters).await
}

/// The same, with more fields, each begun by a line end.
async fn call_with(server: &Server, method: &str, fields: &str, parameters: Value) -> (u16, Value) {
    let response = server.ask_as_chef(&format!("{method} /{fields}"), &parameters.to_string()).await;
    (response.start.code, body(&response))
}

/// The code word of an error.
fn word(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_default()
}

fn ends(ending: Ending) -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Do(Event::Ending(ending))])
}

fn asks() -> Arc<ScriptedAgent> {
    ends(Ending::Question(Question { text: "Which room?".to_owned(), questions: Vec::new() }))
}

fn hangs() -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Hang])
}

/// An agent that finds two items.
fn finds() -> Arc<ScriptedAgent> {
    let findings = Findings {
        summary: "Two soups.".to_owned(),
        count: 2,
        items: [4.0, 1.0].map(ItemFindings::scored).to_vec(),
        ..Findings::default()
    };
    let item = |name: &str| Part::data(json!({"@type": "Recipe", "@id": format!("urn:{name}"), "name": name}));
    let found = [item("soup"), item("stew")].map(Event::Part);
    let said = std::iter::once(Event::Findings(Box::new(findings))).chain(found).map(Step::Do);
    ScriptedAgent::new(said.chain([Step::Do(Event::Ending(Ending::Complete))]).collect())
}
