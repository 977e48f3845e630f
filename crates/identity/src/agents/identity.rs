//! This module has one agent that is known here: its id, documents, keys and scopes.

use forecourt_contract::limits::SCOPES_MAX;
use forecourt_contract::scope::{Scope, ScopeSet};
use forecourt_core::{AgentId, Handle};

use super::document::AgentDocument;
use super::packed::{PackedDocument, PackedGenesis};
use crate::genesis::{Genesis, OperatorStatement, TrustPosture};

/// An agent that is known here: one that lives here, or one of elsewhere that may call.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentIdentity {
    /// Its agent id: the hash of its genesis document.
    pub agent_id: AgentId,
    /// Its short name on this host, unlike any other's here: the handle of one that lives here, else
    /// that of its file.
    pub name: String,
    /// Its handle, when it lives here.
    pub handle: Option<Handle>,
    /// Its genesis document. Absent when only an identity document was given. AGTP-API 5.8.1: then 404.
    pub genesis: Option<PackedGenesis>,
    /// Its identity document. Always there for an agent that lives here.
    pub document: Option<PackedDocument>,
    /// What its document calls it, where that is another name than [`AgentIdentity::name`].
    title: Option<Box<str>>,
    /// The keys of its certificates, as SHA-256 of the raw key in hexadecimal.
    keys: Box<[String]>,
    /// Its trust tier, with the path and the warning that go with it.
    pub posture: TrustPosture,
    /// What it may do: the genesis document's `scope`, else the document's `requires.scopes`.
    pub declared: ScopeSet,
    /// Whether it consents to methods beyond those that it declared. AGTP-API 16.4.
    pub wildcards: bool,
    /// The governance zone in whose rules it runs: its document's, else its genesis document's.
    pub governance_zone: Option<String>,
}

impl AgentIdentity {
    /// Puts an agent together from what is known of it: a genesis document, an identity document, or both with the same
    /// name. `None`: neither says what it is called.
    pub(crate) fn of(
        name: &str,
        handle: Option<Handle>,
        genesis: Option<Genesis>,
        document: Option<AgentDocument>,
    ) -> Option<Self> {
        let stated = document.as_ref().map_or_else(OperatorStatement::default, AgentDocument::stated);
        let zone = document.as_ref().and_then(|document| document.text("governance_zone"));
        let zone = zone.or_else(|| genesis.as_ref()?.governance_zone()).map(str::to_owned);
        Some(Self {
            agent_id: match &genesis {
                Some(genesis) => genesis.id().clone(),
                None => document.as_ref()?.agent_id()?,
            },
            name: name.to_owned(),
            handle,
            posture: TrustPosture::resolve(&stated, genesis.as_ref()),
            declared: tokens(declared(genesis.as_ref(), document.as_ref())).0,
            wildcards: document.as_ref().is_some_and(AgentDocument::wildcards),
            governance_zone: zone,
            title: document
                .as_ref()
                .and_then(|document| document.text("name"))
                .filter(|title| *title != name)
                .map(Box::from),
            keys: keys(genesis.as_ref(), document.as_ref()),
            genesis: genesis.as_ref().map(PackedGenesis::new),
            document: document.as_ref().map(PackedDocument::new),
        })
    }

    /// Its genesis document, parsed from its text at each call.
    pub fn genesis(&self) -> Option<Genesis> {
        self.genesis.as_ref().map(|genesis| genesis.unpack(&self.agent_id))
    }

    /// Its identity document, parsed from its text at each call.
    pub fn document(&self) -> Option<AgentDocument> {
        self.document.as_ref().map(PackedDocument::unpack)
    }

    /// Whether its document calls it so, in any case.
    pub(crate) fn is_titled(&self, name: &str) -> bool {
        self.document.is_some() && self.title.as_deref().unwrap_or(&self.name).eq_ignore_ascii_case(name)
    }

    /// Whether it lives here.
    pub fn is_hosted(&self) -> bool {
        self.handle.is_some()
    }

    /// Whether a certificate whose raw key has this fingerprint is the agent's own: the name is that
    /// fingerprint, or its documents name the key. `fingerprint` is SHA-256 in lowercase hexadecimal.
    pub fn has_key(&self, fingerprint: &str) -> bool {
        self.agent_id.as_str() == fingerprint || self.keys.iter().any(|key| key == fingerprint)
    }

    /// The declared texts that are no scope tokens, and so grant nothing.
    pub(crate) fn ignored_scopes(&self) -> Vec<String> {
        tokens(declared(self.genesis().as_ref(), self.document().as_ref())).1
    }
}

/// The keys that the documents name as those of the agent's certificates.
fn keys(genesis: Option<&Genesis>, document: Option<&AgentDocument>) -> Box<[String]> {
    let named = document.and_then(AgentDocument::cert_fingerprint).map(str::to_ascii_lowercase);
    named.into_iter().chain(genesis.and_then(Genesis::agent_fingerprint)).collect()
}

/// The scopes that the agent declares: the genesis document's, else the identity document's.
fn declared<'a>(genesis: Option<&'a Genesis>, document: Option<&'a AgentDocument>) -> Vec<&'a str> {
    // By the key, not by its content: a genesis document with an empty `scope` grants nothing, and the identity
    // document must not add to it.
    match genesis.filter(|genesis| genesis.document().contains_key("scope")) {
        Some(genesis) => genesis.scope().collect(),
        None => document.map(|document| document.declared().collect()).unwrap_or_default(),
    }
}

/// The tokens among texts, at most [`SCOPES_MAX`], and those that are none.
fn tokens(texts: Vec<&str>) -> (ScopeSet, Vec<String>) {
    let mut ignored = Vec::new();
    let mut scopes = Vec::new();
    for text in texts {
        match Scope::parse(text) {
            Ok(scope) if scopes.len() < SCOPES_MAX => scopes.push(scope),
            _ => ignored.push(text.to_owned()),
        }
    }
    (ScopeSet::try_from(scopes).unwrap_or_default(), ignored)
}
