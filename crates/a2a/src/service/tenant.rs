//! Tenants: the agent that a call names beside its path. A2A 1.0 4.4.6.

use forecourt_core::Handle;
use serde_json::Value;

use super::{Service, no_such_agent};
use crate::model::{OperationError, Version};

impl Service {
    /// The agent that a call is for: that of its endpoint, or the one that its tenant names, which must be
    /// the same where both do. `None`: the hub. Fails when no agent has that name.
    pub(crate) fn addressee(
        &self,
        endpoint: Option<Handle>,
        tenant: Option<&str>,
    ) -> Result<Option<Handle>, OperationError> {
        let Some(tenant) = tenant.filter(|tenant| !tenant.is_empty()) else { return Ok(endpoint) };
        let unknown = || OperationError::param("tenant", "is the handle of an agent here");
        let handle = Handle::parse(tenant).map_err(|_| unknown())?;
        if self.host.directory().find(&handle).is_none() {
            return Err(no_such_agent(&handle));
        }
        match endpoint {
            Some(endpoint) if endpoint != handle => Err(OperationError::param(
                "tenant",
                format!("this is the endpoint of @{endpoint}; leave the tenant out"),
            )),
            _ => Ok(Some(handle)),
        }
    }
}

/// The tenant among the parameters of a request; 0.3 has none.
pub(crate) fn named(version: Version, params: &Value) -> Option<&str> {
    match version {
        Version::V0_3 => None,
        Version::V1_0 => params.get("tenant").and_then(Value::as_str),
    }
}
