//! One document for both versions, and one for 1.0 alone.

use forecourt_a2a::card::limits::{CARD_FRESH, SKILLS_LISTED_MAX};
use forecourt_a2a::card::{validate, validate_agent};
use forecourt_a2a::model::Version;
use forecourt_core::AgentCard;
use forecourt_surface::document::answer;
use forecourt_testkit::card;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use crate::card::support::{ORIGIN, Setup, handle_of, skill, skilled, two};

/// The fields of the message `AgentCard` of 1.0.
const FIELDS_1_0: &[&str] = &[
    "name",
    "description",
    "supportedInterfaces",
    "provider",
    "version",
    "documentationUrl",
    "capabilities",
    "securitySchemes",
    "securityRequirements",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
    "signatures",
    "iconUrl",
];
/// What 0.3 requires.
const REQUIRED_0_3: &[&str] = &[
    "protocolVersion",
    "name",
    "description",
    "url",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
];

fn keys(card: &Value) -> Vec<&str> {
    card.as_object().unwrap().keys().map(String::as_str).collect()
}

fn interfaces(card: &Value) -> impl Iterator<Item = &Value> {
    card["supportedInterfaces"].as_array().unwrap().iter()
}

fn bindings(card: &Value) -> Vec<(&str, &str)> {
    interfaces(card)
        .map(|one| (one["protocolBinding"].as_str().unwrap(), one["protocolVersion"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn the_default_form_has_what_either_version_requires() {
    let hub = two().await.hub();
    for name in REQUIRED_0_3 {
        assert!(hub.get(name).is_some(), "{name}");
    }
    assert_eq!(hub["protocolVersion"], "0.3.0");
    assert_eq!(hub["preferredTransport"], "JSONRPC");
    let additional = json!([
        {"url": format!("{ORIGIN}/a2a"), "transport": "JSONRPC"},
        {"url": format!("{ORIGIN}/a2a"), "transport": "HTTP+JSON"},
    ]);
    assert_eq!(hub["additionalInterfaces"], additional);
    let expected = [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")];
    assert_eq!(bindings(&hub), expected);
    assert_eq!(hub["provider"], json!({"organization": "Demo", "url": format!("{ORIGIN}/")}));
}

#[tokio::test]
async fn the_form_of_1_0_has_no_field_of_another_kind() {
    let published = Setup::of([skilled("chef", "cook"), card("gate")]).with_identity().publish().await;
    let hub = published.hub_1_0();
    for name in keys(&hub) {
        assert!(FIELDS_1_0.contains(&name), "{name}");
    }
    assert_eq!(keys(&hub["securitySchemes"]["bearer"]), ["httpAuthSecurityScheme"]);
    assert_eq!(hub["capabilities"]["extensions"][0]["params"]["defaultAgent"], "chef");
    assert_eq!(validate(&hub), []);
}

#[tokio::test]
async fn nothing_is_empty_and_nothing_is_spelled_twice() {
    let published = Setup::of([skilled("chef", "cook"), card("gate")]).with_identity().publish().await;
    assert_eq!(validate(&published.hub()), []);
    assert_eq!(validate_agent(&published.agent("gate")), []);
    assert_eq!(published.cards.problems(), []);
}

#[tokio::test]
async fn what_would_be_refused_by_others_is_found_before_it_is_published() {
    let nameless = AgentCard { name: String::new(), ..card("gate") };
    let published = Setup::of([card("chef"), nameless]).publish().await;
    let problems = published.cards.problems();
    assert!(problems.iter().any(|(handle, problem)| handle.is_none() && problem.path.ends_with("agents/1/name")));
    assert!(problems.iter().any(|(handle, problem)| *handle == Some(handle_of("gate")) && problem.path == "/name"));
}

#[tokio::test]
async fn without_identity_nothing_is_said_of_it() {
    let published = two().await;
    let hub = published.hub();
    for name in ["securitySchemes", "security", "securityRequirements", "supportsAuthenticatedExtendedCard"] {
        assert!(hub.get(name).is_none(), "{name}");
    }
    assert!(hub["capabilities"].get("extendedAgentCard").is_none());
    assert!(published.cards.extended_hub(Version::V1_0).is_none());
    assert!(published.cards.extended_agent(&handle_of("chef"), Version::V0_3).is_none());
}

#[tokio::test]
async fn with_identity_the_scheme_stands_in_both_spellings_with_equal_values() {
    let hub = Setup::of([card("chef")]).with_identity().publish().await.hub();
    let scheme = &hub["securitySchemes"]["bearer"];
    assert_eq!(scheme["type"], "http");
    for name in ["scheme", "bearerFormat", "description"] {
        assert_eq!(scheme[name], scheme["httpAuthSecurityScheme"][name]);
    }
    assert_eq!(hub["supportsAuthenticatedExtendedCard"], true);
    assert_eq!(hub["capabilities"]["extendedAgentCard"], true);
    // Offered, not demanded.
    assert!(hub.get("security").is_none() && hub.get("securityRequirements").is_none());
}

#[tokio::test]
async fn an_agent_that_wants_a_token_says_so_in_both_spellings() {
    let wanting = || AgentCard { wants_token: true, ..card("gate") };
    for with_issuer in [true, false] {
        let setup = Setup::of([card("chef"), wanting()]);
        let published = if with_issuer { setup.with_identity() } else { setup }.publish().await;
        let (gate, chef) = (published.agent("gate"), published.agent("chef"));
        assert_eq!(gate["security"], json!([{"bearer": []}]));
        assert_eq!(gate["securityRequirements"], json!([{"schemes": {"bearer": {"list": []}}}]));
        assert_eq!(gate["securitySchemes"]["bearer"].get("bearerFormat").is_some(), with_issuer);
        assert_eq!(gate.get("supportsAuthenticatedExtendedCard").is_some(), with_issuer);
        // The hub leads to one that wants none.
        for other in [chef, published.hub(), published.hub_1_0()] {
            assert!(other.get("security").is_none() && other.get("securityRequirements").is_none());
        }
        assert_eq!((validate_agent(&gate), published.cards.problems()), (vec![], vec![]));
    }
    let all = Setup::of([wanting()]).publish().await;
    assert_eq!(all.hub_1_0()["securityRequirements"], json!([{"schemes": {"bearer": {"list": []}}}]));
    assert!(all.hub_1_0().get("security").is_none(), "the form of 1.0 has no field of 0.3");
}

#[tokio::test]
async fn the_extended_card_lists_the_skills_of_all_under_their_handles() {
    let published = Setup::of([skilled("chef", "cook"), skilled("gate", "refuse")]).with_identity().publish().await;
    let hub = crate::card::support::json(published.cards.extended_hub(Version::V1_0).unwrap().body());
    let ids: Vec<_> = hub["skills"].as_array().unwrap().iter().map(|skill| skill["id"].clone()).collect();
    assert_eq!(ids, ["cook", "chef/cook", "gate/refuse"]);
    assert_eq!(validate(&hub), []);
}

#[tokio::test]
async fn the_extended_card_lists_skills_up_to_a_bound() {
    let listed = async |count: usize| {
        let many = AgentCard { skills: (0..count).map(|n| skill(&n.to_string())).collect(), ..card("chef") };
        let published = Setup::of([skilled("gate", "refuse"), many]).with_identity().publish().await;
        let hub = crate::card::support::json(published.cards.extended_hub(Version::V1_0).unwrap().body());
        hub["skills"].as_array().unwrap().len()
    };
    assert_eq!(listed(SKILLS_LISTED_MAX - 2).await, SKILLS_LISTED_MAX);
    assert_eq!(listed(SKILLS_LISTED_MAX - 1).await, SKILLS_LISTED_MAX);
}

#[tokio::test]
async fn grpc_is_named_to_callers_that_are_known_and_never_on_the_hub() {
    let named = |card: &Value| bindings(card).iter().any(|(binding, _)| *binding == "GRPC");
    let published = Setup::of([card("chef")]).with_identity().with_grpc(false).publish().await;
    assert!(!named(&published.hub()));
    assert!(!named(&published.agent("chef")));
    let extended = published.cards.extended_hub(Version::V0_3).unwrap();
    assert!(named(&crate::card::support::json(extended.body())));
    let extended = published.cards.extended_agent(&handle_of("chef"), Version::V0_3).unwrap();
    assert!(named(&crate::card::support::json(extended.body())));

    let published = Setup::of([card("chef")]).with_grpc(true).publish().await;
    assert!(!named(&published.hub()));
    assert!(named(&published.agent("chef")));
    assert_eq!(published.cards.problems(), []);
}

#[tokio::test]
async fn grpc_is_named_with_its_port() {
    let url_of = async |host: &str| {
        let mut setup = Setup::of([card("chef")]).with_grpc(true);
        setup.settings.grpc = Some(host.to_owned());
        let published = setup.publish().await;
        assert_eq!(published.cards.problems(), [], "{host}");
        published.agent("chef")["supportedInterfaces"][2]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(url_of("demo.localhost").await, "demo.localhost:443");
    assert_eq!(url_of("demo.localhost:8443").await, "demo.localhost:8443");
    assert_eq!(url_of("[::1]").await, "[::1]:443");
}

#[tokio::test]
async fn s4_4_6_an_agent_is_the_tenant_of_its_grpc_and_0_3_which_has_none_is_offered_none() {
    let published = Setup::of([card("chef"), card("gate")]).with_identity().with_grpc(true).publish().await;
    let gate = published.agent("gate");
    let grpc: Vec<_> = interfaces(&gate).filter(|one| one["protocolBinding"] == "GRPC").collect();
    assert_eq!(grpc.len(), 1, "{grpc:?}");
    assert_eq!((&grpc[0]["protocolVersion"], &grpc[0]["tenant"]), (&"1.0".into(), &"gate".into()));
    let mut paths = interfaces(&gate).filter(|one| one["protocolBinding"] != "GRPC");
    assert!(paths.all(|one| one.get("tenant").is_none()));
    assert!(gate["additionalInterfaces"].as_array().unwrap().iter().all(|one| one["transport"] != "GRPC"));

    let hub = crate::card::support::json(published.cards.extended_hub(Version::V0_3).unwrap().body());
    let grpc: Vec<_> = interfaces(&hub).filter(|one| one["protocolBinding"] == "GRPC").collect();
    assert_eq!(grpc.len(), 2, "{grpc:?}");
    assert!(grpc.iter().all(|one| one.get("tenant").is_none()));
}

#[tokio::test]
async fn the_operator_says_who_runs_the_host_and_which_version_it_is() {
    let mut setup = Setup::of([card("chef"), card("gate")]);
    setup.settings.organization = Some("Kitchens Ltd".to_owned());
    setup.settings.hub_version = Some("2.1.0".to_owned());
    let hub = setup.publish().await.hub();
    assert_eq!(hub["provider"]["organization"], "Kitchens Ltd");
    assert_eq!(hub["version"], "2.1.0");
}

#[tokio::test]
async fn s5_every_public_card_can_be_served_by_any_web_host() {
    let documents = two().await.cards.documents();
    let paths: Vec<_> = documents.iter().map(|document| document.path.as_str()).collect();
    let expected = [
        "/.well-known/agent-card.json",
        "/.well-known/agent.json",
        "/a2a/chef/.well-known/agent-card.json",
        "/a2a/gate/.well-known/agent-card.json",
    ];
    assert_eq!(paths, expected);
    assert_eq!(documents[0].body, documents[1].body);
    assert_eq!(validate(&crate::card::support::json(&documents[0].body)), []);
}

#[tokio::test]
async fn a_card_keeps_its_tag_until_the_keys_are_rotated() {
    let published = two().await;
    let before = published.cards.hub(Version::V0_3);
    assert_eq!(published.cards.hub(Version::V0_3).tag(), before.tag());
    assert_ne!(published.cards.hub(Version::V1_0).tag(), before.tag());
    published.keys.store(forecourt_identity::HostKeys::in_memory(published.entropy.as_ref()).into());
    assert_ne!(published.cards.hub(Version::V0_3).tag(), before.tag());
}

#[tokio::test]
async fn an_agent_that_does_not_live_here_has_no_card() {
    assert!(two().await.cards.agent(&handle_of("nobody"), Version::V0_3).is_none());
}

#[tokio::test]
async fn s7_it_is_served_as_json_for_every_origin_and_says_what_it_varies_by() {
    let published = two().await;
    let ask = |fields: &HeaderMap| answer(&Method::GET, fields, || Ok(published.cards.hub(Version::V0_3)));
    let first = ask(&HeaderMap::new());
    assert_eq!(first.status(), StatusCode::OK);
    assert_eq!(first.headers()["content-type"], "application/json");
    assert_eq!(first.headers()["vary"], "A2A-Version");
    assert_eq!(first.headers()["access-control-allow-origin"], "*");
    assert_eq!(first.headers()["cache-control"], format!("public, max-age={}", CARD_FRESH.as_secs()));
    let again = HeaderMap::from_iter([(http::header::IF_NONE_MATCH, first.headers()["etag"].clone())]);
    assert_eq!(ask(&again).status(), StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn pages_of_other_origins_may_ask_for_a_version() {
    let asked =
        HeaderMap::from_iter([(http::header::ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("a2a-version"))]);
    let published = two().await;
    let allowed = answer(&Method::OPTIONS, &asked, || Ok(published.cards.hub(Version::V0_3)));
    assert_eq!(allowed.headers()["access-control-allow-headers"], "a2a-version");
}
