//! Why a sign-in at a server came to nothing.

use forecourt_core::Error;
use forecourt_oidc::OidcError;

/// Why a sign-in came to nothing, as its page says it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInFailure {
    /// The authorization server can't be asked.
    #[error("The sign-in service of this server can't be asked at the moment. Please try again later.")]
    Away,
    /// What came back does not hold.
    #[error("This sign-in did not hold. Please begin it anew.")]
    Invalid,
    /// The person said no there, or may not.
    #[error("You were not signed in there.")]
    Declined,
    /// Nothing is known of it, or it is somebody else's.
    #[error("This sign-in has ended, was used already, or was begun by somebody else. Please begin it anew.")]
    Stale,
    /// A page of another site asked for it.
    #[error("This was asked by a page of another site, and was not done.")]
    Foreign,
    /// The store can't be asked, or has no room.
    #[error("It could not be kept: {0}")]
    Unkept(Error),
}

impl From<OidcError> for SignInFailure {
    fn from(error: OidcError) -> Self {
        match error {
            OidcError::Unavailable => Self::Away,
            OidcError::Invalid => Self::Invalid,
        }
    }
}

impl From<Error> for SignInFailure {
    fn from(error: Error) -> Self {
        Self::Unkept(error)
    }
}
