//! What tasks made, as downloads. REST 5.6, security sheet section 8.

use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::store::StoredArtifact;
use forecourt_core::{Task, Timestamp};
use forecourt_host::TaskPermit;
use forecourt_surface::{disposition, negotiate};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;

use super::answer::{HttpAnswer, Outcome};
use super::envelope;
use super::media::Media;
use super::responder::Responder;

/// An artifact's bytes, or what there is to know about it for who wants JSON.
///
/// `responder` speaks in the name of the agent of the task.
pub(crate) async fn answer(responder: &Responder<'_>, task: &TaskPermit, id: &str, now: Timestamp) -> Outcome {
    let headers = responder.request.headers();
    // Under its own task alone: the id of the task is what lets a caller read it (REST 5.6).
    let artifact = task.artifact(id).await?;
    let mut head = responder.head_of(Media::Json, &responder.route.card.language, None);
    let as_json = wants_json(headers, &artifact.mime);
    let tag = etag(&artifact, as_json);
    head.insert(CACHE_CONTROL, cache_control(task, now));
    if let Some(tag) = tag {
        head.typed_insert(tag.clone());
        if headers.typed_get::<IfNoneMatch>().is_some_and(|known| !known.precondition_passes(&tag)) {
            return Ok(HttpAnswer::empty(StatusCode::NOT_MODIFIED, head));
        }
    }
    Ok(match as_json {
        true => HttpAnswer::whole(StatusCode::OK, head, about(task, &artifact)),
        false => {
            disposition::add_download_fields(&mut head, &artifact.mime, artifact.name.as_deref());
            HttpAnswer::whole(StatusCode::OK, head, artifact.bytes)
        }
    })
}

/// Whether a request prefers JSON to the bytes. For bytes that are JSON themselves, only a request
/// that names `application/json` does.
fn wants_json(headers: &HeaderMap, mime: &str) -> bool {
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let nameable = essence.contains('/') && essence != "application/json";
    let bytes = if nameable { &essence } else { "application/octet-stream" };
    negotiate::media_type(headers, &[bytes, "application/json"]) == Some(1)
}

fn about(task: &Task, artifact: &StoredArtifact) -> Vec<u8> {
    let url = format!("{}/artifacts/{}", envelope::path(task), artifact.id);
    let about = json!({"id": artifact.id, "mime": artifact.mime, "size": artifact.bytes.len(), "url": url});
    serde_json::to_vec(&about).unwrap_or_default()
}

/// Artifacts never change, so the tag is that of the name. The two forms have a tag each.
fn etag(artifact: &StoredArtifact, as_json: bool) -> Option<ETag> {
    let name: String = artifact.id.bytes().map(|byte| format!("{byte:02x}")).collect();
    let form = if as_json { "json" } else { "bytes" };
    format!("\"{form}-{name}\"").parse().ok()
}

/// As long as the artifact can be read, at most the time that a task lives.
fn cache_control(task: &Task, now: Timestamp) -> HeaderValue {
    let left = Duration::try_from(task.expires_at.duration_since(now)).unwrap_or_default();
    let text = format!("public, max-age={}", left.min(TASK_TTL).as_secs());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("no-store"))
}
