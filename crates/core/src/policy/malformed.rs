//! Why a refusal is malformed.

/// Why a refusal is malformed. PolicyPart 3.6.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyPartError {
    /// A required field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field has another shape than the specification gives it.
    #[error("`{0}` must be {1}")]
    Wrong(&'static str, &'static str),
    /// A URL is not https on the agent's canonical host. PolicyPart 3.2.
    #[error("`{0}` must be an https URL on the agent's own host")]
    ForeignUrl(&'static str),
}
