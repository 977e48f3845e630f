//! The file that defines a hub: read as it is written, and written for the person who owns it.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt_core::Glob;
use forecourt_settings::{Section, files};
use serde::Deserialize;

use super::definition_file;
use crate::commands::toml_text::{key, quoted, table};
use crate::output::Failure;

/// A hub as an import writes it, with `${VAR}` as it is written. The other keys are for people.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(in crate::commands) struct HubDefinition {
    pub(in crate::commands) address: String,
    #[serde(default)]
    pub(in crate::commands) prefix: String,
    #[serde(default)]
    pub(in crate::commands) only: Vec<Glob>,
    #[serde(default)]
    pub(in crate::commands) except: Vec<Glob>,
    #[serde(default)]
    pub(in crate::commands) backend: HubHeaders,
}

/// What of its backend an import writes.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(in crate::commands) struct HubHeaders {
    #[serde(default)]
    pub(in crate::commands) headers: BTreeMap<String, String>,
}

impl HubDefinition {
    /// A hub of which nothing but its address was said.
    pub(in crate::commands) fn of(address: &str) -> Self {
        Self { address: address.to_owned(), ..Self::default() }
    }

    /// The same agents of the hub at `address`. What it is asked with goes to no host that it was not written for.
    pub(in crate::commands) fn at(self, address: &str) -> Self {
        let is_same = host_of(&self.address).eq_ignore_ascii_case(host_of(address));
        let backend = if is_same { self.backend } else { HubHeaders::default() };
        Self { address: address.to_owned(), backend, ..self }
    }

    /// Reads a definition. `None`: there is no such file.
    pub(in crate::commands) fn read_as_written(deployment: &Path, name: &str) -> Result<Option<Self>, Failure> {
        let file = definition_file(deployment, name);
        if !file.exists() {
            return Ok(None);
        }
        let same = |name: &str| Some(format!("${{{name}}}"));
        let text = files::text_of(&file).map_err(|problem| Failure::yours(problem.to_string()))?;
        Ok(Some(Section::parse(&file, &text, &same)?.read()?))
    }

    /// The file.
    pub(in crate::commands) fn text(&self) -> String {
        let mut lines = vec![
            "# A hub elsewhere. Its agents answer here as well, as they come and go.".to_owned(),
            String::new(),
            format!("address = {}", quoted(&self.address)),
            String::new(),
            "# What goes before the handles of its agents here.".to_owned(),
            format!("prefix = {}", quoted(&self.prefix)),
            String::new(),
            "# The agents that are fronted, by their handles there; `*` stands for any characters.".to_owned(),
            key("only", &self.only, "shop*"),
            key("except", &self.except, "test-*"),
            String::new(),
            "# Agents too that the hub itself fronts for others.".to_owned(),
            "# fronted = true".to_owned(),
            String::new(),
            "# Seconds from one look at the hub to the next.".to_owned(),
            "# refresh_seconds = 300".to_owned(),
            String::new(),
            "# How the hub and its agents are asked, as in the [backend] of an `a2a` agent.".to_owned(),
            "[backend]".to_owned(),
        ];
        let headers = "# headers = { Authorization = \"Bearer ${TOKEN}\" }".to_owned();
        lines.push(table("headers", &self.backend.headers).unwrap_or(headers));
        lines.extend([
            "# require_signature = true".to_owned(),
            "# total_seconds = 120".to_owned(),
            String::new(),
            "# Who may ask them: rules as elsewhere, for some of its agents or for all.".to_owned(),
            "# [[policy]]".to_owned(),
            "# kind = \"require_identity\"".to_owned(),
            "# agents = [\"shop*\"]".to_owned(),
        ]);
        lines.join("\n") + "\n"
    }
}

/// The host of a hub's address, with its port where it has one: of a domain, an address of an agent, or a URL.
pub(in crate::commands) fn host_of(address: &str) -> &str {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, domain)| domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_read_back() {
        let own = HubDefinition {
            address: "example.com:8443".to_owned(),
            prefix: "far-".to_owned(),
            only: vec!["shop*".parse().unwrap()],
            except: Vec::new(),
            backend: HubHeaders { headers: BTreeMap::from([("X-Key".to_owned(), "a \"b\" ${KEY}".to_owned())]) },
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hubs")).unwrap();
        std::fs::write(definition_file(folder.path(), "far"), own.text()).unwrap();
        assert_eq!(HubDefinition::read_as_written(folder.path(), "far").unwrap(), Some(own));
        assert_eq!(HubDefinition::read_as_written(folder.path(), "near").unwrap(), None);
    }

    #[test]
    fn what_a_hub_is_asked_with_goes_to_no_other_host() {
        let own = || HubDefinition {
            address: "example.com".to_owned(),
            prefix: "far-".to_owned(),
            except: vec!["test-*".parse().unwrap()],
            backend: HubHeaders { headers: BTreeMap::from([("X-Key".to_owned(), "${KEY}".to_owned())]) },
            ..HubDefinition::default()
        };
        for (address, is_same) in [
            ("@chef@Example.com", true),
            ("https://example.com/hub.json", true),
            ("other.example", false),
            ("example.com:8443", false),
            ("https://other.example/@example.com", false),
        ] {
            let moved = own().at(address);
            assert_eq!(moved.backend.headers.is_empty(), !is_same, "{address}");
            assert_eq!((moved.address.as_str(), moved.prefix, moved.except), (address, own().prefix, own().except));
        }
    }
}
