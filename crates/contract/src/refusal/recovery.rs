//! This module says what a caller can do after a refusal. Section 11.

use std::fmt;

use super::{IdentityRefusal, NotAllowed, Refusal};
use crate::agreement::ContractRefusal;
use crate::schema::Violation;
use crate::scope::Scope;

/// What a caller can do about a refusal. Wires spell it in their own way; its sentence is the same over all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recovery<'a> {
    /// Take one of these methods, the likeliest first.
    TakeMethod(&'a [String]),
    /// Look what there is here.
    ListEndpoints,
    /// Say who calls.
    Identify,
    /// Bring a bearer token.
    ShowToken,
    /// Call the path by one of the methods that it takes.
    CallOtherwise,
    /// Change this in the input.
    Change(&'a Violation),
    /// Claim these scopes.
    Claim(&'a [Scope]),
    /// Leave these scopes out of the claim.
    Unclaim(&'a [Scope]),
    /// Have these scopes granted.
    Obtain(&'a [Scope]),
    /// Try again later.
    TryLater,
}

impl Refusal {
    /// What the caller can do about it, where that is known.
    pub fn recovery(&self) -> Option<Recovery<'_>> {
        Some(match self {
            Self::Method { suggestions, .. } if !suggestions.is_empty() => Recovery::TakeMethod(suggestions),
            Self::NotFound(_) => Recovery::ListEndpoints,
            Self::Identity(IdentityRefusal::Missing | IdentityRefusal::Unknown) => Recovery::Identify,
            Self::Identity(IdentityRefusal::NoToken) => Recovery::ShowToken,
            Self::NotAllowed { allowed_methods, why, .. }
                if !allowed_methods.is_empty() && *why != NotAllowed::NotImplemented =>
            {
                Recovery::CallOtherwise
            }
            Self::Input { violation, .. } => Recovery::Change(violation),
            Self::ScopeAbsent { required, .. } => Recovery::Claim(required),
            Self::ScopeClaim { excess, .. } => Recovery::Unclaim(excess),
            Self::Scope { missing, .. } => Recovery::Obtain(missing),
            Self::Busy { .. } | Self::Standing { is_final: false, .. } => Recovery::TryLater,
            Self::Contract { refusal, .. } => return of_contract(refusal),
            Self::Step { failed, .. } => return failed.refusal.recovery(),
            Self::Method { .. }
            | Self::Path { .. }
            | Self::Standing { .. }
            | Self::NotAllowed { .. }
            | Self::Wildcards(_)
            | Self::Declared { .. }
            | Self::Native(_)
            | Self::Late { .. }
            | Self::Broken { .. } => return None,
        })
    }
}

impl fmt::Display for Recovery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakeMethod(methods) => write!(f, "call it by {}", listed(methods.iter().map(String::as_str))),
            Self::ListEndpoints => f.write_str("ask which endpoints there are here"),
            Self::Identify => f.write_str("say who calls, by a name that is known here"),
            Self::ShowToken => f.write_str("send a bearer token"),
            Self::CallOtherwise => f.write_str("call the path by a method that it takes"),
            Self::Change(violation) if violation.field.is_empty() => f.write_str("change the input"),
            Self::Change(_) => f.write_str("change the field that is named"),
            Self::Claim([]) => f.write_str("claim the scopes that the call needs"),
            Self::Claim(scopes) => write!(f, "claim {}", listed(scopes.iter().map(Scope::as_str))),
            Self::Unclaim(scopes) => write!(f, "leave out {}", listed(scopes.iter().map(Scope::as_str))),
            Self::Obtain(scopes) => write!(f, "have {} granted", listed(scopes.iter().map(Scope::as_str))),
            Self::TryLater => f.write_str("try again later"),
        }
    }
}

fn of_contract(refusal: &ContractRefusal) -> Option<Recovery<'_>> {
    match refusal {
        ContractRefusal::Scope { missing } => Some(Recovery::Obtain(missing)),
        ContractRefusal::TooMany { .. } | ContractRefusal::Unavailable => Some(Recovery::TryLater),
        ContractRefusal::Unknown { .. }
        | ContractRefusal::OtherPair { .. }
        | ContractRefusal::NoContract { .. }
        | ContractRefusal::Available(_) => None,
    }
}

fn listed<'t>(names: impl Iterator<Item = &'t str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
