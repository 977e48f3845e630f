//! Why a proof does not hold, in words that may reach its sender.

/// Why a proof does not hold. The text names what the sender can change and nothing of the inside;
/// it is fit for `error_description` (RFC 6750 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It can't be read, or is too large.
    #[error("the {0} is malformed")]
    Malformed(&'static str),
    /// Nobody here trusts who made it.
    #[error("the issuer is not trusted here")]
    UnknownIssuer,
    /// Its key is not among the issuer's.
    #[error("the key is not known")]
    UnknownKey,
    /// Another algorithm than that of the key, or none.
    #[error("the algorithm does not fit the key")]
    WrongAlgorithm,
    /// It names an extension that must be understood and is not. RFC 7515 4.1.11.
    #[error("a critical extension is not understood")]
    CriticalExtension,
    /// The signature is not one over this content by this key.
    #[error("the signature does not match")]
    BadSignature,
    /// It is over, or too old.
    #[error("it has expired")]
    Expired,
    /// It does not hold yet.
    #[error("it is not valid yet")]
    NotYetValid,
    /// It holds for longer than is accepted.
    #[error("it is valid for too long")]
    LivesTooLong,
    /// It is meant for someone else.
    #[error("it is meant for another audience")]
    WrongAudience,
    /// It was made for another purpose than to be shown to a resource, such as an ID token. RFC 8725 3.11.
    #[error("it is a token of another kind: send an access token")]
    WrongKind,
    /// It is bound to a key of its bearer's, which a bearer token does not show. RFC 7800 3.1.
    #[error("it is bound to a key, and can't be used as a bearer token")]
    BoundToKey,
    /// Something that must be there is not.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// The signature leaves out something that it must cover.
    #[error("the signature must cover {0}")]
    Uncovered(&'static str),
    /// The body is not the one that was signed.
    #[error("the content digest does not match the body")]
    WrongDigest,
    /// It was used before, and is good for one use.
    #[error("it was used before")]
    Replayed,
    /// Ours or the issuer's: its keys can't be had at the moment.
    #[error("the keys can't be checked at the moment")]
    KeysUnavailable,
}
