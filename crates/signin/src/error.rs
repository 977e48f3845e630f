//! What can go wrong with signing in, and what a person reads then.

use forecourt_core::StoreError;
use forecourt_oidc::OidcError;
use forecourt_sentences::Sentences;
use http::StatusCode;

/// Why somebody is not signed in. What a person reads is [`Self::said`]; what only the operator may know is logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInError {
    /// Nobody signs in here.
    #[error("people do not sign in here")]
    NotOffered,
    /// It is not a path of this host.
    #[error("the address to come back to is not on this host")]
    ReturnTo,
    /// The provider can't be reached, or answers with something else.
    #[error("the sign-in service cannot be reached")]
    Unavailable,
    /// The state is unknown, used or too old, or the browser is another one.
    #[error("the sign-in was used before, took too long, or was started in another browser")]
    Stale,
    /// The provider did not sign the person in.
    #[error("the sign-in service did not sign the person in")]
    Declined,
    /// What came back does not hold.
    #[error("the answer of the sign-in service could not be verified")]
    Invalid,
    /// The person is known and not wanted here.
    #[error("the account may not sign in here")]
    NotAllowed,
    /// It does not come from a page of this host.
    #[error("the request does not come from a page of this host")]
    Foreign,
    /// A form is longer than any of ours, or broke off.
    #[error("the form can't be read")]
    Form,
    /// What is asked of the host can't be told.
    #[error(transparent)]
    Host(#[from] forecourt_core::Error),
    /// The store can't be asked.
    #[error("the store cannot be asked")]
    Store(#[from] StoreError),
}

impl SignInError {
    /// A few words.
    pub(crate) fn title(&self, say: Sentences) -> String {
        say.account_failure_title(match self {
            Self::NotOffered => "not_offered",
            Self::ReturnTo | Self::Foreign | Self::Form => "request",
            Self::Unavailable | Self::Store(_) | Self::Host(_) => "unavailable",
            Self::Stale => "stale",
            Self::Declined | Self::Invalid => "not_verified",
            Self::NotAllowed => "not_allowed",
        })
    }

    /// What happened, and what to do.
    pub(crate) fn said(&self, say: Sentences) -> String {
        say.account_failure(match self {
            Self::NotOffered => "not_offered",
            Self::ReturnTo => "return_to",
            Self::Unavailable => "unavailable",
            Self::Stale => "stale",
            Self::Declined => "declined",
            Self::Invalid => "invalid",
            Self::NotAllowed => "not_allowed",
            Self::Foreign => "foreign",
            Self::Form => "form",
            Self::Store(_) | Self::Host(_) => "store",
        })
    }

    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotOffered => StatusCode::NOT_FOUND,
            Self::ReturnTo | Self::Stale | Self::Declined | Self::Invalid | Self::Form => StatusCode::BAD_REQUEST,
            Self::Unavailable | Self::Store(_) | Self::Host(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotAllowed | Self::Foreign => StatusCode::FORBIDDEN,
        }
    }

    /// Whether another try may do.
    pub(crate) fn may_retry(&self) -> bool {
        !matches!(self, Self::NotOffered | Self::ReturnTo | Self::Foreign | Self::Form)
    }
}

impl From<OidcError> for SignInError {
    fn from(error: OidcError) -> Self {
        match error {
            OidcError::Unavailable => Self::Unavailable,
            OidcError::Invalid => Self::Invalid,
        }
    }
}
