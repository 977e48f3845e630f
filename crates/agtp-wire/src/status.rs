//! Status codes, each with its reason phrase. Base 4; AGTP-API 11.

/// A status code that this host may send, with its reason phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status {
    /// Three digits.
    pub code: u16,
    /// What they mean, for people.
    pub reason: &'static str,
}

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal $reason:literal;)*) => {
        impl Status {
            $($(#[$doc])* pub const $name: Status = Status { code: $code, reason: $reason };)*

            /// Every code that is ours to send.
            pub const ALL: &[Status] = &[$(Status::$name),*];
        }
    };
}

statuses! {
    /// Done.
    OK = 200 "OK";
    /// Begun; it goes on without the caller.
    ACCEPTED = 202 "Accepted";
    /// Done, with nothing to say.
    NO_CONTENT = 204 "No Content";
    /// A proposal is looked at; it goes on without the caller.
    NEGOTIATION_IN_PROGRESS = 261 "Negotiation In Progress";
    /// The caller needs authority that it did not bring.
    AUTHORIZATION_REQUIRED = 262 "Authorization Required";
    /// A proposed endpoint was made.
    PROPOSAL_APPROVED = 263 "Proposal Approved";
    /// The canonical name is another one.
    MOVED_PERMANENTLY = 301 "Moved Permanently";
    /// What the caller has is current.
    NOT_MODIFIED = 304 "Not Modified";
    /// Not understood.
    BAD_REQUEST = 400 "Bad Request";
    /// The caller's name is missing, unknown or not proven.
    UNAUTHORIZED = 401 "Unauthorized";
    /// Not for this caller.
    FORBIDDEN = 403 "Forbidden";
    /// Nothing is there.
    NOT_FOUND = 404 "Not Found";
    /// Something is there, but not for this method.
    METHOD_NOT_ALLOWED = 405 "Method Not Allowed";
    /// It took too long.
    TIMEOUT = 408 "Timeout";
    /// It contradicts what is.
    CONFLICT = 409 "Conflict";
    /// The agent is retired.
    GONE = 410 "Gone";
    /// Understood, and not what is taken; or an error that the endpoint declares.
    UNPROCESSABLE = 422 "Unprocessable Entity";
    /// Too often.
    RATE_LIMITED = 429 "Too Many Requests";
    /// The caller may not do this.
    SCOPE_VIOLATION = 455 "Scope Violation";
    /// The caller's zone is another one.
    ZONE_VIOLATION = 457 "Zone Violation";
    /// The method is none.
    METHOD_VIOLATION = 459 "Method Violation";
    /// The path breaks the grammar.
    ENDPOINT_VIOLATION = 460 "Endpoint Violation";
    /// An endpoint was made for the call, and waits to be accepted.
    CONTRACT_AVAILABLE = 461 "RCNS Contract Available";
    /// A proposed endpoint is not made.
    PROPOSAL_REJECTED = 463 "Proposal Rejected";
    /// No contract can be had.
    NO_CONTRACT = 464 "RCNS No Contract";
    /// Ours to answer for.
    SERVER_ERROR = 500 "Server Error";
    /// Part of the protocol that this host does not have.
    NOT_IMPLEMENTED = 501 "Not Implemented";
    /// Not now.
    UNAVAILABLE = 503 "Unavailable";
    /// The agent that the work was given to failed.
    DELEGATION_FAILURE = 550 "Delegation Failure";
    /// A link of the chain of authority can't be verified.
    CHAIN_BROKEN = 551 "Authority Chain Broken";
}

impl Status {
    /// The status of a code, if it is ours to send.
    pub fn of(code: u16) -> Option<Self> {
        Self::ALL.iter().find(|status| status.code == code).copied()
    }

    /// Whether something was done as it was asked. A 262 is a refusal, whatever its first digit.
    pub fn is_success(self) -> bool {
        [Self::OK, Self::ACCEPTED, Self::NO_CONTENT, Self::NEGOTIATION_IN_PROGRESS, Self::PROPOSAL_APPROVED]
            .contains(&self)
    }

    /// Whether it is one of this protocol's own, which say that an agent met a rule. Base 4.
    pub fn is_governance(self) -> bool {
        matches!(self.code, 261..=263 | 455..=464 | 550..=551)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_codes_have_the_names_that_the_text_gives_them() {
        let named = [
            (261, "Negotiation In Progress"),
            (262, "Authorization Required"),
            (263, "Proposal Approved"),
            (404, "Not Found"),
            (405, "Method Not Allowed"),
            (422, "Unprocessable Entity"),
            (429, "Too Many Requests"),
            (455, "Scope Violation"),
            (459, "Method Violation"),
            (460, "Endpoint Violation"),
            (461, "RCNS Contract Available"),
            (463, "Proposal Rejected"),
            (464, "RCNS No Contract"),
        ];
        for (code, reason) in named {
            assert_eq!(Status::of(code).map(|status| status.reason), Some(reason), "{code}");
        }
    }

    #[test]
    fn base_4_each_code_is_one_and_none_is_reserved() {
        let mut codes: Vec<_> = Status::ALL.iter().map(|status| status.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Status::ALL.len());
        assert!(codes.iter().all(|code| !matches!(code, 462 | 465 | 552..=555)), "{codes:?}");
        let ours = Status::ALL.iter().filter(|status| status.is_governance()).map(|status| status.code);
        assert_eq!(ours.collect::<Vec<_>>(), [261, 262, 263, 455, 457, 459, 460, 461, 463, 464, 550, 551]);
        assert!(Status::ALL.iter().all(|status| (200..600).contains(&status.code) && !status.reason.is_empty()));
    }
}
