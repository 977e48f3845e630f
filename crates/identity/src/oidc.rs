//! The `[identity.oidc]` table: the provider at which people sign in. OpenID Connect Core 1.0.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_oidc::{check_issuer, usual_scopes, with_openid};
use forecourt_settings::client_secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{SESSION_IDLE, SESSION_LIFETIME};

/// The provider at which people sign in. Register `ORIGIN/sign-in/callback` there as the redirect URI, where
/// ORIGIN is the address of this host as people see it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcConfig {
    /// Its issuer, to the letter, such as `https://login.example/realms/staff`. It must be https. A provider
    /// within your own network is opened by `allow` in `[egress]`; one on this machine may also be plain http,
    /// where `allow_http` opens that too.
    pub issuer: String,
    /// The name of this host at the provider.
    pub client_id: String,
    /// The secret that goes with it, best as `${VAR}`. Without a secret this host is a public client, which the
    /// provider must allow.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// A file with the secret, relative to the deployment folder. Either this or `client_secret`.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// What is asked of the provider. `openid` is always among it.
    #[serde(default = "usual_scopes")]
    pub scopes: Vec<String>,
    /// The domains of e-mail addresses whose people may sign in; everybody that the provider knows when empty.
    /// Only an address that the provider has verified counts.
    #[serde(default)]
    pub allowed_domains: Vec<String>,
    /// Which claim tells people apart. It must never be given to somebody else later on; `email` counts only
    /// when it is verified.
    #[serde(default = "usual_subject")]
    pub subject_claim: String,
    /// Further claims that agents see beside the name and the e-mail address, such as `groups`.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Seconds for which a sign-in lasts, whatever happens.
    #[serde(default = "usual_lifetime")]
    pub session_lifetime_seconds: NonZeroU32,
    /// Seconds without a request after which a sign-in ends.
    #[serde(default = "usual_idle")]
    pub session_idle_seconds: NonZeroU32,
    /// What signing out means.
    #[serde(default)]
    pub logout: Logout,
}

/// What signing out means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Logout {
    /// The session of this host ends; that at the provider stays.
    #[default]
    Host,
    /// The browser is led to the provider too, which ends its own, where it offers that (OpenID Connect
    /// RP-Initiated Logout 1.0).
    Provider,
}

/// Never prints the secret.
impl std::fmt::Debug for OidcConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcConfig").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

fn usual_subject() -> String {
    "sub".to_owned()
}

fn usual_lifetime() -> NonZeroU32 {
    seconds(SESSION_LIFETIME)
}

fn usual_idle() -> NonZeroU32 {
    seconds(SESSION_IDLE)
}

fn seconds(time: Duration) -> NonZeroU32 {
    u32::try_from(time.as_secs()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

/// The provider at which people sign in, checked.
#[derive(Clone)]
pub struct OidcSettings {
    /// [`OidcConfig::issuer`].
    pub issuer: String,
    /// [`OidcConfig::client_id`].
    pub client_id: String,
    /// The secret, wherever it was written.
    pub client_secret: Option<String>,
    /// [`OidcConfig::scopes`], with `openid`.
    pub scopes: Vec<String>,
    /// [`OidcConfig::allowed_domains`], in small letters.
    pub allowed_domains: Vec<String>,
    /// [`OidcConfig::subject_claim`].
    pub subject_claim: String,
    /// [`OidcConfig::claims`].
    pub claims: Vec<String>,
    /// [`OidcConfig::session_lifetime_seconds`].
    pub session_lifetime: Duration,
    /// [`OidcConfig::session_idle_seconds`].
    pub session_idle: Duration,
    /// [`OidcConfig::logout`].
    pub logout: Logout,
}

impl OidcSettings {
    /// What begins the subjects of its people: no other subject does.
    pub fn subject_prefix(&self) -> String {
        subject_prefix(&self.issuer)
    }
}

impl OidcConfig {
    /// [`OidcSettings::subject_prefix`] of these settings.
    pub fn subject_prefix(&self) -> String {
        subject_prefix(&self.issuer)
    }
}

fn subject_prefix(issuer: &str) -> String {
    format!("oidc:{issuer}#")
}

/// Never prints the secret.
impl std::fmt::Debug for OidcSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcSettings").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// Checks a table; gives each problem with its key.
pub(crate) fn check(config: &OidcConfig, base: &Path) -> Result<OidcSettings, Vec<(&'static str, String)>> {
    let mut problems = Vec::new();
    if let Err(reason) = check_issuer(&config.issuer) {
        problems.push(("issuer", reason));
    }
    if config.client_id.is_empty() {
        problems.push(("client_id", "must not be empty".to_owned()));
    }
    if config.subject_claim.is_empty() {
        problems.push(("subject_claim", "must not be empty".to_owned()));
    }
    // The `scope` of evidence grants authority: a provider must not be able to set it through a sign-in.
    if config.claims.iter().any(|claim| claim == "scope") {
        problems.push(("claims", "`scope` is what programs may do, and is never taken from a sign-in".to_owned()));
    }
    let given = client_secret(config.client_secret.clone(), config.client_secret_file.as_deref(), base);
    let client_secret = given.unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    if !problems.is_empty() {
        return Err(problems);
    }
    let (lifetime, idle) = (config.session_lifetime_seconds.get(), config.session_idle_seconds.get());
    Ok(OidcSettings {
        issuer: config.issuer.clone(),
        client_id: config.client_id.clone(),
        client_secret,
        // Without `openid` a provider sends no ID token. OpenID Connect Core 3.1.2.1.
        scopes: with_openid(&config.scopes),
        allowed_domains: config.allowed_domains.iter().map(|domain| domain.to_ascii_lowercase()).collect(),
        subject_claim: config.subject_claim.clone(),
        claims: config.claims.clone(),
        session_lifetime: Duration::from_secs(lifetime.into()),
        session_idle: Duration::from_secs(idle.min(lifetime).into()),
        logout: config.logout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> OidcConfig {
        toml::from_str(&format!("issuer = \"https://login.example\"\nclient_id = \"us\"\n{more}")).unwrap()
    }

    #[test]
    fn the_usual_values_need_no_more_than_issuer_and_client() {
        let settings = check(&config(""), Path::new(".")).unwrap();
        assert_eq!(settings.scopes, ["openid", "profile", "email"]);
        assert_eq!((settings.session_lifetime, settings.session_idle), (SESSION_LIFETIME, SESSION_IDLE));
        assert_eq!((settings.subject_claim.as_str(), settings.logout), ("sub", Logout::Host));
        assert_eq!(settings.subject_prefix(), "oidc:https://login.example#");
        assert_eq!(check(&config("scopes = [\"email\"]"), Path::new(".")).unwrap().scopes, ["openid", "email"]);
        let short = check(&config("session_lifetime_seconds = 60"), Path::new(".")).unwrap();
        assert_eq!(short.session_idle, Duration::from_secs(60));
    }

    #[test]
    fn a_secret_is_in_one_place_and_never_printed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "hush\n").unwrap();
        let read = check(&config("client_secret_file = \"secret\""), folder.path()).unwrap();
        assert_eq!(read.client_secret.as_deref(), Some("hush"));
        assert!(!format!("{read:?}").contains("hush"));
        let both = config("client_secret = \"hush\"\nclient_secret_file = \"secret\"");
        assert!(!format!("{both:?}").contains("hush"));
        for wrong in [both, config("client_secret = \" \""), config("client_secret_file = \"none\"")] {
            assert!(check(&wrong, folder.path()).is_err());
        }
    }
}
