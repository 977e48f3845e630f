//! Proof in, evidence out. Keys and the time are arguments; nothing here decides what an identity
//! is good for, and only keys that the operator trusts are ever fetched. Tokens and keys themselves are in
//! `forecourt_jose`.
//!
//! | file | holds |
//! |---|---|
//! | `verifier.rs`, `verified.rs` | the one entry point: a request's proofs into a sender |
//! | `api_keys/` | keys that the operator gives to programs |
//! | `bearer.rs` | `Authorization: Bearer` |
//! | `http_signature/` | signed requests, in and out |
//! | `bots/` | crawlers, verified and by their own word |
//! | `evidence/` | forwarded evidence |
//! | `host_keys.rs` | keys of ours |
//! | `agents/` | who agents are: those that live here, and those of elsewhere that are known |
//! | `certificate/` | what a client's certificate says about an agent |
//! | `kept.rs` | files of ours, written whole or not at all |
//! | `genesis/` | the documents that make agents, and how far an agent is vouched for |
//! | `remote_keys.rs`, `card_keys.rs` | key sets behind trusted URLs, and those of Connector Cards |
//! | `oidc.rs`, `sessions/` | where people sign in, and who has |
//! | `config.rs`, `settings.rs` | the `[identity]` section, and its problems |

pub mod agents;
pub mod api_keys;
mod bearer;
pub mod bots;
mod canonical;
mod card_keys;
pub mod certificate;
mod config;
pub mod evidence;
pub mod genesis;
mod host_keys;
pub mod http_signature;
mod kept;
pub mod limits;
mod oidc;
mod remote_keys;
mod request;
pub mod sessions;
mod settings;
mod verified;
mod verifier;

pub use bearer::METHOD as BEARER_METHOD;
pub use config::{BearerConfig, HttpSignatureConfig, IdentityConfig, KeyConfig, TrustedIssuerConfig};
pub use forecourt_jose::{Algorithm, KeyError, KeySet, ProofError, PublicKey, SigningKey, VerifyKey, jws};
pub use host_keys::{HostKeys, HostKeysError};
pub use http_signature::{CRAWLER_TAG, FoundKeys, KeyDirectory, KeyId, RequestSigner};
pub use oidc::{Logout, OidcConfig, OidcSettings};
pub use remote_keys::DocumentFetcher;
pub use request::RequestProof;
pub use settings::IdentityProblem;
pub use verified::{Person, PresentedCredentials, TokenIssuer, VerifiedSender};
pub use verifier::{FROM_HEADER, Verifier};
