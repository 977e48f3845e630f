//! Hubs elsewhere, read for whoever fronts their agents.

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use forecourt_agents::hub::{HubChoice, HubDefinition, HubError, HubList, HubLook, RemoteHub};
use forecourt_settings::Section;
use serde_json::{Value, json};

use crate::peer::*;

const AGENTS: &str = "https://mentionable.dev/ns/v1#agents";
const DEFAULT: &str = "https://mentionable.dev/ns/v1#defaultAgent";
/// Agents that are fronted of one hub.
const HUB_AGENTS_MAX: usize = 1_000;
/// Key sets of one hub that are asked for.
const KEY_SETS_MAX: usize = 16;
/// Bytes of a hub's card.
const HUB_CARD_BYTES_MAX: usize = 4 * 1024 * 1024;

fn hub_card(base: &str, handles: &[&str]) -> Value {
    let mut card = card_10(base, "JSONRPC", true);
    card[AGENTS] = handles.iter().map(|handle| json!({"handle": handle, "name": handle.to_uppercase()})).collect();
    card[DEFAULT] = json!(handles.last());
    card
}

fn agent_card(base: &str, path: &str) -> Value {
    let handle = path.split('/').nth(2).unwrap_or_default();
    let mut card = card_10(base, "JSONRPC", true);
    card["name"] = json!(format!("The {handle}"));
    card["supportedInterfaces"][0]["url"] = json!(format!("{base}/a2a/{handle}"));
    card
}

fn via(mut card: Value, hosts: &[&str]) -> Value {
    let extension = json!({"uri": "urn:forecourt:a2a:via", "params": {"hosts": hosts}});
    card["capabilities"]["extensions"].as_array_mut().unwrap().push(extension);
    card
}

/// A hub whose card lists these, and whose agents have the card that `describe` makes of their path.
async fn hub_of(
    handles: &'static [&'static str],
    describe: impl Fn(&str, &str) -> Response + Send + Sync + 'static,
) -> FakePeer {
    peer(
        move |base| json_answer(hub_card(base, handles)),
        move |_, heard| describe(&format!("http://{}", heard.headers["host"].to_str().unwrap()), &heard.path),
    )
    .await
}

fn open(base: &str, backend: &str) -> Arc<dyn RemoteHub> {
    try_open(base, backend).unwrap_or_else(|problems| panic!("{problems}"))
}

fn try_open(base: &str, backend: &str) -> Result<Arc<dyn RemoteHub>, forecourt_settings::Problems> {
    let environment = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
    let text = format!("address = \"{base}\"\n[backend]\n{backend}");
    let mut section = Section::parse(&PathBuf::from("hubs/far.toml"), &text, &environment)?;
    let backend = section.take_or_empty("backend");
    (forecourt_a2a::HUBS.open)(&HubDefinition { address: base, section: &section, backend: &backend }, &context().0)
}

fn choice() -> HubChoice {
    HubChoice {
        prefix: String::new(),
        only: Vec::new(),
        except: Vec::new(),
        takes_fronted: false,
        own_hosts: vec!["near.example".to_owned()],
    }
}

async fn look(hub: &FakePeer, known: Option<&HubList>) -> Result<HubLook, HubError> {
    open(&hub.base, "").look(&choice(), known).await
}

fn handles(look: &HubLook) -> Vec<&str> {
    look.list.agents.iter().map(|agent| agent.handle.as_str()).collect()
}

/// A list of one hub as if it were another's.
fn moved(list: &HubList, from: &FakePeer, to: &FakePeer) -> HubList {
    let text = serde_json::to_string(list).unwrap().replace(&from.base, &to.base);
    serde_json::from_str(&text).unwrap()
}

fn why<'a>(look: &'a HubLook, handle: &str) -> &'a str {
    let left_out = look.left_out.iter().find(|agent| agent.handle == handle);
    &left_out.unwrap_or_else(|| panic!("{handle}: {look:?}")).why
}

#[tokio::test]
async fn the_agents_of_a_hub_are_known_by_their_cards_the_default_one_first() {
    let hub = hub_of(&["cook", "chef"], |base, path| json_answer(agent_card(base, path))).await;
    let found = look(&hub, None).await.unwrap();
    assert_eq!((handles(&found), found.left_out.len()), (vec!["chef", "cook"], 0));
    let chef = &found.list.agents[0];
    assert_eq!((chef.name.as_str(), chef.description.as_str()), ("The chef", "Far away."));
    assert_eq!(chef.url, format!("{}/a2a/chef/.well-known/agent-card.json", hub.base));
    assert!(!found.list.is_signed && !chef.is_signed);
}

#[tokio::test]
async fn an_agent_that_has_no_card_is_known_by_what_its_hub_says() {
    let hub = hub_of(&["chef"], |_, _| not_found()).await;
    let found = look(&hub, None).await.unwrap();
    let chef = &found.list.agents[0];
    assert_eq!((chef.name.as_str(), chef.url.clone()), ("CHEF", format!("{}/a2a/chef", hub.base)));
}

#[tokio::test]
async fn the_backend_of_an_agent_asks_with_what_the_hubs_file_says() {
    let mut hub = hub_of(&["chef"], |base, path| json_answer(agent_card(base, path))).await;
    let remote = open(&hub.base, "headers = { Authorization = \"Bearer ${KEY}\" }\ntotal_seconds = 7\n");
    let found = remote.look(&choice(), None).await.unwrap();
    assert_eq!(hub.next().await.headers["authorization"], "Bearer sesame");
    let section = remote.backend(&found.list.agents[0]);
    assert_eq!(section.text("kind"), Some("a2a"));
    let built = (forecourt_a2a::BACKEND.build)(section, &context().0).unwrap();
    assert_eq!(built.via, ["127.0.0.1"]);
}

#[tokio::test]
async fn a_card_that_has_not_changed_is_not_sent_again() {
    let hub =
        hub_of(&["chef"], |base, path| ([(header::ETAG, "\"1\"")], agent_card(base, path).to_string()).into_response())
            .await;
    let first = look(&hub, None).await.unwrap();
    assert_eq!(first.list.agents[0].etag.as_deref(), Some("\"1\""));
    let same = hub_of(&["chef"], |_, _| StatusCode::NOT_MODIFIED.into_response()).await;
    let known = moved(&first.list, &hub, &same);
    let again = look(&same, Some(&known)).await.unwrap();
    assert!(again.list.has_same_agents(&known), "{again:?}");
}

#[tokio::test]
async fn names_that_are_none_or_mean_something_else_are_left_out() {
    const HANDLES: &[&str] = &["chef", "CHEF", "chef@bank.example", "@cook", "a b", "tasks", "", "ok"];
    let hub = hub_of(HANDLES, |base, path| json_answer(agent_card(base, path))).await;
    let found = look(&hub, None).await.unwrap();
    assert_eq!(handles(&found), ["ok", "chef"]);
    assert_eq!(why(&found, "CHEF"), "is listed twice");
    for none in ["chef@bank.example", "@cook", "a b", ""] {
        assert!(why(&found, none).contains("has no handle"), "{none}");
    }
    assert!(why(&found, "tasks").contains("has a meaning in paths"));
    let prefixed = HubChoice { prefix: "far-".to_owned(), ..choice() };
    let found = open(&hub.base, "").look(&prefixed, None).await.unwrap();
    assert!(handles(&found).contains(&"tasks"), "`far-tasks` is a name like any other");
}

#[tokio::test]
async fn agents_are_fetched_only_if_they_are_wanted() {
    let mut hub = hub_of(&["shop", "test"], |base, path| json_answer(agent_card(base, path))).await;
    let only = HubChoice { except: vec!["t*".parse().unwrap()], ..choice() };
    let found = open(&hub.base, "").look(&only, None).await.unwrap();
    assert_eq!((handles(&found), found.left_out.len()), (vec!["shop"], 0));
    assert!(hub.next().await.path.contains("/shop/") && hub.heard.try_recv().is_err());
}

#[tokio::test]
async fn what_leads_to_another_origin_is_left_out() {
    let hub = peer(
        |base| {
            let mut card = hub_card(base, &["inside", "stray", "far"]);
            card[AGENTS][2]["card_url"] = json!("http://169.254.169.254/latest/meta-data/card.json");
            json_answer(card)
        },
        |_, heard| {
            let base = format!("http://{}", heard.headers["host"].to_str().unwrap());
            let mut card = agent_card(&base, &heard.path);
            match heard.path.split('/').nth(2) {
                Some("inside") => {
                    card["supportedInterfaces"][0]["url"] = json!("http://127.0.0.1:1/a2a");
                    json_answer(card)
                }
                Some("stray") => (StatusCode::FOUND, [(header::LOCATION, "http://169.254.169.254/latest/meta-data/")])
                    .into_response(),
                _ => not_found(),
            }
        },
    )
    .await;
    let found = look(&hub, None).await.unwrap();
    assert_eq!(handles(&found), [""; 0]);
    assert!(why(&found, "inside").contains("another origin"), "{found:?}");
    assert!(why(&found, "stray").contains("302"), "{found:?}");
    assert!(why(&found, "far").contains("another origin than its hub: http://169.254.169.254"), "{found:?}");
}

#[tokio::test]
async fn what_is_passed_on_elsewhere_is_fronted_only_if_asked_for_and_never_back() {
    let hub = hub_of(&["own", "far", "back"], |base, path| {
        let card = agent_card(base, path);
        json_answer(match path.split('/').nth(2) {
            Some("far") => via(card, &["third.example"]),
            Some("back") => via(card, &["third.example", "NEAR.example"]),
            _ => card,
        })
    })
    .await;
    let found = look(&hub, None).await.unwrap();
    assert_eq!(handles(&found), ["own"]);
    assert!(why(&found, "far").contains("fronted = true"));
    let all = HubChoice { takes_fronted: true, ..choice() };
    let found = open(&hub.base, "").look(&all, None).await.unwrap();
    assert_eq!(handles(&found), ["own", "far"]);
    assert_eq!(found.list.agents[1].via, ["third.example"]);
    assert_eq!(why(&found, "back"), "leads back to this host");
    let known = found.list.clone();
    let found = look(&hub, Some(&known)).await.unwrap();
    assert_eq!(handles(&found), ["own"], "what is not wanted any more is not kept");
}

#[tokio::test]
async fn a_chain_of_hosts_has_an_end() {
    for (hosts, is_taken) in [(7, true), (8, false)] {
        let chain: Vec<String> = (0..hosts).map(|n| format!("h{n}.example")).collect();
        let hub = hub_of(&["far"], move |base, path| {
            let chain: Vec<&str> = chain.iter().map(String::as_str).collect();
            json_answer(via(agent_card(base, path), &chain))
        })
        .await;
        let all = HubChoice { takes_fronted: true, ..choice() };
        let found = open(&hub.base, "").look(&all, None).await.unwrap();
        assert_eq!(handles(&found).is_empty(), !is_taken, "{hosts} {found:?}");
    }
}

#[tokio::test]
async fn an_agent_whose_card_fails_stays_as_it_was_and_a_new_one_waits() {
    let whole = hub_of(&["chef"], |base, path| json_answer(agent_card(base, path))).await;
    let known = look(&whole, None).await.unwrap().list;
    let broken = hub_of(&["chef", "new"], |_, path| match path.contains("chef") {
        true => StatusCode::BAD_GATEWAY.into_response(),
        false => json_answer(json!({"name": "x"})),
    })
    .await;
    let found = look(&broken, Some(&moved(&known, &whole, &broken))).await.unwrap();
    assert_eq!(handles(&found), ["chef"]);
    assert_eq!(found.list.agents[0].name, "The chef");
    assert!(why(&found, "chef").starts_with("stays as it was"), "{found:?}");
    assert!(why(&found, "new").contains("a card that is none"), "{found:?}");
}

#[tokio::test]
async fn who_signed_once_is_not_believed_without_until_the_operator_says_so() {
    let hub = hub_of(&["chef"], |base, path| json_answer(agent_card(base, path))).await;
    let plain = look(&hub, None).await.unwrap().list;
    let signed_hub = HubList { is_signed: true, ..plain.clone() };
    let error = look(&hub, Some(&signed_hub)).await.unwrap_err();
    assert!(error.words.contains("was signed before") && error.words.contains("require_signature = false"), "{error}");
    let mut signed_agent = plain.clone();
    signed_agent.agents[0].is_signed = true;
    let found = look(&hub, Some(&signed_agent)).await.unwrap();
    assert!(why(&found, "chef").contains("was signed before"), "{found:?}");
    assert!(found.list.agents[0].is_signed, "what was known stays, and so does that it has to be signed");
    let backend = open(&hub.base, "").backend(&found.list.agents[0]);
    let built = (forecourt_a2a::BACKEND.build)(backend, &context().0).unwrap();
    assert!(!matches!(ask(&built, "hi").await.ending, forecourt_core::Ending::Complete));
    let others = hub_of(&["cook"], |base, path| json_answer(agent_card(base, path))).await;
    let absent = look(&others, Some(&signed_agent)).await.unwrap().list;
    let back = look(&hub, Some(&absent)).await.unwrap();
    assert!(back.list.agents.is_empty() && why(&back, "chef").contains("was signed before"), "{back:?}");
    let again = look(&hub, Some(&back.list)).await.unwrap();
    assert!(again.list.agents.is_empty(), "it stays remembered: {again:?}");
    let waived = open(&hub.base, "require_signature = false");
    assert_eq!(handles(&waived.look(&choice(), Some(&absent)).await.unwrap()), ["chef"]);
    assert!(waived.look(&choice(), Some(&signed_hub)).await.unwrap().left_out.is_empty());
    let required = open(&hub.base, "require_signature = true");
    assert!(required.look(&choice(), None).await.unwrap_err().words.contains("is not signed"));
}

/// A card with a signature that no key made, and keys at `jku`.
fn badly_signed(mut card: Value, jku: &str) -> Value {
    use base64::Engine;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let header = json!({"alg": "EdDSA", "kid": "k", "typ": "JOSE", "jku": jku});
    let signature = json!({"protected": encode(header.to_string().as_bytes()), "signature": encode(&[0; 64])});
    card["signatures"] = json!([signature]);
    card
}

/// How often a hub was asked for something below `/keys`.
fn asked_for_keys(hub: &mut FakePeer) -> usize {
    std::iter::from_fn(|| hub.heard.try_recv().ok()).filter(|heard| heard.path.starts_with("/keys")).count()
}

#[tokio::test]
async fn keys_that_many_agents_share_are_asked_for_once_even_where_they_are_not_there() {
    let hub = hub_of(&["a", "b", "c", "d"], |base, path| match path.starts_with("/keys") {
        true => not_found(),
        false => json_answer(badly_signed(agent_card(base, path), &format!("{base}/keys"))),
    });
    let mut hub = hub.await;
    let found = look(&hub, None).await.unwrap();
    assert!(found.list.agents.is_empty() && why(&found, "d").contains("keys are not where it says"), "{found:?}");
    assert_eq!(asked_for_keys(&mut hub), 1);
}

#[tokio::test]
async fn a_hub_has_so_many_sets_of_keys_and_no_more() {
    for (count, beyond) in [(KEY_SETS_MAX, 0), (KEY_SETS_MAX + 1, 1)] {
        let describe = |base: &str, path: &str| match path.starts_with("/keys") {
            true => not_found(),
            false => {
                let handle = path.split('/').nth(2).unwrap_or_default();
                json_answer(badly_signed(agent_card(base, path), &format!("{base}/keys/{handle}")))
            }
        };
        let names: Vec<String> = (0..count).map(|n| format!("a{n}")).collect();
        let mut hub = peer(
            move |base| json_answer(hub_card(base, &names.iter().map(String::as_str).collect::<Vec<_>>())),
            move |_, heard| describe(&format!("http://{}", heard.headers["host"].to_str().unwrap()), &heard.path),
        )
        .await;
        let found = look(&hub, None).await.unwrap();
        let words = format!("more than {KEY_SETS_MAX} sets of keys");
        assert_eq!(found.left_out.iter().filter(|one| one.why.contains(&words)).count(), beyond, "{found:?}");
        assert_eq!(asked_for_keys(&mut hub), KEY_SETS_MAX);
    }
}

#[tokio::test]
async fn a_signature_by_another_key_is_refused() {
    let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "alg": "EdDSA",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]});
    let hub = hub_of(&["chef"], move |base, path| match path == "/keys" {
        true => json_answer(keys.clone()),
        false => json_answer(badly_signed(agent_card(base, path), &format!("{base}/keys"))),
    })
    .await;
    let found = look(&hub, None).await.unwrap();
    assert!(found.list.agents.is_empty() && why(&found, "chef").contains("is not to be believed"), "{found:?}");
}

#[tokio::test]
async fn a_hub_that_lists_nobody_or_says_two_things_is_not_read() {
    let none = hub_of(&[], |_, _| not_found()).await;
    assert!(look(&none, None).await.unwrap_err().words.contains("lists no agents"));
    let two = peer(
        |base| {
            let mut card = hub_card(base, &["chef"]);
            let other = json!({"uri": "https://mentionable.dev/ns/v1", "params": {"agents": [{"handle": "spy"}]}});
            card["capabilities"]["extensions"].as_array_mut().unwrap().push(other);
            json_answer(card)
        },
        |_, _| not_found(),
    )
    .await;
    assert!(look(&two, None).await.unwrap_err().words.contains("says one thing"));
    let gone = peer(|_| not_found(), |_, _| not_found()).await;
    assert!(look(&gone, None).await.unwrap_err().words.contains("has no card there"));
    let later = |_: &str| (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "77")]).into_response();
    let error = look(&peer(later, |_, _| not_found()).await, None).await.unwrap_err();
    assert_eq!(error.wait, Some(std::time::Duration::from_secs(77)));
}

#[tokio::test]
async fn a_hub_has_so_many_agents_and_no_more() {
    for (count, is_read) in [(HUB_AGENTS_MAX, true), (HUB_AGENTS_MAX + 1, false), (10_000, false)] {
        let hub = peer(
            move |base| {
                let names: Vec<String> = (0..count).map(|n| format!("a{n}")).collect();
                json_answer(hub_card(base, &names.iter().map(String::as_str).collect::<Vec<_>>()))
            },
            |_, _| not_found(),
        )
        .await;
        match look(&hub, None).await {
            Ok(found) => assert!(is_read && found.list.agents.len() == count, "{count}"),
            Err(error) => assert!(!is_read && error.words.contains("at most 1000"), "{count} {error}"),
        }
        let some = HubChoice { only: vec!["a1".parse().unwrap()], ..choice() };
        let found = open(&hub.base, "").look(&some, None).await.unwrap();
        assert_eq!(handles(&found), ["a1"], "what is not wanted does not count");
    }
}

#[tokio::test]
async fn a_card_has_so_many_bytes_and_no_more() {
    let padded = |mut card: Value, bytes: usize| {
        card["x"] = json!("");
        card["x"] = json!("x".repeat(bytes - card.to_string().len()));
        json_answer(card)
    };
    for (more, is_read) in [(0, true), (1, false)] {
        let bytes = HUB_CARD_BYTES_MAX + more;
        let hub = peer(move |base| padded(hub_card(base, &["chef"]), bytes), |_, _| not_found()).await;
        let found = look(&hub, None).await;
        assert_eq!(found.is_ok(), is_read, "{found:?}");
        assert!(found.is_ok() || found.unwrap_err().words.contains("more than 4194304 bytes"));
    }
    let large = hub_of(&["chef"], move |base, path| padded(agent_card(base, path), 10 * 1024 * 1024)).await;
    let found = look(&large, None).await.unwrap();
    assert!(found.list.agents.is_empty() && why(&found, "chef").contains("more than"), "{found:?}");
}

#[tokio::test]
async fn what_a_card_says_is_kept_within_bounds_and_clean() {
    let hub = hub_of(&["chef"], |base, path| {
        let mut card = agent_card(base, path);
        card["name"] = json!(format!("\u{202e}{}\n", "n".repeat(300)));
        card["description"] = json!("d".repeat(5_000));
        card["iconUrl"] = json!("javascript:alert(1)");
        card["documentationUrl"] = json!("https://far.example/chef");
        let skill = |n: usize| json!({"id": format!("s{}", n / 2), "name": "S", "description": "x".repeat(3_000), "tags": [""]});
        card["skills"] = (0..60).map(skill).collect();
        card["defaultInputModes"] = json!(["text/plain", "nonsense", "image/png", "text/uri-list"]);
        json_answer(card)
    })
    .await;
    let found = look(&hub, None).await.unwrap();
    let chef = &found.list.agents[0];
    assert_eq!((chef.name.len(), chef.description.len()), (200, 2_000));
    assert_eq!((chef.icon.clone(), chef.homepage.as_deref()), (None, Some("https://far.example/chef")));
    assert!(serde_json::to_vec(chef).unwrap().len() <= 32 * 1024, "{}", chef.skills.len());
    assert!(!chef.skills.is_empty() && chef.skills.iter().all(|skill| skill.tags.is_empty()));
    let ids: std::collections::HashSet<_> = chef.skills.iter().map(|skill| &skill.id).collect();
    assert_eq!((ids.len(), chef.input_modes.len()), (chef.skills.len(), 3));
}

#[tokio::test]
async fn an_origin_that_the_operator_removed_hears_nothing_more() {
    let mut far = hub_of(&[], |base, path| json_answer(agent_card(base, path))).await;
    let base = far.base.clone();
    let hub = peer(
        move |own| {
            let mut card = hub_card(own, &["chef"]);
            card[AGENTS][0]["card_url"] = json!(format!("{base}/a2a/chef/card.json"));
            json_answer(card)
        },
        |_, _| not_found(),
    )
    .await;
    let key = "headers = { Authorization = \"Bearer ${KEY}\" }\n";
    let named = open(&hub.base, &format!("{key}origins = [\"{}\"]\n", far.base));
    let known = named.look(&choice(), None).await.unwrap().list;
    assert!(named.admits(&known.agents[0], &choice()));
    assert_eq!(far.next().await.headers["authorization"], "Bearer sesame");
    let removed = open(&hub.base, key);
    let found = removed.look(&choice(), Some(&known)).await.unwrap();
    assert!(!removed.admits(&known.agents[0], &choice()) && far.heard.try_recv().is_err());
    assert!(found.list.agents.is_empty() && why(&found, "chef").contains("another origin"), "{found:?}");
}

#[test]
fn a_list_is_held_against_what_the_file_says_now() {
    let agent = |url: &str, is_signed: bool, via: &[&str]| {
        let agent = json!({"handle": "chef", "name": "Chef", "url": url, "is_signed": is_signed, "via": via});
        serde_json::from_value(agent).unwrap()
    };
    let all = HubChoice { takes_fronted: true, ..choice() };
    let (own, other) = ("https://far.example/card.json", "https://other.example/card.json");
    for (backend, choice, agent, is_admitted) in [
        ("", choice(), agent(own, false, &[]), true),
        ("", choice(), agent("no URL", false, &[]), false),
        ("", choice(), agent(other, false, &[]), false),
        ("origins = [\"https://other.example\"]", choice(), agent(other, false, &[]), true),
        ("require_signature = true", choice(), agent(own, false, &[]), false),
        ("require_signature = true", choice(), agent(own, true, &[]), true),
        ("", choice(), agent(own, false, &["third.example"]), false),
        ("", all.clone(), agent(own, false, &["third.example"]), true),
        ("", all.clone(), agent(own, false, &["third.example", "NEAR.example"]), false),
        ("", all.clone(), agent(own, false, &["x"; 7]), true),
        ("", all, agent(own, false, &["x"; 8]), false),
    ] {
        let admits = open("far.example", backend).admits(&agent, &choice);
        assert_eq!(admits, is_admitted, "{backend} {choice:?} {agent:?}");
    }
}

#[test]
fn what_the_hub_decides_is_none_of_the_files_keys() {
    for (address, backend, words) in [
        ("not a hub", "", "neither a domain"),
        ("example.com", "url = \"https://a.example\"", "the hub says where its agents are"),
        ("example.com", "kind = \"echo\"", "asked over `a2a`"),
        ("example.com", "total_seconds = 0", "total_seconds"),
        ("ftp://example.com/x.json", "", "absolute http:// or https:// URL"),
    ] {
        let problems = try_open(address, backend).err().unwrap_or_else(|| panic!("{address} {backend}"));
        assert!(problems.to_string().contains(words), "{problems}");
    }
    assert_eq!(open("example.com", "kind = \"a2a\"").url(), "https://example.com/.well-known/agent-card.json");
}
