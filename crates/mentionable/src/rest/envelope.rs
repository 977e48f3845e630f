//! A task as polling, callbacks and webhooks show it. REST 5.4.1, 5.5, 5.6.

use forecourt_core::store::Webhook;
use forecourt_core::{CollectedReply, Ending, File, FileSource, Part, Task};
use forecourt_egress::WebhookPost;
use forecourt_surface::usage::{USAGE_KEY, usage_json};
use serde_json::{Value, json};

use super::render;

/// The path of a task.
pub(crate) fn path(task: &Task) -> String {
    format!("/tasks/{}", task.id.expose())
}

/// Whether a task has come to something. REST knows no other states than working and its two ends.
pub(crate) fn is_settled(task: &Task) -> bool {
    task.state.is_settled()
}

/// The envelope of a task. What waits for the caller is at its end here: a question is an answer in
/// words, a refusal a failure that carries the refusal (design 7, item 13). What failed says by its code of what.
pub(crate) fn envelope(task: &Task) -> Value {
    let (state, message) = match (&task.outcome, is_settled(task)) {
        (Some(outcome), true) => message(task, outcome),
        (None, true) => ("failed", Some(vec![text("text/plain", "The task ended without an answer.")])),
        (_, false) => ("working", None),
    };
    let mut status = json!({"state": state, "timestamp": task.updated_at.to_string()});
    if let Some(parts) = message {
        status["message"] = json!({"kind": "message", "role": "agent", "parts": parts});
    }
    if let Some(outcome) = task.outcome.as_ref().filter(|_| state == "failed") {
        status["code"] = outcome.ending.code().into();
    }
    // The members of A2A's push notification (REST 5.4), so that one receiver reads both.
    let mut envelope = json!({"id": task.id.expose(), "status": status});
    if let Some(thread) = &task.thread {
        envelope["contextId"] = thread.expose().into();
    }
    // Where A2A's task, which this mirrors, has a place for what only some read.
    if let Some(used) = task.outcome.as_ref().and_then(|outcome| usage_json(&outcome.usage)) {
        envelope["metadata"] = json!({USAGE_KEY: used});
    }
    envelope
}

/// The post that tells of a settled task, signed when its webhook has a secret. REST 5.5.
pub(crate) fn post(task: &Task, webhook: &Webhook) -> WebhookPost {
    WebhookPost::json(&envelope(task), webhook.secret.as_deref())
}

fn message(task: &Task, outcome: &CollectedReply) -> (&'static str, Option<Vec<Value>>) {
    let said = || outcome.parts.iter().map(|part| written(task, part));
    match &outcome.ending {
        Ending::Complete | Ending::Message(_) => ("completed", Some(said().collect())),
        Ending::Question(question) => {
            let asked = text("text/markdown", &render::question_words(question));
            let data = render::question_data(question).map(|part| json!(part));
            ("completed", Some(said().chain([asked]).chain(data).collect()))
        }
        Ending::Refused(part) => ("failed", Some(vec![text("text/plain", &part.message), json!(part)])),
        Ending::SignIn(wanted) => {
            let asked = text("text/markdown", &render::question_words(&wanted.question));
            ("failed", Some(said().chain([asked]).collect()))
        }
        Ending::Declined { reason } | Ending::Failed { reason, .. } => {
            ("failed", Some(vec![text("text/plain", reason)]))
        }
        Ending::Canceled => ("failed", Some(vec![text("text/plain", "The task was cancelled.")])),
    }
}

/// A part in A2A's spelling, which envelopes have: text as `text`, kept files by their address.
fn written(task: &Task, part: &Part) -> Value {
    match part {
        Part::Text(words) => text(&words.mime, &words.content),
        Part::File(File { id: Some(id), mime, name, size_bytes, source: FileSource::Kept }) => {
            let url = format!("{}/artifacts/{id}", path(task));
            let mut file = json!({"kind": "file", "id": id, "mime": mime, "size": size_bytes, "url": url});
            if let Some(name) = name {
                file["name"] = name.as_str().into();
            }
            file
        }
        other => json!(other),
    }
}

fn text(mime: &str, words: &str) -> Value {
    json!({"kind": "text", "text": words, "mime": mime})
}
