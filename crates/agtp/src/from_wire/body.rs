//! Bodies: JSON or YAML, the parameters themselves or an envelope around them. Base 2.2.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Call;
use forecourt_core::yaml::YamlBounds;
use forecourt_core::{json, yaml};
use serde_json::{Map, Value};

use crate::limits::{NAME_CHARS_MAX, YAML_NODES_MAX, YAML_REPEATED_MAX};
use crate::reply::Problem;

/// The members of an envelope. No other may stand beside them.
const ENVELOPE: [&str; 5] = ["method", "task_id", "session_id", "parameters", "context"];

/// How much of a body in YAML is taken.
const YAML: YamlBounds = YamlBounds { nodes_max: YAML_NODES_MAX, repeated_max: YAML_REPEATED_MAX };

/// Reads a body; an empty one has no parameters.
///
/// # Errors
/// 400 `invalid-body`: what is neither JSON nor YAML, or no object.
pub(crate) fn read(bytes: &[u8], media_type: Option<&str>) -> Result<Map<String, Value>, Problem> {
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    let value = match media_type.is_some_and(is_yaml) {
        true => yaml::parse(bytes, YAML),
        false => json::parse(bytes),
    };
    match value {
        Ok(Value::Object(parameters)) => Ok(parameters),
        Ok(_) => Err(invalid("a body must be an object".to_owned())),
        Err(why) => Err(invalid(format!("the body can't be read: {why}"))),
    }
}

/// Whether a media type is one of YAML.
pub(crate) fn is_yaml(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.ends_with("+yaml")
        || matches!(essence.as_str(), "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml")
}

fn invalid(detail: String) -> Problem {
    Problem::new(Status::BAD_REQUEST, "invalid-body", detail.as_str()).with("detail", detail)
}

/// Takes a call out of the envelope that it may have come in. Where the endpoint itself has a property `parameters`
/// (`is_declared`) there is no envelope; the host's own methods take the envelope's `context` as a parameter.
///
/// # Errors
/// 400 when the envelope names another method than the request line, or has names that are too long.
pub(crate) fn unwrap(call: &mut Call, is_declared: bool, is_native: bool) -> Result<(), Problem> {
    if !is_envelope(&call.body) || is_declared {
        return Ok(());
    }
    let mut envelope = std::mem::take(&mut call.body);
    if let Some(Value::String(method)) = envelope.get("method")
        && *method != call.method
    {
        return Err(invalid("`method` in the body is another one than that of the request line".to_owned()));
    }
    if let Some(Value::Object(parameters)) = envelope.remove("parameters") {
        call.body = parameters;
    }
    if let Some(context) = envelope.remove("context").filter(|_| is_native) {
        call.body.entry("context").or_insert(context);
    }
    for (name, slot) in [("task_id", &mut call.thread.task_id), ("session_id", &mut call.thread.session_id)] {
        match (envelope.remove(name), &slot) {
            (Some(Value::String(id)), _) if id.len() > NAME_CHARS_MAX => {
                return Err(invalid(format!("`{name}` has more than {NAME_CHARS_MAX} characters")));
            }
            // A field of the request counts before the envelope.
            (Some(Value::String(id)), None) if !id.is_empty() => *slot = Some(id),
            _ => {}
        }
    }
    Ok(())
}

/// What an envelope calls the work that it belongs to, before the call is taken out of it.
pub(crate) fn task_id(body: &Map<String, Value>) -> Option<&str> {
    body.get("task_id").filter(|_| is_envelope(body)).and_then(Value::as_str)
}

/// Whether the schema of an input has a property that an envelope has too.
pub(crate) fn declares_parameters(input: &Value) -> bool {
    input.pointer("/properties/parameters").is_some()
}

/// Whether a body is an envelope, as far as it says itself.
pub(crate) fn is_envelope(body: &Map<String, Value>) -> bool {
    body.get("parameters").is_some_and(Value::is_object) && body.keys().all(|key| ENVELOPE.contains(&key.as_str()))
}
