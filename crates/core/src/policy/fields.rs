//! What is taken out of the JSON of a refusal, by key. PolicyPart 3.3.

use serde_json::{Map, Value};

use super::challenge::AuthChallenge;
use super::kind::AcceptedPayment;
use super::malformed::PolicyPartError;
use super::sanitize::sanitize_map;

/// Takes a field out. An explicit `null` counts as absent: many writers have no other word for it,
/// and [`super::PolicyPart::to_json`] leaves it out again.
pub(super) fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.remove(key).filter(|value| !value.is_null())
}

/// A text, if there is one.
pub(super) fn text(fields: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, PolicyPartError> {
    match take(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(PolicyPartError::Wrong(key, "a string")),
    }
}

/// The challenges, which must be there.
pub(super) fn challenges(fields: &mut Map<String, Value>) -> Result<Vec<AuthChallenge>, PolicyPartError> {
    const KEY: &str = "auth_challenges";
    let value = take(fields, KEY).ok_or(PolicyPartError::Missing(KEY))?;
    serde_json::from_value(value).map_err(|_| PolicyPartError::Wrong(KEY, "a list of scheme and params"))
}

/// The ways to pay, which must be there.
pub(super) fn payments(fields: &mut Map<String, Value>) -> Result<Vec<AcceptedPayment>, PolicyPartError> {
    const KEY: &str = "accepted_payments";
    let value = take(fields, KEY).ok_or(PolicyPartError::Missing(KEY))?;
    let mut payments: Vec<AcceptedPayment> =
        serde_json::from_value(value).map_err(|_| PolicyPartError::Wrong(KEY, "a list of scheme and payload"))?;
    for payment in &mut payments {
        sanitize_map(&mut payment.payload);
    }
    Ok(payments)
}

/// Seconds to wait, if any are said.
pub(super) fn seconds(fields: &mut Map<String, Value>) -> Result<Option<u64>, PolicyPartError> {
    const KEY: &str = "retry_after_seconds";
    match take(fields, KEY) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or(PolicyPartError::Wrong(KEY, "a whole number of seconds")),
    }
}
