//! From the parameters of PROPOSE to a proposal. Section 10.4; base protocol, PROPOSE.
//!
//! Members that nobody here knows are left alone: agents of later drafts send more.

use forecourt_contract::Scope;
use forecourt_contract::limits::SCOPES_MAX;
use forecourt_core::limits::JSON_DEPTH_MAX;
use serde_json::{Map, Value};

use super::duration::seconds;
use super::{Proposal, ProposalRefusal};
use crate::limits::PROPOSAL_BYTES_MAX;

/// The key of the wrapped form.
const WRAPPED: &str = "endpoint";
/// The key of the legacy form.
const LEGACY: &str = "name";

pub(super) fn malformed(issue: &'static str, field: impl Into<String>, message: impl Into<String>) -> ProposalRefusal {
    ProposalRefusal::Malformed { issue, field: field.into(), message: message.into() }
}

impl Proposal {
    /// Reads the parameters of PROPOSE, in the wrapped or the legacy form.
    ///
    /// # Errors
    /// [`ProposalRefusal::Malformed`]: `ambiguous-body`, `missing-required-field`, `malformed-field`,
    /// `malformed-duration`, `malformed-scope` or `proposal-too-large`.
    pub fn read(parameters: &Map<String, Value>) -> Result<Proposal, ProposalRefusal> {
        // First, since whatever follows copies the definition or walks it in depth.
        if !is_within_bounds(parameters) {
            let message = format!(
                "a proposal has at most {PROPOSAL_BYTES_MAX} bytes and {JSON_DEPTH_MAX} levels: shorten its schemas"
            );
            return Err(malformed("proposal-too-large", "", message));
        }
        let (definition, is_legacy) = definition(parameters)?;
        let prefix = if is_legacy { "" } else { "/endpoint" };
        let method = match text(definition, "method", prefix)? {
            Some(method) => method,
            // Without a method the name is one: base protocol's reference implementation.
            None if is_legacy => text(definition, LEGACY, prefix)?.unwrap_or_default(),
            None => String::new(),
        };
        if method.is_empty() {
            let message = "the proposed endpoint needs its `method`";
            return Err(malformed("missing-required-field", format!("{prefix}/method"), message));
        }
        let path = text(definition, "path", prefix)?.unwrap_or_else(|| "/".to_owned());
        Ok(Proposal {
            method,
            path,
            definition: definition.clone(),
            is_legacy,
            persistent: persistent(parameters)?,
            duration_seconds: duration(parameters)?,
            scopes: scopes(parameters)?,
        })
    }
}

/// The members of the definition, and whether they are the parameters themselves.
fn definition(parameters: &Map<String, Value>) -> Result<(&Map<String, Value>, bool), ProposalRefusal> {
    let given = |key: &str| parameters.get(key).filter(|value| !value.is_null());
    match (given(WRAPPED), given(LEGACY)) {
        (Some(_), Some(_)) => {
            let message = "a proposal has `endpoint` or `name`, not both: leave `name` out";
            Err(malformed("ambiguous-body", "/name", message))
        }
        (Some(Value::Object(definition)), None) => Ok((definition, false)),
        (Some(_), None) => Err(malformed("malformed-field", "/endpoint", "`endpoint` is an object")),
        (None, Some(_)) => Ok((parameters, true)),
        (None, None) => {
            let message = "a proposal needs its endpoint under `endpoint`";
            Err(malformed("missing-required-field", "/endpoint", message))
        }
    }
}

/// A member that is a text where it is there.
pub(super) fn text(
    definition: &Map<String, Value>,
    name: &str,
    prefix: &str,
) -> Result<Option<String>, ProposalRefusal> {
    match definition.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(malformed("malformed-field", format!("{prefix}/{name}"), format!("`{name}` is a text"))),
    }
}

fn persistent(parameters: &Map<String, Value>) -> Result<bool, ProposalRefusal> {
    match parameters.get("persistent") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(persistent)) => Ok(*persistent),
        Some(_) => Err(malformed("malformed-field", "/persistent", "`persistent` is true or false")),
    }
}

fn duration(parameters: &Map<String, Value>) -> Result<Option<u64>, ProposalRefusal> {
    let key = "requested_duration";
    let Some(value) = parameters.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    let message = "`requested_duration` is a number with s, m, h or d such as 24h, or a duration such as PT24H";
    let found = value.as_str().and_then(seconds);
    found.map(Some).ok_or_else(|| malformed("malformed-duration", format!("/{key}"), message))
}

/// Tokens in a list, or in one text between commas or blanks.
fn scopes(parameters: &Map<String, Value>) -> Result<Vec<Scope>, ProposalRefusal> {
    let key = "scope_requested";
    let tokens: Vec<&str> = match parameters.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) => text.split([',', ' ']).filter(|token| !token.is_empty()).collect(),
        Some(Value::Array(list)) => {
            let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            texts.ok_or_else(|| malformed("malformed-scope", format!("/{key}"), "a scope is a text"))?
        }
        Some(_) => return Err(malformed("malformed-scope", format!("/{key}"), "scopes are texts in a list")),
    };
    tokens_of(&tokens, &format!("/{key}"), Scope::parse)
}

/// Scopes, each of them once.
pub(super) fn tokens_of<E: std::fmt::Display>(
    tokens: &[&str],
    field: &str,
    parse: impl Fn(&str) -> Result<Scope, E>,
) -> Result<Vec<Scope>, ProposalRefusal> {
    if tokens.len() > SCOPES_MAX {
        return Err(malformed("malformed-scope", field, format!("at most {SCOPES_MAX} scopes")));
    }
    let mut scopes: Vec<Scope> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let scope = parse(token).map_err(|error| malformed("malformed-scope", field, error.to_string()))?;
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

/// Whether a proposal is small and flat enough to be looked at. It stops counting where it is not.
fn is_within_bounds(parameters: &Map<String, Value>) -> bool {
    let mut left = PROPOSAL_BYTES_MAX;
    fields(parameters, JSON_DEPTH_MAX, &mut left)
}

fn fields(members: &Map<String, Value>, levels: usize, left: &mut usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    members.iter().all(|(name, value)| spend(name.len() + 3, left) && value_fits(value, levels, left))
}

fn value_fits(value: &Value, levels: usize, left: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) => spend(5, left),
        Value::Number(number) => spend(number.to_string().len() + 1, left),
        Value::String(text) => spend(text.len() + 3, left),
        Value::Array(items) => {
            let Some(levels) = levels.checked_sub(1) else { return false };
            spend(3, left) && items.iter().all(|item| value_fits(item, levels, left))
        }
        Value::Object(members) => spend(3, left) && fields(members, levels, left),
    }
}

fn spend(bytes: usize, left: &mut usize) -> bool {
    let enough = left.checked_sub(bytes);
    *left = enough.unwrap_or_default();
    enough.is_some()
}
