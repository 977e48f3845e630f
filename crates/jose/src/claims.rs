//! Claims that several kinds of tokens have. RFC 7519 4.1.

use forecourt_core::{Timestamp, json};
use serde_json::{Map, Value};

use crate::error::ProofError;

/// The claims in the payload of a token: a JSON object.
///
/// # Errors
/// It is none, or has a name twice.
pub fn read(payload: &[u8]) -> Result<Map<String, Value>, ProofError> {
    match json::parse(payload) {
        Ok(Value::Object(claims)) => Ok(claims),
        _ => Err(ProofError::Malformed("token")),
    }
}

/// A NumericDate, possibly with a fraction, which is cut off. RFC 7519 2. `None`: there is no such claim.
///
/// # Errors
/// It is no number, or none that a moment has.
pub fn moment(claims: &Map<String, Value>, name: &str) -> Result<Option<Timestamp>, ProofError> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite()).ok_or(ProofError::Malformed("token"))?;
    // A float that is too large saturates, and is no moment then.
    Timestamp::from_second(seconds.floor() as i64).map(Some).map_err(|_| ProofError::Malformed("token"))
}
