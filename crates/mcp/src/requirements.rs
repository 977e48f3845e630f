//! What a client must be able to do for a tool: one that can't is told before the call begins. MCP
//! 2026-07-28, missing required client capability.

use rmcp::ErrorData;
use rmcp::model::ClientCapabilities;

use crate::elicit::Modes;
use crate::section::Requirement;

/// Fails with everything that the client of a request lacks.
pub(crate) fn check(required: &[Requirement], declared: Option<&ClientCapabilities>) -> Result<(), ErrorData> {
    match missing(required, declared) {
        Some(missing) => Err(ErrorData::missing_required_client_capability(missing)),
        None => Ok(()),
    }
}

fn missing(required: &[Requirement], declared: Option<&ClientCapabilities>) -> Option<ClientCapabilities> {
    let lacks = |requirement: &Requirement| match requirement {
        Requirement::Elicitation => !Modes::of(declared).form,
        Requirement::Tasks => !declared.is_some_and(ClientCapabilities::supports_tasks),
    };
    let missing: Vec<Requirement> = required.iter().copied().filter(lacks).collect();
    let mut all = ClientCapabilities::default();
    for requirement in &missing {
        match requirement {
            Requirement::Elicitation => all.elicitation = Some(rmcp::model::ElicitationCapability::default()),
            Requirement::Tasks => {
                let tasks = ClientCapabilities::builder().enable_tasks().build();
                all.extensions.get_or_insert_default().extend(tasks.extensions.unwrap_or_default());
            }
        }
    }
    (!missing.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lacking(required: &[Requirement], declared: Value) -> Value {
        let declared: ClientCapabilities = serde_json::from_value(declared).expect("capabilities");
        json!(missing(required, Some(&declared)))
    }

    #[test]
    fn a_client_is_told_what_it_lacks_and_nothing_else() {
        let both = [Requirement::Elicitation, Requirement::Tasks];
        let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        assert_eq!(lacking(&both, json!({"elicitation": {}})), tasks);
        assert_eq!(lacking(&both, tasks), json!({"elicitation": {}}));
        assert_eq!(lacking(&[], json!({})), Value::Null);
    }
}
