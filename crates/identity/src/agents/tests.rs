//! Identity documents, and agents in a deployment's folders.

mod agreed;
mod documents;
mod elsewhere;
mod residents;

use std::path::{Path, PathBuf};

use forecourt_core::{AgentCard, Domain};
use forecourt_jose::SigningKey;
use forecourt_testkit::{CountedEntropy, card};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;
use crate::genesis::{Archetype, Genesis, GenesisDraft, TrustTier};
use crate::host_keys::HostKeys;

/// A deployment on disk, its data folder, and the host's keys.
struct Place {
    folder: TempDir,
    data: TempDir,
    domain: Domain,
    keys: HostKeys,
    entropy: CountedEntropy,
}

impl Place {
    fn new() -> Self {
        let entropy = CountedEntropy::default();
        Self {
            folder: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            domain: Domain::parse("demo.localhost").unwrap(),
            keys: HostKeys::in_memory(&entropy),
            entropy,
        }
    }

    fn write(&self, path: &str, content: &Value) -> PathBuf {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content.to_string()).unwrap();
        path
    }

    fn home(&self) -> AgentHome<'_> {
        AgentHome {
            folder: self.folder.path(),
            data: Some(self.data.path()),
            keeps: true,
            domain: &self.domain,
            keys: &self.keys,
            now: "2026-01-15T09:00:00Z".parse().unwrap(),
            entropy: &self.entropy,
        }
    }

    fn load_with(&self, cards: &[AgentCard], settings: &AgentIdentitySettings) -> (KnownAgents, Vec<IdentityNotice>) {
        load(&self.home(), cards.iter().map(|card| (card, settings)))
    }

    fn load(&self) -> (KnownAgents, Vec<IdentityNotice>) {
        self.load_with(&[card("chef")], &AgentIdentitySettings::default())
    }
}

/// The notices that are more than told, as `file: severity`.
fn raised(notices: &[IdentityNotice]) -> Vec<(String, Severity)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let raised = notices.iter().filter(|notice| notice.severity != Severity::Told);
    raised.map(|notice| (name(&notice.file), notice.severity)).collect()
}

fn key() -> SigningKey {
    SigningKey::generate(&CountedEntropy::default())
}

fn genesis(scope: &[&str]) -> Genesis {
    let draft = GenesisDraft {
        name: None,
        owner: "acme.tld".to_owned(),
        archetype: Archetype::Executor,
        governance_zone: "development".to_owned(),
        scope: scope.iter().map(ToString::to_string).collect(),
        trust_tier: TrustTier::OrgAsserted,
        verification_path: "org-asserted".to_owned(),
        issued_at: "2026-01-15T09:00:00Z".parse().unwrap(),
    };
    draft.sign(&key()).unwrap()
}

/// Other bytes than those of a fresh [`CountedEntropy`].
fn counted(calls: u32) -> CountedEntropy {
    let entropy = CountedEntropy::default();
    (0..calls).for_each(|_| forecourt_core::Entropy::fill(&entropy, &mut [0; 1]));
    entropy
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// A document as others write it, unsigned.
fn document(id: &str) -> Value {
    json!({
        "agtp_version": "1.0", "document_version": "v2", "agent_id": id, "name": "lauren",
        "description": "Books rooms.", "principal": "Acme", "principal_id": "acme.tld", "issuer": "acme.tld",
        "issued_at": "2026-01-15T09:00:00Z", "status": "active", "scopes_accepted": ["booking:*"],
        "skills": [], "requires": {"methods": ["QUERY"], "scopes": ["booking:room"], "wildcards": true},
    })
}
