//! The card of one agent. Agent card, section 3.

use std::time::Duration;

use forecourt_core::agent::Icon;
use forecourt_core::{AgentCard, Clock, ContentMode, Endpoint, Entropy, Skill};
use forecourt_identity::{BearerConfig, HostKeys, IdentityConfig};
use forecourt_mentionable::discovery::{Acct, ExpectedCard, validate_agent_card};
use forecourt_testkit::CountedEntropy;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::discovery::support::{ORIGIN, Setup, published, reachable};

const CHEF: &str = "/.well-known/agent-card/chef";

async fn card_of(card: AgentCard) -> Value {
    let setup = Setup { cards: vec![card], ..Setup::default() };
    setup.publish().await.unwrap().json(CHEF).await
}

fn full() -> AgentCard {
    AgentCard {
        name: "Chef".to_owned(),
        icon: Some(Icon { url: "https://example.com/a.png".to_owned(), mime: Some("image/png".to_owned()) }),
        homepage: Some("https://example.com/".to_owned()),
        skills: vec![Skill {
            id: "find".to_owned(),
            name: "Find".to_owned(),
            description: String::new(),
            tags: vec!["food".to_owned()],
            examples: vec!["soup?".to_owned()],
        }],
        input_modes: vec![
            ContentMode::Text { mime: "text/plain".to_owned() },
            ContentMode::File { mime: "image/*".to_owned() },
        ],
        output_modes: vec![ContentMode::Text { mime: "text/markdown".to_owned() }, ContentMode::Link],
        uses_tools: true,
        ..reachable("chef")
    }
}

#[tokio::test]
async fn card_3_1_layered_shape_with_what_is_known() {
    let card = card_of(full()).await;
    assert_eq!(card["address"], "@chef@demo.localhost");
    assert_eq!(card["name"], "Chef");
    assert_eq!(card["description"], "The agent chef.");
    assert_eq!(card["icon"], json!({"url": "https://example.com/a.png", "mime": "image/png"}));
    assert_eq!(card["version"], "1.0.0");
    assert_eq!(card["protocol_version"], "0.1");
    assert_eq!(card["mentionable"]["homepage"], "https://example.com/");
    assert_eq!(card["a2a"]["skills"], json!([{"id": "find", "name": "Find", "examples": ["soup?"]}]));
    assert_eq!(card["a2a"]["input_modes"][1], json!({"kind": "file", "mime": "image/*"}));
    assert_eq!(card["a2a"]["output_modes"][1], json!({"kind": "link"}));
}

#[tokio::test]
async fn card_3_what_is_absent_is_left_out_and_never_null() {
    let mut bare = reachable("chef");
    bare.description.clear();
    let card = card_of(bare).await;
    assert!(!card.to_string().contains("null"));
    for key in ["description", "icon", "activitypub", "ext", "url", "preferred_address"] {
        assert!(card.get(key).is_none(), "{key}");
    }
    assert!(card["mentionable"].get("previous_signing_keys").is_none());
}

#[tokio::test]
async fn rest_2_the_extension_carries_its_endpoint() {
    let card = card_of(full()).await;
    let extensions = card["a2a"]["capabilities"]["extensions"].as_array().unwrap();
    let uris: Vec<_> = extensions.iter().map(|entry| entry["uri"].as_str().unwrap()).collect();
    assert_eq!(
        uris,
        [
            "https://mentionable.dev/ns/transport-rest/v0.1",
            "https://mentionable.dev/ns/policy/v0.1",
            "https://mentionable.dev/ns/a2a-tool-events/v0.1",
        ]
    );
    assert_eq!(extensions[0]["endpoint"], format!("{ORIGIN}/~chef"));
}

#[tokio::test]
async fn card_3_2_tool_events_only_where_there_are_tools() {
    let card = card_of(reachable("chef")).await;
    assert!(!card.to_string().contains("a2a-tool-events"));
}

#[tokio::test]
async fn card_3_2_without_another_protocol_the_endpoint_is_that_of_rest() {
    let card = card_of(reachable("chef")).await;
    assert_eq!(card["a2a"]["endpoint"], format!("{ORIGIN}/~chef"));
    assert_eq!(card["a2a"]["transport"], "https+sse");
    assert_eq!(card["mentionable"]["supported_inbound"], json!(["rest"]));
    let card = card_of(AgentCard { streams: false, ..reachable("chef") }).await;
    assert_eq!(card["a2a"]["transport"], "https+json");
    assert_eq!(card["a2a"]["capabilities"]["streaming"], false);
}

#[tokio::test]
async fn card_3_2_the_endpoint_is_that_of_its_protocol_where_there_is_one() {
    let mut spoken = reachable("chef");
    spoken.endpoints.push(Endpoint::new("a2a", format!("{ORIGIN}/a2a/chef")));
    spoken.endpoints.push(Endpoint::new("a2a", format!("{ORIGIN}/a2a/chef/v1")));
    let card = card_of(spoken.clone()).await;
    assert_eq!(card["a2a"]["endpoint"], format!("{ORIGIN}/a2a/chef"));
    assert_eq!(card["mentionable"]["supported_inbound"], json!(["rest", "a2a"]));
    let card = card_of(AgentCard { streams: false, ..spoken }).await;
    assert_eq!(card["a2a"]["transport"], "https+jsonrpc");
}

#[tokio::test]
async fn card_3_2_auth_names_the_issuer_of_tokens() {
    assert_eq!(card_of(reachable("chef")).await["a2a"]["auth"], json!({"scheme": "none"}));
    let bearer = BearerConfig {
        issuer: "https://login.example.com".to_owned(),
        audience: vec!["demo".to_owned()],
        jwks_url: Some("https://login.example.com/jwks".to_owned()),
        keys: Vec::new(),
        subject_prefix: None,
        require_not_before: false,
    };
    let identity = IdentityConfig { bearer: vec![bearer], ..IdentityConfig::default() };
    let published = Setup { identity, ..Setup::default() }.publish().await.unwrap();
    assert_eq!(
        published.json(CHEF).await["a2a"]["auth"],
        json!({
            "scheme": "bearer-jwt",
            "issuer": "https://login.example.com",
            "jwks_uri": "https://login.example.com/jwks",
            "audience": ["demo"],
        })
    );
}

#[tokio::test]
async fn card_3_4_shows_the_key_that_signs() {
    let published = published().await;
    let key = published.json(CHEF).await["mentionable"]["signing_key"].clone();
    assert_eq!(key["alg"], "Ed25519");
    assert_eq!(key["kid"], published.keys.load().current().kid());
    assert!(key["pem"].as_str().unwrap().starts_with("-----BEGIN PUBLIC KEY-----"));
    assert!(!key.to_string().contains("PRIVATE"));
}

#[tokio::test]
async fn card_3_4_a_replaced_key_is_shown_for_a_day_and_changes_the_tag() {
    let published = published().await;
    let before = published.get(CHEF).await;
    let old = published.keys.load().current().kid().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let mut keys = HostKeys::clone(&published.keys.load());
    let entropy = CountedEntropy::default();
    // One of the first draws made the key that is replaced.
    (0..32).for_each(|_| entropy.fill(&mut [0]));
    keys.rotate(folder.path(), &entropy, published.clock.now()).unwrap();
    published.keys.store(keys.into());
    let after = published.get(CHEF).await;
    assert_ne!(before.field("etag"), after.field("etag"));
    let previous = &after.json()["mentionable"]["previous_signing_keys"];
    assert_eq!(previous[0]["kid"], old);
    assert!(previous[0]["not_after"].is_string());
    published.clock.advance(Duration::from_secs(24 * 60 * 60));
    assert!(published.json(CHEF).await["mentionable"].get("previous_signing_keys").is_none());
}

#[tokio::test]
async fn card_3_handles_compare_without_case_and_unknown_ones_are_404() {
    let published = published().await;
    assert_eq!(published.json("/.well-known/agent-card/CHEF").await["address"], "@chef@demo.localhost");
    for other in ["nobody", "@chef", "chef@demo.localhost", "..", "%2e%2e", "chef%2f", "%FF", "chef.json"] {
        let answer = published.get(&format!("/.well-known/agent-card/{other}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{other}");
        assert!(!answer.error().contains("chef"));
    }
}

#[tokio::test]
async fn card_3_media_type_cache_cors_and_tag() {
    let published = published().await;
    let answer = published.get(CHEF).await;
    assert_eq!(answer.field("content-type"), Some("application/json"));
    assert_eq!(answer.field("cache-control"), Some("public, max-age=300"));
    assert_eq!(answer.field("access-control-allow-origin"), Some("*"));
    let tag = answer.field("etag").unwrap();
    let again = published.send(Method::GET, CHEF, &[("if-none-match", tag)]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn card_3_5_what_is_published_is_valid() {
    let card = card_of(full()).await;
    let acct = Acct::parse("@chef@demo.localhost").unwrap();
    let expected = ExpectedCard { acct: Some(&acct), canonical_host: Some("demo.localhost:8443") };
    assert_eq!(validate_agent_card(&card, expected), []);
}
