//! The directory of a domain, section 6, and its keys.

use forecourt_mentionable::discovery;
use http::StatusCode;
use serde_json::{Value, json};

use crate::discovery::support::{ORIGIN, Setup, published, reachable};

const DIRECTORY: &str = "/.well-known/mentionable-agents.json";

#[tokio::test]
async fn directory_6_lists_agents_as_points_of_contact() {
    let document = published().await.json(DIRECTORY).await;
    assert_eq!(document["@context"], "https://schema.org");
    assert_eq!(document["@type"], "Organization");
    assert_eq!(document["name"], "Demo");
    assert_eq!(document["url"], format!("{ORIGIN}/"));
    assert_eq!(
        document["contactPoint"][0],
        json!({
            "@type": "ContactPoint",
            "contactType": "AI assistant",
            "name": "chef",
            "email": "chef@demo.localhost",
            "url": format!("{ORIGIN}/.well-known/agent-card/chef"),
            "description": "The agent chef.",
            "https://mentionable.dev/ns/v1#protocols": ["rest"],
            "https://mentionable.dev/ns/v1#webfinger":
                format!("{ORIGIN}/.well-known/webfinger?resource=acct%3Achef%40demo.localhost"),
        })
    );
}

#[tokio::test]
async fn directory_6_what_it_says_resolves() {
    let published = published().await;
    let document = published.json(DIRECTORY).await;
    for contact in document["contactPoint"].as_array().unwrap() {
        for key in ["url", "https://mentionable.dev/ns/v1#webfinger"] {
            let path = contact[key].as_str().unwrap().strip_prefix(ORIGIN).unwrap();
            assert_eq!(published.get(path).await.status, StatusCode::OK, "{path}");
        }
    }
}

#[tokio::test]
async fn directory_6_default_agent_first_and_no_null() {
    let mut bare = reachable("zed");
    bare.description.clear();
    let cards = vec![bare, reachable("alma")];
    let published = Setup { cards, ..Setup::default() }.publish().await.unwrap();
    let document = published.json(DIRECTORY).await;
    let names: Vec<&Value> = document["contactPoint"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert_eq!(names, ["zed", "alma"]);
    assert!(document["contactPoint"][0].get("description").is_none());
}

#[tokio::test]
async fn directory_6_media_type_cache_and_cors() {
    let answer = published().await.get(DIRECTORY).await;
    assert_eq!(answer.field("content-type"), Some("application/json"));
    assert_eq!(answer.field("cache-control"), Some("public, max-age=3600"));
    assert_eq!(answer.field("access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn directory_6_the_front_page_says_the_same() {
    let published = published().await;
    let file = published.get(DIRECTORY).await.body;
    let cards = published.host.directory().iter().map(|resident| &*resident.card);
    assert_eq!(discovery::json_ld(published.host.site(), cards).into_bytes(), file);
}

#[tokio::test]
async fn design_21_the_keys_of_the_host_are_published() {
    let published = published().await;
    let answer = published.get("/.well-known/jwks.json").await;
    assert_eq!(answer.field("content-type"), Some("application/jwk-set+json"));
    let key = &answer.json()["keys"][0];
    assert_eq!(key["kid"], published.keys.load().current().kid());
    assert_eq!((key["kty"].as_str(), key["crv"].as_str()), (Some("OKP"), Some("Ed25519")));
    assert!(key.get("d").is_none(), "the private half stays here");
}
