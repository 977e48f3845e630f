//! Calls that are answered without the SDK's machinery are answered as the SDK answers them.

use axum::body::Body;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::reply::Question;
use forecourt_core::{Ending, PolicyPart};
use forecourt_testkit::{Step, card};
use http::{HeaderValue, Request};
use serde_json::{Value, json};

use crate::support::{Answer, Place, Setup, ends, modern, says};

/// The same call, which the SDK answers: a weight says nothing new, and is no plain word of both forms.
fn for_the_sdk(mut request: Request<Body>) -> Request<Body> {
    let weighted = HeaderValue::from_static("application/json;q=1, text/event-stream");
    request.headers_mut().insert("accept", weighted);
    request
}

async fn both(place: &Place, params: Value, capabilities: Value) -> (Answer, Answer) {
    let call = || modern("/mcp", "tools/call", params.clone(), capabilities.clone());
    (place.send(call()).await, place.send(for_the_sdk(call())).await)
}

/// An answer without what differs from call to call.
fn comparable(answer: &Answer) -> Value {
    let mut message = answer.last().clone();
    message["result"]["structuredContent"]["context_id"].take();
    message["result"]["requestState"].take();
    let status = answer.status.as_u16();
    let field = |name| answer.field(name).to_owned();
    json!([status, field("content-type"), field("cache-control"), field("www-authenticate"), message])
}

fn refusing() -> Step {
    let kind = RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer")] };
    ends(Ending::Refused(Box::new(PolicyPart::new(kind, "Sign in."))))
}

#[tokio::test]
async fn a_call_is_answered_alike_either_way() {
    let question = Question { text: "Which one?".into(), questions: Vec::new() };
    let ended = |step: Step| vec![says("soup"), step];
    let setup = Setup::default()
        .playing("chef", ended(ends(Ending::Complete)))
        .0
        .playing("asker", ended(ends(Ending::Question(question))))
        .0
        .playing("guard", vec![refusing()])
        .0
        .playing("broken", ended(ends(Ending::failed("No gas."))))
        .0;
    let place = setup.start().await;
    let said = json!({"message": "what is there?"});
    for (params, capabilities) in [
        (json!({"name": "ask_chef", "arguments": said}), json!({})),
        (json!({"name": "ask_chef"}), json!({})),
        (json!({"name": "ask_nobody", "arguments": said}), json!({})),
        (json!({"name": "ask_broken", "arguments": said}), json!({})),
        (json!({"name": "ask_guard", "arguments": said}), json!({})),
        (json!({"name": "ask_asker", "arguments": said}), json!({})),
        (json!({"name": "ask_asker", "arguments": said}), json!({"elicitation": {}})),
        (json!({"name": "ask_chef", "arguments": said, "requestState": "made up"}), json!({"elicitation": {}})),
        (json!({"name": "ask_chef", "arguments": "soup"}), json!({})),
        (json!({"name": "ask_chef", "arguments": said}), json!("none")),
    ] {
        let (direct, sdk) = both(&place, params.clone(), capabilities).await;
        assert_eq!(comparable(&direct), comparable(&sdk), "{params}");
    }
}

#[tokio::test]
async fn headers_that_contradict_the_call_are_refused_either_way() {
    let place = Setup::default().with(card("chef"), forecourt_testkit::ScriptedAgent::saying(["soup"])).start().await;
    for (name, value) in
        [("mcp-name", "ask_echo"), ("mcp-method", "tools/list"), ("mcp-protocol-version", "2025-11-25")]
    {
        let params = json!({"name": "ask_chef", "arguments": {"message": "?"}});
        let mut request = modern("/mcp", "tools/call", params, json!({}));
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        assert_eq!(place.send(request).await.status, 400, "{name}");
    }
}
