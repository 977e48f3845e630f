//! This module has the refusals of calls, with what a caller needs to do better. Section 11.
//!
//! They have no status numbers: each protocol spells them in one `match` without a wildcard arm, so that a new refusal
//! does not compile until every protocol has a word for it.

mod codes;
mod failed_step;
mod native;
mod recovery;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

pub use codes::codes;
pub use failed_step::FailedStep;
pub use native::{NativeRefusal, NativeRefusalKind};
pub use recovery::Recovery;

use crate::agreement::ContractRefusal;
use crate::limits::ECHO_CHARS_MAX;
use crate::method::Method;
use crate::schema::Violation;
use crate::scope::Scope;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The method is not in the catalog.
    Method {
        /// As it was sent.
        method: String,
        /// What may have been meant, the likeliest first.
        suggestions: Vec<String>,
        /// The catalog that was consulted.
        catalog_version: String,
    },
    /// The path breaks the grammar.
    Path {
        /// As it was sent.
        path: String,
        /// The offending segment; "" for what follows a trailing slash.
        segment: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing is at the path.
    NotFound(Pair),
    /// The caller's name is missing, unknown, or without its token.
    Identity(IdentityRefusal),
    /// The caller is out of service.
    Standing {
        /// The caller.
        agent_id: Option<String>,
        /// Revoked for good, and not suspended for now.
        is_final: bool,
    },
    /// The path exists, but not for this method.
    NotAllowed {
        /// What was called.
        pair: Pair,
        /// Why not.
        why: NotAllowed,
        /// The methods that the path may be called by.
        allowed_methods: BTreeSet<Method>,
        /// Methods that are taken for others at the path.
        redirects: BTreeMap<Method, Method>,
    },
    /// The call needs the consent of both sides, and one is missing. Section 16.4.
    Wildcards(Pair),
    /// The input is not what the endpoint takes.
    Input {
        /// What was called.
        pair: Pair,
        /// What to change.
        violation: Violation,
    },
    /// The call claims no scope, and must.
    ScopeAbsent {
        /// What was called.
        pair: Pair,
        /// What it would have to claim; nothing where the pair needs no scope.
        required: Vec<Scope>,
    },
    /// The call claims more than the caller's identity document declares.
    ScopeClaim {
        /// What was called.
        pair: Pair,
        /// What is claimed beyond it.
        excess: Vec<Scope>,
    },
    /// The caller may not do this.
    Scope {
        /// What was called.
        pair: Pair,
        /// What it would need besides.
        missing: Vec<Scope>,
    },
    /// The endpoint ended in one of its declared errors.
    Declared {
        /// What was called.
        pair: Pair,
        /// The error's name.
        code: String,
        /// A sentence for the caller.
        message: String,
        /// What helps to recover; null when there is nothing.
        details: Value,
    },
    /// The endpoint is made of calls, and one of them was refused. It is the declared error
    /// `composition_failed`. Section 12.1.
    Step {
        /// What was called.
        pair: Pair,
        /// The call inside it.
        failed: Box<FailedStep>,
    },
    /// The call presents a contract that does not hold, or a contract is offered first. Section 10.1.
    Contract {
        /// What was called.
        pair: Pair,
        /// Why it is not served under one, or not yet.
        refusal: Box<ContractRefusal>,
    },
    /// The host refused a method of its own, in the words of the protocol that has it. Section 6.1, tier A.
    Native(Box<NativeRefusal>),
    /// So much is being done that the call did not begin. The cause is for the log alone.
    Busy {
        /// What was called.
        pair: Pair,
        /// For the log alone.
        cause: String,
    },
    /// The endpoint did not end in its time; what it did until then may stand. The cause is for the log
    /// alone.
    Late {
        /// What was called.
        pair: Pair,
        /// For the log alone.
        cause: String,
    },
    /// The endpoint broke its promise. The caller learns which kind, the log learns the cause.
    Broken {
        /// What was called.
        pair: Pair,
        /// The kind.
        kind: BrokenContract,
        /// For the log alone.
        cause: String,
    },
}

/// A method at a path, as the call goes on after aliases and redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The method.
    pub method: Method,
    /// The path.
    pub path: String,
}

/// What is wrong with a caller's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityRefusal {
    /// There is none, and it is needed.
    Missing,
    /// It is not known here.
    Unknown,
    /// No bearer token came with it, and the method needs one.
    NoToken,
}

/// Why a method is not allowed at a path that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAllowed {
    /// The path has other methods.
    OtherMethods,
    /// The host's policy refuses the method.
    Policy,
    /// The host would answer the pair itself, and does not.
    NotImplemented,
}

/// How an endpoint breaks its promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenContract {
    /// Its result is not what it declares. Section 13.3.
    Output,
    /// It ended in an error that it does not declare.
    UndeclaredError,
    /// It failed.
    Crashed,
}

impl Refusal {
    /// The kind, as a word of a closed set: for metrics and records.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Method { .. } => "method-violation",
            Self::Path { .. } => "endpoint-violation",
            Self::NotFound(_) => "endpoint-not-found",
            Self::Identity(IdentityRefusal::Missing | IdentityRefusal::Unknown) => "agent-unauthenticated",
            Self::Identity(IdentityRefusal::NoToken) => "oauth-required",
            Self::Standing { is_final: true, .. } => "agent-revoked",
            Self::Standing { is_final: false, .. } => "agent-suspended",
            Self::NotAllowed { .. } => "method-not-allowed",
            Self::Wildcards(_) => "wildcards-required",
            Self::Input { .. } => "input-validation-failed",
            Self::ScopeAbsent { .. } => "scope-required",
            Self::ScopeClaim { .. } => "scope-claim-invalid",
            Self::Scope { .. } => "scope-violation",
            Self::Declared { .. } => "declared-error",
            Self::Step { .. } => "composition-failed",
            Self::Broken { kind: BrokenContract::Output, .. } => "output-validation-failed",
            Self::Broken { kind: BrokenContract::UndeclaredError, .. } => "undeclared-error-code",
            Self::Broken { kind: BrokenContract::Crashed, .. } => "handler-exception",
            Self::Contract { refusal, .. } => refusal.kind(),
            Self::Native(_) => "native-refused",
            Self::Busy { .. } => "handler-busy",
            Self::Late { .. } => "handler-timeout",
        }
    }

    /// The name by which a caller knows it: its own, for errors that have one, else its kind.
    pub fn code(&self) -> &str {
        match self {
            Self::Declared { code, .. } => code,
            Self::Native(refused) => &refused.code,
            other => other.kind(),
        }
    }

    /// Whether it is what came of the endpoint's own work, so that repeating the call would do it again.
    pub fn was_begun(&self) -> bool {
        matches!(self, Self::Declared { .. } | Self::Step { .. } | Self::Late { .. } | Self::Broken { .. })
    }

    /// The cause for the log, which the caller must not see.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Busy { cause, .. } | Self::Late { cause, .. } | Self::Broken { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    /// A sentence for the caller, the same over every wire: what to change, and nothing of the
    /// inside. What the caller sent is repeated in part only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { method, suggestions, catalog_version } => {
                write!(f, "`{}` is not a method of catalog {catalog_version}", start(method))?;
                if suggestions.is_empty() { Ok(()) } else { write!(f, "; did you mean {}?", suggestions.join(", ")) }
            }
            Self::Path { segment, reason, .. } => write!(f, "{reason} (at `{}`)", start(segment)),
            Self::NotFound(pair) => write!(f, "nothing is at {}", start(&pair.path)),
            Self::Identity(IdentityRefusal::Missing) => f.write_str("say which agent is calling"),
            Self::Identity(IdentityRefusal::Unknown) => f.write_str("the calling agent is not known here"),
            Self::Identity(IdentityRefusal::NoToken) => {
                f.write_str("this needs a bearer token, and none came with the call")
            }
            Self::Standing { is_final: true, .. } => f.write_str("the calling agent is out of service for good"),
            Self::Standing { is_final: false, .. } => f.write_str("the calling agent is out of service for now"),
            Self::NotAllowed { pair, why, allowed_methods, .. } => not_allowed(f, pair, *why, allowed_methods),
            Self::Wildcards(pair) => {
                let path = start(&pair.path);
                write!(f, "{} {path} is not declared, and calling it needs the consent of both sides", pair.method)
            }
            Self::Input { violation, .. } if violation.field.is_empty() => f.write_str(&violation.detail),
            Self::Input { violation, .. } => write!(f, "{} (at {})", violation.detail, start(&violation.field)),
            Self::ScopeAbsent { .. } => f.write_str("say which scopes the call claims"),
            Self::ScopeClaim { excess, .. } => {
                write!(f, "the call claims more than its agent declares: {}", listed(excess))
            }
            Self::Scope { missing, .. } => write!(f, "the call needs more scopes: {}", listed(missing)),
            Self::Declared { message, .. } => f.write_str(message),
            Self::Step { failed, .. } => {
                write!(f, "step {} of the composition failed: {}", failed.step, failed.refusal)
            }
            Self::Contract { refusal, .. } => refusal.fmt(f),
            Self::Native(refused) => f.write_str(&refused.message),
            Self::Busy { .. } => {
                f.write_str("too much is asked of the endpoint at the moment; nothing was done: try again later")
            }
            Self::Late { .. } => f.write_str("the endpoint did not end in its time; what it did until then may stand"),
            Self::Broken { .. } => f.write_str("the endpoint failed, through no fault of the call"),
        }
    }
}

impl std::error::Error for Refusal {}

fn not_allowed(
    f: &mut fmt::Formatter<'_>,
    Pair { method, path }: &Pair,
    why: NotAllowed,
    allowed: &BTreeSet<Method>,
) -> fmt::Result {
    let path = start(path);
    match why {
        NotAllowed::OtherMethods => write!(f, "{path} is not there for {method}")?,
        NotAllowed::Policy => write!(f, "{method} is not accepted here")?,
        NotAllowed::NotImplemented => write!(f, "{method} {path} is not answered here")?,
    }
    if allowed.is_empty() { Ok(()) } else { write!(f, "; {path} takes {}", listed(allowed)) }
}

fn listed<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
}

/// The start of a text that the caller sent.
fn start(text: &str) -> &str {
    text.char_indices().nth(ECHO_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}
