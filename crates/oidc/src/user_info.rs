//! What the provider says of a person beside the ID token. OpenID Connect Core 5.3.

use forecourt_core::{Timestamp, json};
use forecourt_egress::UpstreamRequest;
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION};
use serde_json::{Map, Value};

use crate::client::ClientSettings;
use crate::discovery::Metadata;
use crate::exchange::{Answer, Exchange};
use crate::id_token::ProviderToken;

/// Asks for the claims of the person whose access token this is, which must be those of `subject`. `None`: the provider
/// has no such endpoint. The reason of a failure is for our log.
pub(crate) async fn claims(
    exchange: &Exchange,
    (metadata, client): (&Metadata, &ClientSettings),
    (access_token, subject): (&str, &str),
    now: Timestamp,
) -> Option<Result<Map<String, Value>, String>> {
    let endpoint = metadata.userinfo_endpoint.as_ref()?;
    let Ok(mut proof) = HeaderValue::from_str(&format!("Bearer {access_token}")) else {
        return Some(Err("its access token can't be sent".to_owned()));
    };
    proof.set_sensitive(true);
    let request = UpstreamRequest::get(endpoint.as_str())
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(AUTHORIZATION, proof);
    let told = match exchange.ask(request).await {
        Ok(answer) => read(&answer, metadata, client, now),
        Err(error) => Err(error.log_reason()),
    };
    Some(told.and_then(|told| match told.get("sub").and_then(Value::as_str) == Some(subject) {
        true => Ok(told),
        // 5.3.2: what it says of somebody else must not be used.
        false => Err("it speaks of somebody else".to_owned()),
    }))
}

/// The claims of an answer: JSON, or a token that the provider has signed for us. 5.3.2.
fn read(
    answer: &Answer,
    metadata: &Metadata,
    client: &ClientSettings,
    now: Timestamp,
) -> Result<Map<String, Value>, String> {
    if !answer.is_ok() {
        return Err(format!("it answered {}", answer.status()));
    }
    if answer.is("application/jwt") {
        let token = std::str::from_utf8(&answer.body).map_err(|error| error.to_string())?;
        let token = ProviderToken::parse(token).map_err(|error| error.to_string())?;
        let parties = (client.issuer.as_str(), client.client_id.as_str());
        // Issuer and audience are checked and not the times: answers of this kind need not have any (Core 5.3.2).
        return token.claims_of_provider(&metadata.keys, parties, now).map_err(|error| error.to_string());
    }
    match json::parse(&answer.body)? {
        Value::Object(told) if answer.may_be(&["application/json"]) => Ok(told),
        _ => Err("it answered with something else than claims".to_owned()),
    }
}
