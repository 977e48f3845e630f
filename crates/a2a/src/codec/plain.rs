//! Reads a plain send straight into the model: one pass over the body, and no tree of it.
//!
//! Nearly all messages are plain: fields in camelCase that the protocol has, of the types that it gives
//! them, within their bounds. Whatever is not (an unknown field, snake_case, a wrong type, a push
//! configuration, another method) is declined here, not judged: [`super::params`] reads it with all its
//! leniency and names every problem. So what is taken here must mean there the same, which
//! `tests::plain` holds it to.

use forecourt_core::json::parse_below;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::limits::{
    CLIENT_ID_BYTES_MAX, EXTENSIONS_MAX, LABEL_BYTES_MAX, MODE_BYTES_MAX, MODES_MAX, PARTS_MAX, REFERENCES_MAX,
    URL_BYTES_MAX,
};
use super::{Dialect, Method};
use crate::model::{Configuration, Content, Message, Metadata, Part, Role, Send, Version};

/// A request of JSON-RPC that sends a plain message.
#[derive(Debug, PartialEq)]
pub(crate) struct PlainCall {
    /// What its answer is known by: a string, a number, or nothing.
    pub(crate) id: Value,
    /// [`Method::Send`] or [`Method::Stream`].
    pub(crate) method: Method,
    /// The version that calls it so.
    pub(crate) version: Version,
    /// What is sent.
    pub(crate) send: Box<Send>,
}

impl PlainCall {
    /// Reads a request; `None` when it is not plain.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let Envelope { jsonrpc, id, method, params } = serde_json::from_slice(body).ok()?;
        if jsonrpc != "2.0" || !matches!(id, Value::Null | Value::String(_) | Value::Number(_)) {
            return None;
        }
        let (version, method) = match method {
            "SendMessage" => (Version::V1_0, Method::Send),
            "SendStreamingMessage" => (Version::V1_0, Method::Stream),
            "message/send" => (Version::V0_3, Method::Send),
            "message/stream" => (Version::V0_3, Method::Stream),
            _ => return None,
        };
        let dialect = if version == Version::V1_0 { Dialect::Json10 } else { Dialect::Json03 };
        // The envelope is one level around the parameters.
        let send = params.into_send(dialect, 1)?;
        Some(Self { id, method, version, send: Box::new(send) })
    }
}

impl Dialect {
    /// Reads the parameters of [`Method::Send`] or [`Method::Stream`] as a body by themselves; `None` when
    /// they are not plain.
    pub(crate) fn read_plain_send(self, body: &[u8]) -> Option<Send> {
        serde_json::from_slice::<PlainSend<'_>>(body).ok()?.into_send(self, 0)
    }
}

impl Dialect {
    /// Reads an agent's answer to a send if it is one plain message; `None` when it is anything else, which
    /// [`Dialect::read_outcome`] reads. `is_framed`: by JSON-RPC.
    pub(crate) fn read_plain_answer(self, is_framed: bool, body: &[u8]) -> Option<Message> {
        if self == Self::Json03 {
            // Bare, and told from a task by its kind alone.
            let frame = serde_json::from_slice::<AnswerFrame<'_, PlainMessage<'_>>>(body).ok()?;
            let is_message = is_framed && frame.is_usual() && frame.result.kind == Some("message");
            return frame.result.into_message(self, 1, spoken_role).filter(|_| is_message);
        }
        if !is_framed {
            return serde_json::from_slice::<WrappedMessage<'_>>(body).ok()?.into_message(self, 0);
        }
        let frame = serde_json::from_slice::<AnswerFrame<'_, WrappedMessage<'_>>>(body).ok()?;
        if !frame.is_usual() {
            return None;
        }
        frame.result.into_message(self, 1)
    }
}

/// The role of a message in an answer.
fn spoken_role(dialect: Dialect, name: &str) -> Option<Role> {
    [Role::User, Role::Agent].into_iter().find(|role| dialect.role_name(*role) == name)
}

/// The role of a message that is sent, which is the user's.
fn sent_role(dialect: Dialect, name: &str) -> Option<Role> {
    match (dialect, name) {
        (Dialect::Json10 | Dialect::Proto03, "ROLE_USER") | (Dialect::Json03 | Dialect::Proto03, "user") => {
            Some(Role::User)
        }
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerFrame<'a, R> {
    jsonrpc: Option<&'a str>,
    #[serde(default)]
    id: Value,
    result: R,
}

impl<R> AnswerFrame<'_, R> {
    fn is_usual(&self) -> bool {
        self.jsonrpc.is_some() && matches!(self.id, Value::Null | Value::String(_) | Value::Number(_))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrappedMessage<'a> {
    #[serde(borrow)]
    message: PlainMessage<'a>,
}

impl WrappedMessage<'_> {
    /// `levels` are around the wrapper.
    fn into_message(self, dialect: Dialect, levels: usize) -> Option<Message> {
        let has_kinds = self.message.kind.is_some() || self.message.has_kinds();
        // Kinds are of 0.3, whose parts are read by other rules.
        if has_kinds {
            return None;
        }
        self.message.into_message(dialect, levels + 1, spoken_role)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(default)]
    id: Value,
    method: &'a str,
    #[serde(borrow)]
    params: PlainSend<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainSend<'a> {
    #[serde(borrow)]
    message: PlainMessage<'a>,
    configuration: Option<PlainConfiguration>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PlainMessage<'a> {
    kind: Option<&'a str>,
    message_id: String,
    role: &'a str,
    #[serde(borrow)]
    parts: Option<Vec<PlainPart<'a>>>,
    /// What the protocol buffers of 0.3 call the parts.
    #[serde(borrow)]
    content: Option<Vec<PlainPart<'a>>>,
    context_id: Option<String>,
    task_id: Option<String>,
    reference_task_ids: Option<Vec<String>>,
    extensions: Option<Vec<String>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PlainPart<'a> {
    kind: Option<&'a str>,
    text: Option<String>,
    url: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    filename: Option<String>,
    media_type: Option<String>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PlainConfiguration {
    accepted_output_modes: Option<Vec<String>>,
    history_length: Option<u32>,
    blocking: Option<bool>,
    return_immediately: Option<bool>,
}

impl PlainSend<'_> {
    /// `levels` are around the parameters.
    fn into_send(self, dialect: Dialect, levels: usize) -> Option<Send> {
        let levels = levels + 1;
        Some(Send {
            message: self.message.into_message(dialect, levels, sent_role)?,
            configuration: match self.configuration {
                Some(configuration) => configuration.into_configuration(dialect)?,
                None => Configuration::default(),
            },
            metadata: metadata(self.metadata, levels)?,
        })
    }
}

impl PlainMessage<'_> {
    fn has_kinds(&self) -> bool {
        self.parts.iter().chain(&self.content).flatten().any(|part| part.kind.is_some())
    }

    /// `levels` are around the message, whose role `role` reads.
    fn into_message(self, dialect: Dialect, levels: usize, role: fn(Dialect, &str) -> Option<Role>) -> Option<Message> {
        let levels = levels + 1;
        if dialect == Dialect::Json03 && self.kind.is_some_and(|kind| kind != "message") {
            return None;
        }
        let role = role(dialect, self.role)?;
        // Each dialect has one name for them; the other one is unknown to it.
        let parts = match dialect {
            Dialect::Proto03 if self.parts.is_none() => self.content?,
            Dialect::Json03 | Dialect::Json10 if self.content.is_none() => self.parts?,
            _ => return None,
        };
        if !(1..=PARTS_MAX).contains(&parts.len()) || !(1..=CLIENT_ID_BYTES_MAX).contains(&self.message_id.len()) {
            return None;
        }
        let parts: Option<Vec<_>> = parts.into_iter().map(|part| part.into_part(dialect, levels + 1)).collect();
        Some(Message {
            id: self.message_id,
            role,
            parts: parts?,
            context: text(self.context_id, CLIENT_ID_BYTES_MAX)?,
            task: text(self.task_id, CLIENT_ID_BYTES_MAX)?,
            references: texts(self.reference_task_ids, REFERENCES_MAX, CLIENT_ID_BYTES_MAX)?,
            extensions: texts(self.extensions, EXTENSIONS_MAX, URL_BYTES_MAX)?,
            metadata: metadata(self.metadata, levels)?,
        })
    }
}

impl PlainPart<'_> {
    fn into_part(self, dialect: Dialect, levels: usize) -> Option<Part> {
        let levels = levels + 1;
        let is_1_0 = dialect == Dialect::Json10;
        // 0.3 names and types nothing but files, which are read elsewhere.
        let is_named = self.url.is_some() || self.filename.is_some() || self.media_type.is_some();
        let (content, kind) = match (self.text, self.url, self.data) {
            _ if is_named && !is_1_0 => return None,
            (Some(text), None, None) => (Content::Text(text), "text"),
            (None, Some(url), None) if !url.is_empty() => (Content::Url(url), "file"),
            // The protocol buffers of 0.3 may have a message around it.
            (None, None, Some(data)) if dialect != Dialect::Proto03 => {
                (Content::Data(parse_below(levels, data.get().as_bytes()).ok()?), "data")
            }
            _ => return None,
        };
        let is_told_apart = match dialect {
            Dialect::Json03 => self.kind == Some(kind),
            Dialect::Proto03 => self.kind.is_none_or(|said| said == kind),
            Dialect::Json10 => true,
        };
        if !is_told_apart {
            return None;
        }
        Some(Part {
            content,
            filename: text(self.filename, LABEL_BYTES_MAX)?,
            media_type: text(self.media_type, MODE_BYTES_MAX)?,
            metadata: metadata(self.metadata, levels)?,
        })
    }
}

impl PlainConfiguration {
    fn into_configuration(self, dialect: Dialect) -> Option<Configuration> {
        let waits = match (dialect, self.blocking, self.return_immediately) {
            (Dialect::Json10, _, Some(immediately)) => !immediately,
            (Dialect::Json10 | Dialect::Json03, blocking, _) => blocking.unwrap_or(true),
            // There it is false without being written.
            (Dialect::Proto03, blocking, _) => blocking.unwrap_or(false),
        };
        Some(Configuration {
            accepted_output_modes: texts(self.accepted_output_modes, MODES_MAX, MODE_BYTES_MAX)?,
            history_length: match self.history_length {
                // The long way takes what 32 bits with a sign hold.
                Some(length) => Some(i32::try_from(length).is_ok().then_some(length)?),
                None => None,
            },
            blocking: waits,
            push: None,
        })
    }
}

/// A string of at most `max` bytes, empty being absent; the outer `None` declines it.
fn text(text: Option<String>, max: usize) -> Option<Option<String>> {
    match text {
        Some(text) if text.len() > max => None,
        text => Some(text.filter(|text| !text.is_empty())),
    }
}

fn texts(list: Option<Vec<String>>, items: usize, bytes: usize) -> Option<Vec<String>> {
    let list = list.unwrap_or_default();
    (list.len() <= items && list.iter().all(|text| text.len() <= bytes)).then_some(list)
}

/// Free members: the one thing in a plain message that becomes a tree, since agents are given one.
fn metadata(raw: Option<&RawValue>, levels: usize) -> Option<Metadata> {
    let Some(raw) = raw else { return Some(Metadata::new()) };
    // Nesting counts from the outside of the body, as on the long way: a part must not get a depth of its own.
    match parse_below(levels, raw.get().as_bytes()).ok()? {
        Value::Object(metadata) => Some(metadata),
        _ => None,
    }
}
