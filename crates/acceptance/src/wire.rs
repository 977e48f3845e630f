//! One conversation over one protocol, as a stranger has it.

mod a2a;
mod mcp;
mod nlweb;
mod rest;

use std::fmt;

use forecourt_egress::{Egress, UpstreamRequest};
use futures::future::BoxFuture;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Answer, Ending};

/// Levels of an answer at which a refusal is looked for.
const REFUSAL_DEPTH_MAX: usize = 8;

/// A protocol that tests are run over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Mentionable REST.
    Rest,
    /// A2A 1.0, JSON-RPC.
    A2a,
    /// MCP 2026-07-28: the tool that asks the agent.
    Mcp,
    /// NLWeb 0.55.
    Nlweb,
}

impl Wire {
    const ALL: [Self; 4] = [Self::Rest, Self::A2a, Self::Mcp, Self::Nlweb];

    /// Reads the name of a protocol.
    ///
    /// # Errors
    /// Which there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|wire| wire.name() == name);
        found.ok_or_else(|| {
            let all = Self::ALL.map(Self::name).join(", ");
            match name {
                // Agents are asked there by methods and not by messages.
                "agtp" => format!("tests are run over {all}; `forecourt agtp` and `forecourt conform` speak AGTP"),
                _ => format!("there is no protocol `{name}`: tests are run over {all}"),
            }
        })
    }

    /// Its name, as `over` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::A2a => "a2a",
            Self::Mcp => "mcp",
            Self::Nlweb => "nlweb",
        }
    }

    /// Whether callers are told which tools an agent calls.
    pub fn tells_of_calls(self) -> bool {
        matches!(self, Self::Rest | Self::A2a)
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whom a conversation is with, and who has it.
#[derive(Clone)]
pub struct Peer {
    /// The way there.
    pub egress: Egress,
    /// The public base of the deployment, such as `https://demo.localhost:40123`.
    pub base: String,
    /// The handle of the agent.
    pub agent: String,
    /// What proves who asks.
    pub bearer: Option<String>,
    /// The language to answer in.
    pub language: Option<String>,
}

/// A conversation under way.
pub struct Conversation {
    wire: Wire,
    peer: Peer,
    /// What the next turn goes on with, once the first one was answered.
    session: Option<String>,
    /// The task that asked back.
    task: Option<String>,
    turns: usize,
}

/// The answer to a request over HTTP, with its body as JSON.
struct HttpReply {
    status: u16,
    body: Value,
}

impl Conversation {
    /// Nothing was said yet.
    pub fn new(wire: Wire, peer: Peer) -> Self {
        Self { wire, peer, session: None, task: None, turns: 0 }
    }

    /// Says something, and waits for the answer. Without a bound in time, which is for whoever calls.
    ///
    /// # Errors
    /// A sentence: there is no answer, or none of this protocol.
    pub fn say<'a>(&'a mut self, words: &'a str) -> BoxFuture<'a, Result<Answer, String>> {
        Box::pin(async move {
            self.turns += 1;
            match self.wire {
                Wire::Rest => rest::say(self, words).await,
                Wire::A2a => a2a::say(self, words).await,
                Wire::Mcp => mcp::say(self, words).await,
                Wire::Nlweb => nlweb::say(self, words).await,
            }
        })
    }

    /// Posts to a path of the deployment, and reads what comes as JSON, also out of a stream of one message.
    async fn post(
        &self,
        path: &str,
        media_type: &str,
        fields: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<HttpReply, String> {
        let unsendable = |_| "a header of the request can't be sent".to_owned();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(media_type).map_err(unsendable)?);
        for (name, value) in fields {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).map_err(unsendable)?);
        }
        if let Some(language) = &self.peer.language {
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_str(language).map_err(unsendable)?);
        }
        if let Some(bearer) = &self.peer.bearer {
            let mut value = HeaderValue::from_str(&format!("Bearer {bearer}")).map_err(unsendable)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let request = UpstreamRequest { headers, ..UpstreamRequest::post(format!("{}{path}", self.peer.base), body) };
        let lost = |error: forecourt_egress::EgressError| format!("no answer came: {}", error.log_reason());
        let reply = self.peer.egress.send_upstream(request).await.map_err(lost)?;
        let (status, headers) = (reply.status.as_u16(), reply.headers);
        let bytes = reply.body.collect().await.map_err(lost)?;
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let body = match media_type.starts_with("text/event-stream") {
            true => last_message(&String::from_utf8_lossy(&bytes)),
            false => serde_json::from_slice(&bytes).ok(),
        };
        let body =
            body.ok_or_else(|| format!("the answer has the status {status} and is no JSON but {media_type:?}"))?;
        Ok(HttpReply { status, body })
    }

    /// [`Conversation::post`] of JSON.
    async fn post_json(&self, path: &str, fields: &[(&'static str, &str)], body: &Value) -> Result<HttpReply, String> {
        let accept = ("accept", "application/json, text/event-stream");
        let fields: Vec<_> = std::iter::once(accept).chain(fields.iter().copied()).collect();
        self.post(path, "application/json", &fields, body.to_string().into_bytes()).await
    }
}

/// The message in the last event of a stream that has one.
fn last_message(text: &str) -> Option<Value> {
    let data = text.lines().rev().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).next()
}

/// The refusal somewhere in an answer, by where the extensions for refusals put it.
fn refusal_in(value: &Value, depth: usize) -> Option<Ending> {
    if depth > REFUSAL_DEPTH_MAX {
        return None;
    }
    match value {
        Value::Object(members) => {
            let named = ["policy", "part", "refusal"].iter().filter_map(|name| members.get(*name));
            let read = |part: &Value| {
                let (kind, message) = (part["kind"].as_str()?.to_owned(), part["message"].as_str()?.to_owned());
                Some(Ending::Refusal { kind, message })
            };
            let own = named.filter_map(read).next();
            own.or_else(|| members.values().find_map(|member| refusal_in(member, depth + 1)))
        }
        Value::Array(items) => items.iter().find_map(|item| refusal_in(item, depth + 1)),
        _ => None,
    }
}

/// A text among the members of an object; empty where there is none.
fn text_of(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// Adds a piece of data: an item, or questions, of which the words are given.
fn take_data(data: &Value, items: &mut Vec<Value>) -> Option<String> {
    match data["questions"].as_array() {
        Some(questions) => {
            let words = questions.iter().map(|question| {
                let options = question["options"].as_array().into_iter().flatten();
                let options: Vec<String> =
                    options.map(|option| option.as_str().map_or_else(|| option.to_string(), str::to_owned)).collect();
                format!("{} {}", text_of(question, "text"), options.join(", ")).trim().to_owned()
            });
            Some(words.collect::<Vec<_>>().join("\n"))
        }
        None => {
            if data.is_object() {
                items.push(data.clone());
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_is_found_where_each_protocol_has_it() {
        let part = json!({"kind": "forbidden", "message": "No."});
        let refusal = Some(Ending::Refusal { kind: "forbidden".to_owned(), message: "No.".to_owned() });
        for found in [
            json!({"policy": part}),
            json!({"status": {"message": {"metadata": {"mentionable": {"policy": {"part": part, "v": "v0.1"}}}}}}),
            json!({"structuredContent": {"refusal": part}}),
        ] {
            assert_eq!(refusal_in(&found, 0), refusal, "{found}");
        }
        assert_eq!(refusal_in(&json!({"parts": [{"kind": "text", "message": "m"}], "policy": 3}), 0), None);
    }

    #[test]
    fn the_last_message_of_a_stream_is_the_answer() {
        let stream = ": hi\n\ndata: {\"method\":\"x\"}\n\nevent: message\ndata: {\"id\":1}\n\n";
        assert_eq!(last_message(stream), Some(json!({"id": 1})));
        assert_eq!(last_message("data: [DONE"), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_read(text in "\\PC{0,200}") {
            let _ = last_message(&text);
            let value = serde_json::from_str(&text).unwrap_or(json!({"parts": [text], "task": {"artifacts": [3]}}));
            let _ = (refusal_in(&value, 0), rest::read(200, &value), a2a::read(&value), mcp::read(&value), nlweb::read(&value));
        }
    }
}
