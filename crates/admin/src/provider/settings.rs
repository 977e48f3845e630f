//! The `[admin.oidc]` table: the provider at which operators log in. OpenID Connect Core 1.0.

use forecourt_oidc::{ClientSettings, check_issuer, usual_scopes, with_openid};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::roles::RoleClaims;
use crate::limits::{LOGIN_NAME_CHARS_MAX, ROLE_VALUES_MAX};

/// The provider at which operators log in to the console, and what its people may do there. Register
/// `PUBLIC_URL/console/login/callback` there as the redirect URI, where PUBLIC_URL is `public_url` of `[admin]`.
/// Whoever is named neither under `operators` nor under `viewers` is not let in.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcLoginSettings {
    /// Its issuer, to the letter, such as `https://login.example/realms/staff`. It must be https. A provider
    /// within your own network is opened by `allow` in `[egress]`; one on this machine may also be plain http,
    /// where `allow_http` opens that too.
    pub issuer: String,
    /// The name of the console at the provider.
    pub client_id: String,
    /// The secret that goes with it, best as `"${FORECOURT_CONSOLE_SECRET}"`. Without a secret the console is a public
    /// client, which the provider must allow.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// What is asked of the provider. `openid` is always among it.
    #[serde(default = "usual_scopes")]
    pub scopes: Vec<String>,
    /// The claim that says what somebody is: a text or a list of texts, such as `groups`, `roles` or
    /// `realm_access.roles`. `email` counts only where the provider has verified it.
    #[serde(default = "usual_claim")]
    pub claim: String,
    /// Another claim for `viewers`, such as `hd` for everybody of a Google Workspace. Default: the same one.
    #[serde(default)]
    pub viewers_claim: Option<String>,
    /// Whoever has one of these in `claim` sees everything and does everything.
    #[serde(default)]
    pub operators: Vec<String>,
    /// Whoever has one of these sees everything and does nothing.
    #[serde(default)]
    pub viewers: Vec<String>,
    /// What the provider is called on the login. Default: the host of its issuer.
    #[serde(default)]
    pub name: Option<String>,
}

/// Never prints the secret.
impl std::fmt::Debug for OidcLoginSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcLoginSettings").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// The provider at which operators log in, checked.
#[derive(Debug, Clone)]
pub struct LoginSettings {
    pub(crate) client: ClientSettings,
    pub(crate) roles: RoleClaims,
    /// What it is called on the login.
    pub(crate) name: String,
}

impl LoginSettings {
    /// The provider's issuer.
    pub fn issuer(&self) -> &str {
        &self.client.issuer
    }
}

fn usual_claim() -> String {
    "groups".to_owned()
}

impl OidcLoginSettings {
    /// Checks the table.
    ///
    /// # Errors
    /// Each problem with its key, and what would be right.
    pub fn check(&self) -> Result<LoginSettings, Vec<(&'static str, String)>> {
        let mut problems = Vec::new();
        if let Err(reason) = check_issuer(&self.issuer) {
            problems.push(("issuer", format!("`issuer` {reason}")));
        }
        let texts = [("client_id", Some(&self.client_id)), ("claim", Some(&self.claim))].into_iter();
        let more = [("client_secret", self.client_secret.as_ref()), ("viewers_claim", self.viewers_claim.as_ref())];
        for (key, _) in texts.chain(more).filter(|(_, text)| text.is_some_and(|text| text.trim().is_empty())) {
            problems.push((key, format!("`{key}` must not be empty")));
        }
        if self.operators.is_empty() && self.viewers.is_empty() {
            problems
                .push(("operators", "nobody could log in: name somebody under `operators` or `viewers`".to_owned()));
        }
        for (key, values) in [("operators", &self.operators), ("viewers", &self.viewers)] {
            if values.iter().any(|value| value.trim().is_empty()) {
                problems.push((key, format!("`{key}` names nobody by an empty text")));
            }
            if values.len() > ROLE_VALUES_MAX {
                problems.push((key, format!("`{key}` has at most {ROLE_VALUES_MAX} values; a group says it shorter")));
            }
        }
        let name = self.name.clone().or_else(|| host_of(&self.issuer)).unwrap_or_default();
        let is_plain = !name.chars().any(|c| c.is_control() || forecourt_core::clean::is_hidden(c));
        if name.trim().is_empty() || name.chars().count() > LOGIN_NAME_CHARS_MAX || !is_plain {
            let right = format!("`name` has 1 to {LOGIN_NAME_CHARS_MAX} characters, and no hidden ones");
            problems.push(("name", right));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let viewers_claim = self.viewers_claim.clone().unwrap_or_else(|| self.claim.clone());
        Ok(LoginSettings {
            client: ClientSettings {
                issuer: self.issuer.clone(),
                client_id: self.client_id.clone(),
                // A secret that comes from a file may end with a line end.
                client_secret: self.client_secret.as_deref().map(|secret| secret.trim().to_owned()),
                scopes: with_openid(&self.scopes),
            },
            roles: RoleClaims::new((self.claim.clone(), self.operators.clone()), (viewers_claim, self.viewers.clone())),
            name,
        })
    }
}

fn host_of(issuer: &str) -> Option<String> {
    Url::parse(issuer).ok()?.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> OidcLoginSettings {
        toml::from_str(&format!("issuer = \"https://login.example/x\"\nclient_id = \"us\"\n{more}")).unwrap()
    }

    fn wrong(more: &str) -> Vec<&'static str> {
        settings(more).check().unwrap_err().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn groups_are_asked_for_by_their_usual_name() {
        let checked = settings("operators = [\"chiefs\"]").check().unwrap();
        assert_eq!((checked.name.as_str(), checked.issuer()), ("login.example", "https://login.example/x"));
        assert_eq!(checked.client.scopes, ["openid", "profile", "email"]);
        let said = serde_json::json!({"groups": ["chiefs"]});
        assert_eq!(checked.roles.held(said.as_object().unwrap()).len(), 1);
    }

    #[test]
    fn everything_that_is_wrong_is_found_with_its_key() {
        assert_eq!(wrong(""), ["operators"]);
        assert_eq!(
            wrong("operators = [\"\"]\nclient_secret = \" \"\nclaim = \"\""),
            ["claim", "client_secret", "operators"]
        );
        assert_eq!(wrong("viewers = [\"a\"]\nname = \"\""), ["name"]);
        let many = |count: usize| format!("viewers = [{}]", "\"a\",".repeat(count));
        assert!(settings(&many(ROLE_VALUES_MAX)).check().is_ok());
        assert_eq!(wrong(&many(ROLE_VALUES_MAX + 1)), ["viewers"]);
        let named = |count: usize| format!("viewers = [\"a\"]\nname = \"{}\"", "n".repeat(count));
        assert!(settings(&named(LOGIN_NAME_CHARS_MAX)).check().is_ok());
        assert_eq!(wrong(&named(LOGIN_NAME_CHARS_MAX + 1)), ["name"]);
        let plain = OidcLoginSettings { issuer: "http://login.example".to_owned(), ..settings("viewers = [\"a\"]") };
        assert_eq!(plain.check().unwrap_err()[0].0, "issuer");
        let secret = settings("viewers = [\"a\"]\nclient_secret = \"hush\"");
        assert!(!format!("{secret:?} {:?}", secret.check().unwrap()).contains("hush"));
    }
}
