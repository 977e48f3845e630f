//! The methods of the Web API that are called, each a request with the bot's token. The token goes to Slack alone.

use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::limits::{FILE_BYTES_MAX, RETRY_AFTER_MAX};
use forecourt_connectors::{Outcome, PlatformError};
use forecourt_core::json;
use forecourt_egress::{Egress, EgressError, Purpose, UpstreamRequest};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use url::Url;

/// The longest that is waited where Slack does not say.
const WAIT_UNSAID: Duration = Duration::from_secs(30);
/// What Slack calls failures that pass.
const PASSING: [&str; 6] =
    ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "accesslimited"];
/// What it says of a token that is not good: an operator can put another in its place, and answers wait for that.
const TOKEN: [&str; 5] = ["invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"];

/// The Web API as one app.
pub(crate) struct Api {
    /// Where its methods are, without a last slash.
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

    /// Calls a method with JSON.
    pub(crate) async fn call(&self, egress: &Egress, method: &str, arguments: &Value) -> Outcome<Value> {
        Ok(self.post(egress, method, "application/json; charset=utf-8", arguments.to_string()).await?.1)
    }

    /// Calls a method that takes no JSON.
    pub(crate) async fn call_form(&self, egress: &Egress, method: &str, arguments: &[(&str, &str)]) -> Outcome<Value> {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(arguments).finish();
        Ok(self.post(egress, method, "application/x-www-form-urlencoded", form).await?.1)
    }

    /// The scopes that the token has, with what a method says.
    pub(crate) async fn scopes(&self, egress: &Egress) -> Outcome<(Vec<String>, Value)> {
        let (headers, value) =
            self.post(egress, "auth.test", "application/x-www-form-urlencoded", String::new()).await?;
        let scopes = headers.get("x-oauth-scopes").and_then(|scopes| scopes.to_str().ok()).unwrap_or_default();
        Ok((scopes.split(',').map(|scope| scope.trim().to_owned()).collect(), value))
    }

    async fn post(
        &self,
        egress: &Egress,
        method: &str,
        kind: &'static str,
        body: String,
    ) -> Outcome<(HeaderMap, Value)> {
        let request = UpstreamRequest::post(format!("{}/{method}", self.base), body)
            .header(AUTHORIZATION, self.token.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static(kind));
        let (headers, bytes) = answered(egress, request).await?;
        let value =
            json::parse(&bytes).map_err(|_| PlatformError::Failed(format!("{method}: the answer is no JSON")))?;
        if value["ok"].as_bool() == Some(true) {
            return Ok((headers, value));
        }
        Err(refused(method, value["error"].as_str().unwrap_or("no reason"), &headers))
    }

    /// The bytes of a file of a message.
    pub(crate) async fn download(&self, egress: &Egress, url: &str, mime: &str) -> Outcome<Bytes> {
        self.check_own(url)?;
        let request = UpstreamRequest::get(url.to_owned()).header(AUTHORIZATION, self.token.clone());
        let (headers, bytes) = answered(egress, request).await?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Whoever may not read files is shown a page to sign in.
        if kind.starts_with("text/html") && !mime.starts_with("text/html") {
            return Err(PlatformError::Refused("the app lacks the scope files:read".to_owned()));
        }
        match bytes.len() as u64 <= FILE_BYTES_MAX {
            true => Ok(bytes),
            false => Err(PlatformError::Refused(format!("a file of more than {FILE_BYTES_MAX} bytes"))),
        }
    }

    /// Sends bytes to an address that Slack gave for them.
    pub(crate) async fn send_bytes(&self, egress: &Egress, url: &str, bytes: Bytes) -> Outcome<()> {
        self.check_own(url)?;
        let request = UpstreamRequest::post(url.to_owned(), bytes)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        answered(egress, request).await.map(|_| ())
    }

    /// Whether an address is Slack's: no other one is given the token, or what an agent made.
    fn check_own(&self, url: &str) -> Outcome<()> {
        let foreign = || PlatformError::Refused("an address of a file is not one of Slack's".to_owned());
        let target = Url::parse(url).map_err(|_| foreign())?;
        let host = target.host_str().unwrap_or_default();
        let is_slack = target.scheme() == "https" && (host == "slack.com" || host.ends_with(".slack.com"));
        let is_base = Url::parse(&self.base).is_ok_and(|base| base.origin() == target.origin());
        if is_slack || is_base { Ok(()) } else { Err(foreign()) }
    }
}

/// An answer of 2xx, whole.
async fn answered(egress: &Egress, request: UpstreamRequest) -> Outcome<(HeaderMap, Bytes)> {
    let failed = |error: EgressError| PlatformError::Failed(error.log_reason());
    let response = egress.send(Purpose::Platform, request).await.map_err(failed)?;
    match response.status {
        status if status.is_success() => {
            let bytes = response.body.collect().await.map_err(failed)?;
            Ok((response.headers, bytes))
        }
        StatusCode::TOO_MANY_REQUESTS => Err(PlatformError::Later(wait(&response.headers))),
        status if status.is_client_error() => Err(PlatformError::Refused(format!("status {status}"))),
        status => Err(PlatformError::Failed(format!("status {status}"))),
    }
}

/// Why a method was not done, by the word that Slack has for it.
fn refused(method: &str, error: &str, headers: &HeaderMap) -> PlatformError {
    match error {
        "ratelimited" | "rate_limited" => PlatformError::Later(wait(headers)),
        passing if PASSING.contains(&passing) || TOKEN.contains(&passing) => {
            PlatformError::Failed(format!("{method}: {passing}"))
        }
        error => PlatformError::Refused(format!("{method}: {error}")),
    }
}

fn wait(headers: &HeaderMap) -> Duration {
    let said = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    said.map_or(WAIT_UNSAID, Duration::from_secs).min(RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_slack_are_given_the_token() {
        let api = Api::new("https://slack.com/api/", "xoxb-1").unwrap();
        for url in ["https://files.slack.com/files-pri/T1-F1/x", "https://slack.com/x"] {
            assert!(api.check_own(url).is_ok(), "{url}");
        }
        for url in [
            "http://files.slack.com/x",
            "https://slack.com.evil.example/x",
            "https://evilslack.com/x",
            "https://slack.com@evil.example/x",
            "file:///etc/passwd",
            "x",
        ] {
            assert!(api.check_own(url).is_err(), "{url}");
        }
        let double = Api::new("http://127.0.0.1:9850/api", "xoxb-1").unwrap();
        assert!(double.check_own("http://127.0.0.1:9850/files/1").is_ok());
        assert!(double.check_own("http://127.0.0.1:9851/files/1").is_err());
    }

    #[test]
    fn slack_is_waited_for_as_long_as_it_says_within_a_bound() {
        let of = |text: &str| wait(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]));
        assert_eq!((of("7"), of("x")), (Duration::from_secs(7), WAIT_UNSAID));
        assert_eq!(of("999999"), RETRY_AFTER_MAX);
    }

    #[test]
    fn what_passes_or_can_be_mended_is_tried_again_and_what_slack_never_does_is_not() {
        let of = |error: &str| refused("chat.postMessage", error, &HeaderMap::new());
        assert_eq!(of("ratelimited"), PlatformError::Later(WAIT_UNSAID));
        for error in ["internal_error", "token_revoked", "invalid_auth"] {
            assert_eq!(of(error), PlatformError::Failed(format!("chat.postMessage: {error}")));
        }
        assert_eq!(of("channel_not_found"), PlatformError::Refused("chat.postMessage: channel_not_found".to_owned()));
    }
}
