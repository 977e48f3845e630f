//! Cards of others, in the forms that are found in the wild.

use forecourt_a2a::card::limits::{AGENTS_READ_MAX, INTERFACES_READ_MAX};
use forecourt_a2a::card::names::AGENTS;
use forecourt_a2a::card::{Binding, read};
use forecourt_a2a::model::Version;
use serde_json::{Value, json};

use crate::card::support::{ORIGIN, Setup, skilled, two};

fn old() -> Value {
    json!({
        "protocolVersion": "0.3.0", "name": "Old", "description": "d", "version": "1", "url": "https://old.example/rpc",
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "a", "name": "A", "description": "d", "tags": ["t"]}],
        "additionalInterfaces": [{"url": "https://old.example/rpc", "transport": "JSONRPC"},
                                 {"url": "https://old.example/rest", "transport": "HTTP+JSON"}],
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}},
        "supportsAuthenticatedExtendedCard": true,
    })
}

fn new() -> Value {
    json!({
        "name": "New", "description": "d", "version": "1",
        "supportedInterfaces": [
            {"url": "new.example:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": "https://new.example/a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t1"},
        ],
        "capabilities": {"pushNotifications": true, "extendedAgentCard": true,
                         "extensions": [{"uri": "urn:x", "required": true}]},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
        "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
    })
}

#[test]
fn a_card_of_0_3_is_read() {
    let card = read(&old()).unwrap();
    let found: Vec<_> = card.interfaces.iter().map(|one| (one.binding, one.version, one.url.as_str())).collect();
    let expected = [
        (Binding::JsonRpc, Version::V0_3, "https://old.example/rpc"),
        (Binding::HttpJson, Version::V0_3, "https://old.example/rest"),
    ];
    assert_eq!(found, expected);
    assert!(card.streaming && !card.push && card.extended);
    assert_eq!((card.schemes[0].name.as_str(), card.schemes[0].kind.as_str()), ("key", "apiKey"));
    assert_eq!(card.skills[0].tags, ["t"]);
}

#[test]
fn a_card_of_1_0_is_read() {
    let card = read(&new()).unwrap();
    assert_eq!(card.interfaces[0].binding, Binding::Grpc);
    assert_eq!(card.interface(Binding::JsonRpc, Version::V1_0).unwrap().tenant.as_deref(), Some("t1"));
    assert!(!card.streaming && card.push && card.extended);
    assert!(card.extensions[0].required);
    assert_eq!(card.schemes[0].kind, "http");
}

#[tokio::test]
async fn our_own_card_is_read_as_a_hub() {
    let published = Setup::of([skilled("chef", "cook"), skilled("gate", "refuse")]).with_identity().publish().await;
    for (hub, interfaces) in [(published.hub(), 4), (published.hub_1_0(), 4)] {
        let card = read(&hub).unwrap();
        assert_eq!(card.interfaces.len(), interfaces);
        assert_eq!(card.default_agent.as_deref(), Some("chef"));
        assert_eq!(card.agents[1].handle, "gate");
        let expected = format!("{ORIGIN}/.well-known/agent-card/gate");
        assert_eq!(card.agents[1].card_url.as_deref(), Some(expected.as_str()));
        assert_eq!(card.signatures[0].jku.as_deref(), Some(format!("{ORIGIN}/.well-known/jwks.json").as_str()));
        assert!(card.signatures[0].kid.is_some());
    }
}

#[test]
fn names_of_protocol_buffers_are_read_too() {
    let card = json!({
        "name": "Snake",
        "supported_interfaces":
            [{"url": "https://s.example", "protocol_binding": "JSONRPC", "protocol_version": "1.0"}],
        "capabilities": {"push_notifications": true},
        "default_input_modes": ["text/plain"],
    });
    let card = read(&card).unwrap();
    assert_eq!(card.interfaces.len(), 1);
    assert!(card.push);
    assert_eq!(card.input_modes, ["text/plain"]);
}

#[test]
fn what_is_no_card_is_refused() {
    for value in [json!(null), json!([]), json!("card"), json!({})] {
        assert_eq!(read(&value).unwrap_err().len(), 2, "{value}");
    }
    let mut nameless = old();
    nameless["name"] = json!(7);
    assert_eq!(read(&nameless).unwrap_err()[0].path, "/name");
}

#[test]
fn interfaces_that_lie_are_left_out_and_may_leave_none() {
    for url in ["http://evil.example/", "javascript:alert(1)", "https://a@evil.example/", "evil.example:443", "/a2a"] {
        let mut card = old();
        card["url"] = url.into();
        assert_eq!(read(&card).unwrap().interfaces.len(), 2, "{url}");
        card.as_object_mut().unwrap().remove("additionalInterfaces");
        assert_eq!(read(&card).unwrap_err()[0].path, "/supportedInterfaces", "{url}");
    }
    for (name, value) in [("protocolVersion", "2.0"), ("protocolVersion", "x"), ("protocolBinding", "CARRIER-PIGEON")] {
        let mut card = new();
        card["supportedInterfaces"][1][name] = value.into();
        assert_eq!(read(&card).unwrap().interfaces.len(), 1, "{value}");
    }
}

#[test]
fn fields_of_other_types_are_passed_over() {
    let mut card = old();
    card["capabilities"] = json!("all");
    card["skills"] = json!([7, {"id": 1}, {"id": "b"}]);
    card["description"] = json!({});
    card["securitySchemes"] = json!([1]);
    card["signatures"] = json!({});
    let card = read(&card).unwrap();
    assert!(!card.streaming);
    assert_eq!(card.skills.len(), 1);
    assert_eq!(card.skills[0].name, "b");
    assert!(card.schemes.is_empty() && card.signatures.is_empty());
}

#[test]
fn interfaces_are_read_up_to_a_bound() {
    let many = |count: usize| {
        let mut card = new();
        let one = |n| json!({"url": format!("https://n.example/{n}"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        card["supportedInterfaces"] = (0..count).map(one).collect();
        read(&card).unwrap().interfaces.len()
    };
    assert_eq!(many(INTERFACES_READ_MAX), INTERFACES_READ_MAX);
    assert_eq!(many(INTERFACES_READ_MAX + 1), INTERFACES_READ_MAX);
}

#[tokio::test]
async fn agents_are_read_up_to_a_bound() {
    let mut hub = two().await.hub();
    let agent = hub[AGENTS][0].clone();
    let mut many = |count: usize| {
        hub[AGENTS] = vec![agent.clone(); count].into();
        read(&hub).unwrap().agents.len()
    };
    assert_eq!(many(AGENTS_READ_MAX), AGENTS_READ_MAX);
    assert_eq!(many(AGENTS_READ_MAX + 1), AGENTS_READ_MAX);
}
