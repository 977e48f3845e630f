//! The methods of the Bot API that are called. The token is a part of each address, and goes to Telegram alone.

use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::limits::{FILE_BYTES_MAX, RETRY_AFTER_MAX};
use forecourt_connectors::{Form, Outcome, PlatformError};
use forecourt_core::json;
use forecourt_egress::{Egress, EgressError, Purpose, UpstreamRequest};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

/// The longest that is waited where Telegram does not say.
const WAIT_UNSAID: Duration = Duration::from_secs(30);

/// The Bot API as one bot.
pub(crate) struct Api {
    /// Where its methods are, without a last slash.
    base: String,
    token: String,
}

impl Api {
    pub(crate) fn new(base: &str, token: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), token: token.to_owned() }
    }

    /// Calls a method.
    pub(crate) async fn call(&self, egress: &Egress, method: &str, arguments: &Value) -> Outcome<Value> {
        self.post(egress, method, "application/json", Bytes::from(arguments.to_string())).await
    }

    /// Sends a file into a chat.
    pub(crate) async fn send_document(
        &self,
        egress: &Egress,
        chat: &str,
        thread: Option<&str>,
        file: (&str, Bytes),
    ) -> Outcome<()> {
        let (name, bytes) = file;
        let form = Form::around(&bytes);
        let kind = form.media_type();
        let form = form.field("chat_id", chat);
        let form = thread.into_iter().fold(form, |form, thread| form.field("message_thread_id", thread));
        self.post(egress, "sendDocument", &kind, form.file("document", name, &bytes)).await.map(|_| ())
    }

    /// The bytes of a file of this id.
    pub(crate) async fn download(&self, egress: &Egress, id: &str) -> Outcome<Bytes> {
        let file = self.call(egress, "getFile", &json!({"file_id": id})).await?;
        let path = file["file_path"].as_str().filter(|path| is_path(path));
        let path = path.ok_or_else(|| PlatformError::Refused("a file has no address".to_owned()))?;
        let request = UpstreamRequest::get(format!("{}/file/bot{}/{path}", self.base, self.token));
        let (status, bytes) = exchange(egress, request).await?;
        match status.is_success() && bytes.len() as u64 <= FILE_BYTES_MAX {
            true => Ok(bytes),
            false => Err(PlatformError::Refused(format!("a file was answered with {status}"))),
        }
    }

    async fn post(&self, egress: &Egress, method: &str, kind: &str, body: Bytes) -> Outcome<Value> {
        let kind = HeaderValue::from_str(kind).map_err(|_| PlatformError::Failed("a form has no type".to_owned()))?;
        let url = format!("{}/bot{}/{method}", self.base, self.token);
        let request = UpstreamRequest::post(url, body).header(CONTENT_TYPE, kind);
        let (status, bytes) = exchange(egress, request).await?;
        let mut value = json::parse(&bytes).map_err(|_| PlatformError::Failed(format!("{method}: status {status}")))?;
        if value["ok"].as_bool() == Some(true) {
            return Ok(value["result"].take());
        }
        let words = format!("{method}: {}", value["description"].as_str().unwrap_or("no reason"));
        Err(refused(&value, words))
    }
}

/// Why a method was not done. A token that is not good (401) can be replaced by an operator: answers wait for that.
fn refused(value: &Value, words: String) -> PlatformError {
    match value["error_code"].as_u64() {
        Some(429) => {
            let wait = value["parameters"]["retry_after"].as_u64().map_or(WAIT_UNSAID, Duration::from_secs);
            PlatformError::Later(wait.min(RETRY_AFTER_MAX))
        }
        Some(401) => PlatformError::Failed(words),
        Some(400..=499) => PlatformError::Refused(words),
        _ => PlatformError::Failed(words),
    }
}

/// Whether a path stays below where files are.
fn is_path(path: &str) -> bool {
    let fits = |segment: &str| !segment.is_empty() && segment != "." && segment != "..";
    path.split('/').all(fits) && path.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b))
}

async fn exchange(egress: &Egress, request: UpstreamRequest) -> Outcome<(http::StatusCode, Bytes)> {
    let failed = |error: EgressError| PlatformError::Failed(error.log_reason());
    let response = egress.send(Purpose::Platform, request).await.map_err(failed)?;
    let status = response.status;
    Ok((status, response.body.collect().await.map_err(failed)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_files_stay_where_files_are() {
        for (path, fits) in [
            ("documents/file_1.txt", true),
            ("../bot", false),
            ("a//b", false),
            ("/etc", false),
            ("a?b", false),
            ("a%2e", false),
        ] {
            assert_eq!(is_path(path), fits, "{path}");
        }
    }

    #[test]
    fn what_passes_or_can_be_mended_is_tried_again_and_what_telegram_never_does_is_not() {
        let of = |code: u64| refused(&json!({"error_code": code}), "no".to_owned());
        assert_eq!(of(429), PlatformError::Later(WAIT_UNSAID));
        assert_eq!(
            (of(401), of(500)),
            (PlatformError::Failed("no".to_owned()), PlatformError::Failed("no".to_owned()))
        );
        assert_eq!(
            (of(400), of(403)),
            (PlatformError::Refused("no".to_owned()), PlatformError::Refused("no".to_owned()))
        );
        let wait = |seconds: u64| json!({"error_code": 429, "parameters": {"retry_after": seconds}});
        assert_eq!(refused(&wait(3), String::new()), PlatformError::Later(Duration::from_secs(3)));
        assert_eq!(refused(&wait(99_999), String::new()), PlatformError::Later(RETRY_AFTER_MAX));
    }
}
