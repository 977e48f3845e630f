//! Tasks over REST: read one, register whom to tell, fetch what it made. REST 5.4.1, 5.5, 5.6.
//!
//! The id is a capability: whoever knows it may read the task, whatever protocol began it.

use bytes::Bytes;
use forecourt_core::store::{IfTaskEnded, Webhook};
use forecourt_core::{Entropy, Error, Task, TaskId, ids, json};
use forecourt_egress::{Egress, EgressError, Purpose, Refusal};
use forecourt_host::{Host, TaskAccess, TaskPermit};
use http::header::{CACHE_CONTROL, CONTENT_LOCATION};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};

use super::answer::{HttpAnswer, RestError};
use super::envelope;
use super::errors::Failure;
use super::limits::{ARTIFACT_ID_BYTES_MAX, SECRET_BYTES_MAX};
use super::media::Media;
use super::responder::Responder;
use crate::NAME;

/// What a path under `/tasks/` names. Segments are taken as they are: ours need no encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskPath<'a> {
    /// `/tasks/{id}`
    Task(&'a str),
    /// `/tasks/{id}/webhook`
    Webhook(&'a str),
    /// `/tasks/{id}/artifacts/{aid}`
    Artifact(&'a str, &'a str),
}

impl<'a> TaskPath<'a> {
    /// Reads a path. `None` for everything else under `/tasks/`, which is not found.
    pub(crate) fn read(path: &'a str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix("/tasks/")?.splitn(4, '/').collect();
        match segments.as_slice() {
            [id] => Some(Self::Task(id)),
            [id, "webhook"] => Some(Self::Webhook(id)),
            [id, "artifacts", artifact] if artifact.len() <= ARTIFACT_ID_BYTES_MAX => {
                Some(Self::Artifact(id, artifact))
            }
            _ => None,
        }
    }

    /// The methods of the resource. REST 3.5.
    pub(crate) fn allow(self) -> &'static str {
        match self {
            Self::Task(_) | Self::Artifact(..) => "GET, HEAD, OPTIONS",
            Self::Webhook(_) => "POST, OPTIONS",
        }
    }
}

/// The task of an id as it stood in the path; unknown, expired and malformed ids look alike.
pub(crate) async fn find(host: &Host, id: &str) -> Result<TaskPermit, RestError> {
    let id = TaskId::parse(id).ok_or_else(Failure::no_such_task)?;
    Ok(host.task(&id, TaskAccess::ById).await?)
}

/// How a task stands: 202 while it is worked on. REST 5.4.1.
///
/// `responder` speaks in the name of its agent.
pub(crate) fn poll(responder: &Responder<'_>, task: &Task) -> HttpAnswer {
    let mut head = responder.head_of(Media::Json, &responder.route.card.language, None);
    head.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    let status = match envelope::is_settled(task) {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    let path = envelope::path(task);
    let location = HeaderValue::from_str(&responder.request.base().path(&path));
    if let (StatusCode::ACCEPTED, Ok(location)) = (status, location) {
        head.insert(CONTENT_LOCATION, location);
    }
    HttpAnswer::whole(status, head, serde_json::to_vec(&envelope::envelope(task)).unwrap_or_default())
}

/// Registers whom to tell when a task changes. A task at its end changes no more, so that is a
/// conflict: its caller reads the result instead of waiting for a call that never comes.
pub(crate) async fn register(
    task: &TaskPermit,
    body: &Bytes,
    egress: &Egress,
    entropy: &dyn Entropy,
    retries: u32,
) -> Result<(), RestError> {
    let wanted = Registration::decode(body)?;
    // Checked once more at every delivery, as the addresses of a name change.
    if let Err(error) = egress.permits(Purpose::Webhook, &wanted.url).await {
        tracing::info!(reason = error.log_reason(), "a webhook was not accepted");
        return Err(unaccepted(&error).into());
    }
    let Registration { url, secret } = wanted;
    let id = ids::mint(entropy);
    let details = Map::new();
    let webhook = Webhook { id, protocol: NAME.to_owned(), url, secret, callback: false, retries, details };
    task.add_webhook(webhook, IfTaskEnded::Refuse).await.map_err(|error| match error {
        Error::Conflict { .. } => Failure::from(error).hint("GET the task to read its result"),
        other => Failure::from(other),
    })?;
    Ok(())
}

/// Why a URL can't be a webhook. Nothing was connected to, so that the reason tells of the URL and of our rules, and
/// not of what is open elsewhere.
fn unaccepted(error: &EgressError) -> Failure {
    let EgressError::Refused(refusal) = error else {
        return Failure::busy("the URL can't be checked at the moment, as too much is going on");
    };
    let reason = match refusal {
        Refusal::Text(error) => format!("it {error}"),
        Refusal::Scheme => "its scheme is not https:".to_owned(),
        Refusal::Port => "its port is not open from here; 443 is".to_owned(),
        Refusal::OwnHost => "it is on this host itself".to_owned(),
        Refusal::PrivateName => "its name belongs to a private network".to_owned(),
        Refusal::PrivateAddress => "it leads into a private network".to_owned(),
        Refusal::Unresolved => "its name does not resolve".to_owned(),
        Refusal::Redirects => refusal.to_string(),
    };
    Failure::bad_request(format!("`url` can't be a webhook: {reason}"))
        .hint("a webhook is a public https: URL that is not on this host")
}

/// The body of a registration. REST 5.5.
struct Registration {
    url: String,
    secret: Option<String>,
}

impl Registration {
    /// Fields that we do not know are passed over.
    fn decode(body: &[u8]) -> Result<Self, Failure> {
        let value =
            json::parse(body).map_err(|error| Failure::bad_request(format!("the body is not JSON: {error}")))?;
        let Value::Object(mut fields) = value else {
            return Err(Failure::bad_request("the body must be an object with `url`"));
        };
        let url = match fields.remove("url") {
            Some(Value::String(url)) => url,
            _ => return Err(Failure::bad_request("`url` must be a string")),
        };
        let secret = match fields.remove("secret") {
            None | Some(Value::Null) => None,
            Some(Value::String(secret)) if secret.len() <= SECRET_BYTES_MAX => Some(secret),
            Some(_) => return Err(Failure::bad_request("`secret` must be a string of at most 256 bytes")),
        };
        Ok(Self { url, secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_or_not_found() {
        assert_eq!(TaskPath::read("/tasks/a"), Some(TaskPath::Task("a")));
        assert_eq!(TaskPath::read("/tasks/a/webhook"), Some(TaskPath::Webhook("a")));
        assert_eq!(TaskPath::read("/tasks/a/artifacts/b"), Some(TaskPath::Artifact("a", "b")));
        for path in
            ["/tasks", "/tasks/a/", "/tasks/a/b", "/tasks/a/artifacts", "/tasks/a/artifacts/b/c", "/tasks/a/webhook/"]
        {
            assert_eq!(TaskPath::read(path), None, "{path}");
        }
    }

    #[test]
    fn ids_of_artifacts_are_bounded() {
        let path = |bytes: usize| format!("/tasks/a/artifacts/{}", "b".repeat(bytes));
        assert!(TaskPath::read(&path(ARTIFACT_ID_BYTES_MAX)).is_some());
        assert!(TaskPath::read(&path(ARTIFACT_ID_BYTES_MAX + 1)).is_none());
    }

    #[test]
    fn s5_5_a_registration_has_a_url_and_a_bounded_secret() {
        let with = |bytes: usize| format!(r#"{{"url":"https://a.example/","secret":"{}","x":1}}"#, "s".repeat(bytes));
        assert!(Registration::decode(with(SECRET_BYTES_MAX).as_bytes()).is_ok());
        assert!(Registration::decode(with(SECRET_BYTES_MAX + 1).as_bytes()).is_err());
        for body in ["", "[]", "{}", r#"{"url":1}"#, r#"{"url":"a","url":"b"}"#, r#"{"url":"a","secret":1}"#] {
            assert!(Registration::decode(body.as_bytes()).is_err(), "{body}");
        }
    }
}
