//! This module reads YAML from untrusted senders within bounds, and writes it. Only what JSON can say is taken.

use serde_json::Value;
use serde_saphyr::NonFiniteFloatPolicy;

use crate::limits::JSON_DEPTH_MAX;

/// How much of a document is taken, beside the levels of nesting, which are those of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YamlBounds {
    /// Values in it.
    pub nodes_max: usize,
    /// Values that stand for others (aliases), counted as often as they stand there with all that is in
    /// them.
    pub repeated_max: usize,
}

/// Reads one document from outside. No key may occur twice, and no number may be without an end; tags
/// that name types mean nothing.
///
/// The error says where and what, for the caller to read.
pub fn parse(bytes: &[u8], bounds: YamlBounds) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: bounds.nodes_max,
            max_events: bounds.nodes_max.saturating_mul(3),
            max_depth: JSON_DEPTH_MAX,
            // A guess at bombs; what they would cost is counted instead.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: bounds.repeated_max },
        // YAML 1.1 reads `no` (Norway) as false, `07` as octal and `1_0` as ten. Taken as texts, a document says the
        // same as its JSON would.
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        // The error goes to callers and logs, without an excerpt of the document.
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// Writes a value so that [`parse`] reads the same again.
///
/// # Errors
/// Something that has no form in YAML; a value of JSON always has one.
pub fn write(value: &Value) -> Result<String, String> {
    serde_saphyr::to_string(value).map_err(|error| error.to_string())
}
