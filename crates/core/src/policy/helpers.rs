//! This module has the helpers of PolicyPart 5.2 under the specification's names, for programs that embed this crate.
//! Each calls the function that the host itself uses.

use serde_json::{Map, Value};

use super::challenge::AuthChallenge;
use super::sanitize::sanitize_map;
use crate::{json, origin};

/// The canonical JSON of a value, RFC 8785. Fails on integers that no double holds. PolicyPart 3.7.
pub fn canonical_stringify(value: &impl serde::Serialize) -> Result<String, String> {
    json::canonical_text(value)
}

/// Whether a challenge can be written into a header without ending it. PolicyPart 3.3.1.
pub fn validate_auth_challenge(challenge: &AuthChallenge) -> bool {
    challenge.is_valid()
}

/// `data` or a `payload` as it may be read: without the keys that reach into prototypes, at every depth.
/// PolicyPart 3.2.
pub fn sanitize_policy_data(mut data: Map<String, Value>) -> Map<String, Value> {
    sanitize_map(&mut data);
    data
}

/// Whether a URL is https and on the canonical host of its agent. PolicyPart 3.2.
pub fn validate_url_origin(url: &str, canonical_host: &str) -> bool {
    origin::is_bound_to(url, canonical_host)
}
