//! Checks of requests that change nothing: what every host must refuse, and lists.

use serde_json::{Value, json};

use super::rpc::{Rpc, failed};
use super::version::Version;
use crate::check::{Shortfall, Verdict};
use crate::evidence::Evidence;

/// A task that nobody has.
const NO_TASK: &str = "conform-no-such-task";

fn nothing() -> Value {
    json!({ "id": NO_TASK })
}

pub(super) async fn no_json<V: Version>(rpc: &Rpc<V>) -> Verdict {
    failed(&rpc.ask(rpc.post("{\"jsonrpc\": ")).await?, &[-32700])
}

pub(super) async fn no_method<V: Version>(rpc: &Rpc<V>) -> Verdict {
    failed(&rpc.ask(rpc.draft(&json!({"jsonrpc": "2.0", "id": 1}))).await?, &[-32600])
}

pub(super) async fn other_rpc<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let body = json!({"jsonrpc": "1.0", "id": 1, "method": V::METHODS.get, "params": nothing()});
    failed(&rpc.ask(rpc.draft(&body)).await?, &[-32600])
}

pub(super) async fn unknown_method<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.refused("ConformNoSuchMethod", &json!({}), &[-32601]).await
}

pub(super) async fn no_parts<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let mut message = V::message("conform-message-1", "hello");
    message["parts"] = json!([]);
    rpc.refused(V::METHODS.send, &json!({ "message": message }), &[-32602]).await
}

pub(super) async fn no_message<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.refused(V::METHODS.send, &json!({}), &[-32602]).await
}

pub(super) async fn no_message_id<V: Version>(rpc: &Rpc<V>) -> Verdict {
    // A careless host might answer it.
    rpc.effects()?;
    let mut message = V::message("", "hello");
    message.as_object_mut().map(|fields| fields.remove("messageId"));
    rpc.refused(V::METHODS.send, &json!({ "message": message }), &[-32602]).await
}

pub(super) async fn text_params<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.refused(V::METHODS.get, &json!("conform"), &[-32602, -32600]).await
}

pub(super) async fn unknown_task<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.refused(V::METHODS.get, &nothing(), &[-32001]).await
}

pub(super) async fn cancel_unknown<V: Version>(rpc: &Rpc<V>) -> Verdict {
    rpc.refused(V::METHODS.cancel, &nothing(), &[-32001]).await
}

pub(super) async fn subscribe_unknown<V: Version>(rpc: &Rpc<V>) -> Verdict {
    if !rpc.can("streaming") {
        return Err(Shortfall::skip("the card says that the host does not stream"));
    }
    let draft = rpc.call(V::METHODS.subscribe, &nothing()).field("Accept", "text/event-stream");
    let exchange = rpc.ask(draft).await?;
    match exchange.first_event()? {
        // A host may have begun its stream before it looks.
        Some(first) if first["error"]["code"] == -32001 => Ok(()),
        Some(_) => Err(exchange.wrong("a stream begins without the error -32001")),
        None => failed(&exchange, &[-32001]),
    }
}

pub(super) async fn list<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let (exchange, result) = rpc.result("ListTasks", &json!({"pageSize": 1})).await?;
    exchange.holds(&[
        ("tasks is a list of at most one", result["tasks"].as_array().is_some_and(|all| all.len() <= 1)),
        ("nextPageToken is a text", result["nextPageToken"].is_string()),
        ("pageSize is a number", result["pageSize"].is_u64()),
        ("totalSize is a number", result["totalSize"].is_u64()),
    ])
}

pub(super) async fn list_sizes<V: Version>(rpc: &Rpc<V>) -> Verdict {
    for size in [101, -1] {
        rpc.refused("ListTasks", &json!({ "pageSize": size }), &[-32602]).await?;
    }
    Ok(())
}

pub(super) async fn no_push<V: Version>(rpc: &Rpc<V>) -> Verdict {
    if rpc.can("pushNotifications") {
        return Err(Shortfall::skip("the card says that the host has push notifications"));
    }
    rpc.refused(V::METHODS.set_webhook, &V::webhook(NO_TASK), &[-32003]).await
}

pub(super) async fn no_stream<V: Version>(rpc: &Rpc<V>) -> Verdict {
    if rpc.can("streaming") {
        return Err(Shortfall::skip("the card says that the host streams"));
    }
    rpc.effects()?;
    let message = V::message("conform-message-2", "hello");
    rpc.refused(V::METHODS.stream, &json!({ "message": message }), V::UNSUPPORTED[0]).await
}

pub(super) async fn no_extended_card<V: Version>(rpc: &Rpc<V>) -> Verdict {
    if rpc.can("extendedAgentCard") || rpc.card["supportsAuthenticatedExtendedCard"] == true {
        return Err(Shortfall::skip("the card says that there is an extended card"));
    }
    rpc.refused(V::METHODS.extended_card, &json!({}), V::UNSUPPORTED[1]).await
}

pub(super) async fn unknown_version<V: Version>(rpc: &Rpc<V>) -> Verdict {
    // By a method that changes nothing, should a careless host answer it.
    failed(&rpc.ask(rpc.call(V::METHODS.get, &nothing()).field("A2A-Version", "99.0")).await?, &[-32009])
}

pub(super) async fn id_echoed<V: Version>(rpc: &Rpc<V>) -> Verdict {
    // Both kinds that JSON-RPC has: a host could turn one into the other.
    for id in [json!(7), json!("conform-seven")] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": V::METHODS.get, "params": nothing()});
        let exchange = rpc.ask(rpc.draft(&body)).await?.allowed()?;
        if exchange.json()?["id"] != id {
            return Err(exchange.wrong(format!("the id {id} comes back as another")));
        }
    }
    Ok(())
}

pub(super) async fn error_shape<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let exchange = rpc.ask(rpc.call(V::METHODS.get, &nothing())).await?.allowed()?;
    let body = exchange.json()?;
    exchange.holds(&[
        ("jsonrpc is 2.0", body["jsonrpc"] == "2.0"),
        ("error.code is an integer", body["error"]["code"].is_i64()),
        ("error.message is a text", body["error"]["message"].is_string()),
        ("there is no result beside the error", body.get("result").is_none()),
    ])
}

pub(super) async fn over_http<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let exchange = rpc.ask(rpc.call(V::METHODS.get, &nothing())).await?.allowed()?;
    exchange.expect(&[200])?;
    match exchange.media_type() {
        "application/json" => Ok(()),
        _ => Err(exchange.wrong("it is not application/json")),
    }
}

pub(super) async fn error_info<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let exchange = rpc.ask(rpc.call(V::METHODS.get, &nothing())).await?.allowed()?;
    let body = exchange.json()?;
    let is_info = |detail: &Value| {
        let is_type = detail["@type"].as_str().is_some_and(|name| name.ends_with("google.rpc.ErrorInfo"));
        is_type && detail["reason"] == "TASK_NOT_FOUND" && detail["domain"] == "a2a-protocol.org"
    };
    match body["error"]["data"].as_array().is_some_and(|all| all.iter().any(is_info)) {
        true => Ok(()),
        false => {
            Err(exchange.wrong("error.data has no ErrorInfo with reason TASK_NOT_FOUND and domain a2a-protocol.org"))
        }
    }
}
