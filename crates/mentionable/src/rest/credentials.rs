//! Which fields carry which proof, and what a bad one gets. REST 7.

use std::sync::LazyLock;

use bytes::Bytes;
use forecourt_core::policy::{AuthChallenge, Kind};
use forecourt_core::{PolicyPart, Sender, Timestamp};
use forecourt_identity::{FROM_HEADER, Presented, RequestProof, Verified};
use http::HeaderName;
use http::header::AUTHORIZATION;

use super::asked::Asked;

/// The fields that can say anything about a sender. The last but one are legacy names. REST 7.2 to
/// 7.4.
static FIELDS: LazyLock<[HeaderName; 6]> = LazyLock::new(|| {
    [
        AUTHORIZATION,
        HeaderName::from_static("signature-input"),
        HeaderName::from_static("mentionable-identity-evidence"),
        HeaderName::from_static("mentionable-identity"),
        HeaderName::from_static("x-mentionable-identity"),
        FROM_HEADER,
    ]
});

/// Who sent a request. Anonymous when it brings no proof; refused when it brings one that does not
/// hold, since whoever shows credentials wants to be known by them.
pub(crate) async fn sender(asked: &Asked<'_>, body: Option<&Bytes>, now: Timestamp) -> Result<Sender, Box<PolicyPart>> {
    let says_nothing = !FIELDS.iter().any(|field| asked.head.headers.contains_key(field));
    let sender = match says_nothing {
        true => Sender::anonymous(),
        false => Box::pin(proven(asked, body, now)).await?,
    };
    Ok(Sender { peer: asked.peer(), ..sender })
}

async fn proven(asked: &Asked<'_>, body: Option<&Bytes>, now: Timestamp) -> Result<Sender, Box<PolicyPart>> {
    let site = asked.rest.host.site();
    let proof = RequestProof {
        method: asked.head.method.as_str(),
        target_uri: &asked.url(),
        authority: site.canonical_host(),
        path: asked.head.uri.path(),
        query: asked.head.uri.query(),
        headers: &asked.head.headers,
        body: body.map(|body| &**body),
        agent: &asked.door.card.address,
        now,
    };
    match asked.rest.verifier.verify(&proof).await {
        Verified { sender, presented: Presented::Nothing | Presented::Valid } => Ok(sender),
        Verified { presented: Presented::Invalid(fault), .. } => {
            tracing::info!(%fault, "credentials did not hold");
            Err(Box::new(invalid(site.canonical_host())))
        }
    }
}

/// The refusal of credentials that don't hold. It does not say why: that helps guessing. RFC 6750 3.1.
fn invalid(realm: &str) -> PolicyPart {
    let challenge = AuthChallenge::new("Bearer").with("realm", realm).with("error", "invalid_token");
    let kind = Kind::Unauthorized { auth_challenges: vec![challenge] };
    let message = "The credentials of this request do not hold. Send valid ones, or none at all.";
    PolicyPart { code: Some("oauth:invalid_token".to_owned()), ..PolicyPart::new(kind, message) }
}
