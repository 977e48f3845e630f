//! Servers at which people sign in once: what lets a call through is used when the server hears of it, and not before.

use forecourt_core::StateToken;
use forecourt_testhost::{ServerBlueprint, consent_first};
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::scripted_server::server;
use crate::support::{Answer, Place, Setup, modern};

/// A host before a server whose tool wants a consent for each call.
async fn place(more: &str) -> Place {
    let servers =
        vec![ServerBlueprint { rules: vec![("lost", consent_first())], ..server("http://127.0.0.1:9/mcp", more) }];
    let lists = json!({"tools": [{"name": "lost", "inputSchema": {"type": "object"}}]});
    let setup = Setup { servers, server_lists: vec![("far", lists)], ..Setup::default() };
    let setup = Setup { issuer: true, signs_people_in: true, ..setup };
    setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await
}

/// A call by a client that can show pages.
async fn call(place: &Place, more: &Value) -> Answer {
    let mut params = json!({"name": "far_lost", "arguments": {}});
    params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let mut request = modern("/mcp", "tools/call", params, json!({"elicitation": {"url": {}}}));
    request.headers_mut().insert("authorization", place.token("ada").parse().unwrap());
    place.send(request).await
}

#[tokio::test]
async fn a_condition_that_was_met_stays_met_until_the_server_hears_of_the_call() {
    // One that is not there, and one at which nobody has signed in.
    for (more, then) in [("", "can't be reached"), ("[sign_in]\n", "/servers/far/sign-in")] {
        let place = place(more).await;
        let asked = call(&place, &json!({})).await;
        let result = &asked.last()["result"];
        let url = result["inputRequests"]["input"]["params"]["url"].as_str().unwrap_or_else(|| panic!("{result}"));
        let state = StateToken::parse(url.rsplit('/').next().unwrap()).unwrap();
        place.host().accept_consent(&state, &Default::default()).await.unwrap();
        let mut again =
            json!({"requestState": result["requestState"], "inputResponses": {"input": {"action": "accept"}}});
        for _ in 0..2 {
            let answer = call(&place, &again).await;
            let result = &answer.last()["result"];
            assert!(result.to_string().contains(then), "{result}");
            if result["requestState"].is_string() {
                again["requestState"] = result["requestState"].clone();
            }
        }
    }
}
