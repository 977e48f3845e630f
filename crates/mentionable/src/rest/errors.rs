//! Failures: the status and the words for what was wrong, and what would be right. Refusals are in `refusal.rs`, since
//! they are content.

use forecourt_core::clock::whole_seconds;
use forecourt_core::limits::FULL_RETRY;
use forecourt_core::{Ending, Error, FailureCause, Noun};
use http::{HeaderValue, StatusCode};

use forecourt_surface::failure::HostFailure;
use forecourt_surface::{ending, refusal};

use super::failure_kind::FailureKind;
use super::limits::RETRY_AFTER_SECONDS;
use super::wire::DecodeError;

/// A fault as the caller reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// For programs: that of the host's error, else a word for what the request broke.
    pub(crate) code: &'static str,
    /// What went wrong.
    pub(crate) kind: FailureKind,
    /// A sentence.
    pub(crate) message: String,
    /// Whether the agent says the sentence, in whatever language. Ours are English.
    pub(crate) is_agents_word: bool,
    /// What would be right, if there is a form to show.
    pub(crate) hint: Option<String>,
    /// The methods that the resource has, for 405.
    pub(crate) allow: Option<&'static str>,
    /// Seconds to wait.
    pub(crate) retry_after: Option<u64>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            status,
            code: kind.code(),
            kind,
            message: message.into(),
            is_agents_word: false,
            hint: None,
            allow: None,
            retry_after: None,
        }
    }

    /// The title in English.
    pub(crate) fn title(&self) -> &'static str {
        self.kind.title()
    }

    /// The same failure with what would be right.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// 400 for `message`.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, FailureKind::BadRequest, message)
    }

    /// 404 for an agent. Never echoes what was asked for.
    pub(crate) fn no_such_agent() -> Self {
        Self::new(StatusCode::NOT_FOUND, FailureKind::NoSuchAgent, "no agent of that name lives here")
            .hint("GET / lists the agents of this host")
    }

    /// 404 for a path that nothing here has.
    pub(crate) fn no_such_page() -> Self {
        Self::new(StatusCode::NOT_FOUND, FailureKind::NotFound, "there is nothing at this address")
            .hint("GET / lists the agents of this host")
    }

    /// 404 for a task and all that hangs on it: unknown, expired and malformed look alike. REST 5.4.1.
    pub(crate) fn no_such_task() -> Self {
        Self::new(StatusCode::NOT_FOUND, FailureKind::NoSuchTask, "task not found or expired")
    }

    /// 404 for what a state no longer opens: unknown, used, expired, malformed and somebody else's look alike.
    pub(crate) fn no_such_decision() -> Self {
        let message =
            "nothing can be decided here any more: it was used, its time is over, or the address is not whole";
        Self::new(StatusCode::NOT_FOUND, FailureKind::NotFound, message).hint("ask the agent again to get a new page")
    }

    /// 403 for a decision that another person was asked for, who signs in here to make it.
    pub(crate) fn not_the_person_asked() -> Self {
        let message = "only the person who asked can decide here";
        Self::new(StatusCode::FORBIDDEN, FailureKind::NotAllowed, message)
            .hint("open the page again, and sign in as that person")
    }

    /// 410 for a question that was kept no longer than until it was answered: nothing runs twice.
    pub(crate) fn already_answered() -> Self {
        let message = "this question was answered already, and what was done for it is used up";
        Self::new(StatusCode::GONE, FailureKind::AnsweredAlready, message).hint("ask again to get a new answer")
    }

    /// 405, with the methods that there are. REST 3.5.
    pub(crate) fn method(allow: &'static str) -> Self {
        let message = format!("this resource takes {allow}");
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, FailureKind::MethodNotAllowed, message) }
    }

    /// 406: the request accepts none of the four media types. REST 4.
    pub(crate) fn not_acceptable() -> Self {
        let message = "this resource is text/html, text/markdown, application/json or text/event-stream";
        Self::new(StatusCode::NOT_ACCEPTABLE, FailureKind::NotAcceptable, message)
            .hint("leave the Accept header out to get text/html")
    }

    /// 403 for a browser that posts from elsewhere. REST 8.2.1.
    pub(crate) fn cross_site() -> Self {
        let message = "this agent takes no posts from pages of other sites";
        Self::new(StatusCode::FORBIDDEN, FailureKind::NotAllowed, message)
    }

    /// What an ending without an answer comes to, with its own code. `None` for answers, what is asked back, and
    /// refusals.
    pub(crate) fn of_ending(ending: &Ending) -> Option<Self> {
        let (kind, code) = match ending {
            Ending::Complete | Ending::Message(_) | Ending::Question(_) | Ending::Refused(_) => return None,
            Ending::SignIn(_) => (FailureKind::SignInFirst, Ending::SIGN_IN),
            Ending::Declined { .. } => (FailureKind::AgentDeclined, Ending::DECLINED),
            Ending::Failed { cause, .. } => (FailureKind::AgentFailed, cause.code()),
            Ending::Canceled => (FailureKind::AgentFailed, Ending::CANCELED),
        };
        let failure = Self::new(ending::status(ending), kind, ending.reason()?);
        let retry_after = (failure.status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_SECONDS);
        let is_agents_word = match ending {
            Ending::SignIn(_) | Ending::Declined { .. } => true,
            Ending::Failed { cause, .. } => *cause == FailureCause::Agent,
            _ => false,
        };
        Some(Self { code, is_agents_word, retry_after, ..failure })
    }

    /// 503 for a request that finds too much going on.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, FailureKind::NotAvailable, message);
        Self { retry_after: Some(RETRY_AFTER_SECONDS), ..failure }
    }

    /// `Retry-After`, if it is known when to come back.
    pub(crate) fn retry_after_value(&self) -> Option<HeaderValue> {
        self.retry_after.map(HeaderValue::from)
    }
}

/// REST 3 and companion decision U14.
impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let (status, kind) = match error {
            DecodeError::QueryTooLong | DecodeError::BodyTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, FailureKind::TooLarge)
            }
            DecodeError::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, FailureKind::TooSlow),
            DecodeError::NotMultipart | DecodeError::Coded => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::UnsupportedMediaType)
            }
            DecodeError::BodyBroken
            | DecodeError::MultiTurnQuery
            | DecodeError::NoUser
            | DecodeError::NoTerminalUser
            | DecodeError::TwoSessions
            | DecodeError::TooManyEntries
            | DecodeError::Multipart(_)
            | DecodeError::Charset
            | DecodeError::DataUrl(_)
            | DecodeError::TooManyDataUrls => (StatusCode::BAD_REQUEST, FailureKind::BadRequest),
        };
        Self::new(status, kind, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = error.code();
        Self { code, ..Self::of_error(error) }
    }
}

/// A failure of the host as REST spells it, for the table of errors.
pub(crate) fn spelling(failure: HostFailure) -> Option<String> {
    let status = match failure {
        HostFailure::Error(error) => Failure::from(error).status,
        HostFailure::Refused(part) => refusal::status(&part.kind),
        HostFailure::Ended(ending) => ending::status(&ending),
        // Endpoints are not called over REST.
        HostFailure::Call(_) => return None,
    };
    Some(status.as_u16().to_string())
}

impl Failure {
    fn of_error(error: Error) -> Self {
        match error {
            Error::NotFound { what: Noun::Agent } => Self::no_such_agent(),
            Error::NotFound { what: Noun::Task | Noun::Artifact } => Self::no_such_task(),
            Error::NotFound { what: what @ Noun::Thread } => {
                Self::new(StatusCode::NOT_FOUND, FailureKind::NotFound, format!("no such {what}"))
            }
            Error::Gone { .. } => Self::new(StatusCode::GONE, FailureKind::Gone, error.to_string()),
            Error::Conflict { .. } => Self::new(StatusCode::CONFLICT, FailureKind::Conflict, error.to_string()),
            Error::Invalid { .. } => Self::bad_request(error.to_string()),
            Error::Full { bound } => {
                let (status, kind) = match bound.is_callers() {
                    true => (StatusCode::TOO_MANY_REQUESTS, FailureKind::TooMuchStored),
                    false => (StatusCode::INSUFFICIENT_STORAGE, FailureKind::NoRoom),
                };
                Self { retry_after: Some(whole_seconds(FULL_RETRY)), ..Self::new(status, kind, error.to_string()) }
            }
            Error::Unavailable { retry_after } => {
                let wait = whole_seconds(retry_after);
                Self { retry_after: Some(wait), ..Self::busy(error.to_string()) }
            }
            Error::Internal(cause) => {
                tracing::error!(%cause, "a request failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, FailureKind::InternalError, "this host could not do it")
            }
        }
    }
}
