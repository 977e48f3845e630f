//! Refusals of the SDK in bare words, of which a client can't tell what they are: spelled as the host's own, as errors of
//! JSON-RPC.

use axum::body::to_bytes;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{ALLOW, CONTENT_TYPE};
use serde_json::Value;

use crate::limits::SDK_WORDS_BYTES_MAX;
use crate::rpc_error;

/// The answer to the request `id`, of which a refusal is JSON.
pub(crate) async fn spelled(response: Response, id: &Value) -> Response {
    let (head, body) = response.into_parts();
    let is_refusal = head.status.is_client_error() || head.status.is_server_error();
    if !is_refusal || head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind != "text/plain; charset=utf-8") {
        return Response::from_parts(head, body);
    }
    let said = to_bytes(body, SDK_WORDS_BYTES_MAX).await.unwrap_or_default();
    let mut answer = rpc_error::answer(head.status, id, &words(head.status, &said));
    answer.head.extend(head.headers.get(ALLOW).map(|allow| (ALLOW, allow.clone())));
    answer.into_response()
}

/// The words of a refusal: those of the SDK, but for failures, which tell of the inside.
fn words(status: StatusCode, said: &[u8]) -> String {
    match std::str::from_utf8(said) {
        Ok(said) if status.is_client_error() && !said.is_empty() => said.to_owned(),
        _ if status.is_client_error() => status.canonical_reason().unwrap_or("refused").to_owned(),
        _ => "this host could not do it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use serde_json::json;

    use super::*;

    async fn spelled_as(response: http::response::Builder, words: &str) -> (u16, Option<String>, Value) {
        let response = spelled(response.body(Body::from(words.to_owned())).unwrap(), &json!(7)).await;
        let (status, allow) = (response.status().as_u16(), response.headers().get(ALLOW).cloned());
        let body = to_bytes(response.into_body(), SDK_WORDS_BYTES_MAX * 2).await.unwrap();
        let allow = allow.map(|allow| allow.to_str().unwrap().to_owned());
        (status, allow, serde_json::from_slice(&body).unwrap_or_default())
    }

    #[tokio::test]
    async fn bare_words_become_an_error_of_the_request() {
        let refused = Response::builder().status(405).header(ALLOW, "GET, POST");
        let (status, allow, body) = spelled_as(refused, "Method Not Allowed").await;
        assert_eq!((status, allow.as_deref()), (405, Some("GET, POST")));
        assert_eq!(body["id"], 7);
        assert_eq!(body["error"], json!({"code": -32600, "message": "Method Not Allowed"}));
    }

    #[tokio::test]
    async fn words_have_a_bound_and_failures_none() {
        let message = async |status: u16, said: String| {
            spelled_as(Response::builder().status(status), &said).await.2["error"]["message"].clone()
        };
        assert_eq!(message(400, "x".repeat(SDK_WORDS_BYTES_MAX)).await, "x".repeat(SDK_WORDS_BYTES_MAX));
        assert_eq!(message(400, "x".repeat(SDK_WORDS_BYTES_MAX + 1)).await, "Bad Request");
        assert_eq!(message(500, "the session worker of /srv is gone".to_owned()).await, "this host could not do it");
    }

    #[tokio::test]
    async fn what_says_what_it_is_stays() {
        let whole = Response::builder().status(400).header(CONTENT_TYPE, "application/json");
        assert_eq!(spelled_as(whole, "{\"id\":1}").await.2, json!({"id": 1}));
        assert_eq!(spelled_as(Response::builder().status(202), "{\"id\":1}").await.2, json!({"id": 1}));
    }
}
