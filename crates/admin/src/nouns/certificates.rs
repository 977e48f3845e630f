//! Certificates that listeners show.

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// The certificates of this node.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Certificates {
    /// Those that end first come first.
    pub certificates: Vec<Certificate>,
}

/// A certificate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Certificate {
    /// The names that it is for.
    pub names: Vec<String>,
    /// Who made it.
    pub issuer: String,
    /// From when on it holds.
    #[schemars(with = "String")]
    pub not_before: Timestamp,
    /// When it stops to hold.
    #[schemars(with = "String")]
    pub not_after: Timestamp,
    /// Whole days until then; negative once it is over.
    pub days_left: i64,
}

pub(crate) async fn list(ask: Ask) -> Result<Certificates, ApiError> {
    let now = ask.now();
    let mut certificates: Vec<Certificate> = ask
        .desk
        .around
        .certificates()
        .into_iter()
        .map(|certificate| Certificate {
            names: certificate.names,
            issuer: certificate.issuer,
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            days_left: certificate.not_after.duration_since(now).as_secs().div_euclid(24 * 60 * 60),
        })
        .collect();
    certificates.sort_by_key(|certificate| certificate.not_after);
    Ok(Certificates { certificates })
}
