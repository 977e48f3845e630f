//! This module is requests of MCP and their answers, whatever the revision.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::check::Shortfall;
use crate::evidence::Evidence;
use crate::web::exchange::{Draft, Exchange};
use crate::web::sse::events;
use crate::web::target::WebTarget;

/// A host that was found to speak MCP, and how requests to it are written in its revision.
pub(super) trait McpServer: Send + Sync {
    /// The host.
    fn host(&self) -> &WebTarget;

    /// What it says that it can do.
    fn capabilities(&self) -> &Value;

    /// The code of a resource that is not there.
    fn no_resource(&self) -> i64;

    /// A request.
    fn draft(&self, method: &str, params: Value) -> Draft;

    /// A request and its answer, a message of JSON-RPC.
    fn request<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, Result<(Exchange, Value), Shortfall>> {
        Box::pin(async move {
            let exchange = self.host().ask(self.draft(method, params)).await?;
            if matches!(exchange.status(), 401 | 402 | 429 | 503) {
                exchange.expect(&[200])?;
            }
            let answer = message(&exchange)?;
            Ok((exchange, answer))
        })
    }

    /// A request that has a result.
    fn result<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, Result<(Exchange, Value), Shortfall>> {
        Box::pin(async move {
            let (exchange, mut answer) = self.request(method, params).await?;
            match answer.get("result").is_some_and(Value::is_object) {
                true => Ok((exchange, answer["result"].take())),
                false => Err(exchange.wrong("there is no result")),
            }
        })
    }

    /// A page of what is listed, if the host says that it has a list of that.
    fn listed<'a>(
        &'a self,
        capability: &'a str,
        method: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(Exchange, Vec<Value>), Shortfall>> {
        Box::pin(async move {
            if self.capabilities().get(capability).is_none() {
                return Err(Shortfall::skip(format!("the host does not say that it has {capability}")));
            }
            let (exchange, result) = self.result(method, json!({})).await?;
            match result[name].as_array().cloned() {
                Some(all) => Ok((exchange, all)),
                None => Err(exchange.wrong(format!("the result has no list `{name}`"))),
            }
        })
    }
}

/// Who asks. MCP has every client say it.
pub(super) fn client() -> Value {
    json!({"name": "forecourt-conform", "version": env!("CARGO_PKG_VERSION")})
}

/// A POST to an endpoint.
pub(super) fn post(path: &str, body: &Value) -> Draft {
    Draft::json(path, body).field("Accept", ACCEPT)
}

/// What every client must take.
pub(super) const ACCEPT: &str = "application/json, text/event-stream";

/// The message of JSON-RPC that answers, out of JSON or of a stream.
pub(super) fn message(exchange: &Exchange) -> Result<Value, Shortfall> {
    if exchange.media_type() != "text/event-stream" {
        return exchange.json();
    }
    let all = events(&exchange.text());
    // The answer ends the stream; before it a server may send requests and notifications of its own, which have a
    // `method`.
    let messages = all.iter().rev().filter_map(|event| serde_json::from_str::<Value>(&event.data).ok());
    let answer = messages.filter(|message| message.get("id").is_some()).find(|message| message.get("method").is_none());
    answer.ok_or_else(|| exchange.wrong("the stream holds no answer"))
}

/// What of an answer shows that MCP is spoken: a message of JSON-RPC.
pub(super) fn heard(exchange: &Exchange) -> Option<Value> {
    message(exchange).ok().filter(|message| message["jsonrpc"] == "2.0")
}

/// An error of JSON-RPC or of the tool.
pub(super) fn is_error(answer: &Value) -> bool {
    answer["error"]["code"].is_i64() || answer["result"]["isError"] == true
}
