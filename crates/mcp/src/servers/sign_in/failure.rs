//! Why a sign-in at a server came to nothing.

use forecourt_core::Error;
use forecourt_oidc::OidcError;

/// Why a sign-in came to nothing. Its page says so in the language of whoever reads it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInFailure {
    /// The authorization server can't be asked.
    #[error("the sign-in service of the server cannot be asked")]
    Away,
    /// What came back does not hold.
    #[error("the sign-in did not hold")]
    Invalid,
    /// The person said no there, or may not.
    #[error("the person was not signed in there")]
    Declined,
    /// Nothing is known of it, or it is somebody else's.
    #[error("the sign-in has ended, was used already, or was started by somebody else")]
    Stale,
    /// A page of another site asked for it.
    #[error("the request does not come from a page of this host")]
    Foreign,
    /// The store can't be asked, or has no room.
    #[error("it could not be kept: {0}")]
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
