//! The provider at which operators log in, and who of its people may do what here.

mod roles;
mod settings;

use std::sync::Arc;

use forecourt_core::clean;
use forecourt_egress::Egress;
use forecourt_oidc::{Provider, verified_address};
use serde_json::{Map, Value};

pub(crate) use roles::{RoleClaims, RoleEvidence};
pub use settings::{LoginSettings, OidcLoginSettings};

use crate::limits::NAME_CHARS_MAX;
use crate::secret::hashed;

/// The provider at which operators log in.
pub(crate) struct LoginProvider {
    settings: LoginSettings,
    provider: Provider,
}

impl LoginProvider {
    pub(crate) fn new(settings: LoginSettings, egress: Arc<Egress>) -> Self {
        let provider = Provider::new(settings.client.clone(), egress);
        Self { settings, provider }
    }

    /// The way there and back.
    pub(crate) fn way(&self) -> &Provider {
        &self.provider
    }

    /// What it is called on the login.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Who may do what.
    pub(crate) fn roles(&self) -> &RoleClaims {
        &self.settings.roles
    }

    /// What tells it, and our name there, from any other.
    pub(crate) fn mark(&self) -> String {
        let client = &self.settings.client;
        hashed(&format!("{}\n{}", client.issuer, client.client_id)).chars().take(32).collect()
    }
}

/// What somebody is called where it is written down what they did: the address of mail that the provider has verified,
/// else a name with the subject behind it, since anybody may call themselves anything. `None`: there is no subject.
pub(crate) fn called(claims: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let subject = text("sub")?;
    let named = match verified_address(claims) {
        Some(address) => address.to_ascii_lowercase(),
        None => match text("preferred_username").or_else(|| text("name")) {
            Some(name) => format!("{name} ({subject})"),
            None => format!("subject {subject}"),
        },
    };
    // People choose their names: hidden characters could make one operator look like another in the log of actions.
    let shown = named.chars().filter(|c| !c.is_control() && !clean::is_hidden(*c));
    Some(shown.take(NAME_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nobody_is_called_what_they_merely_call_themselves() {
        let read = |claims: Value| called(claims.as_object().unwrap());
        let verified = json!({"sub": "u1", "name": "Ann", "email": "Ann@Acme.example", "email_verified": true});
        assert_eq!(read(verified).unwrap(), "ann@acme.example");
        let claimed = json!({"sub": "u1", "preferred_username": "operator", "email": "boss@acme.example"});
        assert_eq!(read(claimed).unwrap(), "operator (u1)");
        assert_eq!(read(json!({"sub": "operator"})).unwrap(), "subject operator");
        assert_eq!(read(json!({"sub": "u1", "name": "An\u{202e}n\n"})).unwrap(), "Ann (u1)");
        for nobody in [json!({}), json!({"sub": " "}), json!({"sub": 7})] {
            assert_eq!(read(nobody), None);
        }
        assert_eq!(read(json!({"sub": "x".repeat(999)})).unwrap().chars().count(), NAME_CHARS_MAX);
    }
}
