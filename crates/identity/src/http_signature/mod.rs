//! HTTP Message Signatures. RFC 9421, with RFC 9530 digests of the body.
//!
//! | file | holds |
//! |---|---|
//! | `fields.rs` | `Signature-Input` and `Signature` into checked values |
//! | `base.rs` | the text that is signed |
//! | `digest.rs` | `Content-Digest` |
//! | `verify.rs` | the verdict |
//! | `sign.rs` | the same for requests of ours |

mod base;
mod digest;
mod fields;
mod sign;
mod verify;

pub use base::{CoveredMessage, signature_base};
pub use digest::{content_digest, matches_digest};
pub use fields::{Component, SignatureInput};
pub use sign::RequestSigner;
pub use verify::CRAWLER_TAG;
pub use verify::{FoundKeys, KeyDirectory, KeyId, METHOD, SignaturePolicy};
pub(crate) use verify::{VerifiedSignature, verify};
