//! A code for tokens. OpenID Connect Core 3.1.3, RFC 6749 4.1.3, RFC 7636 4.5.

use forecourt_egress::UpstreamRequest;
use serde::Deserialize;
use url::Url;

use crate::client::ClientSettings;
use crate::discovery::Metadata;
use crate::error::OidcError;
use crate::exchange::{Answer, Exchange};
use crate::report::{broken, invalid};
use crate::token_request::{ClientProof, is_posted, token_request};

/// What the provider gives for a code. RFC 6749 5.1.
#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access_token: String,
    // Required by RFC 6749; what it says is looked at by nobody, since no resource but the provider is asked.
    #[serde(rename = "token_type")]
    _token_type: String,
    pub(crate) id_token: Option<String>,
}

/// Why it gives none. RFC 6749 5.2.
#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

/// What a code is exchanged with.
pub(crate) struct CodeGrant<'a> {
    pub(crate) code: &'a str,
    pub(crate) verifier: &'a str,
    pub(crate) redirect_uri: &'a str,
}

/// Exchanges a code.
///
/// # Errors
/// The provider can't be asked, or refuses it.
pub(crate) async fn exchange(
    exchange: &Exchange,
    (metadata, client): (&Metadata, &ClientSettings),
    grant: CodeGrant<'_>,
) -> Result<Tokens, OidcError> {
    let endpoint = metadata.token_endpoint.as_ref().ok_or_else(|| broken("it exchanges no codes"))?;
    let ways = metadata.token_endpoint_auth_methods_supported.as_deref();
    let request = request(endpoint, ways, client, &grant);
    let answer = exchange.ask(request).await.map_err(|error| broken(&error.log_reason()))?;
    read(&answer)
}

fn read(answer: &Answer) -> Result<Tokens, OidcError> {
    if answer.is_ok() && answer.may_be(&["application/json"]) {
        return serde_json::from_slice(&answer.body).map_err(|_| broken("its answer for a code can't be read"));
    }
    match serde_json::from_slice(&answer.body) {
        // `invalid_grant` is the browser's: a code that was swapped, used or is too old. All else is ours.
        Ok(TokenRefusal { error }) if !answer.is_ok() => Err(invalid(&error)),
        _ => Err(broken(&format!("its answer for a code can't be read: {}", answer.status()))),
    }
}

/// The request for tokens.
fn request(endpoint: &Url, ways: Option<&[String]>, client: &ClientSettings, grant: &CodeGrant<'_>) -> UpstreamRequest {
    let secret = client.client_secret.as_deref();
    let proof = ClientProof { id: &client.client_id, secret, is_posted: is_posted(ways) };
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", grant.code),
        ("code_verifier", grant.verifier),
        ("redirect_uri", grant.redirect_uri),
    ];
    token_request(endpoint, &proof, &fields)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use http::header::AUTHORIZATION;

    use super::*;

    fn sent(ways: Option<&[&str]>, secret: Option<&str>) -> (HashMap<String, String>, Option<String>) {
        let client = ClientSettings {
            issuer: "https://a.example".to_owned(),
            client_id: "u s".to_owned(),
            client_secret: secret.map(str::to_owned),
            scopes: Vec::new(),
        };
        let ways: Option<Vec<String>> = ways.map(|ways| ways.iter().map(ToString::to_string).collect());
        let grant = CodeGrant { code: "c&d", verifier: "v", redirect_uri: "https://us.example/back" };
        let request = request(&"https://a.example/token".parse().unwrap(), ways.as_deref(), &client, &grant);
        let proof = request.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        (url::form_urlencoded::parse(&request.body).into_owned().collect(), proof)
    }

    #[test]
    fn rfc6749_4_1_3_a_code_goes_with_its_verifier_and_its_way_back() {
        let (form, proof) = sent(None, None);
        let of = |name: &str| form[name].as_str();
        assert_eq!((of("grant_type"), of("code"), of("code_verifier")), ("authorization_code", "c&d", "v"));
        assert_eq!((of("redirect_uri"), of("client_id")), ("https://us.example/back", "u s"));
        assert_eq!((proof, form.get("client_secret")), (None, None));
    }

    #[test]
    fn core9_the_secret_goes_the_way_that_the_provider_takes() {
        let basic = Some(format!("Basic {}", STANDARD.encode("u+s:h%3Aush")));
        let both = ["client_secret_post", "client_secret_basic"];
        for ways in [None, Some(both.as_slice()), Some(&both[1..]), Some(&["private_key_jwt"][..])] {
            let (form, proof) = sent(ways, Some("h:ush"));
            assert_eq!((proof, form.get("client_id"), form.get("client_secret")), (basic.clone(), None, None));
        }
        let (form, proof) = sent(Some(&both[..1]), Some("h:ush"));
        assert_eq!((form["client_id"].as_str(), form["client_secret"].as_str(), proof), ("u s", "h:ush", None));
    }
}
