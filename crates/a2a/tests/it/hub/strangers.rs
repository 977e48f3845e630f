//! A stranger who guesses the name that an anonymous caller made up for a conversation. Design 34: that name
//! counts together with the network it came from, and what somebody proves who they are is theirs alone.

use forecourt_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::hub::answer::artifact_text;
use crate::hub::support::{Place, Setup, hanging, remembering};
use crate::hub::wire::{Op, Wire};

const CONTEXT: &str = "trip-to-rome";
const OWN: &str = "192.0.2.1";
/// Somebody else, and somebody else over IPv6.
const STRANGERS: [&str; 2] = ["198.51.100.7", "2001:db8:1:3::1"];

async fn says(place: &Place, wire: Wire, from: &str, words: &str) -> Value {
    wire.at(place).from(from).says_with(words, json!({"contextId": CONTEXT})).await.task(wire)
}

async fn listed(place: &Place, from: &str) -> Vec<Value> {
    let params = json!({"contextId": CONTEXT});
    let page = Wire::Rpc10.at(place).from(from).call(Op::List, params).await.result(Wire::Rpc10);
    page["tasks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_guessed_name_leads_to_no_history() {
    for wire in Wire::ALL {
        let agent = ScriptedAgent::saying(["ok"]);
        let place = Setup::default().with(remembering("bot"), agent.clone()).start().await;
        says(&place, wire, OWN, "my secret").await;
        for stranger in STRANGERS {
            let task = says(&place, wire, stranger, "what did I say?").await;
            assert_eq!(task["contextId"], CONTEXT, "the name is kept on the wire");
            assert!(agent.heard().last().unwrap().history.is_empty(), "{wire:?} {stranger}");
        }
        says(&place, wire, OWN, "go on").await;
        let said: Vec<_> = agent
            .heard()
            .last()
            .unwrap()
            .history
            .iter()
            .filter_map(|turn| turn.parts[0].as_text().map(str::to_owned))
            .collect();
        assert_eq!(said[0], "my secret", "{wire:?} {said:?}");
        assert!(!said.contains(&"what did I say?".to_owned()), "{said:?}");
    }
}

#[tokio::test]
async fn a_guessed_name_lists_no_tasks() {
    let place = Setup::default().with(remembering("bot"), hanging()).start().await;
    let wire = Wire::Rpc10;
    let params = json!({"message": crate::hub::wire::merged(wire.said("hi"), json!({"contextId": CONTEXT})),
        "configuration": wire.at_once()});
    let task = wire.at(&place).from(OWN).call(Op::Send, params).await.task(wire);
    assert_eq!(listed(&place, OWN).await[0]["id"], task["id"]);
    for stranger in STRANGERS {
        assert_eq!(listed(&place, stranger).await, Vec::<Value>::new(), "{stranger}");
    }
}

#[tokio::test]
async fn a_guessed_name_leads_to_no_agent() {
    for wire in Wire::ALL {
        let (chef, gate) = (ScriptedAgent::saying(["chef"]), ScriptedAgent::saying(["gate"]));
        let place = Setup::default().with(remembering("chef"), chef).with(remembering("gate"), gate).start().await;
        assert_eq!(artifact_text(&says(&place, wire, OWN, "@gate hi").await), "gate");
        for stranger in STRANGERS {
            assert_eq!(artifact_text(&says(&place, wire, stranger, "hi").await), "chef", "{wire:?} {stranger}");
        }
        assert_eq!(artifact_text(&says(&place, wire, OWN, "and then?").await), "gate", "{wire:?}");
    }
}

#[tokio::test]
async fn a_network_of_ipv6_is_one_caller() {
    let agent = ScriptedAgent::saying(["ok"]);
    let place = Setup::default().with(remembering("bot"), agent.clone()).start().await;
    says(&place, Wire::Rpc10, "2001:db8:1:2::1", "first").await;
    says(&place, Wire::Rpc10, "2001:db8:1:2:ffff::9", "second").await;
    assert_eq!(agent.heard().last().unwrap().history.len(), 2);
}
