//! Forwarded identity evidence. Mentionable identity-evidence v0.1, REST 7.3.
//!
//! | file | holds |
//! |---|---|
//! | `carrier.rs` | the header into entries, each on its own |
//! | `trust.rs` | whom the operator trusts to say what |
//! | `verify.rs` | whether one entry holds |

mod carrier;
mod trust;
mod verify;

pub use carrier::{HEADERS, UnverifiedEvidence, decode};
pub use trust::IssuerTrust;
pub(crate) use trust::{IssuerKeys, TrustedIssuer, TrustedIssuers};
pub(crate) use verify::verify;
