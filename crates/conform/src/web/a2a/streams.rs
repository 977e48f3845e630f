//! Checks of messages whose answer is streamed.

use serde_json::{Value, json};

use super::rpc::{ID, Rpc};
use super::version::{ItemKind, Version};
use crate::check::{Shortfall, Verdict};
use crate::evidence::Evidence;
use crate::web::exchange::Exchange;
use crate::web::sse::events;

/// The items of a streamed answer: whole responses of JSON-RPC.
async fn streamed<V: Version>(rpc: &Rpc<V>) -> Result<(Exchange, Vec<Value>), Shortfall> {
    rpc.effects()?;
    if !rpc.can("streaming") {
        return Err(Shortfall::skip("the card says that the host does not stream"));
    }
    let params = json!({ "message": V::message("conform-message-6", "hello") });
    let draft = rpc.call(V::METHODS.stream, &params).field("Accept", "text/event-stream");
    let exchange = rpc.ask(draft).await?;
    exchange.expect(&[200])?;
    if exchange.media_type() != "text/event-stream" {
        return Err(exchange.wrong("it is not text/event-stream"));
    }
    let items = events(&exchange.text());
    let items = items.into_iter().map(|event| serde_json::from_str(&event.data).unwrap_or_default()).collect();
    Ok((exchange, items))
}

pub(super) async fn stream<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let (exchange, items) = streamed(rpc).await?;
    match items.first().and_then(|first| V::unwrap(&first["result"])) {
        Some((ItemKind::Task | ItemKind::Message, _)) => Ok(()),
        _ => Err(exchange.wrong("the first item is neither a task nor a message")),
    }
}

pub(super) async fn stream_items<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let (exchange, items) = streamed(rpc).await?;
    let is_fine = |item: &&Value| {
        let is_one = V::unwrap(&item["result"]).is_some() || item["error"]["code"].is_i64();
        item["jsonrpc"] == "2.0" && item["id"] == ID && is_one
    };
    match items.iter().find(|item| !is_fine(item)) {
        Some(item) => Err(exchange.wrong(format!("this is none: {item}"))),
        None => Ok(()),
    }
}

pub(super) async fn stream_end<V: Version>(rpc: &Rpc<V>) -> Verdict {
    let (exchange, items) = streamed(rpc).await?;
    let last = items.last().and_then(|last| V::unwrap(&last["result"]));
    let waits = |state: &str| state.to_ascii_lowercase().replace('_', "-").ends_with("-required");
    match last {
        Some((ItemKind::Message, _)) => Ok(()),
        Some((ItemKind::Status, status)) if V::NUMBER == "0.3" && status["final"] == true => Ok(()),
        Some((ItemKind::Status | ItemKind::Task, item)) if V::NUMBER != "0.3" => {
            match item["status"]["state"].as_str().is_some_and(|state| V::is_over(state) || waits(state)) {
                true => Ok(()),
                false => Err(exchange.wrong("the task is neither over nor waiting when the stream ends")),
            }
        }
        _ => Err(exchange.wrong("the last item is neither a message nor the last word of a task")),
    }
}
