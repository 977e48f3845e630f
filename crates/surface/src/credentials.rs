//! This module finds out who sent an HTTP request, and refuses proofs that do not hold. REST 7. Verifying a proof is
//! the crate `identity`'s.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::LazyLock;

use forecourt_core::Site;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Address, ClientAddr, MaybeBoxed, PolicyPart, Sender, Timestamp, at_once, in_time};
use forecourt_identity::api_keys::ApiKeyLimit;
use forecourt_identity::bots::VerifiedBot;
use forecourt_identity::{FROM_HEADER, PresentedCredentials, ProofError, RequestProof, VerifiedSender, Verifier};
use futures::future::BoxFuture;
use http::HeaderName;
use http::header::AUTHORIZATION;
use http::request::Parts;

/// The header fields that can say anything about a sender. `mentionable-identity` and `x-mentionable-identity` are
/// legacy names of the evidence. REST 7.2 to 7.4.
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

/// A request that may bring proof of its sender.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Its head.
    pub head: &'a Parts,
    /// Its raw body, which signatures cover; `None` when there is none.
    pub body: Option<&'a [u8]>,
    /// The agent that is spoken to: the audience of evidence.
    pub agent: &'a Address,
    /// When it arrived.
    pub now: Timestamp,
}

impl Request<'_> {
    /// The network address behind it, when a listener said so.
    pub fn peer(&self) -> Option<IpAddr> {
        self.head.extensions.get::<ClientAddr>().map(|client| client.0)
    }
}

/// The sender of a request: anonymous when it carries no proof. Fails with a refusal when a proof does not hold: a
/// client that sends credentials must not silently get what an anonymous caller gets.
pub fn sender<'a>(
    verifier: &'a Verifier,
    site: &'a Site,
    request: Request<'a>,
) -> MaybeBoxed<'a, Result<Sender, Box<PolicyPart>>> {
    // Over the fields that are there, of which most requests have few: looking up each of ours would hash six names.
    let says_nothing = !request.head.headers.keys().any(|name| FIELDS.contains(name));
    match says_nothing {
        true => {
            let bot = verifier.bots().named(&request.head.headers).map(Box::new);
            at_once(Ok(Sender { peer: request.peer(), bot, ..Sender::anonymous() }))
        }
        false => in_time(|| proven(verifier, site, request)),
    }
}

/// The crawler that signed a request, for whoever stands before the wires: put into the extensions of the request, it
/// tells [`sender`] what came of its signature, whose nonce is used up. Everything else that the request proves is
/// verified by the wire, for the agent that is spoken to. Fails with a refusal when the signature does not hold.
pub fn crawler<'a>(
    verifier: &'a Verifier,
    site: &'a Site,
    request: Request<'a>,
) -> BoxFuture<'a, Result<Option<VerifiedBot>, Box<PolicyPart>>> {
    Box::pin(async move {
        let target = ProofTarget::of(site, request.head);
        let found = verifier.crawler(&target.proof(site, request)).await;
        found.transpose().map_err(|fault| Box::new(unheld(site.canonical_host(), fault)))
    })
}

/// The place of a request as its client wrote it, which proofs speak of.
struct ProofTarget<'a> {
    uri: String,
    path: Cow<'a, str>,
}

impl<'a> ProofTarget<'a> {
    /// From configuration, never from `Host`: a signature made for another host must not hold here.
    fn of(site: &Site, head: &'a Parts) -> Self {
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        Self { uri: site.url(target), path: site.path(head.uri.path()) }
    }

    fn proof(&'a self, site: &'a Site, request: Request<'a>) -> RequestProof<'a> {
        let Request { head, body, agent, now } = request;
        RequestProof {
            method: head.method.as_str(),
            target_uri: &self.uri,
            authority: site.canonical_host(),
            path: &self.path,
            query: head.uri.query(),
            headers: &head.headers,
            body,
            agent,
            now,
        }
    }
}

async fn proven(verifier: &Verifier, site: &Site, request: Request<'_>) -> Result<Sender, Box<PolicyPart>> {
    let (peer, head) = (request.peer(), request.head);
    let target = ProofTarget::of(site, head);
    let proof = target.proof(site, request);
    let VerifiedSender { sender, presented } = match head.extensions.get::<VerifiedBot>() {
        Some(crawler) => verifier.verify_beside(crawler, &proof).await,
        None => verifier.verify(&proof).await,
    };
    // Before the two below: `KeysUnavailable` is also an invalid proof, and a 401 would have the client throw its token
    // away.
    if let Some(part) = refused_for_now(&presented) {
        return Err(Box::new(part));
    }
    match presented {
        PresentedCredentials::Invalid(fault) => {
            tracing::info!(%fault, "credentials did not hold");
            Err(Box::new(invalid(site.canonical_host())))
        }
        PresentedCredentials::InvalidSignature(fault) => Err(Box::new(unheld(site.canonical_host(), fault))),
        _ => {
            // What is proven comes before what is said.
            let bot = sender.bot.clone().or_else(|| verifier.bots().named(&head.headers).map(Box::new));
            Ok(Sender { peer, bot, ..sender })
        }
    }
}

/// The refusal of credentials that may be fine later: they can't be checked now, or their limit is used up. `None` when
/// they hold, and when they never will.
pub fn refused_for_now(presented: &PresentedCredentials) -> Option<PolicyPart> {
    match presented {
        PresentedCredentials::Limited { limit, retry_after_seconds } => Some(over_limit(*limit, *retry_after_seconds)),
        PresentedCredentials::Invalid(ProofError::KeysUnavailable)
        | PresentedCredentials::InvalidSignature(ProofError::KeysUnavailable) => Some(unchecked()),
        _ => None,
    }
}

/// The refusal of a use of an API key beyond its limit, which is named. PolicyPart 3.3.2.
fn over_limit(limit: ApiKeyLimit, seconds: u64) -> PolicyPart {
    let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(seconds) };
    let message = format!("The limit of this API key, {}, is used up. Try again in {seconds} s.", limit.in_words());
    PolicyPart { code: Some("mentionable:rate_limited".to_owned()), ..PolicyPart::new(kind, message) }
}

/// The 503 while the keys to check credentials with can't be fetched. Not `invalid_token`, as the credentials may be
/// fine.
fn unchecked() -> PolicyPart {
    let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: None };
    PolicyPart::new(kind, "The credentials of this request can't be checked at the moment. Try again later.")
}

/// The refusal of a token that does not hold. It does not say why: that helps guessing. RFC 6750 3.1.
fn invalid(realm: &str) -> PolicyPart {
    let challenge = AuthChallenge::new("Bearer").with("realm", realm).with("error", "invalid_token");
    let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
    let message = "The credentials of this request do not hold. Send valid ones, or none at all.";
    PolicyPart { code: Some("oauth:invalid_token".to_owned()), ..PolicyPart::new(kind, message) }
}

/// The refusal of a request whose signature does not hold, or can't be checked now.
fn unheld(realm: &str, fault: ProofError) -> PolicyPart {
    match fault {
        ProofError::KeysUnavailable => unchecked(),
        fault => {
            tracing::info!(%fault, "a signature did not hold");
            unsigned(realm, fault)
        }
    }
}

/// The refusal of a signature that does not hold, which names the check that failed: everything that a signature is
/// checked for is in the request itself, and whoever signs can't mend it without. RFC 9421 3.2.
fn unsigned(realm: &str, fault: ProofError) -> PolicyPart {
    let challenge = AuthChallenge::new("Bearer").with("realm", realm);
    let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
    let message = format!("The signature of this request does not hold: {fault}.");
    PolicyPart { code: Some("http-signature:invalid".to_owned()), ..PolicyPart::new(kind, message) }
}
