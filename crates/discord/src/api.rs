//! The methods of the API that are called. The token of the bot goes to Discord alone, and the token of an interaction
//! stands in addresses, which no log has.

use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::limits::{FILE_BYTES_MAX, RETRY_AFTER_MAX};
use forecourt_connectors::{Form, Outcome, PlatformError};
use forecourt_core::json;
use forecourt_egress::{Egress, EgressError, Purpose, UpstreamRequest};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use url::Url;

use crate::buckets::{Buckets, seconds};
use crate::limits::WAIT_IN_PLACE_MAX;

/// The longest that is waited where Discord does not say.
const WAIT_UNSAID: Duration = Duration::from_secs(30);
/// The form that Discord wants of whoever calls it.
const AGENT: HeaderValue = HeaderValue::from_static(concat!(
    "DiscordBot (",
    env!("CARGO_PKG_REPOSITORY"),
    ", ",
    env!("CARGO_PKG_VERSION"),
    ")"
));
/// Hosts of the files of messages.
const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
/// The host of the gateway.
const GATEWAY_HOST: &str = "discord.gg";

/// What Discord calls failures that are told apart here.
pub(crate) mod codes {
    /// A message that is not there.
    pub(crate) const UNKNOWN_MESSAGE: u64 = 10_008;
    /// A token of an interaction that Discord does not know, or not yet.
    pub(crate) const UNKNOWN_WEBHOOK: u64 = 10_015;
    /// A token of an interaction whose time is over.
    pub(crate) const INVALID_WEBHOOK_TOKEN: u64 = 50_027;
}

/// The API as one bot.
pub(crate) struct Api {
    /// Where its methods are, without a last slash.
    base: String,
    application: String,
    token: HeaderValue,
    buckets: Mutex<Buckets>,
}

/// A method with its address.
pub(crate) struct Route {
    method: Method,
    /// What it is called in rate limits and in words.
    name: &'static str,
    /// The channel, or whatever else its rate limit counts by.
    of: String,
    path: String,
    /// Whether the token of the bot goes with it: a token of an interaction stands for itself.
    is_bots: bool,
}

/// Why a method was not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// Discord's own word for it; 0 where there is none.
    pub(crate) code: u64,
    pub(crate) error: PlatformError,
}

impl From<ApiError> for PlatformError {
    fn from(error: ApiError) -> Self {
        error.error
    }
}

impl From<PlatformError> for ApiError {
    fn from(error: PlatformError) -> Self {
        Self { code: 0, error }
    }
}

impl Route {
    /// A method of the bot.
    pub(crate) fn new(method: Method, name: &'static str, of: &str, path: String) -> Self {
        Self { method, name, of: of.to_owned(), path, is_bots: true }
    }

    /// A method of an interaction.
    pub(crate) fn of_interaction(method: Method, name: &'static str, token: &str, path: String) -> Self {
        Self { is_bots: false, ..Self::new(method, name, token, path) }
    }
}

impl Api {
    /// `None` where the token can't stand in a header.
    pub(crate) fn new(base: &str, application: &str, token: &str) -> Option<Self> {
        let mut token = HeaderValue::from_str(&format!("Bot {token}")).ok()?;
        token.set_sensitive(true);
        let base = base.trim_end_matches('/').to_owned();
        Some(Self { base, application: application.to_owned(), token, buckets: Mutex::default() })
    }

    /// The id of the application.
    pub(crate) fn application(&self) -> &str {
        &self.application
    }

    /// The token of the bot as the gateway wants it.
    pub(crate) fn token(&self) -> &str {
        self.token.to_str().unwrap_or_default().trim_start_matches("Bot ")
    }

    /// Calls a method, with JSON where it takes some. Gives `null` where it answers nothing.
    pub(crate) async fn call(&self, egress: &Egress, route: &Route, body: Option<&Value>) -> Result<Value, ApiError> {
        let (kind, body) = match body {
            Some(body) => (Some("application/json".to_owned()), Bytes::from(body.to_string())),
            None => (None, Bytes::new()),
        };
        self.exchange(egress, route, kind, body).await
    }

    /// Calls a method with a file beside what it takes.
    pub(crate) async fn send_file(
        &self,
        egress: &Egress,
        route: &Route,
        message: &Value,
        (name, bytes): (&str, &Bytes),
    ) -> Result<Value, ApiError> {
        let form = Form::around(bytes);
        let kind = form.media_type();
        let body = form.field("payload_json", &message.to_string()).file("files[0]", name, bytes);
        self.exchange(egress, route, Some(kind), body).await
    }

    async fn exchange(
        &self,
        egress: &Egress,
        route: &Route,
        kind: Option<String>,
        body: Bytes,
    ) -> Result<Value, ApiError> {
        let wait = self.buckets.lock().wait(route.name, &route.of, Instant::now());
        match wait {
            Some(wait) if wait > WAIT_IN_PLACE_MAX => return Err(PlatformError::Later(wait).into()),
            Some(wait) => sleep(wait).await,
            None => {}
        }
        let post = UpstreamRequest::post(format!("{}{}", self.base, route.path), body);
        let mut request = UpstreamRequest { method: route.method.clone(), ..post }.header(USER_AGENT, AGENT);
        if route.is_bots {
            request = request.header(AUTHORIZATION, self.token.clone());
        }
        if let Some(kind) = kind.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
            request = request.header(CONTENT_TYPE, kind);
        }
        let response = egress.send(Purpose::Platform, request).await.map_err(failed)?;
        let (status, headers) = (response.status, response.headers);
        let bytes = response.body.collect().await.map_err(failed)?;
        self.buckets.lock().note(route.name, &route.of, &headers, Instant::now());
        let value = json::parse(&bytes).ok();
        match status {
            status if status.is_success() => Ok(value.unwrap_or_default()),
            StatusCode::TOO_MANY_REQUESTS => {
                let (wait, is_global) = too_many(value.as_ref(), &headers);
                self.buckets.lock().refuse(route.name, &route.of, wait, is_global, Instant::now());
                Err(PlatformError::Later(wait).into())
            }
            status => Err(refused(route.name, status, value.as_ref())),
        }
    }

    /// The bytes of a file of a message. No token goes with it.
    pub(crate) async fn download(&self, egress: &Egress, url: &str) -> Outcome<Bytes> {
        if !self.is_file_url(url) {
            return Err(PlatformError::Refused("an address of a file is not one of Discord's".to_owned()));
        }
        let response = egress.send(Purpose::Platform, UpstreamRequest::get(url.to_owned())).await.map_err(failed)?;
        let status = response.status;
        let bytes = response.body.collect().await.map_err(failed)?;
        match status.is_success() && bytes.len() as u64 <= FILE_BYTES_MAX {
            true => Ok(bytes),
            false => Err(PlatformError::Refused(format!("a file was answered with {status}"))),
        }
    }

    /// Whether an address is one of Discord's files.
    fn is_file_url(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let host = url.host_str().unwrap_or_default();
        (url.scheme() == "https" && FILE_HOSTS.contains(&host) && url.port().is_none()) || self.is_own(&url)
    }

    /// Whether an address is one of Discord's gateway, to which the token goes: within TLS, or beside the API where
    /// that is somewhere else and not.
    pub(crate) fn is_gateway(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_discords =
            host == GATEWAY_HOST || host.strip_suffix(GATEWAY_HOST).is_some_and(|rest| rest.ends_with('.'));
        let base = Url::parse(&self.base).ok();
        let is_beside = base.is_some_and(|base| {
            base.scheme() == "http" && base.host() == url.host() && matches!(url.scheme(), "ws" | "wss")
        });
        (url.scheme() == "wss" && is_discords) || is_beside
    }

    fn is_own(&self, url: &Url) -> bool {
        Url::parse(&self.base).is_ok_and(|base| base.origin() == url.origin())
    }
}

fn failed(error: EgressError) -> PlatformError {
    PlatformError::Failed(error.log_reason())
}

/// How long to wait after 429, and whether for everything.
fn too_many(value: Option<&Value>, headers: &HeaderMap) -> (Duration, bool) {
    let said = value.and_then(|value| Duration::try_from_secs_f64(value["retry_after"].as_f64()?).ok());
    let field = || headers.get(RETRY_AFTER).and_then(|value| seconds(value.to_str().ok()?));
    let is_global = value.is_some_and(|value| value["global"] == true);
    (said.or_else(field).unwrap_or(WAIT_UNSAID).min(RETRY_AFTER_MAX), is_global)
}

/// Why a method was not done. A token that is not good (401) can be replaced by an operator: answers wait for that.
fn refused(name: &str, status: StatusCode, value: Option<&Value>) -> ApiError {
    let code = value.and_then(|value| value["code"].as_u64()).unwrap_or_default();
    let said = value.and_then(|value| value["message"].as_str()).unwrap_or("no reason");
    let words = format!("{name}: {status}: {}", said.chars().take(200).collect::<String>());
    let error = match status {
        StatusCode::UNAUTHORIZED if code != codes::INVALID_WEBHOOK_TOKEN => PlatformError::Failed(words),
        status if status.is_client_error() => PlatformError::Refused(words),
        _ => PlatformError::Failed(words),
    };
    ApiError { code, error }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn api(base: &str) -> Api {
        Api::new(base, "1", "a.b.c").unwrap()
    }

    #[test]
    fn only_addresses_of_discord_are_fetched_or_given_the_token() {
        let (real, double) = (api("https://discord.com/api/v10/"), api("http://127.0.0.1:9850/api"));
        for (url, is_file) in [
            ("https://cdn.discordapp.com/attachments/1/2/a.txt?ex=1", true),
            ("https://media.discordapp.net/x", true),
            ("http://cdn.discordapp.com/x", false),
            ("https://cdn.discordapp.com:8443/x", false),
            ("https://cdn.discordapp.com.evil.example/x", false),
            ("https://cdn.discordapp.com@evil.example/x", false),
            ("file:///etc/passwd", false),
            ("x", false),
        ] {
            assert_eq!(real.is_file_url(url), is_file, "{url}");
        }
        assert!(double.is_file_url("http://127.0.0.1:9850/files/1") && !double.is_file_url("http://127.0.0.1:1/x"));
        for (url, fits) in [
            ("wss://gateway.discord.gg", true),
            ("wss://gateway-us-east1-b.discord.gg/", true),
            ("ws://gateway.discord.gg", false),
            ("wss://evildiscord.gg", false),
            ("wss://discord.gg.evil.example", false),
            ("ws://127.0.0.1:1", false),
        ] {
            assert_eq!(real.is_gateway(&Url::parse(url).unwrap()), fits, "{url}");
        }
        assert!(double.is_gateway(&Url::parse("ws://127.0.0.1:9851").unwrap()));
        assert!(!double.is_gateway(&Url::parse("ws://10.0.0.1:9851").unwrap()));
    }

    #[test]
    fn what_passes_or_can_be_mended_is_tried_again_and_what_discord_never_does_is_not() {
        let of = |status: u16, code: u64| {
            let value = json!({"code": code, "message": "No"});
            refused("post", StatusCode::from_u16(status).unwrap(), Some(&value))
        };
        for (status, code) in [(401, 0), (500, 0), (503, 0)] {
            assert!(matches!(of(status, code).error, PlatformError::Failed(_)), "{status}");
        }
        for (status, code) in [(400, 50_035), (403, 50_007), (404, 10_008), (401, codes::INVALID_WEBHOOK_TOKEN)] {
            let error = of(status, code);
            assert!(error.code == code && matches!(error.error, PlatformError::Refused(_)), "{status}");
        }
    }

    #[test]
    fn discord_is_waited_for_as_long_as_it_says_within_a_bound() {
        let none = HeaderMap::new();
        let of = |value: Value| too_many(Some(&value), &none);
        assert_eq!(of(json!({"retry_after": 1.5, "global": true})), (Duration::from_millis(1_500), true));
        assert_eq!(of(json!({"retry_after": 1e9})), (RETRY_AFTER_MAX, false));
        assert_eq!(of(json!({})), (WAIT_UNSAID, false));
        let field = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("7"))]);
        assert_eq!(too_many(None, &field), (Duration::from_secs(7), false));
    }
}
