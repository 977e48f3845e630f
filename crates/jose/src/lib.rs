//! Signatures of JSON Object Signing and Encryption: the one place in which tokens are read, keys are read, and the
//! former are verified with the latter. RFC 7515 to 7519, 8037, 8725.
//!
//! Whose keys count, and what a token is good for, is said by who asks: the identity of a request, and the sign-in at a
//! provider.
//!
//! | file | holds |
//! |---|---|
//! | `jws.rs` | JSON Web Signatures, read, verified and made |
//! | `claims.rs` | the claims of a token that several kinds of tokens have |
//! | `algorithm.rs`, `verify_key.rs`, `key_set.rs` | keys of others, each bound to one algorithm |
//! | `remote_keys.rs` | keys of others that are fetched, and kept for a while |
//! | `signing_key.rs`, `rsa_signing_key.rs` | keys of ours |
//! | `error.rs` | why a proof does not hold |
//! | `encoding.rs`, `limits.rs` | base64 and hashes; every bound, with its unit |

mod algorithm;
pub mod claims;
pub mod encoding;
mod error;
pub mod jws;
mod key_set;
pub mod limits;
mod remote_keys;
mod rsa_signing_key;
mod signing_key;
mod verify_key;

pub use algorithm::Algorithm;
pub use error::ProofError;
pub use key_set::KeySet;
pub use remote_keys::{KeySource, RemoteKeys};
pub use rsa_signing_key::RsaSigningKey;
pub use signing_key::{MessageSigner, PublicKey, SigningKey};
pub use verify_key::{KeyError, VerifyKey};
