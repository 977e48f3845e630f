//! A request to a token endpoint, in which this host proves who it is. RFC 6749 2.3.1, OpenID Connect Core 9.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_egress::UpstreamRequest;
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How a client proves who it is.
pub(crate) struct ClientProof<'a> {
    pub(crate) id: &'a str,
    /// A public client has none: PKCE alone ties a code to who asked for it.
    pub(crate) secret: Option<&'a str>,
    /// Whether the secret stands in the form instead of a header field.
    pub(crate) is_posted: bool,
}

/// Whether a secret stands in the form, by the ways that a server lists. Basic is the default (Core 9), and is also
/// tried where neither way is listed.
pub(crate) fn is_posted(ways: Option<&[String]>) -> bool {
    let knows = |way: &str| ways.is_some_and(|ways| ways.iter().any(|known| known == way));
    knows("client_secret_post") && !knows("client_secret_basic")
}

/// The request with these fields.
pub(crate) fn token_request(endpoint: &Url, proof: &ClientProof<'_>, fields: &[(&str, &str)]) -> UpstreamRequest {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields);
    let shown = proof.secret.filter(|_| !proof.is_posted);
    if shown.is_none() {
        form.append_pair("client_id", proof.id);
        form.extend_pairs(proof.secret.map(|secret| ("client_secret", secret)));
    }
    let mut request = UpstreamRequest::post(endpoint.as_str(), form.finish())
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let field = shown.and_then(|secret| basic(proof.id, secret));
    request.headers.extend(field.map(|field| (AUTHORIZATION, field)));
    request
}

/// Name and secret, each encoded as in a form before they are joined: other than in HTTP's own Basic.
fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}
