//! What records say of contracts. AGTP-API 10.1.4, 10.1.6; base 8.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;

fn record(answer: &Response) -> Value {
    let jws = answer.field("Attribution-Record").expect("a record");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

const FIELDS: [&str; 3] = ["synthesis_id", "contract_hash", "negotiation_origin"];

#[tokio::test]
async fn s10_1_6_records_of_calls_under_a_contract_say_which_and_no_others_do() {
    let hotel = Hotel::open().await;
    let offer = hotel.reserve(&[ALLOW]).await;
    let said = body(&offer);
    let id = said["synthesis_id"].as_str().unwrap();
    let execute = json!({"action": "RESERVE /weekend", "parameters": stay()});
    for answer in [
        hotel.reserve(&[presents(id)]).await,
        hotel.reserve(&[]).await,
        hotel.say(Sent { by: "chef", line: "RESERVE /weekend", fields: &[], body: json!({}) }).await,
        hotel.say(Sent { by: "chef", line: "EXECUTE /", fields: &[], body: execute }).await,
    ] {
        let told = record(&answer);
        assert_eq!((&told["synthesis_id"], &told["contract_hash"]), (&json!(id), &said["contract_hash"]), "{told}");
        assert_eq!(told["negotiation_origin"], "rcns-gate");
    }
    let plain = Sent { by: "chef", line: "BOOK /rooms/7", fields: &[], body: json!({"guest": "Ada"}) };
    for answer in [offer, hotel.say(plain).await, hotel.server.ask("DISCOVER", "").await] {
        let told = record(&answer);
        assert!(FIELDS.iter().all(|name| told.get(*name).is_none()), "{told}");
    }
}

#[tokio::test]
async fn s10_1_4_what_happens_to_contracts_is_in_the_lifecycle_of_their_agent() {
    let hotel = Hotel::open().await;
    let (_, proposed) = hotel.floor("PROPOSE", json!({"endpoint": weekend(), "persistent": true})).await;
    let given_back = proposed["synthesis_id"].clone();
    hotel.floor("SUSPEND", json!({"synthesis_id": given_back, "reason": "done"})).await;
    let accepted = hotel.offered().await;
    hotel.reserve(&[presents(&accepted)]).await;
    let revoke = json!({"target": "contract", "synthesis_id": accepted, "reason": "abuse", "actor": "ops"});
    assert_eq!(hotel.floor_by("gate", OPERATOR, "REVOKE", revoke).await.0, 200);
    let chef = hotel.server.id("chef");
    let (_, told) = hotel.floor("INSPECT", json!({"target": "lifecycle", "agent_id": chef})).await;
    let mut events: Vec<Value> =
        told["events"].as_array().unwrap().iter().map(|event| event["payload"].clone()).collect();
    events.reverse();
    let said: Vec<(&str, &str, &Value)> = events
        .iter()
        .map(|e| (e["event_type"].as_str().unwrap(), e["actor"].as_str().unwrap(), &e["synthesis_id"]))
        .collect();
    let accepted = json!(accepted);
    let expected = [
        ("rcns_propose_accepted", chef.as_str(), &given_back),
        ("rcns_release", chef.as_str(), &given_back),
        ("rcns_propose_accepted", chef.as_str(), &accepted),
        ("rcns_revoke", "ops", &accepted),
    ];
    assert_eq!(said, expected, "{events:?}");
    assert_eq!((&events[1]["reason"], &events[3]["reason"]), (&json!("done"), &json!("abuse")));
}
