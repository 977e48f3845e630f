//! Hub card 2: what the document says.

use forecourt_a2a::card::limits::HANDLES_NAMED_MAX;
use forecourt_a2a::card::names::{AGENTS, DEFAULT_AGENT, HUB_VERSION, MENTIONABLE, POLICY, ROUTER_TYPE, TOOL_EVENTS};
use forecourt_core::{AgentCard, ContentMode};
use forecourt_testkit::card;
use serde_json::{Value, json};

use crate::card::support::{ORIGIN, Setup, skilled, two};

fn uris(card: &Value) -> Vec<&str> {
    card["capabilities"]["extensions"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn s2_1_a_host_of_one_agent_is_that_agent() {
    let agent = AgentCard { version: "3.2.1".to_owned(), name: "Lean".to_owned(), ..skilled("lean", "advise") };
    let hub = Setup::of([agent]).publish().await.hub();
    assert_eq!(hub["name"], "Lean");
    assert_eq!(hub["description"], "The agent lean.");
    assert_eq!(hub["version"], "3.2.1");
    assert_eq!(hub["skills"][0]["id"], "advise");
    assert_eq!(hub["url"], format!("{ORIGIN}/a2a"));
    assert_eq!(hub[DEFAULT_AGENT], "lean");
    assert_eq!(hub[AGENTS][0]["card_url"], format!("{ORIGIN}/.well-known/agent-card/lean"));
    assert_eq!(hub[AGENTS].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn s2_2_a_host_of_several_is_their_router() {
    let hub = two().await.hub();
    assert_eq!(hub["name"], "Demo");
    assert_eq!(hub["version"], HUB_VERSION);
    assert_eq!(hub["skills"].as_array().unwrap().len(), 1);
    assert_eq!(hub["skills"][0]["id"], "cook");
    assert_eq!(hub[DEFAULT_AGENT], "chef");
    let handles: Vec<_> = hub[AGENTS].as_array().unwrap().iter().map(|agent| agent["handle"].clone()).collect();
    assert_eq!(handles, ["chef", "gate"]);
    assert_eq!(hub[AGENTS][1]["description"], "The agent gate.");
}

#[tokio::test]
async fn s2_2_the_description_states_the_routing_convention() {
    let hub = two().await.hub();
    let expected = "Mentionable router. Mention @<handle> in messages to address a specific agent (chef, gate). \
                    Without a mention, messages route to chef.";
    assert_eq!(hub["description"], expected);
}

#[tokio::test]
async fn s2_2_many_agents_are_named_up_to_a_bound() {
    let describe = async |count: usize| {
        let hub = Setup::of((0..count).map(|n| card(&format!("agent-{n}")))).publish().await.hub();
        hub["description"].as_str().unwrap().to_owned()
    };
    let within = describe(HANDLES_NAMED_MAX).await;
    assert!(within.contains(&format!("agent-{})", HANDLES_NAMED_MAX - 1)), "{within}");
    let beyond = describe(HANDLES_NAMED_MAX + 1).await;
    assert!(beyond.contains(", and 1 more)"), "{beyond}");
    assert!(!beyond.contains(&format!("agent-{HANDLES_NAMED_MAX}")), "{beyond}");
}

#[tokio::test]
async fn s2_3_an_agent_without_skills_can_be_talked_to() {
    let hub = Setup::of([card("gate")]).publish().await.hub();
    let expected = json!([{
        "id": "chat", "name": "chat", "description": "Natural-language chat with gate.", "tags": ["chat"],
        "inputModes": ["text/plain"], "outputModes": ["text/plain"],
    }]);
    assert_eq!(hub["skills"], expected);
}

#[tokio::test]
async fn s2_3_every_skill_has_a_description_and_tags() {
    let hub = two().await.hub();
    assert_eq!(hub["skills"][0]["description"], "The skill cook");
    assert_eq!(hub["skills"][0]["tags"], json!(["cook"]));
}

#[tokio::test]
async fn s2_3_an_agent_without_a_description_is_described() {
    let silent = AgentCard { description: String::new(), ..card("gate") };
    let hub = Setup::of([silent]).publish().await.hub();
    assert_eq!(hub["description"], "gate at @gate@demo.localhost.");
    assert!(hub[AGENTS][0].get("description").is_none());
}

#[tokio::test]
async fn s2_3_extensions_are_the_union_of_the_agents() {
    let tooled = AgentCard { uses_tools: true, ..card("gate") };
    let published = Setup::of([card("chef"), tooled]).publish().await;
    assert_eq!(uris(&published.hub()), [MENTIONABLE, POLICY, TOOL_EVENTS]);
    assert_eq!(uris(&published.agent("chef")), [POLICY]);
    assert_eq!(uris(&published.agent("gate")), [POLICY, TOOL_EVENTS]);
    assert_eq!(uris(&two().await.hub()), [MENTIONABLE, POLICY]);
}

#[tokio::test]
async fn s2_3_the_modes_of_the_default_agent_are_media_types() {
    let modes = vec![
        ContentMode::Text { mime: "text/markdown".to_owned() },
        ContentMode::Link,
        ContentMode::File { mime: "image/*".to_owned() },
        ContentMode::Artifact { mime: "image/*".to_owned() },
    ];
    let hub = Setup::of([AgentCard { output_modes: modes, ..card("chef") }]).publish().await.hub();
    assert_eq!(hub["defaultInputModes"], json!(["text/plain"]));
    assert_eq!(hub["defaultOutputModes"], json!(["text/markdown", "text/uri-list", "image/*"]));
}

#[tokio::test]
async fn s2_3_the_recommended_fields_are_there() {
    let hub = two().await.hub();
    assert_eq!(hub["@context"], "https://a2a-protocol.org/2025-06-18");
    assert_eq!(hub["protocol_version"], "0.1");
    assert_eq!(hub[ROUTER_TYPE], "logic");
}

#[tokio::test]
async fn s4_agents_keep_their_own_endpoints() {
    let agent = two().await.agent("gate");
    assert_eq!(agent["url"], format!("{ORIGIN}/a2a/gate"));
    assert_eq!(agent["name"], "gate");
    assert!(agent.get(DEFAULT_AGENT).is_none());
    assert!(agent["supportedInterfaces"].as_array().unwrap().iter().all(|one| one["url"] == agent["url"]));
}

#[tokio::test]
async fn s6_the_extension_repeats_the_keys_for_parsers_that_drop_them() {
    let hub = two().await.hub();
    let params = &hub["capabilities"]["extensions"][0]["params"];
    assert_eq!(params["defaultAgent"], hub[DEFAULT_AGENT]);
    assert_eq!(params["agents"], hub[AGENTS]);
}
