//! What can go wrong between this host and a provider. Why it did is logged, without anything of the person.

/// Why nobody was identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OidcError {
    /// The provider can't be reached, or answers with something else than it should.
    #[error("the provider can't be asked")]
    Unavailable,
    /// What came back does not hold.
    #[error("what came back from the provider does not hold")]
    Invalid,
}
