//! The directory of a domain, as far as it can be read. Agent directory.

use serde_json::Value;

use super::super::acct::Acct;
use super::super::limits::LISTED_MAX;
use super::super::names::TERM_PROTOCOLS;

/// Who lives on a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryListing {
    /// The name of the place; empty when it does not say.
    pub name: String,
    /// Its agents in its order, at most [`LISTED_MAX`].
    pub agents: Vec<DirectoryAgent>,
    /// The document itself.
    pub document: Value,
}

/// One agent of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryAgent {
    /// Its address.
    pub acct: Acct,
    /// Its name for people.
    pub name: String,
    /// What it is for; empty when it does not say.
    pub description: String,
    /// The protocols over which it can be reached, if it says so.
    pub protocols: Vec<String>,
}

impl DirectoryListing {
    /// Reads a directory. Contacts that are no agents are passed over. `None`: it is no directory.
    pub(super) fn read(document: Value) -> Option<Self> {
        let contacts = document["contactPoint"].as_array()?;
        let agents = contacts.iter().filter_map(listed).take(LISTED_MAX).collect();
        Some(Self { name: text(&document, "name"), agents, document })
    }
}

fn listed(contact: &Value) -> Option<DirectoryAgent> {
    let protocols = contact[TERM_PROTOCOLS].as_array().map_or(&[][..], Vec::as_slice);
    Some(DirectoryAgent {
        acct: Acct::parse(contact["email"].as_str()?).ok()?,
        name: text(contact, "name"),
        description: text(contact, "description"),
        protocols: protocols.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn text(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}
