//! Work that is handed to an agent with a language model: what was granted holds for the endpoints that the
//! model calls.

use serde_json::{Value, json};

use crate::endpoints::{guest, hotel};
use crate::identity::{believing, token_granting};
use crate::receiver::Receiver;
use crate::support::DOMAIN;

/// What a model says that books a room, and then is done.
fn booking() -> Receiver {
    let call = json!({"name": "book_rooms_room_id", "arguments": "{\"room_id\": 7}"});
    let calls = json!([{"id": "c1", "type": "function", "function": call}]);
    let says = |message: Value, reason| json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]});
    Receiver::answering(vec![
        says(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls"),
        says(json!({"role": "assistant", "content": "That is all."}), "stop"),
    ])
}

/// What the model hears of its booking in a task for which this was granted.
fn heard(granted: &str) -> String {
    let model = booking();
    let clerk = format!(
        "handle = \"clerk\"\nname = \"Clerk\"\n[backend]\nkind = \"model\"\nbase_url = \"{}\"\nmodel = \"m\"\n\
         stream = false\nsiblings = false\nendpoints = [\"BOOK /rooms/{{room_id}}\"]\n",
        model.webhook_url()
    );
    let deployment = hotel().and("agents/clerk.toml", &clerk);
    let top = format!("{}\n{}", deployment.read("forecourt.toml"), believing());
    let served = deployment.and("forecourt.toml", &top).serve();
    let echo = guest(&served);
    let token = format!("Authorization: Bearer {}", token_granting(&echo, "booking:*"));
    let task = json!({
        "target_agent_id": "clerk", "task": "Book room 7.", "authority_scope": [granted], "delegation_token": "d-1",
    });
    let uri = format!("agtp://{DOMAIN}");
    let words = ["DELEGATE", &uri, "--agent-id", &echo, "-H", &token, "-d", &task.to_string()];
    let answer = served.deployment.run("agtp", words).json();
    assert_eq!(answer["result"]["content"], "That is all.", "{answer}");
    assert_eq!(answer["scope_granted"], json!([granted]));
    model.post();
    let told = model.post().json();
    told["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn base_3_1_a_model_calls_no_endpoint_beyond_what_was_granted() {
    let refused = heard("booking:suite");
    assert!(refused.contains("booking:room") && !refused.contains("r-7"), "{refused}");
    let booked = heard("booking:room");
    assert!(booked.contains("r-7"), "{booked}");
}
