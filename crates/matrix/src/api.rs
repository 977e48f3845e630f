//! The Client-Server API, called as the user that the bot is. The token goes to the homeserver alone.

use bytes::Bytes;
use forecourt_connectors::limits::FILE_BYTES_MAX;
use forecourt_connectors::{Outcome, PlatformError};
use forecourt_core::json;
use forecourt_egress::{Egress, EgressError, Purpose, UpstreamRequest, UpstreamResponse};
use http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::error::ApiError;
use crate::ids::{is_id, is_server};
use crate::limits::{EDITS_MAX, EVENT_BYTES_MAX, ID_BYTES_MAX};

/// What stands in a path as it is. RFC 3986 2.3.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const CLIENT: &str = "/_matrix/client/v3";

/// What came of a call.
pub(crate) type CallResult<T> = Result<T, ApiError>;

/// The API as one application service.
pub(crate) struct Api {
    /// Where the homeserver is, without a last slash.
    base: String,
    token: HeaderValue,
}

impl Api {
    /// `None` where the token can't stand in a header.
    pub(crate) fn new(base: &str, token: &str) -> Option<Self> {
        let mut token = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        token.set_sensitive(true);
        Some(Self { base: base.trim_end_matches('/').to_owned(), token })
    }

    /// Asks for what is at a path of the client API.
    pub(crate) async fn get(&self, egress: &Egress, path: &str) -> CallResult<Value> {
        self.call(egress, UpstreamRequest::get(format!("{}{CLIENT}{path}", self.base))).await
    }

    /// The same, of at most so many bytes. `None`: it has more, or can't be read. What people put there must hold up
    /// nothing.
    pub(crate) async fn get_short(&self, egress: &Egress, path: &str, bytes_max: usize) -> CallResult<Option<Value>> {
        let mut deadlines = Purpose::Platform.deadlines(egress.config());
        deadlines.body_bytes_max = bytes_max;
        let request = UpstreamRequest::get(format!("{}{CLIENT}{path}", self.base)).within(deadlines);
        let (status, read) = self.exchange(egress, request).await?;
        match read {
            Ok(bytes) => Ok(of_json(status, &bytes).ok()),
            Err(EgressError::TooLarge { .. }) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    pub(crate) async fn post(&self, egress: &Egress, path: &str, body: &Value) -> CallResult<Value> {
        self.call_with(egress, Method::POST, &format!("{CLIENT}{path}"), body).await
    }

    pub(crate) async fn put(&self, egress: &Egress, path: &str, body: &Value) -> CallResult<Value> {
        self.call_with(egress, Method::PUT, &format!("{CLIENT}{path}"), body).await
    }

    /// Calls what is at a path of any of its APIs.
    pub(crate) async fn call_with(
        &self,
        egress: &Egress,
        method: Method,
        path: &str,
        body: &Value,
    ) -> CallResult<Value> {
        let request = UpstreamRequest::post(format!("{}{path}", self.base), body.to_string());
        let request = UpstreamRequest { method, ..request };
        self.call(egress, request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"))).await
    }

    /// Sends a message into a room once, whatever is sent again under its transaction, and gives its id.
    pub(crate) async fn send(
        &self,
        egress: &Egress,
        room: &str,
        transaction: &str,
        content: &Value,
    ) -> CallResult<String> {
        let path = format!("/rooms/{}/send/m.room.message/{transaction}", segment(room));
        let sent = self.put(egress, &path, content).await?;
        let id = sent["event_id"].as_str().map(str::to_owned);
        id.ok_or_else(|| ApiError::without_code(PlatformError::Failed("a message has no id".to_owned())))
    }

    /// An event of a room. `None`: it can't be had, or not be read.
    pub(crate) async fn event(&self, egress: &Egress, room: &str, event: &str) -> CallResult<Option<Value>> {
        let path = format!("/rooms/{}/event/{}", segment(room), segment(event));
        match self.get_short(egress, &path, EVENT_BYTES_MAX).await {
            Err(error) if error.is_refused() => Ok(None),
            other => other,
        }
    }

    /// The edits of a message of ours: the newest. None where the homeserver does not list them.
    pub(crate) async fn edits(&self, egress: &Egress, room: &str, event: &str) -> CallResult<Vec<String>> {
        let (room, event) = (segment(room), segment(event));
        let path = format!("/_matrix/client/v1/rooms/{room}/relations/{event}/m.replace?limit={EDITS_MAX}");
        match self.call(egress, UpstreamRequest::get(format!("{}{path}", self.base))).await {
            Ok(value) => {
                let edits =
                    value["chunk"].as_array().into_iter().flatten().filter_map(|edit| edit["event_id"].as_str());
                Ok(edits.filter(|id| is_id(id, '$')).take(EDITS_MAX).map(str::to_owned).collect())
            }
            Err(error) if error.is_refused() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The bytes of a file of a message. Older homeservers give them to everybody, at another path.
    pub(crate) async fn download(&self, egress: &Egress, url: &str) -> Outcome<Bytes> {
        let (server, id) = media(url).ok_or_else(|| PlatformError::Refused("a file has no address".to_owned()))?;
        let of = |base: &str| format!("{}{base}/download/{server}/{id}", self.base);
        match self.bytes(egress, of("/_matrix/client/v1/media")).await {
            Err(error) if error.code == "M_UNRECOGNIZED" => Ok(self.bytes(egress, of("/_matrix/media/v3")).await?),
            other => Ok(other?),
        }
    }

    /// Gives the homeserver a file, and gives its address.
    pub(crate) async fn upload(&self, egress: &Egress, name: &str, mime: &str, bytes: Bytes) -> Outcome<String> {
        let kind = HeaderValue::from_str(mime).unwrap_or(HeaderValue::from_static("application/octet-stream"));
        let url = format!("{}/_matrix/media/v3/upload?filename={}", self.base, segment(name));
        let value = self.call(egress, UpstreamRequest::post(url, bytes).header(CONTENT_TYPE, kind)).await?;
        let uri = value["content_uri"].as_str().filter(|uri| media(uri).is_some());
        uri.map(str::to_owned).ok_or_else(|| PlatformError::Failed("an uploaded file has no address".to_owned()))
    }

    async fn bytes(&self, egress: &Egress, url: String) -> CallResult<Bytes> {
        let mut deadlines = Purpose::Platform.deadlines(egress.config());
        deadlines.body_bytes_max = usize::try_from(FILE_BYTES_MAX).unwrap_or(usize::MAX);
        let response = self.answered(egress, UpstreamRequest::get(url).within(deadlines)).await?;
        if matches!(response.status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
            // Where files lie elsewhere, the homeserver gives an address that is good by itself: guarded like that of
            // any file, and without the token.
            let elsewhere = response.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            return Ok(egress.get(Purpose::Attachment, elsewhere).await.map_err(|error| failed(&error))?.bytes);
        }
        match response.body.collect().await {
            Ok(bytes) => Ok(bytes),
            Err(error @ EgressError::TooLarge { .. }) => {
                Err(ApiError::without_code(PlatformError::Refused(error.log_reason())))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    async fn call(&self, egress: &Egress, request: UpstreamRequest) -> CallResult<Value> {
        let (status, read) = self.exchange(egress, request).await?;
        of_json(status, &read.map_err(|error| failed(&error))?)
    }

    async fn exchange(
        &self,
        egress: &Egress,
        request: UpstreamRequest,
    ) -> CallResult<(StatusCode, Result<Bytes, EgressError>)> {
        let response = self.answered(egress, request).await?;
        Ok((response.status, response.body.collect().await))
    }

    /// An answer that is no failure: 2xx or 3xx.
    async fn answered(&self, egress: &Egress, request: UpstreamRequest) -> CallResult<UpstreamResponse> {
        let request = request.header(AUTHORIZATION, self.token.clone());
        let response = egress.send(Purpose::Platform, request).await.map_err(|error| failed(&error))?;
        if response.status.is_success() || response.status.is_redirection() {
            return Ok(response);
        }
        let (status, headers) = (response.status, response.headers);
        let body = response.body.collect().await.unwrap_or_default();
        Err(ApiError::read(status, &headers, &body))
    }
}

fn failed(error: &EgressError) -> ApiError {
    ApiError::without_code(PlatformError::Failed(error.log_reason()))
}

fn of_json(status: StatusCode, bytes: &[u8]) -> CallResult<Value> {
    let words = || format!("status {}: the answer is no JSON", status.as_u16());
    json::parse(bytes).map_err(|_| ApiError::without_code(PlatformError::Failed(words())))
}

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, IN_PATH).to_string()
}

/// The server and the name of a file, `mxc://SERVER/NAME`. `None`: it is none, or does not stay where files are.
fn media(url: &str) -> Option<(&str, &str)> {
    let (server, id) = url.strip_prefix("mxc://")?.split_once('/')?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let fits = (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_name);
    (fits && is_server(server)).then_some((server, id))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_of_files_stay_where_files_are() {
        assert_eq!(media("mxc://example.org:8448/a-B_1"), Some(("example.org:8448", "a-B_1")));
        for url in [
            "",
            "https://a.example/x",
            "mxc://a",
            "mxc://a/",
            "mxc:///x",
            "mxc://a/b/c",
            "mxc://a/..",
            "mxc://a/b?c",
            "mxc://../b",
            "mxc://a/b%2e",
            "mxc://a b/c",
        ] {
            assert_eq!(media(url), None, "{url}");
        }
    }

    #[test]
    fn ids_are_one_segment_of_a_path() {
        assert_eq!(segment("!a/..?b:c#d"), "%21a%2F..%3Fb%3Ac%23d");
    }

    proptest! {
        #[test]
        fn no_address_panics(url in "(mxc://)?.{0,30}") {
            let _ = media(&url);
        }
    }
}
