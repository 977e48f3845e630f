//! The bytes that callers get: written once for each kind of caller, signed and tagged.
//! AGTP-API 8.8, 8.11; base 11.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use forecourt_agtp_wire::media_types;
use forecourt_core::{Timestamp, json};
use forecourt_identity::{HostKeys, SigningKey, jws};
use forecourt_surface::document::{self, ServedDocument as Served};
use forecourt_synthesis::negotiator::PersistentContracts;
use serde::Serialize;

use super::document::ManifestDocument;
use super::revision::{Hashes, Revision};
use crate::inventory::{Audience, Inventory};
use crate::limits::MANIFEST_FRESH;

/// The type of a manifest's signature. Base 11.
const SIGNATURE_TYPE: &str = "agtp-manifest+jws";

/// Which manifest a caller gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// The kind of caller that the manifest is for.
    pub audience: Audience,
    /// Whether the directory goes along. Base 2.6.
    pub with_directory: bool,
}

/// One edition of the manifest, in force as long as the keys and the persistent contracts are.
pub(super) struct Edition {
    pub(super) revision: Revision,
    pub(super) api_version: Arc<str>,
    pub(super) keys: Arc<HostKeys>,
    /// The contracts that stand in it.
    pub(super) persistent: Arc<PersistentContracts>,
    /// When the edition must be made anew: an old key leaves it, or its revision was not stored. `None`: at no time.
    pub(super) good_until: Option<Timestamp>,
    made_at: Timestamp,
    views: [OnceLock<Served>; 4],
    methods: OnceLock<Bytes>,
}

/// A manifest with its signature, last.
#[derive(Serialize)]
struct SignedManifest<'a> {
    #[serde(flatten)]
    document: &'a ManifestDocument<'a>,
    manifest_signature: Option<String>,
}

impl Edition {
    /// An edition whose views are written as they are asked for. `now` is the moment that its keys are
    /// good at.
    pub(super) fn new(
        revision: Revision,
        keys: Arc<HostKeys>,
        persistent: Arc<PersistentContracts>,
        now: Timestamp,
    ) -> Self {
        let good_until = keys.previous(now).filter_map(|key| key.not_after).min();
        let api_version = revision.api_version().into();
        Self {
            revision,
            api_version,
            keys,
            persistent,
            good_until,
            made_at: now,
            views: Default::default(),
            methods: OnceLock::new(),
        }
    }

    /// Whether it can still be served, with `contracts` as the edition of the persistent ones.
    pub(super) fn is_good(&self, keys: &Arc<HostKeys>, contracts: u64, now: Timestamp) -> bool {
        let is_same = Arc::ptr_eq(&self.keys, keys) && self.persistent.edition == contracts;
        is_same && self.good_until.is_none_or(|end| now < end)
    }

    /// The manifest of a view.
    pub(super) fn view(&self, inventory: &Inventory, view: View) -> &Served {
        // By what is told and not by who asks: callers who are told the same share the bytes, the signature and the
        // tag.
        let is_told = inventory.disclosure().reaches(view.audience);
        let place = usize::from(is_told) * 2 + usize::from(view.with_directory);
        self.views[place].get_or_init(|| self.write(inventory, view))
    }

    /// The list of endpoints. AGTP-API 5.8.
    pub(super) fn methods(&self, inventory: &Inventory) -> Bytes {
        let write = || serde_json::to_vec(&inventory.all_methods(&self.persistent)).unwrap_or_default().into();
        self.methods.get_or_init(write).clone()
    }

    fn write(&self, inventory: &Inventory, view: View) -> Served {
        // As of the moment of the edition: its views are written later, and must list the same keys as were hashed.
        let mut document = ManifestDocument::new(inventory, &self.persistent, &self.keys, self.made_at, view.audience);
        document.stamp(&self.revision, inventory.settings.server.issued);
        if view.with_directory {
            document.add_directory(inventory);
        }
        let manifest_signature = signature(self.keys.current(), &document);
        let signed = SignedManifest { document: &document, manifest_signature };
        // Nothing in it can fail to be written: every key is text, every number is finite.
        let body = serde_json::to_vec(&signed).unwrap_or_default();
        Served::new(media_types::MANIFEST, MANIFEST_FRESH, body)
    }
}

/// What the content that a known caller gets hashes to: the most that anybody is told.
pub(super) fn hashes(
    inventory: &Inventory,
    persistent: &PersistentContracts,
    keys: &HostKeys,
    now: Timestamp,
) -> Hashes {
    let document = ManifestDocument::new(inventory, persistent, keys, now, Audience::Known);
    Hashes { content: hash(&document), endpoints: hash(&document.endpoints) }
}

fn hash(value: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    document::tag(&bytes).trim_matches('"').to_owned()
}

/// The signature over the canonical form, detached. `None`, and a word in the log, when there is no such
/// form: somebody's schema holds an integer that is not the same number everywhere.
fn signature(key: &SigningKey, document: &ManifestDocument<'_>) -> Option<String> {
    match json::canonical(document) {
        Ok(payload) => {
            let jws::DetachedJws { protected, signature } = jws::sign_detached(key, SIGNATURE_TYPE, &payload);
            Some(format!("{protected}..{signature}"))
        }
        Err(reason) => {
            tracing::warn!(reason, "the manifest is not signed: it holds a number that can't be");
            None
        }
    }
}
