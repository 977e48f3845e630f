//! This module writes the challenge for a call that a token, or one with more scopes, would let pass. RFC 6750 3.

use forecourt_contract::refusal::IdentityRefusal;
use forecourt_contract::{Refusal, Scope};
use forecourt_core::Site;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{PolicyPart, Sender};

use crate::refusal::INSUFFICIENT_SCOPE;

/// The refusal of a sender who should sign in, or be granted `scopes`, which are all that the call needs:
/// one that asked for the missing ones alone would lose those that it has.
pub(super) fn part(refusal: &Refusal, scopes: &[Scope], site: &Site, sender: &Sender) -> Option<Box<PolicyPart>> {
    let bearer = AuthChallenge::new("Bearer").with("realm", site.canonical_host());
    let (words, challenge) = match refusal {
        Refusal::Identity(IdentityRefusal::Missing) if !sender.verified => {
            ("This endpoint is for callers who say who they are.".to_owned(), bearer)
        }
        Refusal::Identity(IdentityRefusal::NoToken) => {
            ("This endpoint is for callers with a bearer token.".to_owned(), bearer)
        }
        Refusal::Scope { .. } | Refusal::ScopeAbsent { .. } if !sender.verified => {
            ("This endpoint is for callers who were granted its scopes.".to_owned(), bearer)
        }
        Refusal::Scope { .. } => (refusal.to_string(), bearer.with("error", INSUFFICIENT_SCOPE)),
        _ => return None,
    };
    // All of them, not the missing ones: a client that asked for those alone would lose the scopes that it has.
    let needed = scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let challenge = if needed.is_empty() { challenge } else { challenge.with("scope", needed) };
    Some(Box::new(PolicyPart::new(RefusalKind::Unauthorized { auth_challenges: vec![challenge] }, words)))
}
