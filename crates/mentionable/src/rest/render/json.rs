//! Typed parts for other agents. REST 4.4.

use bytes::Bytes;
use forecourt_core::{Address, Part, PolicyPart};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Frame;
use crate::rest::errors::Failure;
use crate::rest::payment;
use crate::rest::refusal::VERSION;

#[derive(Serialize)]
struct Answer<'a> {
    v: &'static str,
    agent: &'a Address,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    v: &'static str,
    agent: &'a Address,
    policy: &'a PolicyPart,
    /// What x402 of version 1 looks for at the top. Companion sheet 9.4.
    #[serde(flatten)]
    x402: Map<String, Value>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

pub(super) fn answer(frame: &Frame<'_>, parts: Vec<Part>) -> Bytes {
    written(&Answer { v: VERSION, agent: &frame.door.card.address, session: frame.session, parts })
}

pub(super) fn refusal(frame: &Frame<'_>, part: &PolicyPart) -> Bytes {
    written(&Refusal { v: VERSION, agent: &frame.door.card.address, policy: part, x402: payment::body_members(part) })
}

pub(super) fn failure(failure: &Failure) -> Bytes {
    written(&ErrorBody { error: &failure.message, code: failure.code, hint: failure.hint.as_deref() })
}

/// Types of ours with text keys: writing them can't fail.
fn written(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}
