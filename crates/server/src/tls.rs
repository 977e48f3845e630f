//! TLS: which certificate a client is shown, and what is spoken with it.
//!
//! | file | holds |
//! |---|---|
//! | `files.rs` | certificates and keys from files, and whether they are any good |
//! | `entry.rs` | a certificate with the names that it is for |
//! | `certificates.rs` | all of them, chosen by name, replaced while connections are open |
//! | `client_certificates.rs` | certificates that clients show, and who may issue them |
//! | `config.rs` | versions, suites and protocols of listeners |
//! | `challenge.rs` | what a certificate authority asks before it signs |
//! | `expiry.rs` | when certificates end, for the metrics |

mod certificates;
mod challenge;
mod client_certificates;
mod config;
mod entry;
mod expiry;
mod files;

pub use certificates::{Certificates, WATCH_INTERVAL};
pub use challenge::{ACME_ALPN, AlpnChallenges, CHALLENGE_PATH, CHALLENGES_MAX, HttpChallenges};
pub use client_certificates::{Authorities, ClientCertificates};
pub use config::HTTP_ALPN;
pub use entry::CertificateEntry;
pub use expiry::ExpiryMetrics;
pub use files::{CertificateFiles, inspect};
pub(crate) use files::{chain, read};
