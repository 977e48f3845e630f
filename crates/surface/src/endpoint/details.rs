//! This module writes the details of a refused call as JSON: what the caller can change. AGTP-API section 11.

use forecourt_contract::Refusal;
use serde_json::{Value, json};

/// The details of a refusal; null when its words say it all.
pub(super) fn of(refusal: &Refusal) -> Value {
    match refusal {
        Refusal::Method { suggestions, .. } if !suggestions.is_empty() => json!({"suggestions": suggestions}),
        Refusal::NotAllowed { allowed_methods, .. } => json!({"allowed_methods": allowed_methods}),
        Refusal::Input { violation, .. } => {
            json!({"field": violation.field, "detail": violation.detail, "schema_path": violation.schema_path})
        }
        Refusal::ScopeClaim { excess, .. } => json!({"excess_scopes": excess}),
        Refusal::Scope { missing, .. } => json!({"missing_scopes": missing}),
        Refusal::Declared { details, .. } => details.clone(),
        Refusal::Step { failed, .. } => {
            json!({"step": failed.step, "code": failed.refusal.code(), "message": failed.refusal.to_string()})
        }
        Refusal::Native(refused) => Value::Object(refused.details.clone()),
        Refusal::Method { .. }
        | Refusal::Path { .. }
        | Refusal::NotFound(_)
        | Refusal::Identity(_)
        | Refusal::Standing { .. }
        | Refusal::Wildcards(_)
        | Refusal::ScopeAbsent { .. }
        | Refusal::Contract { .. }
        | Refusal::Busy { .. }
        | Refusal::Late { .. }
        | Refusal::Broken { .. } => Value::Null,
    }
}
