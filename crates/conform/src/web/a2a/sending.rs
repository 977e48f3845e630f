//! Checks of messages, and of the task that the one message begins which they share.

use serde_json::{Value, json};

use super::rpc::{Rpc, failed};
use super::version::{ItemKind, Version};
use crate::check::{Shortfall, Verdict};
use crate::document::Document;
use crate::evidence::Evidence;

/// The conversation that the message is of.
const CONTEXT: &str = "conform-context-1";

/// The answer to the shared message.
async fn sent<V: Version>(rpc: &Rpc<V>) -> Result<&Document, Shortfall> {
    rpc.effects()?;
    let send = || async {
        let params = json!({ "message": V::message("conform-message-1", "hello") });
        let (exchange, result) = rpc.result(V::METHODS.send, &params).await.ok()?;
        Some(exchange.document(result))
    };
    let why = || Shortfall::skip("a message got no answer; the check of sending says more");
    rpc.sent.get_or_init(send).await.as_ref().ok_or_else(why)
}

/// The task that the shared message began.
async fn task<V: Version>(rpc: &Rpc<V>) -> Result<&Value, Shortfall> {
    match V::unwrap(sent(rpc).await?) {
        Some((ItemKind::Task, task)) => Ok(task),
        _ => Err(Shortfall::skip("a message is answered with a message, and begins no task")),
    }
}

/// The same, if it is over.
async fn finished<V: Version>(rpc: &Rpc<V>) -> Result<&Value, Shortfall> {
    let task = task(rpc).await?;
    match task["status"]["state"].as_str().is_some_and(V::is_over) {
        true => Ok(task),
        false => Err(Shortfall::skip("the task that a message began is not over yet")),
    }
}

pub(super) async fn send<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.effects()?;
    let params = json!({ "message": V::message("conform-message-0", "hello") });
    let (exchange, result) = rpc.result(V::METHODS.send, &params).await?;
    match V::unwrap(&result) {
        Some((ItemKind::Task | ItemKind::Message, _)) => Ok(()),
        _ => Err(exchange.wrong("the result is neither a task nor a message")),
    }
}

pub(super) async fn answer<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let document = sent(rpc).await?;
    let has_parts = |holder: &Value| holder["parts"].as_array().is_some_and(|parts| !parts.is_empty());
    match V::unwrap(document) {
        Some((ItemKind::Message, message)) => document.holds(&[
            ("messageId is a text", message["messageId"].is_string()),
            ("the role is that of an agent", message["role"] == V::AGENT),
            ("there are parts", has_parts(message)),
        ]),
        Some((ItemKind::Task, task)) => {
            let artifacts = || task["artifacts"].as_array().into_iter().flatten();
            document.holds(&[
                ("id is a text", task["id"].as_str().is_some_and(|id| !id.is_empty())),
                ("contextId is a text", task["contextId"].as_str().is_some_and(|id| !id.is_empty())),
                ("status.state is one there is", task["status"]["state"].as_str().is_some_and(V::is_state)),
                ("each artifact has an artifactId", artifacts().all(|one| one["artifactId"].is_string())),
                ("each artifact has parts", artifacts().all(has_parts)),
            ])
        }
        _ => Err(Shortfall::skip("the answer is neither; the check of sending says so")),
    }
}

pub(super) async fn get<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let task = task(rpc).await?;
    let (exchange, again) = rpc.result(V::METHODS.get, &json!({"id": task["id"]})).await?;
    exchange.holds(&[
        ("the id is that of the task", again["id"] == task["id"]),
        ("the contextId is that of the task", again["contextId"] == task["contextId"]),
        ("status.state is one there is", again["status"]["state"].as_str().is_some_and(V::is_state)),
    ])
}

pub(super) async fn no_history<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let task = task(rpc).await?;
    let (exchange, again) = rpc.result(V::METHODS.get, &json!({"id": task["id"], "historyLength": 0})).await?;
    match again["history"].as_array().is_none_or(Vec::is_empty) {
        true => Ok(()),
        false => Err(exchange.wrong("there is a history with historyLength 0")),
    }
}

pub(super) async fn context<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.effects()?;
    let mut message = V::message("conform-message-3", "hello");
    message["contextId"] = json!(CONTEXT);
    let exchange = rpc.ask(rpc.call(V::METHODS.send, &json!({ "message": message }))).await?;
    exchange.expect(&[200])?;
    let body = exchange.json()?;
    // A host may leave the naming of contexts to itself, and then refuses.
    let Some((_, item)) = V::unwrap(&body["result"]).filter(|_| body.get("error").is_none()) else { return Ok(()) };
    match item["contextId"].as_str() {
        Some(CONTEXT) => Ok(()),
        // Only tasks must say which context they are of.
        None if item["messageId"].is_string() => Ok(()),
        _ => Err(exchange.wrong(format!("the contextId is {} where {CONTEXT} was sent", item["contextId"]))),
    }
}

pub(super) async fn to_unknown<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.effects()?;
    let mut message = V::message("conform-message-4", "hello");
    message["taskId"] = json!("conform-no-such-task");
    rpc.refused(V::METHODS.send, &json!({ "message": message }), &[-32001]).await
}

pub(super) async fn to_finished<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let task = finished(rpc).await?;
    let mut message = V::message("conform-message-5", "hello again");
    message["taskId"] = task["id"].clone();
    // 1.0 calls it an unsupported operation; 0.3 leaves the code open.
    let codes: &[i64] = if V::NUMBER == "1.0" { &[-32004] } else { &[-32004, -32602, -32600, -32001, -32002] };
    rpc.refused(V::METHODS.send, &json!({ "message": message }), codes).await
}

pub(super) async fn cancel_finished<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let task = finished(rpc).await?;
    failed(&rpc.ask(rpc.call(V::METHODS.cancel, &json!({"id": task["id"]}))).await?, &[-32002])
}

pub(super) async fn listed<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let task = task(rpc).await?;
    let (exchange, result) = rpc.result("ListTasks", &json!({"contextId": task["contextId"]})).await?;
    match result["tasks"].as_array().is_some_and(|all| all.iter().any(|one| one["id"] == task["id"])) {
        true => Ok(()),
        false => Err(exchange.wrong(format!("the task {} is not in it", task["id"]))),
    }
}
