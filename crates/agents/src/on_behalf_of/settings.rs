//! The table `on_behalf_of` of a backend.

use std::path::PathBuf;
use std::sync::Arc;

use forecourt_settings::{Problems, Section, client_secret};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;
use zeroize::Zeroizing;

use super::TokenExchange;
use super::cache::TokenCache;
use crate::backend::Context;
use crate::settings::upstream_url;

const KEY: &str = "on_behalf_of";

/// Whose name the service behind an agent is asked in: the caller's, with a token that is exchanged for the
/// caller's (RFC 8693). Callers without a bearer token are refused then. The caller's own token is never sent to the
/// service.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnBehalfOfSettings {
    /// Where tokens are exchanged: the https URL of the token endpoint; http on loopback.
    token_endpoint: String,
    /// The service that the new token is for, as the token endpoint calls it. This, `resource` or both.
    audience: Option<String>,
    /// The URL of the service that the new token is for (RFC 8707).
    resource: Option<String>,
    /// The scopes of the new token, with spaces between them; those that the token endpoint chooses when absent.
    scope: Option<String>,
    /// Who this host is to the token endpoint.
    client_id: String,
    /// Its secret there, such as `"${CRM_SECRET}"`. Either this or `client_secret_file`.
    client_secret: Option<String>,
    /// A file with the secret, relative to the deployment folder.
    client_secret_file: Option<PathBuf>,
}

/// The checked settings.
pub(super) struct TokenEndpoint {
    pub(super) url: String,
    /// What is asked for besides the exchange itself: names and values.
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) client_id: String,
    pub(super) client_secret: Zeroizing<String>,
}

/// Checks the table of a backend, whose own `headers` are given; `None` without one.
pub fn read(
    settings: Option<OnBehalfOfSettings>,
    section: &Section,
    headers: &HeaderMap,
    context: &Context,
    problems: &mut Problems,
) -> Option<Arc<TokenExchange>> {
    let settings = settings?;
    let before = problems.len();
    let mut wrong = |reason: String| problems.push(section.problem(Some(KEY), reason));
    if headers.contains_key(AUTHORIZATION) {
        wrong("`Authorization` in `headers` and `on_behalf_of` exclude each other".to_owned());
    }
    if settings.audience.is_none() && settings.resource.is_none() {
        wrong("`on_behalf_of` needs `audience` or `resource`, or the new token would be for anybody".to_owned());
    }
    if !is_safe(&settings.token_endpoint) {
        wrong("`token_endpoint` must be https, as tokens and a secret are sent there; http is for loopback".to_owned());
    }
    let given = client_secret(settings.client_secret, settings.client_secret_file.as_deref(), &context.folder);
    let secret = match given {
        Ok(Some(secret)) => Some(secret),
        Ok(None) => {
            wrong("give either `client_secret` or `client_secret_file` in `on_behalf_of`".to_owned());
            None
        }
        Err((_, reason)) => {
            wrong(format!("{reason} in `on_behalf_of`"));
            None
        }
    };
    if settings.client_id.is_empty() {
        wrong("`client_id` in `on_behalf_of` must not be empty".to_owned());
    }
    upstream_url(section, KEY, &settings.token_endpoint, problems);
    let secret = secret.filter(|_| problems.len() == before)?;
    let fields = [("audience", settings.audience), ("resource", settings.resource), ("scope", settings.scope)];
    let endpoint = TokenEndpoint {
        url: settings.token_endpoint,
        fields: fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        client_id: settings.client_id,
        client_secret: Zeroizing::new(secret),
    };
    Some(Arc::new(TokenExchange {
        endpoint,
        egress: context.egress.clone(),
        clock: context.clock.clone(),
        host: context.host.clone(),
        cache: Mutex::new(TokenCache::default()),
    }))
}

/// Whether nobody in between can read what is sent there.
fn is_safe(url: &str) -> bool {
    // A name such as `localhost` does not count: only an address literal says that the request stays on this machine.
    Url::parse(url).is_ok_and(|url| match url.host() {
        Some(url::Host::Ipv4(address)) => url.scheme() == "https" || address.is_loopback(),
        Some(url::Host::Ipv6(address)) => url.scheme() == "https" || address.is_loopback(),
        _ => url.scheme() == "https",
    })
}
