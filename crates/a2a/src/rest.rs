//! The HTTP+JSON binding: parameters out of path, query and body. Both dialects.

use forecourt_core::json;
use serde_json::{Map, Value};

use crate::codec::{Dialect, Method};
use crate::model::{OperationError, Version};
use crate::target::Resource;

/// Parameters in a query that are looked at.
const PARAMETERS_MAX: usize = 32;

/// How HTTP+JSON of a version is spelled.
pub(crate) fn dialect(version: Version) -> Dialect {
    match version {
        Version::V0_3 => Dialect::Proto03,
        Version::V1_0 => Dialect::Json10,
    }
}

/// Whether a path of one version may be asked for in another. The path says enough, so that a request
/// without a version is understood.
pub(crate) fn agrees(path: Version, asked: Option<Version>) -> Result<(), OperationError> {
    match asked.is_none_or(|asked| asked == path) {
        true => Ok(()),
        false => Err(OperationError::VersionNotSupported(match path {
            Version::V0_3 => "paths below /v1 are of A2A 0.3: leave the header A2A-Version out, or send 0.3".to_owned(),
            Version::V1_0 => "this path is of A2A 1.0: send the header A2A-Version: 1.0, or none".to_owned(),
        })),
    }
}

/// The parameters of a request. What the path names goes before what the body says.
pub(crate) fn params(
    method: Method,
    resource: &Resource,
    query: Option<&str>,
    body: &[u8],
) -> Result<Value, OperationError> {
    let mut params = match body.is_empty() {
        true => from_query(query.unwrap_or_default())?,
        false => from_body(body)?,
    };
    let mut set = |key: &str, value: &str| params.insert(key.to_owned(), value.into());
    match (resource, method) {
        (Resource::Push(task, id), _) => {
            set("taskId", task);
            set("id", id);
        }
        (Resource::Pushes(task), _) => {
            set("taskId", task);
        }
        (Resource::Task(task) | Resource::TaskVerb(task, _), _) => {
            set("id", task);
        }
        (Resource::Message(_) | Resource::Tasks | Resource::ExtendedCard, _) => {}
    }
    Ok(Value::Object(params))
}

fn from_body(body: &[u8]) -> Result<Map<String, Value>, OperationError> {
    match json::parse(body).map_err(OperationError::Parse)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(OperationError::InvalidRequest("the body must be an object".to_owned())),
    }
}

fn from_query(query: &str) -> Result<Map<String, Value>, OperationError> {
    // One more than allowed tells too many from enough without reading all of a hostile query.
    let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).take(PARAMETERS_MAX + 1).collect();
    if pairs.len() > PARAMETERS_MAX {
        return Err(OperationError::InvalidRequest(format!("at most {PARAMETERS_MAX} parameters")));
    }
    Ok(pairs.into_iter().map(|(key, value)| (key.to_string(), typed(&key, &value))).collect())
}

/// A parameter in the type that its field has. What can't be read stays text, for the codec to name.
fn typed(key: &str, value: &str) -> Value {
    match key {
        "historyLength" | "history_length" | "pageSize" | "page_size" => {
            value.parse::<i64>().map_or_else(|_| value.into(), Value::from)
        }
        "includeArtifacts" | "include_artifacts" => value.parse::<bool>().map_or_else(|_| value.into(), Value::from),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_path_names_goes_before_what_the_body_says() {
        let task = Resource::Task("t1".to_owned());
        assert_eq!(
            params(Method::Get, &task, Some("historyLength=5&id=x"), b""),
            Ok(json!({"id": "t1", "historyLength": 5}))
        );
        let push = Resource::Push("t1".to_owned(), "c1".to_owned());
        assert_eq!(params(Method::PushGet, &push, None, b""), Ok(json!({"taskId": "t1", "id": "c1"})));
        let pushes = Resource::Pushes("t1".to_owned());
        let body = br#"{"taskId": "other", "url": "https://a.example/"}"#;
        assert_eq!(
            params(Method::PushCreate, &pushes, None, body),
            Ok(json!({"taskId": "t1", "url": "https://a.example/"}))
        );
    }

    #[test]
    fn parameters_have_the_types_of_their_fields() {
        let query = "includeArtifacts=true&pageSize=x&status=TASK_STATE_WORKING";
        let expected = json!({"includeArtifacts": true, "pageSize": "x", "status": "TASK_STATE_WORKING"});
        assert_eq!(params(Method::List, &Resource::Tasks, Some(query), b""), Ok(expected));
    }

    #[test]
    fn parameters_are_bounded() {
        let many = |count: usize| vec!["a=b"; count].join("&");
        assert!(params(Method::List, &Resource::Tasks, Some(&many(PARAMETERS_MAX)), b"").is_ok());
        assert!(params(Method::List, &Resource::Tasks, Some(&many(PARAMETERS_MAX + 1)), b"").is_err());
    }

    #[test]
    fn a_body_that_is_no_object_has_its_fault() {
        let send = Resource::Message(Method::Send);
        assert!(matches!(params(Method::Send, &send, None, b"{"), Err(OperationError::Parse(_))));
        assert!(matches!(params(Method::Send, &send, None, b"[1]"), Err(OperationError::InvalidRequest(_))));
    }
}
