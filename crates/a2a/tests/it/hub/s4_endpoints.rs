//! Hub card 2, 4, 5, 7: what is served where.

use forecourt_core::AgentCard;
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::hub::answer::artifact_text;
use crate::hub::support::{Place, Setup, request, two};
use crate::hub::wire::{Op, Wire};

const CARDS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
const DEFAULT_AGENT: &str = "https://mentionable.dev/ns/v1#defaultAgent";
const AGENTS: &str = "https://mentionable.dev/ns/v1#agents";

async fn get(place: &Place, path: &str) -> Value {
    place.send(request("GET", path), "").await.is(200).json()
}

#[tokio::test]
async fn s7_the_card_is_200_and_json() {
    let (place, ..) = two().await;
    for path in CARDS {
        let answer = place.send(request("GET", path), "").await.is(200);
        assert_eq!(answer.field("content-type"), Some("application/json"), "{path}");
        assert!(answer.field("cache-control").is_some_and(|cache| cache.contains("max-age=")), "{path}");
        assert_eq!(answer.field("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.field("vary"), Some("A2A-Version"), "{path}");
        for field in ["name", "description", "url"] {
            assert!(answer.json()[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
        assert!(answer.json()["skills"].as_array().is_some_and(|skills| !skills.is_empty()));
    }
    assert_eq!(get(&place, CARDS[0]).await, get(&place, CARDS[1]).await);
}

#[tokio::test]
async fn s7_the_default_agent_is_among_the_agents_and_each_has_handle_and_name() {
    let (place, ..) = two().await;
    let card = get(&place, CARDS[0]).await;
    assert_eq!(card[DEFAULT_AGENT], "chef");
    let agents = card[AGENTS].as_array().unwrap();
    assert!(agents.iter().all(|agent| agent["handle"].is_string() && agent["name"].is_string()), "{agents:?}");
    assert!(agents.iter().any(|agent| agent["handle"] == card[DEFAULT_AGENT]));
}

#[tokio::test]
async fn s7_the_url_of_the_card_takes_messages_and_routes_them() {
    let (place, ..) = two().await;
    let url = get(&place, CARDS[0]).await["url"].as_str().unwrap().to_owned();
    assert_eq!(url, "https://demo.localhost/a2a");
    let task = Wire::Rpc03.at(&place).says("@gate hi").await.task(Wire::Rpc03);
    assert_eq!(artifact_text(&task), "gate");
}

#[tokio::test]
async fn every_interface_that_a_card_names_answers_in_its_version() {
    let (place, ..) = two().await;
    for path in [CARDS[0], "/a2a/gate/.well-known/agent-card.json"] {
        let card = get(&place, path).await;
        for interface in card["supportedInterfaces"].as_array().unwrap() {
            let wire = match (interface["protocolBinding"].as_str(), interface["protocolVersion"].as_str()) {
                (Some("JSONRPC"), Some("1.0")) => Wire::Rpc10,
                (Some("JSONRPC"), Some("0.3")) => Wire::Rpc03,
                (Some("HTTP+JSON"), Some("1.0")) => Wire::Rest10,
                (Some("HTTP+JSON"), Some("0.3")) => Wire::Rest03,
                other => panic!("{other:?}"),
            };
            let base = interface["url"].as_str().unwrap().strip_prefix("https://demo.localhost").unwrap();
            let base: &'static str = if base == "/a2a" { "/a2a" } else { "/a2a/gate" };
            wire.at(&place).to(base).says("hi").await.task(wire);
        }
    }
}

#[tokio::test]
async fn s5_the_card_has_a_tag_and_is_not_sent_twice() {
    let (place, ..) = two().await;
    for path in [CARDS[0], CARDS[1], "/a2a/gate/.well-known/agent-card.json"] {
        let tag = place.send(request("GET", path), "").await.is(200).field("etag").unwrap().to_owned();
        let again = place.send(request("GET", path).header("if-none-match", &tag), "").await.is(304);
        assert!(again.body.is_empty());
        assert_eq!((again.field("etag"), again.field("vary")), (Some(&*tag), Some("A2A-Version")));
        place.send(request("GET", path).header("if-none-match", "\"other\""), "").await.is(200);
    }
}

#[tokio::test]
async fn s5_the_card_is_one_representation_whatever_is_accepted() {
    let (place, ..) = two().await;
    for accept in ["text/html", "application/xml", "*/*", "application/json;q=0"] {
        let answer = place.send(request("GET", CARDS[0]).header("accept", accept), "").await.is(200);
        assert_eq!(answer.field("content-type"), Some("application/json"), "{accept}");
    }
}

#[tokio::test]
async fn the_card_of_1_0_is_for_who_asks_for_it() {
    let (place, ..) = two().await;
    let strict = place.send(request("GET", CARDS[0]).header("a2a-version", "1.0"), "").await.is(200);
    assert_eq!(strict.json().get("url"), None, "a field of 0.3");
    assert!(strict.json()["supportedInterfaces"].is_array());
    let tag = strict.field("etag").unwrap();
    place.send(request("GET", CARDS[0]).header("if-none-match", tag), "").await.is(200);
    place.send(request("GET", CARDS[0]).header("a2a-version", "9"), "").await.is(200);
}

#[tokio::test]
async fn the_card_is_public_and_read_only() {
    let (place, ..) = two().await;
    for path in CARDS {
        let head = place.send(request("HEAD", path), "").await.is(200);
        assert!(head.body.is_empty() && head.field("etag").is_some());
        let preflight = request("OPTIONS", path).header("access-control-request-headers", "a2a-version");
        let options = place.send(preflight, "").await.is(204);
        assert_eq!(options.field("access-control-allow-headers"), Some("a2a-version"));
        for verb in ["POST", "PUT", "DELETE", "PATCH"] {
            let refused = place.send(request(verb, path), "").await.is(405);
            assert_eq!(refused.field("allow"), Some("GET, HEAD, OPTIONS"), "{verb}");
        }
        place.send(request("GET", path).header("authorization", "Bearer nonsense"), "").await.is(200);
    }
}

#[tokio::test]
async fn s4_per_agent_endpoints_stay_beside_the_hub() {
    let (place, chef, gate) = two().await;
    for wire in Wire::ALL {
        for base in ["/a2a/gate", "/a2a/GATE"] {
            let task = wire.at(&place).to(base).says("@chef hi").await.task(wire);
            assert_eq!(artifact_text(&task), "gate", "{wire:?}: a mention switches on the hub alone");
        }
        assert_eq!(artifact_text(&wire.at(&place).says("hi").await.task(wire)), "chef");
    }
    for wire in Wire::RPC {
        for (base, name) in [("/a2a/gate/", "gate"), ("/a2a/", "chef")] {
            assert_eq!(artifact_text(&wire.at(&place).to(base).says("hi").await.task(wire)), name, "{base}");
        }
    }
    assert_eq!(gate.heard()[0].text(), "@chef hi");
    assert_eq!(chef.heard().len(), Wire::ALL.len() + 2);
}

#[tokio::test]
async fn s4_an_agent_that_does_not_live_here_has_no_endpoint() {
    let (place, ..) = two().await;
    for wire in Wire::ALL {
        let answer = wire.at(&place).to("/a2a/nobody").says("hi").await.is(404);
        let error = &answer.json()["error"];
        assert!(error["message"].as_str().is_some_and(|text| text.contains("@nobody")), "{error}");
        assert_eq!(error["code"], if wire.is_rpc() { json!(-32600) } else { json!(404) });
    }
    let card = place.send(request("GET", "/a2a/nobody/.well-known/agent-card.json"), "").await;
    card.is(404);
}

#[tokio::test]
async fn s4_each_agent_has_a_card_with_its_own_endpoint() {
    let (place, ..) = two().await;
    for path in ["/a2a/gate/.well-known/agent-card.json", "/a2a/gate/.well-known/agent.json"] {
        let card = get(&place, path).await;
        assert_eq!((&card["name"], &card["url"]), (&json!("gate"), &json!("https://demo.localhost/a2a/gate")));
    }
    assert_eq!(get(&place, "/a2a/.well-known/agent-card.json").await, get(&place, CARDS[0]).await);
}

#[tokio::test]
async fn s4_a_task_is_read_at_the_hub_and_at_its_agent_and_nowhere_else() {
    let (place, ..) = two().await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("@gate hi").await.task(wire);
        let id = task["id"].as_str().unwrap();
        assert_eq!(wire.at(&place).about(Op::Get, id).await.task(wire)["id"], id);
        assert_eq!(wire.at(&place).to("/a2a/gate").about(Op::Get, id).await.task(wire)["id"], id);
        wire.at(&place).to("/a2a/chef").about(Op::Get, id).await.is_fault(wire, -32001);
    }
}

fn open(handle: &str) -> AgentCard {
    AgentCard { cors: true, ..card(handle) }
}

#[tokio::test]
async fn pages_of_other_origins_do_not_get_around_an_agent_by_way_of_the_hub() {
    let agent = || ScriptedAgent::saying(["hi"]);
    for (second, expected) in [(open("second"), Some("*")), (card("second"), None)] {
        let place = Setup::default().with(open("first"), agent()).with(second, agent()).start().await;
        let preflight = request("OPTIONS", "/a2a").header("origin", "https://page.example");
        assert_eq!(place.send(preflight, "").await.is(204).field("access-control-allow-origin"), expected);
        for wire in Wire::ALL {
            let answer = wire.at(&place).says("@second hi").await;
            assert_eq!(answer.field("access-control-allow-origin"), expected, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_talk_to_agents_that_allow_it() {
    let place = Setup::default()
        .with(card("shut"), ScriptedAgent::saying(["a"]))
        .with(open("open"), ScriptedAgent::saying(["b"]))
        .start()
        .await;
    for wire in Wire::ALL {
        let origin = |base| wire.at(&place).to(base).with("origin", "https://page.example").says("hi");
        assert_eq!(origin("/a2a/open").await.field("access-control-allow-origin"), Some("*"));
        for base in ["/a2a/shut", "/a2a"] {
            assert_eq!(origin(base).await.field("access-control-allow-origin"), None, "{base}");
        }
    }
    let preflight = request("OPTIONS", "/a2a/open").header("origin", "https://page.example");
    let answer = place.send(preflight, "").await.is(204);
    let allowed = answer.field("access-control-allow-headers").unwrap().to_ascii_lowercase();
    for name in ["content-type", "authorization", "a2a-version", "a2a-extensions", "last-event-id"] {
        assert!(allowed.contains(name), "{name}: {allowed}");
    }
    assert_eq!(answer.field("access-control-allow-credentials"), None);
    let fault = Wire::Rpc10.at(&place).to("/a2a/open").about(Op::Get, "none").await;
    assert_eq!(fault.field("access-control-allow-origin"), Some("*"), "faults can be read too");
}

#[tokio::test]
async fn words_that_stand_in_paths_are_no_handles() {
    for handle in ["v1", "tasks", "message", "card", "rest", "extendedagentcard"] {
        let place = Setup::default().with(card(handle), ScriptedAgent::saying(["hi"])).try_start().await;
        let Err(problems) = place else { panic!("{handle} was taken") };
        assert!(format!("{problems:?}").contains(handle), "{problems:?}");
    }
}

#[tokio::test]
async fn verbs_that_a_resource_does_not_take_are_405_and_say_which_it_takes() {
    let (place, ..) = two().await;
    let cases = [
        ("GET", "/a2a", "POST, OPTIONS"),
        ("HEAD", "/a2a", "POST, OPTIONS"),
        ("DELETE", "/a2a/gate", "POST, OPTIONS"),
        ("GET", "/a2a/message:send", "POST, OPTIONS"),
        ("PUT", "/a2a/v1/message:stream", "POST, OPTIONS"),
        ("POST", "/a2a/tasks", "GET, OPTIONS"),
        ("DELETE", "/a2a/gate/tasks/x", "GET, OPTIONS"),
        ("GET", "/a2a/tasks/x:cancel", "POST, OPTIONS"),
        ("PUT", "/a2a/v1/tasks/x:subscribe", "GET, POST, OPTIONS"),
        ("PATCH", "/a2a/tasks/x/pushNotificationConfigs", "GET, POST, OPTIONS"),
        ("POST", "/a2a/tasks/x/pushNotificationConfigs/y", "GET, DELETE, OPTIONS"),
        ("POST", "/a2a/extendedAgentCard", "GET, OPTIONS"),
    ];
    for (verb, path, allow) in cases {
        let answer = place.send(request(verb, path), "").await.is(405);
        assert_eq!(answer.field("allow"), Some(allow), "{verb} {path}");
        let options = place.send(request("OPTIONS", path), "").await.is(204);
        assert_eq!(options.field("allow"), Some(allow), "{path}");
    }
}

#[tokio::test]
async fn paths_that_mean_nothing_are_404_in_json() {
    let (place, ..) = two().await;
    for path in
        ["/a2a//", "/a2a/gate/nothing", "/a2a/tasks/a:b", "/a2a/v2/tasks", "/a2a/@gate", "/a2a/tenant/tasks/x/y"]
    {
        let answer = place.send(request("GET", path), "").await.is(404);
        assert_eq!(answer.json()["error"]["code"], 404, "{path}");
    }
}

#[tokio::test]
async fn the_extended_card_is_for_who_proves_who_they_are() {
    let (place, ..) = two().await;
    for wire in Wire::ALL {
        for base in ["/a2a", "/a2a/gate"] {
            let turned_away = wire.at(&place).to(base).call(Op::Extended, json!({})).await.is(401);
            assert!(turned_away.field("www-authenticate").is_some_and(|field| field.starts_with("Bearer")));
            let card = wire.at(&place).to(base).by("ann").call(Op::Extended, json!({})).await.result(wire);
            assert!(card["name"].is_string(), "{card}");
        }
    }
}
