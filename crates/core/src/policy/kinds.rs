//! The table of the kinds: a row for each, from which its texts, its reading and its entry among the errors come.

use serde_json::{Map, Value};

use super::challenge::AuthChallenge;
use super::fields::{challenges, payments, seconds, text};
use super::kind::{AcceptedPayment, RefusalKind};
use super::malformed::PolicyPartError;

/// What is known of a kind of refusals.
#[derive(Debug)]
pub struct RefusalKindEntry {
    /// The `kind` on the wire: [`RefusalKind::name`].
    pub name: &'static str,
    /// A short title for people, used when a part brings none.
    pub title: &'static str,
    /// The accessible name of the action link, when a part brings none. PolicyPart 3.2.
    pub action_label: &'static str,
    /// What happened.
    pub cause: &'static str,
    /// What a caller can do.
    pub remedy: &'static str,
    /// One such refusal, for protocols to spell.
    pub sample: fn() -> RefusalKind,
    /// Takes what only this kind has out of the JSON of a part. Fails when it lacks what it must have.
    pub(super) read: fn(&mut Map<String, Value>) -> Result<RefusalKind, PolicyPartError>,
}

/// The kinds of v0.1, in the order of the table in PolicyPart 3.1.
pub const KINDS: &[RefusalKindEntry] = &[
    CONSENT_REQUIRED,
    UNAUTHORIZED,
    PAYMENT_REQUIRED,
    FORBIDDEN,
    TOO_MANY_REQUESTS,
    UNAVAILABLE_FOR_LEGAL_REASONS,
    SERVICE_UNAVAILABLE,
];

const CONSENT_REQUIRED: RefusalKindEntry = RefusalKindEntry {
    name: "consent_required",
    title: "Consent required",
    action_label: CONTINUE,
    cause: "The person has to agree to something first.",
    remedy: "Show the person `url`, then send the message again.",
    sample: || RefusalKind::ConsentRequired {
        state: "example".to_owned(),
        return_to: "https://example.com/".to_owned(),
    },
    read: |fields| {
        let needed = |value: Option<String>, key| value.ok_or(PolicyPartError::Missing(key));
        let state = needed(text(fields, "state")?, "state")?;
        Ok(RefusalKind::ConsentRequired { state, return_to: needed(text(fields, "return_to")?, "return_to")? })
    },
};

const UNAUTHORIZED: RefusalKindEntry = RefusalKindEntry {
    name: "unauthorized",
    title: "Sign-in required",
    action_label: "Sign in",
    cause: "The agent wants to know who is asking, or the proof is not valid.",
    remedy: "Sign in as the challenge says, and send the token.",
    sample: || RefusalKind::Unauthorized {
        auth_challenges: vec![AuthChallenge::new("Bearer").with("realm", "example.com")],
    },
    read: |fields| Ok(RefusalKind::Unauthorized { auth_challenges: challenges(fields)? }),
};

const PAYMENT_REQUIRED: RefusalKindEntry = RefusalKindEntry {
    name: "payment_required",
    title: "Payment required",
    action_label: "Pay now",
    cause: "The answer has to be paid for.",
    remedy: "Pay as one of `accepted_payments` says, then send the message again.",
    sample: || RefusalKind::PaymentRequired {
        accepted_payments: vec![AcceptedPayment { scheme: "x402.exact".to_owned(), payload: Map::new() }],
    },
    read: |fields| Ok(RefusalKind::PaymentRequired { accepted_payments: payments(fields)? }),
};

const FORBIDDEN: RefusalKindEntry = RefusalKindEntry {
    name: "forbidden",
    title: "Not allowed",
    action_label: CONTINUE,
    cause: "You may not ask this.",
    remedy: "Ask the operator for access.",
    sample: || RefusalKind::Forbidden,
    read: |_| Ok(RefusalKind::Forbidden),
};

const TOO_MANY_REQUESTS: RefusalKindEntry = RefusalKindEntry {
    name: "too_many_requests",
    title: "Too many requests",
    action_label: CONTINUE,
    cause: "A rate limit was met; the message names the bound of `[limits]`.",
    remedy: "Wait for `Retry-After`. Operator: raise the bound.",
    sample: || RefusalKind::TooManyRequests { retry_after_seconds: Some(1) },
    read: |fields| Ok(RefusalKind::TooManyRequests { retry_after_seconds: seconds(fields)? }),
};

const UNAVAILABLE_FOR_LEGAL_REASONS: RefusalKindEntry = RefusalKindEntry {
    name: "unavailable_for_legal_reasons",
    title: "Unavailable for legal reasons",
    action_label: "Who blocks this",
    cause: "A law forbids the answer.",
    remedy: "The message and `url` say whom to ask.",
    sample: || RefusalKind::UnavailableForLegalReasons,
    read: |_| Ok(RefusalKind::UnavailableForLegalReasons),
};

const SERVICE_UNAVAILABLE: RefusalKindEntry = RefusalKindEntry {
    name: "service_unavailable",
    title: "Service unavailable",
    action_label: CONTINUE,
    cause: "The agent is closed for now: maintenance, suspended, or too much to do.",
    remedy: "Try again after `Retry-After`.",
    sample: || RefusalKind::ServiceUnavailable { retry_after_seconds: Some(1) },
    read: |fields| Ok(RefusalKind::ServiceUnavailable { retry_after_seconds: seconds(fields)? }),
};

/// What an action is called of which nothing more is known.
const CONTINUE: &str = "Continue";

impl RefusalKind {
    /// The names of the kinds of v0.1, in the order of [`KINDS`].
    pub const NAMES: [&'static str; KINDS.len()] = {
        let mut names = [""; KINDS.len()];
        let mut at = 0;
        while at < KINDS.len() {
            names[at] = KINDS[at].name;
            at += 1;
        }
        names
    };

    /// Its row; for a kind of a later version, which has none, its name.
    fn entry(&self) -> Result<&'static RefusalKindEntry, &str> {
        match self {
            Self::ConsentRequired { .. } => Ok(&CONSENT_REQUIRED),
            Self::Unauthorized { .. } => Ok(&UNAUTHORIZED),
            Self::PaymentRequired { .. } => Ok(&PAYMENT_REQUIRED),
            Self::Forbidden => Ok(&FORBIDDEN),
            Self::TooManyRequests { .. } => Ok(&TOO_MANY_REQUESTS),
            Self::UnavailableForLegalReasons => Ok(&UNAVAILABLE_FOR_LEGAL_REASONS),
            Self::ServiceUnavailable { .. } => Ok(&SERVICE_UNAVAILABLE),
            Self::Other(name) => Err(name),
        }
    }

    /// The `kind` on the wire.
    pub fn name(&self) -> &str {
        self.entry().map_or_else(|name| name, |entry| entry.name)
    }

    /// A short title for people, used when a part brings none.
    pub fn title(&self) -> &'static str {
        self.entry().map_or("Declined", |entry| entry.title)
    }

    /// The accessible name of the action link, when a part brings none. PolicyPart 3.2.
    pub fn action_label(&self) -> &'static str {
        self.entry().map_or(CONTINUE, |entry| entry.action_label)
    }

    /// The kind of this name, with what it takes out of the JSON of its part.
    pub(super) fn read(name: String, fields: &mut Map<String, Value>) -> Result<Self, PolicyPartError> {
        match KINDS.iter().find(|entry| entry.name == name) {
            Some(entry) => (entry.read)(fields),
            None => Ok(Self::Other(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyPart;

    #[test]
    fn a_row_reads_what_its_kind_writes() {
        for entry in KINDS {
            let kind = (entry.sample)();
            assert_eq!(kind.name(), entry.name);
            let written = PolicyPart::new(kind.clone(), entry.cause).to_json();
            assert_eq!(PolicyPart::from_json(written).unwrap().kind, kind);
        }
    }
}
