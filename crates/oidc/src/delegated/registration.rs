//! Who this host is at an authorization server that did not know it before. RFC 7591.

use std::fmt;

use forecourt_egress::UpstreamRequest;
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::metadata::AuthorizationServer;
use crate::error::OidcError;
use crate::exchange::Exchange;
use crate::limits::CREDENTIAL_BYTES_MAX;
use crate::report::broken;

/// Who this host is at an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Its name there.
    pub client_id: String,
    /// The secret that goes with it. Without one it is a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// How the server wants the secret, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_endpoint_auth_method: Option<String>,
}

/// Never prints the secret.
impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl Registration {
    /// One that the operator has made by hand.
    pub fn configured(client_id: String, client_secret: Option<String>) -> Self {
        Self { client_id, client_secret, token_endpoint_auth_method: None }
    }
}

/// Registers this host.
pub(super) async fn register(
    exchange: &Exchange,
    server: &AuthorizationServer,
    (name, redirect_uri): (&str, &str),
) -> Result<Registration, OidcError> {
    let Some(endpoint) = &server.registration_endpoint else {
        return Err(broken("it registers nobody by itself: `client_id` of `sign_in` must say who this host is there"));
    };
    let ways = server.token_endpoint_auth_methods_supported.as_deref().unwrap_or_default();
    let knows = |way: &&str| ways.iter().any(|known| known == way);
    // Libraries of servers were seen that know a client by the form alone, whatever they say of themselves.
    let way = ["none", "client_secret_post", "client_secret_basic"].into_iter().find(knows);
    let wanted = json!({
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        // RFC 8414 2: what is left out means `client_secret_basic`.
        "token_endpoint_auth_method": way.unwrap_or("client_secret_basic"),
    });
    let request = UpstreamRequest::post(endpoint.as_str(), wanted.to_string())
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let answer = exchange.ask(request).await.map_err(|error| broken(&error.log_reason()))?;
    if !answer.status().is_success() {
        return Err(broken(&format!("it did not register this host: {}", answer.status())));
    }
    let made: Registration =
        serde_json::from_slice(&answer.body).map_err(|_| broken("what it registered can't be read"))?;
    let secret_bytes = made.client_secret.as_ref().map_or(0, String::len);
    match made.client_id.is_empty()
        || made.client_id.len() > CREDENTIAL_BYTES_MAX
        || secret_bytes > CREDENTIAL_BYTES_MAX
    {
        true => Err(broken("what it registered has no name, or one that is too long")),
        false => Ok(made),
    }
}
