//! Certificates from an authority that speaks ACME (RFC 8555), such as Let's Encrypt: ordered, proven, kept and
//! renewed without anybody's help, on one node or on many.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | `[tls.acme]` |
//! | `keeper.rs` | which name needs a certificate when, and what becomes of an order |
//! | `pace.rs` | how often may be asked, and how long a refusal is let rest |
//! | `order.rs` | one order: from an account to a chain and its key |
//! | `authority.rs` | the account, and the way to the authority, through `egress` |
//! | `advice.rs` | when the authority itself wants a certificate renewed |
//! | `challenges.rs` | what the authority is told when it asks whether a name is ours |
//! | `error.rs` | why there is no certificate |
//! | `storage.rs`, `folder.rs`, `ledger.rs` | where all of that is kept: a folder, or a store that nodes share |
//! | `certificate.rs` | until when a chain is good, and when the next one is due |
//! | `metrics.rs` | what became of orders |

mod advice;
mod authority;
mod certificate;
mod challenges;
mod error;
mod folder;
mod keeper;
mod ledger;
pub mod limits;
mod metrics;
mod order;
mod pace;
mod settings;
mod storage;

pub use certificate::IssuedCertificate;
pub use challenges::Challenges;
pub use error::OrderError;
pub use folder::Folder;
pub use keeper::{Acme, AcmeParts, Outlook};
pub use ledger::Ledger;
pub use metrics::AcmeMetrics;
pub use settings::{AcmeSettings, ChallengeChoice, ExternalAccount};
pub use storage::{AcmeStorage, StorageError, StorageFuture};
