//! Proof in, evidence out. Keys and the time are arguments; nothing here decides what an identity
//! is good for, and only keys that the operator trusts are ever fetched.
//!
//! | file | holds |
//! |---|---|
//! | `verifier.rs`, `verified.rs` | the one entry point: a request's proofs into a sender |
//! | `api_keys/` | keys that the operator gives to programs |
//! | `bearer.rs` | `Authorization: Bearer` |
//! | `http_signature/` | signed requests, in and out |
//! | `evidence/` | forwarded evidence |
//! | `jws.rs` | JSON Web Signatures |
//! | `algorithm.rs`, `verify_key.rs`, `key_set.rs` | keys of others, each bound to one algorithm |
//! | `signing_key.rs`, `host_keys.rs` | keys of ours |
//! | `agents/` | who agents are: those that live here, and those of elsewhere that are known |
//! | `certificate/` | what a client's certificate says about an agent |
//! | `kept.rs` | files of ours, written whole or not at all |
//! | `genesis/` | the documents that make agents, and how far an agent is vouched for |
//! | `remote_keys.rs` | key sets behind trusted URLs |
//! | `config.rs`, `settings.rs` | the `[identity]` section, and its problems |

pub mod agents;
mod algorithm;
pub mod api_keys;
mod bearer;
mod canonical;
pub mod certificate;
mod config;
mod encoding;
pub mod evidence;
mod fault;
pub mod genesis;
mod host_keys;
pub mod http_signature;
pub mod jws;
mod kept;
mod key_set;
pub mod limits;
mod remote_keys;
mod request;
mod settings;
mod signing_key;
mod verified;
mod verifier;
mod verify_key;

pub use algorithm::Algorithm;
pub use bearer::METHOD as BEARER_METHOD;
pub use config::{BearerConfig, HttpSignatureConfig, IdentityConfig, KeyConfig, TrustedIssuerConfig};
pub use fault::ProofError;
pub use host_keys::{HostKeys, HostKeysError};
pub use http_signature::{FoundKeys, KeyDirectory, KeyId, RequestSigner};
pub use key_set::KeySet;
pub use remote_keys::DocumentFetcher;
pub use request::RequestProof;
pub use settings::IdentityProblem;
pub use signing_key::{PublicKey, SigningKey};
pub use verified::{PresentedCredentials, TokenIssuer, VerifiedSender};
pub use verifier::{FROM_HEADER, Verifier};
pub use verify_key::{KeyFault, VerifyKey};
