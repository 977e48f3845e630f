//! What can go wrong with signing in, and what a person reads then.

use forecourt_core::StoreError;
use forecourt_oidc::OidcError;
use http::StatusCode;

/// Why somebody is not signed in. The texts are for people; what only the operator may know is logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInError {
    /// Nobody signs in here.
    #[error("People don't sign in on this host.")]
    NotOffered,
    /// It is not a path of this host.
    #[error("The address to come back to is not on this host.")]
    ReturnTo,
    /// The provider can't be reached, or answers with something else.
    #[error("The sign-in service can't be reached at the moment. Your question is kept: try again in a moment.")]
    Unavailable,
    /// The state is unknown, used or too old, or the browser is another one.
    #[error("This sign-in was used before, took too long, or was begun in another browser.")]
    Stale,
    /// The provider did not sign the person in.
    #[error("The sign-in service did not sign you in.")]
    Declined,
    /// What came back does not hold.
    #[error("The answer of the sign-in service could not be verified, so you were not signed in.")]
    Invalid,
    /// The person is known and not wanted here.
    #[error("Your account is not one that may sign in here.")]
    NotAllowed,
    /// It does not come from a page of this host.
    #[error("This request does not come from a page of this host.")]
    Foreign,
    /// The store can't be asked.
    #[error("You can't be signed in or out at the moment. Try again in a moment.")]
    Store(#[from] StoreError),
}

impl SignInError {
    /// A few words.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::NotOffered => "No such page",
            Self::ReturnTo | Self::Foreign => "Not a valid request",
            Self::Unavailable | Self::Store(_) => "Sign-in is unavailable",
            Self::Stale => "Please sign in again",
            Self::Declined | Self::Invalid => "Not signed in",
            Self::NotAllowed => "This account has no access",
        }
    }

    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotOffered => StatusCode::NOT_FOUND,
            Self::ReturnTo | Self::Stale | Self::Declined | Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unavailable | Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotAllowed | Self::Foreign => StatusCode::FORBIDDEN,
        }
    }

    /// Whether another try may do.
    pub(crate) fn may_retry(&self) -> bool {
        !matches!(self, Self::NotOffered | Self::ReturnTo | Self::Foreign)
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
