//! Why there is no certificate.

use instant_acme::Error;

use crate::limits::REASON_CHARS_MAX;
use crate::storage::StorageError;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The authority says no.
    #[error("the authority refuses: {reason}")]
    Refused {
        /// The authority's own words, cut to [`REASON_CHARS_MAX`].
        reason: String,
        /// Whether the authority does not know the account (`accountDoesNotExist`, RFC 8555 6.7), so that a new one
        /// helps.
        no_account: bool,
    },
    /// The authority can't be reached, or is not itself.
    #[error("the authority can't be reached: {0}")]
    Unreachable(String),
    /// A fault of this host: the storage, a key, or an answer that makes no sense.
    #[error("{0}")]
    Failed(String),
}

impl From<Error> for OrderError {
    fn from(error: Error) -> Self {
        match error {
            Error::Api(problem) => Self::Refused {
                no_account: problem.r#type.as_deref().is_some_and(|kind| kind.ends_with(":accountDoesNotExist")),
                reason: short(problem.to_string().trim_start_matches("API error: ")),
            },
            Error::Other(other) if other.is::<NoAnswer>() => Self::Unreachable(short(&other.to_string())),
            Error::Json(_) => Self::Unreachable("its answer is not one of ACME".to_owned()),
            error => Self::Failed(short(&error.to_string())),
        }
    }
}

impl From<StorageError> for OrderError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// One line, within the bound.
fn short(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS_MAX).collect()
}

/// Why a request got no answer that an authority would give.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoAnswer(pub(crate) String);
