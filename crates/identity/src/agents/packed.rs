//! This module keeps documents of agents as text: a tree of JSON takes five times the room of its text, and a host of
//! many agents has two for each.

use forecourt_core::AgentId;
use serde_json::{Map, Value};

use super::document::AgentDocument;
use crate::genesis::Genesis;

/// A genesis document as text. Its signature was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedGenesis {
    text: Box<str>,
    escaped: bool,
}

/// An identity document as text. Its signature was checked, if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedDocument {
    text: Box<str>,
    signed: bool,
    escaped: bool,
}

impl PackedGenesis {
    pub(crate) fn new(genesis: &Genesis) -> Self {
        Self { text: packed(genesis.document()), escaped: genesis.is_escaped() }
    }

    /// The document, whose hash is `id`.
    pub(crate) fn unpack(&self, id: &AgentId) -> Genesis {
        Genesis::checked(id.clone(), unpacked(&self.text), self.escaped)
    }
}

impl PackedDocument {
    pub(crate) fn new(document: &AgentDocument) -> Self {
        Self { text: packed(document.fields()), signed: document.is_signed(), escaped: document.is_escaped() }
    }

    /// The document.
    pub(crate) fn unpack(&self) -> AgentDocument {
        AgentDocument::checked(unpacked(&self.text), self.signed, self.escaped)
    }
}

fn packed(fields: &Map<String, Value>) -> Box<str> {
    // An object has text keys only, and so is always written.
    serde_json::to_string(fields).unwrap_or_default().into()
}

fn unpacked(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let fields = json!({"z": 1.0, "a": [0.1, 1e300, -0.0, 18_446_744_073_709_551_615_u64], "é\n": {"x": null}});
        let Value::Object(fields) = fields else { panic!("an object") };
        let (signed, escaped) = (true, false);
        let document = AgentDocument::checked(fields.clone(), signed, escaped);
        assert_eq!(PackedDocument::new(&document).unpack(), document);
        let id = AgentId::of_hash(&[7; 32]);
        let genesis = Genesis::checked(id.clone(), fields, true);
        assert_eq!(PackedGenesis::new(&genesis).unpack(&id), genesis);
    }
}
