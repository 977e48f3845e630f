//! Finding agents elsewhere. WebFinger 2.4, REST 2.

use std::time::Duration;

use forecourt_core::Domain;
use forecourt_mentionable::discovery::{Acct, CardError, Obstacle, ResolveError, ResolveSource};
use serde_json::{Value, json};

use crate::discovery::elsewhere::{CARD, DOMAIN, Elsewhere, REST, Reply, WEBFINGER, lean};

/// The record with one change.
fn record_with(far: &Elsewhere, change: impl FnOnce(&mut Value)) {
    let mut record = far.record();
    change(&mut record);
    far.say(WEBFINGER, Reply::Json(record));
}

/// The card with one change.
fn card_with(far: &Elsewhere, change: impl FnOnce(&mut Value)) {
    let mut card = far.card();
    change(&mut card);
    far.say(CARD, Reply::Json(card));
}

fn obstacle(error: ResolveError) -> (ResolveSource, Obstacle) {
    match error {
        ResolveError::Unavailable { what, obstacle, .. } => (what, obstacle),
        other => panic!("{other:?}"),
    }
}

fn malformed(error: ResolveError) -> Vec<CardError> {
    match error {
        ResolveError::Malformed { problems } => problems.into_iter().map(|problem| problem.code).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn wf_2_4_from_an_address_to_its_endpoint() {
    let far = Elsewhere::start().await;
    let agent = far.resolve().await.unwrap();
    assert_eq!(far.asked(), ["/.well-known/webfinger?resource=acct%3Alean%40far.localhost", CARD]);
    assert_eq!((agent.name(), agent.description()), ("Lean", "Early retirement."));
    assert_eq!(agent.rest_endpoint(), Some(far.url("/~lean").as_str()));
    assert_eq!(agent.a2a_endpoint(), far.url("/a2a/lean"));
    assert_eq!(agent.card_url, far.url(CARD));
    assert_eq!(agent.canonical_host, format!("{DOMAIN}:{}", far.port));
    assert_eq!(agent.protocols().collect::<Vec<_>>(), ["rest", "a2a"]);
    assert_eq!(agent.skills().collect::<Vec<_>>(), [("FIRE", "Withdrawal rates.")]);
}

#[tokio::test]
async fn wf_2_4_an_address_that_is_not_known_there() {
    let far = Elsewhere::start().await;
    for status in [404, 410] {
        far.say(WEBFINGER, Reply::Raw(status, Vec::new()));
        far.clock.advance(Duration::from_secs(61));
        let error = far.resolve().await.unwrap_err();
        assert_eq!(error, ResolveError::Unknown(lean()));
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn wf_2_4_servers_that_fail() {
    let far = Elsewhere::start().await;
    for (path, what) in [(CARD, ResolveSource::Card), (WEBFINGER, ResolveSource::WebFinger)] {
        for status in [500, 503] {
            far.say(path, Reply::Raw(status, Vec::new()));
            far.clock.advance(Duration::from_secs(61));
            let error = far.resolve().await.unwrap_err();
            assert!(error.is_transient());
            assert_eq!(obstacle(error), (what, Obstacle::Status(status)));
        }
    }
}

#[tokio::test]
async fn wf_2_4_nobody_there() {
    let far = Elsewhere::start().await;
    let closed = {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap().port()
    };
    let error = far.resolver.resolve_at(&lean(), closed).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(error.to_string().contains(&format!(":{closed}/.well-known/webfinger")), "{error}");
    assert!(matches!(obstacle(error), (ResolveSource::WebFinger, Obstacle::Unconnected(_))));
}

#[tokio::test]
async fn wf_2_4_a_name_without_an_address() {
    let far = Elsewhere::start().await;
    let error = far.nameless().resolve(&Acct::parse("@lean@firemanager.example").unwrap()).await.unwrap_err();
    assert_eq!(obstacle(error), (ResolveSource::WebFinger, Obstacle::Unresolved));
}

#[tokio::test(start_paused = true)]
async fn guards_5_seconds_for_one_document() {
    let far = Elsewhere::start().await;
    far.say(WEBFINGER, Reply::Silence);
    let begun = tokio::time::Instant::now();
    assert!(far.resolve().await.unwrap_err().is_transient());
    assert!(begun.elapsed() <= Duration::from_millis(5_100), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn guards_256_kib_for_one_document() {
    let far = Elsewhere::start().await;
    let padded = |bytes: usize| {
        let mut text = far.card().to_string();
        text.push_str(&" ".repeat(bytes - text.len()));
        Reply::Raw(200, text.into_bytes())
    };
    far.say(CARD, padded(256 * 1024));
    far.resolve().await.unwrap();
    far.say(CARD, padded(256 * 1024 + 1));
    far.clock.advance(Duration::from_secs(61));
    let (what, obstacle) = obstacle(far.resolve().await.unwrap_err());
    assert_eq!(what, ResolveSource::Card);
    assert!(obstacle.to_string().contains("262144"), "{obstacle}");
}

#[tokio::test]
async fn guards_private_addresses_are_closed_unless_opened() {
    let far = Elsewhere::start().await;
    let error = far.guarded().resolve_at(&lean(), far.port).await.unwrap_err();
    assert!(matches!(obstacle(error), (ResolveSource::WebFinger, Obstacle::Other(_))));
    assert_eq!(far.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn wf_2_4_1_what_is_not_json_or_no_object() {
    let far = Elsewhere::start().await;
    let garbage: [&[u8]; 5] = [b"", b"<html>", b"[]", b"{\"subject\":\"a\",\"subject\":\"b\"}", b"{\"subject\":7}"];
    for bytes in garbage {
        far.say(WEBFINGER, Reply::Raw(200, bytes.to_vec()));
        far.clock.advance(Duration::from_secs(61));
        let error = far.resolve().await.unwrap_err();
        assert!(matches!(error, ResolveError::Unreadable { what: ResolveSource::WebFinger, .. }), "{error:?}");
    }
    far.say(WEBFINGER, Reply::Json(far.record()));
    far.say(CARD, Reply::Raw(200, b"not a card".to_vec()));
    far.clock.advance(Duration::from_secs(61));
    let error = far.resolve().await.unwrap_err();
    assert!(matches!(error, ResolveError::Unreadable { what: ResolveSource::Card, .. }), "{error:?}");
}

#[tokio::test]
async fn wf_2_4_3_one_redirect_also_to_another_domain() {
    let far = Elsewhere::start().await;
    far.say("/moved", Reply::Json(far.record()));
    far.say(WEBFINGER, Reply::Redirect(format!("https://cards.far.localhost:{}/moved", far.port)));
    far.resolve().await.unwrap();
}

#[tokio::test]
async fn wf_2_4_3_no_second_redirect_no_loop_and_never_to_http() {
    let far = Elsewhere::start().await;
    far.say("/there", Reply::Json(far.record()));
    far.say("/moved", Reply::Redirect(far.url("/there")));
    let targets = [far.url("/moved"), far.url(WEBFINGER), format!("http://{DOMAIN}:{}/there", far.port)];
    for to in targets {
        far.say(WEBFINGER, Reply::Redirect(to.clone()));
        far.clock.advance(Duration::from_secs(61));
        let (what, _) = obstacle(far.resolve().await.unwrap_err());
        assert_eq!(what, ResolveSource::WebFinger, "{to}");
    }
}

#[tokio::test]
async fn wf_2_4_cards_are_not_redirected() {
    let far = Elsewhere::start().await;
    far.say("/card", Reply::Json(far.card()));
    far.say(CARD, Reply::Redirect(far.url("/card")));
    assert_eq!(obstacle(far.resolve().await.unwrap_err()), (ResolveSource::Card, Obstacle::Status(302)));
}

#[tokio::test]
async fn wf_2_4_5_the_subject_is_the_address_that_was_asked_for() {
    let far = Elsewhere::start().await;
    for subject in ["acct:other@far.localhost", "acct:lean@cards.far.localhost", "lean@far.localhost", "", "acct:"] {
        record_with(&far, |record| record["subject"] = json!(subject));
        far.clock.advance(Duration::from_secs(61));
        assert_eq!(far.resolve().await.unwrap_err(), ResolveError::OtherSubject, "{subject}");
    }
    record_with(&far, |record| record["subject"] = json!("ACCT:Lean@FAR.localhost"));
    far.clock.advance(Duration::from_secs(61));
    far.resolve().await.unwrap();
}

#[tokio::test]
async fn wf_2_4_6_the_card_link_by_either_name_the_canonical_one_first() {
    let far = Elsewhere::start().await;
    let legacy = |href: String| json!({"rel": "https://mentionable.dev/agent-card", "href": href});
    record_with(&far, |record| record["links"] = json!([legacy(far.url(CARD))]));
    far.resolve().await.unwrap();
    record_with(&far, |record| {
        let canonical = record["links"][1].clone();
        record["links"] = json!([legacy(far.url("/old-card")), canonical]);
    });
    far.clock.advance(Duration::from_secs(61));
    assert_eq!(far.resolve().await.unwrap().card_url, far.url(CARD));
}

#[tokio::test]
async fn wf_2_4_6_no_card_no_agent() {
    let far = Elsewhere::start().await;
    for links in [json!([]), json!([{"rel": "self", "href": "https://far.localhost/"}])] {
        record_with(&far, |record| record["links"] = links);
        far.clock.advance(Duration::from_secs(61));
        assert_eq!(far.resolve().await.unwrap_err(), ResolveError::NoCard);
    }
    record_with(&far, |record| drop(record.as_object_mut().unwrap().remove("links")));
    far.clock.advance(Duration::from_secs(61));
    assert_eq!(far.resolve().await.unwrap_err(), ResolveError::NoCard);
}

#[tokio::test]
async fn wf_2_4_6_the_card_link_is_https() {
    let far = Elsewhere::start().await;
    let http = format!("http://{DOMAIN}:{}{CARD}", far.port);
    for href in [http.as_str(), CARD, "data:application/json,{}", "https://user@far.localhost/"] {
        record_with(&far, |record| record["links"][1]["href"] = json!(href));
        far.clock.advance(Duration::from_secs(61));
        assert_eq!(far.resolve().await.unwrap_err(), ResolveError::NotHttps, "{href}");
    }
    assert!(far.asked().iter().all(|path| path != CARD));
}

#[tokio::test]
async fn wf_2_4_7_the_card_is_of_the_address_that_was_asked_for() {
    let far = Elsewhere::start().await;
    card_with(&far, |card| card["address"] = json!("@other@far.localhost"));
    assert_eq!(malformed(far.resolve().await.unwrap_err()), [CardError::AddressMismatch]);
}

#[tokio::test]
async fn wf_2_4_7_malformed_cards_are_not_believed() {
    let far = Elsewhere::start().await;
    card_with(&far, |card| card["protocol_version"] = json!("9"));
    let error = far.resolve().await.unwrap_err();
    assert!(error.to_string().contains("/protocol_version: must be `0.1`"), "{error}");
    assert_eq!(malformed(error), [CardError::ProtocolVersion]);
}

#[tokio::test]
async fn rest_2_an_entry_without_endpoint_means_not_over_rest() {
    let far = Elsewhere::start().await;
    for extensions in [json!([{"uri": REST}]), json!([]), Value::Null] {
        card_with(&far, |card| card["a2a"]["capabilities"]["extensions"] = extensions);
        far.clock.advance(Duration::from_secs(61));
        assert_eq!(far.resolve().await.unwrap().rest_endpoint(), None);
    }
}

#[tokio::test]
async fn rest_1_the_legacy_identifier_is_understood() {
    let far = Elsewhere::start().await;
    let legacy = "https://mentionable.dev/spec/transport-rest/v0.1";
    card_with(&far, |card| card["a2a"]["capabilities"]["extensions"][0]["uri"] = json!(legacy));
    assert_eq!(far.resolve().await.unwrap().rest_endpoint(), Some(far.url("/~lean").as_str()));
}

#[tokio::test]
async fn rest_2_an_endpoint_on_another_host_is_refused() {
    let far = Elsewhere::start().await;
    for endpoint in [
        format!("https://cards.far.localhost:{}/~lean", far.port),
        format!("https://{DOMAIN}/~lean"),
        "https://evil.example/~lean".to_owned(),
    ] {
        card_with(&far, |card| card["a2a"]["capabilities"]["extensions"][0]["endpoint"] = json!(endpoint));
        far.clock.advance(Duration::from_secs(61));
        assert_eq!(malformed(far.resolve().await.unwrap_err()), [CardError::ForeignEndpoint], "{endpoint}");
    }
}

#[tokio::test]
async fn wf_2_5_the_self_link_decides_the_canonical_host() {
    let far = Elsewhere::start().await;
    let other = format!("cards.far.localhost:{}", far.port);
    record_with(&far, |record| {
        let actor =
            json!({"rel": "self", "type": "application/activity+json", "href": format!("https://{other}/lean")});
        record["links"].as_array_mut().unwrap().insert(0, actor);
    });
    assert_eq!(malformed(far.resolve().await.unwrap_err()), [CardError::ForeignEndpoint]);
    card_with(&far, |card| {
        card["a2a"]["capabilities"]["extensions"][0]["endpoint"] = json!(format!("https://{other}/~lean"));
    });
    far.clock.advance(Duration::from_secs(61));
    assert_eq!(far.resolve().await.unwrap().canonical_host, other);
}

#[tokio::test]
async fn wf_2_1_local_parts_wider_than_our_own_are_found() {
    let far = Elsewhere::start().await;
    let acct = Acct::parse("@First.Last@far.localhost").unwrap();
    record_with(&far, |record| record["subject"] = json!("acct:first.last@far.localhost"));
    card_with(&far, |card| card["address"] = json!("@first.last@far.localhost"));
    assert_eq!(far.resolver.resolve_at(&acct, far.port).await.unwrap().acct.to_string(), "@first.last@far.localhost");
}

#[tokio::test]
async fn guards_what_was_found_is_kept_as_long_as_both_servers_say() {
    let far = Elsewhere::start().await;
    far.say(WEBFINGER, Reply::Cached(far.record(), "max-age=7200"));
    far.say(CARD, Reply::Cached(far.card(), "public, max-age=600"));
    for (seconds, asked) in [(0, 2), (599, 2), (1, 4)] {
        far.clock.advance(Duration::from_secs(seconds));
        far.resolve().await.unwrap();
        assert_eq!(far.asked().len(), asked, "after {seconds} s more");
    }
}

#[tokio::test]
async fn guards_at_least_a_minute_and_at_most_a_day() {
    let far = Elsewhere::start().await;
    far.say(WEBFINGER, Reply::Cached(far.record(), "no-store"));
    for (seconds, asked) in [(0, 2), (59, 2), (1, 4)] {
        far.clock.advance(Duration::from_secs(seconds));
        far.resolve().await.unwrap();
        assert_eq!(far.asked().len(), asked, "after {seconds} s more");
    }
    far.clock.advance(Duration::from_secs(60));
    for path in [WEBFINGER, CARD] {
        let value = if path == CARD { far.card() } else { far.record() };
        far.say(path, Reply::Cached(value, "max-age=31536000"));
    }
    for (seconds, asked) in [(0, 6), (86_399, 6), (1, 8)] {
        far.clock.advance(Duration::from_secs(seconds));
        far.resolve().await.unwrap();
        assert_eq!(far.asked().len(), asked, "after {seconds} s more");
    }
}

#[tokio::test]
async fn guards_a_failure_is_kept_too_and_many_share_one_lookup() {
    let far = Elsewhere::start().await;
    far.say(WEBFINGER, Reply::Raw(500, Vec::new()));
    let all = (0..20).map(|_| far.resolve());
    assert!(futures::future::join_all(all).await.iter().all(Result::is_err));
    assert_eq!(far.asked().len(), 1);
    far.clock.advance(Duration::from_secs(60));
    far.say(WEBFINGER, Reply::Json(far.record()));
    far.resolve().await.unwrap();
}

#[tokio::test]
async fn directory_6_is_read_with_tolerance() {
    let far = Elsewhere::start().await;
    let domain = Domain::parse(DOMAIN).unwrap();
    let path = "/.well-known/mentionable-agents.json";
    far.say(
        path,
        Reply::Json(json!({
            "name": "Far",
            "contactPoint": [
                {"email": "sales@far.localhost", "name": "Sales", "telephone": "1", "description": "d"},
                {"telephone": "2"},
                {"email": "not an address"},
                {"email": "first.last@far.localhost", "https://mentionable.dev/ns/v1#protocols": ["a2a", 7]},
            ],
        })),
    );
    let listing = far.resolver.directory(&domain, far.port).await.unwrap();
    let agents: Vec<_> = listing.agents.iter().map(|agent| (agent.acct.local(), agent.protocols.len())).collect();
    assert_eq!((listing.name.as_str(), agents), ("Far", vec![("sales", 0), ("first.last", 1)]));

    far.say(path, Reply::Json(json!({"agents": []})));
    let error = far.resolver.directory(&domain, far.port).await.unwrap_err();
    assert!(matches!(error, ResolveError::Unreadable { what: ResolveSource::Directory, .. }));
    far.say(path, Reply::Raw(404, Vec::new()));
    let error = far.resolver.directory(&domain, far.port).await.unwrap_err();
    assert_eq!(obstacle(error), (ResolveSource::Directory, Obstacle::Status(404)));
}

#[tokio::test]
async fn directory_6_agents_are_bounded() {
    let far = Elsewhere::start().await;
    let domain = Domain::parse(DOMAIN).unwrap();
    for (n, read) in [(1_000, 1_000), (1_001, 1_000)] {
        let agents: Vec<_> = (0..n).map(|i| json!({"email": format!("a{i}@far.localhost")})).collect();
        far.say("/.well-known/mentionable-agents.json", Reply::Json(json!({"contactPoint": agents})));
        assert_eq!(far.resolver.directory(&domain, far.port).await.unwrap().agents.len(), read);
    }
}
