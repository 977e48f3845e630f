//! The form of an answer's body: bare, in an envelope, or YAML, as its caller asks. Base 2.2.

use bytes::Bytes;
// JSON in general; asked for by name, it means the envelope.
use forecourt_agtp_wire::media_types::{self, JSON};
use forecourt_contract::Tier;
use forecourt_contract::call::CallTrail;
use forecourt_core::yaml;
use forecourt_surface::negotiate;
use serde_json::{Value, json};

use crate::reply::{Body, Reply};

/// The forms of YAML.
const YAML: [&str; 2] = [media_types::YAML, "application/yaml"];

/// The answer in the form that is asked for most. What can't be had is passed over: the answer is then
/// as it would be anyway.
pub(super) fn of(reply: Reply, accept: Option<&str>, task_id: Option<String>, trail: &CallTrail) -> Reply {
    let (Some(accept), Some(method)) = (accept, &trail.method) else { return reply };
    let own = crate::to_wire::media_type(method.as_str());
    // `*/*` and `application/*` mean the first.
    let offers = [own.as_str(), "application/json", JSON, YAML[0], YAML[1]];
    let wanted = negotiate::accepted(std::iter::once(accept.as_bytes()), &offers).map(|at| offers[at]);
    // What is discovered is shaped as the specification has it. AGTP-API 5.8.
    let is_floor = trail.tier == Some(Tier::Native) && method.as_str() != "DISCOVER";
    // Bytes that were written already are read again only for a form that changes them.
    let is_looked_into = wanted.is_some_and(|wanted| wanted == JSON || YAML.contains(&wanted));
    let body = if is_looked_into { reply.body.read() } else { reply.body };
    match (wanted, body) {
        (Some(JSON), Body::Json(result)) if is_floor => {
            let envelope = json!({"status": reply.status.code, "task_id": task_id, "result": result});
            let bytes = serde_json::to_vec(&envelope).unwrap_or_default().into();
            Reply { body: Body::Made { media_type: JSON, bytes }, ..reply }
        }
        (Some(media_type), Body::Json(value)) if YAML.contains(&media_type) => {
            let body = written(&value).map(|bytes| Body::Made { media_type: static_name(media_type), bytes });
            Reply { body: body.unwrap_or(Body::Json(value)), ..reply }
        }
        (_, body) => Reply { body, ..reply },
    }
}

fn static_name(media_type: &str) -> &'static str {
    YAML.into_iter().find(|name| *name == media_type).unwrap_or(YAML[0])
}

fn written(value: &Value) -> Option<Bytes> {
    yaml::write(value).map(Bytes::from).ok()
}
