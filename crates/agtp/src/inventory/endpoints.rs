//! The endpoints that can be called here: the operator's, and those of the protocol itself.

use std::sync::Arc;

use forecourt_contract::call::Tier;
use forecourt_contract::{Endpoint, Method, RequestPath};
use serde::Serialize;

use super::Inventory;

/// One line of the list of endpoints. AGTP-API 5.8.
#[derive(Debug, Serialize)]
pub(crate) struct MethodEntry<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) description: &'a str,
    pub(super) tier: Tier,
}

/// One line of the directory. AGTP-API 5.8.3.
#[derive(Debug, Serialize)]
pub(crate) struct DirectoryEntry<'a> {
    path: &'a str,
    tier: Tier,
}

impl Inventory {
    /// Every endpoint that the policy lets calls of in: the protocol's own but those that the operator
    /// answers instead, then the operator's by path and method.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = (Tier, &Arc<Endpoint>)> {
        let own = self.natives.iter().filter(|native| !self.is_overridden(native));
        let own = own.map(|native| (Tier::Native, native));
        let registered = self.contract().registry.iter().map(|registered| (Tier::Registered, &registered.endpoint));
        let policy = &self.contract().policy;
        own.chain(registered).filter(|(_, endpoint)| policy.admits(&endpoint.method, &endpoint.method))
    }

    /// The list of endpoints. AGTP-API 5.8.
    pub(crate) fn methods(&self) -> Vec<MethodEntry<'_>> {
        self.endpoints()
            .map(|(tier, endpoint)| MethodEntry {
                method: &endpoint.method,
                path: endpoint.path.as_str(),
                description: &endpoint.description,
                tier,
            })
            .collect()
    }

    /// The surfaces that DISCOVER reaches, the operator's own among them. AGTP-API 5.8.3.
    pub(crate) fn directory(&self) -> Vec<DirectoryEntry<'_>> {
        let below_root = |endpoint: &Endpoint| endpoint.method.as_str() == "DISCOVER" && endpoint.path.as_str() != "/";
        let surfaces = self.endpoints().filter(|(_, endpoint)| below_root(endpoint));
        surfaces.map(|(tier, endpoint)| DirectoryEntry { path: endpoint.path.as_str(), tier }).collect()
    }

    /// The protocol's own DISCOVER endpoint at a path, with its schemas.
    pub(crate) fn native(&self, path: &str) -> Option<&Arc<Endpoint>> {
        self.natives.iter().find(|native| native.path.as_str() == path)
    }

    /// Whether the operator answers it instead. AGTP-API 5.9.
    fn is_overridden(&self, native: &Endpoint) -> bool {
        let path = RequestPath::parse(native.path.as_str(), &self.contract().catalog);
        path.is_ok_and(|path| self.contract().registry.find(&native.method, &path).is_some())
    }
}
