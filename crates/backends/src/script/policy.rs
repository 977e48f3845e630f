//! Refusals of a script: checked when it is loaded, completed with a token when they are played.

use forecourt_core::policy::{PolicyPart, RefusalKind};
use forecourt_core::{Ending, Entropy, ids};
use serde_json::{Map, Value};

use super::placeholder::replace;
use super::settings::PolicySettings;
use forecourt_agents::backend::Context;

/// A refusal whose `{state}` is still to be filled in.
#[derive(Debug, Clone)]
pub(super) struct PolicyTemplate {
    /// The refusal, valid once the token is in its place.
    fields: Map<String, Value>,
    /// Whether it needs a token at all.
    has_state: bool,
    /// Whether the token is the host's to give.
    is_bare: bool,
}

const STATE: &str = "{state}";
/// A token to check a template with.
const SAMPLE_STATE: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

impl PolicyTemplate {
    /// Checks the refusal as it will be sent. A `consent_required` without `state` gets a fresh one
    /// each time: of the host, which then keeps it, or of the script where something else mentions `{state}`. One
    /// without `return_to` leads back to the agent.
    pub(super) fn new(mut settings: PolicySettings, context: &Context) -> Result<Self, String> {
        if !PolicyPart::knows(&settings.kind) {
            return Err(format!("`kind` must be one of {}", RefusalKind::NAMES.join(", ")));
        }
        let mut is_bare = settings.kind == "consent_required" && settings.state.is_none();
        if settings.kind == "consent_required" {
            settings.state.get_or_insert_with(|| STATE.to_owned());
            settings.return_to.get_or_insert_with(|| format!("https://{}/~{}", context.host, context.handle));
        }
        let Ok(Value::Object(mut fields)) = serde_json::to_value(settings) else {
            return Err("this refusal can't be written as JSON".to_owned());
        };
        fields.values_mut().for_each(|value| replace(value, "{host}", &context.host));
        // Where something else mentions `{state}`, such as the URL, the token has to be known before the host could
        // mint it.
        is_bare &= !fields.iter().any(|(key, value)| key != "state" && mentions_state(value));
        let template = Self { is_bare, has_state: fields.values().any(mentions_state), fields };
        template.check(&context.host)?;
        Ok(template)
    }

    fn check(&self, host: &str) -> Result<(), String> {
        let part = self.fill(SAMPLE_STATE)?;
        if !part.more.is_empty() {
            let keys: Vec<&str> = part.more.keys().map(String::as_str).collect();
            return Err(format!("a refusal of the kind `{}` has no `{}`", part.kind(), keys.join("`, `")));
        }
        let data_keys = |data: Option<&Value>| data.and_then(Value::as_object).map_or(0, Map::len);
        if data_keys(self.fields.get("data")) != part.data.len() {
            return Err("the keys of `data` need a prefix, such as `oauth.error`".to_owned());
        }
        part.validate(host).map_err(|error| error.to_string())
    }

    fn fill(&self, state: &str) -> Result<PolicyPart, String> {
        let mut fields = self.fields.clone();
        if self.has_state {
            fields.values_mut().for_each(|value| replace(value, STATE, state));
        }
        PolicyPart::from_json(fields).map_err(|error| error.to_string())
    }

    /// The refusal with a fresh token of 256 bits, if it has one.
    pub(super) fn play(&self, entropy: &dyn Entropy) -> Ending {
        let state = if self.has_state { ids::mint(entropy) } else { String::new() };
        match self.fill(&state) {
            Ok(mut part) => {
                if let RefusalKind::ConsentRequired { state, .. } = &mut part.kind
                    && self.is_bare
                {
                    state.clear();
                }
                Ending::Refused(Box::new(part))
            }
            Err(_) => Ending::failed("the agent's refusal is malformed"),
        }
    }
}

fn mentions_state(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(STATE),
        Value::Array(items) => items.iter().any(mentions_state),
        Value::Object(fields) => fields.values().any(mentions_state),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
