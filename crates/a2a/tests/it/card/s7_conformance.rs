//! Hub card 3.4 and 7: what may be published, and what is refused.

use forecourt_a2a::card::limits::PROBLEMS_MAX;
use forecourt_a2a::card::names::{AGENTS, DEFAULT_AGENT};
use forecourt_a2a::card::{validate, validate_agent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::card::support::two;

/// Breaks a card that was fine, and gives the paths of what is then wrong.
async fn broken(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut card = two().await.hub();
    change(&mut card);
    validate(&card).into_iter().map(|problem| problem.path).collect()
}

fn remove(card: &mut Value, name: &str) {
    card.as_object_mut().unwrap().remove(name);
}

/// Removes it in both places.
fn disown(card: &mut Value, key: &str, param: &str) {
    remove(card, key);
    remove(&mut card["capabilities"]["extensions"][0]["params"], param);
}

const DEFAULT_PATH: &str = "/https:~1~1mentionable.dev~1ns~1v1#defaultAgent";
const AGENTS_PATH: &str = "/https:~1~1mentionable.dev~1ns~1v1#agents";

#[tokio::test]
async fn s7_our_own_card_is_fine() {
    assert_eq!(broken(|_| ()).await, Vec::<String>::new());
}

#[tokio::test]
async fn s7_name_description_url_and_skills_are_required() {
    for name in ["name", "description", "version", "capabilities", "skills", "defaultInputModes", "defaultOutputModes"]
    {
        assert_eq!(broken(|card| remove(card, name)).await, [format!("/{name}")]);
    }
    let nowhere = broken(|card| {
        remove(card, "url");
        remove(card, "supportedInterfaces");
    });
    assert_eq!(nowhere.await, ["/url"]);
}

#[tokio::test]
async fn s7_fields_of_another_type_are_refused() {
    let cases = [
        ("name", json!(7), "/name"),
        ("skills", json!({}), "/skills"),
        ("skills", json!([]), "/skills"),
        ("url", json!(["https://a.example"]), "/url"),
        ("capabilities", json!([]), "/capabilities"),
        ("defaultInputModes", json!("text/plain"), "/defaultInputModes"),
        ("defaultInputModes", json!([{"kind": "text", "mime": "text/plain"}]), "/defaultInputModes"),
        ("supportedInterfaces", json!({}), "/supportedInterfaces"),
    ];
    for (name, value, path) in cases {
        assert_eq!(broken(|card| card[name] = value).await, [path]);
    }
    assert_eq!(validate(&json!([])).len(), 1);
}

#[tokio::test]
async fn s7_the_default_agent_is_set() {
    assert_eq!(broken(|card| disown(card, DEFAULT_AGENT, "defaultAgent")).await, [DEFAULT_PATH]);
}

#[tokio::test]
async fn s3_4_a_default_that_is_not_among_the_agents_is_refused() {
    let paths = broken(|card| {
        card[DEFAULT_AGENT] = "nobody".into();
        card["capabilities"]["extensions"][0]["params"]["defaultAgent"] = "nobody".into();
    });
    assert_eq!(paths.await, [DEFAULT_PATH]);
}

#[tokio::test]
async fn s7_agents_are_listed() {
    assert_eq!(broken(|card| disown(card, AGENTS, "agents")).await, [AGENTS_PATH, DEFAULT_PATH]);
}

#[tokio::test]
async fn s7_every_agent_has_a_handle_and_a_name() {
    for name in ["handle", "name"] {
        let paths = broken(|card| {
            remove(&mut card[AGENTS][1], name);
            card["capabilities"]["extensions"][0]["params"]["agents"] = card[AGENTS].clone();
        });
        assert_eq!(paths.await, [format!("{AGENTS_PATH}/1/{name}")]);
    }
}

#[tokio::test]
async fn s7_handles_are_compared_in_lower_case_and_occur_once() {
    let paths = broken(|card| {
        card[AGENTS][1]["handle"] = "CHEF".into();
        card["capabilities"]["extensions"][0]["params"]["agents"] = card[AGENTS].clone();
    });
    assert_eq!(paths.await, [format!("{AGENTS_PATH}/1/handle")]);
}

#[tokio::test]
async fn s6_the_extension_and_the_keys_may_not_contradict() {
    let paths = broken(|card| card["capabilities"]["extensions"][0]["params"]["defaultAgent"] = "gate".into());
    assert_eq!(paths.await, [DEFAULT_PATH]);
}

#[tokio::test]
async fn s2_a_second_spelling_of_a_field_is_refused_where_the_field_lives() {
    let twins = [
        ("", "supported_interfaces"),
        ("", "default_input_modes"),
        ("", "security_schemes"),
        ("", "documentation_url"),
        ("/capabilities", "push_notifications"),
        ("/skills/0", "input_modes"),
        ("/skills/0", "output_modes"),
        ("/supportedInterfaces/0", "protocol_binding"),
    ];
    for (path, name) in twins {
        let paths = broken(|card| card.pointer_mut(path).unwrap()[name] = json!(["text/plain"]));
        assert_eq!(paths.await, [format!("{path}/{name}")]);
    }
    // Harmless: no fields of A2A at that level.
    for name in ["protocol_version", "input_modes", "output_modes", "auth"] {
        assert_eq!(broken(|card| card[name] = json!(["x"])).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn urls_that_would_give_the_talk_away_are_refused() {
    for url in [
        "http://example.com/a2a",
        "ftp://example.com/a2a",
        "//example.com/a2a",
        "/a2a",
        "example.com:443",
        "https://user@example.com/a2a",
        "https://example.com/a2a#x",
        "http://127.0.0.1.example.com/",
        "",
    ] {
        assert!(broken(|card| card["url"] = url.into()).await.contains(&"/url".to_owned()), "{url}");
        let paths = broken(|card| card["supportedInterfaces"][1]["url"] = url.into());
        assert!(paths.await.contains(&"/supportedInterfaces/1/url".to_owned()), "{url}");
    }
    for url in ["http://127.0.0.1:8080/a2a", "http://[::1]/a2a", "http://demo.localhost/a2a", "https://example.com/a2a"]
    {
        assert_eq!(broken(|card| card["url"] = url.into()).await, Vec::<String>::new(), "{url}");
    }
}

#[tokio::test]
async fn interfaces_skills_and_extensions_occur_once() {
    let twice = |card: &mut Value, path: &str| {
        let list = card.pointer_mut(path).unwrap().as_array_mut().unwrap();
        list.push(list[0].clone());
    };
    assert_eq!(broken(|card| twice(card, "/supportedInterfaces")).await, ["/supportedInterfaces/4"]);
    assert_eq!(broken(|card| twice(card, "/skills")).await, ["/skills/1/id"]);
    assert_eq!(broken(|card| twice(card, "/capabilities/extensions")).await, ["/capabilities/extensions/2/uri"]);
}

#[tokio::test]
async fn skills_are_complete() {
    for name in ["id", "name", "description", "tags"] {
        assert_eq!(broken(|card| remove(&mut card["skills"][0], name)).await, [format!("/skills/0/{name}")]);
    }
}

#[tokio::test]
async fn a_security_scheme_that_two_parsers_would_read_differently_is_refused() {
    for scheme in [
        json!({"scheme": "Bearer"}),
        json!({"type": "magic"}),
        json!({"type": "http", "apiKeySecurityScheme": {"location": "header", "name": "k"}}),
        json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}, "mtlsSecurityScheme": {"description": "x"}}),
    ] {
        let paths = broken(|card| card["securitySchemes"] = json!({"s": scheme}));
        assert_eq!(paths.await, ["/securitySchemes/s"]);
    }
    for scheme in [
        json!({"type": "http", "scheme": "Bearer"}),
        json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}}),
        json!({"type": "http", "scheme": "Bearer", "httpAuthSecurityScheme": {"scheme": "Bearer"}}),
    ] {
        assert_eq!(broken(|card| card["securitySchemes"] = json!({"s": scheme})).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn nulls_are_found_anywhere_but_in_the_parameters_of_extensions() {
    assert_eq!(broken(|card| card["skills"][0]["examples"] = Value::Null).await.len(), 2);
    assert_eq!(broken(|card| card["provider"]["extra"] = Value::Null).await, ["/provider/extra"]);
    assert_eq!(
        broken(|card| card["capabilities"]["extensions"][1]["params"] = json!({"x": null})).await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_card_of_an_agent_need_not_be_a_hub_but_must_not_pretend() {
    let mut card = two().await.agent("gate");
    assert_eq!(validate_agent(&card), []);
    assert_eq!(validate(&card).len(), 2);
    card[DEFAULT_AGENT] = "gate".into();
    assert_eq!(validate_agent(&card).len(), 2);
}

#[tokio::test]
async fn problems_are_listed_up_to_a_bound() {
    let paths = broken(|card| card["defaultInputModes"] = json!(vec![Value::Null; PROBLEMS_MAX - 1]));
    assert_eq!(paths.await.len(), PROBLEMS_MAX);
    let paths = broken(|card| card["defaultInputModes"] = json!(vec![Value::Null; PROBLEMS_MAX]));
    assert_eq!(paths.await.len(), PROBLEMS_MAX);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z:/@.]{0,12}".prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("name".to_owned()),
        Just("url".to_owned()),
        Just("skills".to_owned()),
        Just("capabilities".to_owned()),
        Just("extensions".to_owned()),
        Just("supportedInterfaces".to_owned()),
        Just("securitySchemes".to_owned()),
        Just("signatures".to_owned()),
        Just(DEFAULT_AGENT.to_owned()),
        Just(AGENTS.to_owned()),
        "[a-z~/]{0,5}",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_makes_it_fall_over(card in any_json()) {
        let _ = validate(&card);
        let _ = validate_agent(&card);
        let _ = forecourt_a2a::card::read(&card);
        let keys = forecourt_identity::KeySet::default();
        prop_assert!(forecourt_a2a::card::verify_signature(&card, &keys, forecourt_core::Timestamp::UNIX_EPOCH).is_err());
    }
}
