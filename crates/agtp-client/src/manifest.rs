//! This module checks a manifest field by field, each by the section of its rule, and its signature. AGTP-API 8, A.3.
//!
//! Judges documents of any server, so that nothing here knows how ours is made.

mod endpoints;
mod fields;
mod policies;
mod server;
mod signature;

use forecourt_agtp_wire::media_types;
use forecourt_agtp_wire::message::Response;
use forecourt_contract::Catalog;
use forecourt_core::{Timestamp, json};
use serde::Serialize;
use serde_json::Value;

use self::fields::Fields;
use crate::limits::MANIFEST_FINDINGS_MAX;

pub use self::signature::Signature;

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManifestVerdict {
    /// What was found, in the order of the document; at most [`MANIFEST_FINDINGS_MAX`].
    pub findings: Vec<ManifestFinding>,
    /// What the signature is worth.
    pub signature: Signature,
}

/// A rule that a manifest breaks, or an advice, with its place and its section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ManifestFinding {
    /// How much it matters.
    pub weight: Weight,
    /// The section of AGTP-API that it is about.
    pub section: &'static str,
    /// Where in the document, as a JSON Pointer.
    pub at: String,
    /// What would be right.
    pub message: String,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// A rule is broken.
    Wrong,
    /// It could be better.
    Advice,
}

impl ManifestVerdict {
    /// Whether no rule is broken.
    pub fn is_fine(&self) -> bool {
        self.findings.iter().all(|finding| finding.weight == Weight::Advice)
    }
}

/// Checks a document, as it was fetched or kept.
pub fn check(document: &[u8], now: Timestamp) -> ManifestVerdict {
    let manifest = match json::parse(document) {
        Ok(manifest) if manifest.is_object() => manifest,
        Ok(_) => return unreadable("a manifest is an object of JSON".to_owned()),
        Err(why) => return unreadable(format!("it is not JSON: {why}")),
    };
    let mut found = FindingList::default();
    let fields = Fields::new(&manifest, "");
    top(&fields, &mut found);
    server::judge(&fields, &mut found);
    let catalog = catalog_of(&manifest);
    endpoints::methods(&fields, &mut found);
    endpoints::judge(&fields, catalog.as_deref(), &mut found);
    policies::judge(&fields, &mut found);
    let signature = signature::verify(&manifest, now);
    signature.tell(&mut found);
    ManifestVerdict { findings: found.0, signature }
}

/// Checks an answer to `DISCOVER`: the document, and how it is told. AGTP-API 8.10 and 8.11.
pub fn check_response(response: &Response, now: Timestamp) -> ManifestVerdict {
    let mut found = FindingList::default();
    let media_type = response.field("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default();
    if !media_type.trim().eq_ignore_ascii_case(media_types::MANIFEST) {
        found.wrong("8.10", "", format!("a manifest is sent as {}", media_types::MANIFEST));
    }
    for name in ["Cache-Control", "ETag"].into_iter().filter(|name| response.field(name).is_none()) {
        found.advice("8.11", "", format!("`{name}` would let callers keep the manifest"));
    }
    let verdict = check(&response.body, now);
    verdict.findings.into_iter().for_each(|finding| found.push(finding));
    ManifestVerdict { findings: found.0, ..verdict }
}

fn unreadable(message: String) -> ManifestVerdict {
    let mut found = FindingList::default();
    found.wrong("8.2", "", message);
    ManifestVerdict { findings: found.0, signature: Signature::Absent }
}

/// The versions. AGTP-API 8.2 and 4.3.
fn top(fields: &Fields<'_>, found: &mut FindingList) {
    for name in ["agtp_version", "agtp_api_version"] {
        if fields.text(name, "8.2", found).is_some_and(|version| version != "1.0") {
            found.advice("8.2", &fields.at(name), "this check knows version 1.0");
        }
    }
    fields.text("document_version", "8.2", found);
    let version = fields.text("catalog_version", "4.3", found);
    if version.is_some_and(|version| !is_semver(version)) {
        found.wrong("4.1", &fields.at("catalog_version"), "the version of a catalog is MAJOR.MINOR.PATCH");
    }
    let Some(supported) = fields.list("catalog_versions_supported", "4.3", found) else { return };
    if !supported.iter().any(|one| one.as_str() == version) {
        found.wrong("4.3", &fields.at("catalog_versions_supported"), "`catalog_version` must be among them");
    }
    if supported.len() > 1 {
        found.wrong("4.8", &fields.at("catalog_versions_supported"), "there is exactly one as yet");
    }
}

fn is_semver(version: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    version.split('.').count() == 3 && version.split('.').all(is_number)
}

/// The catalog that methods and paths are judged by, if it is one that is known here.
fn catalog_of(manifest: &Value) -> Option<std::sync::Arc<Catalog>> {
    let shipped = Catalog::shipped();
    // Methods of a catalog that is not known here can't be judged, and are no fault of the manifest.
    (manifest["catalog_version"] == shipped.version()).then_some(shipped)
}

/// Findings on their way.
#[derive(Default)]
struct FindingList(Vec<ManifestFinding>);

impl FindingList {
    fn wrong(&mut self, section: &'static str, at: &str, message: impl Into<String>) {
        self.push(ManifestFinding { weight: Weight::Wrong, section, at: at.to_owned(), message: message.into() });
    }

    fn advice(&mut self, section: &'static str, at: &str, message: impl Into<String>) {
        self.push(ManifestFinding { weight: Weight::Advice, section, at: at.to_owned(), message: message.into() });
    }

    fn push(&mut self, finding: ManifestFinding) {
        if self.0.len() < MANIFEST_FINDINGS_MAX {
            self.0.push(finding);
        }
    }
}

#[cfg(test)]
mod tests;
