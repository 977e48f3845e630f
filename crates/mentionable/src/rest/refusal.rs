//! What this transport adds to a refusal: its envelope, its field, its language. PolicyPart 4.5.

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::{Language, PolicyPart, json};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use super::limits::POLICY_FIELD_BYTES_MAX;

/// The version of every envelope. REST 4.3, 4.4.
pub(crate) const VERSION: &str = "v0.1";
static X_MENTIONABLE_POLICY: HeaderName = HeaderName::from_static("x-mentionable-policy");

/// A part in its envelope, as event streams carry it. REST 4.3.
#[derive(Serialize)]
pub(crate) struct PartEnvelope<'a, P> {
    v: &'static str,
    part: &'a P,
}

impl<'a, P: Serialize> PartEnvelope<'a, P> {
    pub(crate) fn new(part: &'a P) -> Self {
        Self { v: VERSION, part }
    }

    /// Canonical by RFC 8785. What has no canonical form (integers that no double holds) is written
    /// as it is: a reader that takes it loses nothing, one that compares signatures can't have one.
    pub(crate) fn to_text(&self) -> String {
        json::canonical_text(self).or_else(|_| serde_json::to_string(self)).unwrap_or_default()
    }
}

/// Adds the whole refusal as a field, where the operator wants that. One longer than [`POLICY_FIELD_BYTES_MAX`] is in
/// the body alone. PolicyPart 4.5.
pub(crate) fn add_policy_field(head: &mut HeaderMap, part: &PolicyPart) {
    let packed = STANDARD.encode(PartEnvelope::new(part).to_text());
    add(head, X_MENTIONABLE_POLICY.clone(), (packed.len() <= POLICY_FIELD_BYTES_MAX).then_some(packed));
}

fn add(head: &mut HeaderMap, name: HeaderName, value: Option<String>) {
    if let Some(value) = value.and_then(|text| HeaderValue::from_str(&text).ok()) {
        head.append(name, value);
    }
}

/// The language in which a refusal is told to who wants `wanted`, the most wanted first: the first one of which it has
/// a translation, as [`PolicyPart::in_language`] finds it, or which is its `own`; else `own`.
pub(crate) fn language(part: &PolicyPart, wanted: &[Language], own: &Language) -> Language {
    let known = |range: &str| part.message_translations.keys().any(|tag| tag.eq_ignore_ascii_case(range));
    let is_own = |wanted: &Language| wanted.primary().eq_ignore_ascii_case(own.primary());
    let told = |wanted: &Language| match wanted.ranges().find(|range| known(range)) {
        Some(range) => Language::parse(range),
        None => is_own(wanted).then(|| own.clone()),
    };
    wanted.iter().find_map(told).unwrap_or_else(|| own.clone())
}
