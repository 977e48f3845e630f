//! This module has the verifier's verdict about a request, and the issuers whose tokens it accepts.

use forecourt_core::identity::Audience;
use forecourt_core::{Address, Sender};
use forecourt_jose::ProofError;
use http::HeaderValue;

use crate::api_keys::ApiKeyLimit;

/// Who sent a request, and what became of the credentials that came with it.
#[derive(Debug, Clone)]
pub struct VerifiedSender {
    /// The sender; anonymous when credentials did not hold.
    pub sender: Sender,
    /// Whether there were credentials, and whether they hold.
    pub presented: PresentedCredentials,
}

/// What a request brought to prove its sender. Forwarded evidence is no credential: when it does
/// not hold it is left out, and nothing else happens (REST 7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresentedCredentials {
    /// No credentials of a kind that is looked at here.
    Nothing,
    /// All of them hold.
    Valid,
    /// A token does not: worth a 401 with `invalid_token`.
    Invalid(ProofError),
    /// It brought an API key that holds, whose limit is used up.
    Limited {
        /// The limit of the key.
        limit: ApiKeyLimit,
        /// Seconds until it may be used again.
        retry_after_seconds: u64,
    },
    /// A signature over the request does not, and this is the check that failed. RFC 9421 3.2.
    InvalidSignature(ProofError),
}

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub struct Person {
    /// The sender of whatever their browser asks.
    pub sender: Sender,
    /// What to call them; their provider's words.
    pub name: String,
    /// The `Set-Cookie` that takes the place of their token, when that is due.
    pub cookie: Option<HeaderValue>,
}

impl Person {
    /// The sender of what their browser asks of `agent`: its evidence is meant for that one.
    pub fn asking(&self, agent: &Address) -> Sender {
        let mut sender = self.sender.clone();
        for evidence in &mut sender.identities {
            evidence.audience = Audience::One(agent.to_string());
        }
        sender
    }
}

/// An issuer whose bearer tokens are accepted, as cards name it.
#[derive(Debug, Clone, Copy)]
pub struct TokenIssuer<'a> {
    /// The `iss` of its tokens.
    pub issuer: &'a str,
    /// The `aud` values that mean this host.
    pub audience: &'a [String],
    /// Where its keys are, unless they are written down.
    pub jwks_url: Option<&'a str>,
}
