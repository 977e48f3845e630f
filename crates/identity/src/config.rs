//! The `[identity]` section of `forecourt.toml`, and the steps from there to a [`Verifier`].
//!
//! [`Verifier`]: crate::Verifier

use std::num::NonZeroU32;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bots::BotSettings;
use crate::limits::SIGNATURE_AGE_MAX;
use crate::oidc::OidcConfig;

/// Who may prove an identity here, and how. Nobody is trusted who is not named.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityConfig {
    /// Issuers of bearer tokens (JWT) that are accepted in `Authorization`.
    pub bearer: Vec<BearerConfig>,
    /// Connectors whose forwarded identity evidence is accepted.
    pub trusted_issuers: Vec<TrustedIssuerConfig>,
    /// Where people sign in with a browser.
    pub oidc: Option<OidcConfig>,
    /// Signed requests of other agents (RFC 9421).
    pub http_signatures: HttpSignatureConfig,
    /// Crawlers, by their signatures or their names.
    pub bots: BotSettings,
    /// Whether each piece of forwarded evidence is good for one request only.
    pub one_time_evidence: bool,
}

/// One issuer of bearer tokens.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BearerConfig {
    /// The `iss` of its tokens, to the letter.
    pub issuer: String,
    /// The `aud` values that mean this host; one must be in the token.
    pub audience: Vec<String>,
    /// The https URL of its keys (JWKS). Either this or `keys`.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// Its keys, written down here. Either this or `jwks_url`.
    #[serde(default)]
    pub keys: Vec<KeyConfig>,
    /// What stands before `sub` in the subject that policies see; `oauth:`, the whole issuer and `#` when
    /// absent, so that two issuers never name the same subject. No prefix may begin with another issuer's.
    #[serde(default)]
    pub subject_prefix: Option<String>,
    /// Whether a token must say since when it holds (`nbf`).
    #[serde(default)]
    pub require_not_before: bool,
}

/// One key. Exactly one of `pem`, `pem_file`, `jwk` and `jwk_file`.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeyConfig {
    /// A PEM `PUBLIC KEY`.
    pub pem: Option<String>,
    /// A file with one, relative to the deployment folder.
    pub pem_file: Option<PathBuf>,
    /// A JWK as a table. The only form that takes a shared secret (`kty = "oct"`).
    pub jwk: Option<Map<String, Value>>,
    /// A file with a JWK or a JWKS, relative to the deployment folder.
    pub jwk_file: Option<PathBuf>,
    /// The key's name, if the form has none.
    pub kid: Option<String>,
    /// The algorithm of an RSA key in PEM, `RS256` when absent.
    pub alg: Option<String>,
}

/// One Connector. Evidence counts when all four lists match it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustedIssuerConfig {
    /// Its host, the `issuer` of its evidence.
    pub issuer: String,
    /// The methods that it may assert, such as `urn:mentionable:auth:slack-workspace-member:v0.1`.
    pub methods: Vec<String>,
    /// The levels of assurance that it may assert, such as `platform`.
    pub assurance: Vec<String>,
    /// What its subjects must begin with, such as `slack:T123/`.
    pub subject_prefixes: Vec<String>,
    /// The https URL of its Connector Card; `/.well-known/adapter-card` on its host when absent.
    #[serde(default)]
    pub card_url: Option<String>,
    /// Its keys, written down here instead of fetched.
    #[serde(default)]
    pub keys: Vec<KeyConfig>,
    /// Subjects of bearer tokens that are this Connector itself. Its unsigned evidence counts when
    /// it authenticates so, or signs the request as an agent on its host.
    #[serde(default)]
    pub authenticated_as: Vec<String>,
}

/// Signed requests.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSignatureConfig {
    /// Whether signatures are looked at.
    pub enabled: bool,
    /// The algorithms that count, by their RFC 9421 names.
    pub algorithms: Vec<String>,
    /// Seconds for which a signature holds after it was made.
    pub age_seconds: NonZeroU32,
    /// Whether a signature needs a nonce. One that has a nonce is good for one request anyway.
    pub require_nonce: bool,
}

impl Default for HttpSignatureConfig {
    fn default() -> Self {
        let age = u32::try_from(SIGNATURE_AGE_MAX.as_secs()).ok().and_then(NonZeroU32::new);
        Self {
            enabled: true,
            algorithms: vec!["ed25519".to_owned()],
            age_seconds: age.unwrap_or(NonZeroU32::MIN),
            require_nonce: false,
        }
    }
}

/// Never prints a key, which may be a secret.
impl std::fmt::Debug for KeyConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyConfig").field("kid", &self.kid).finish_non_exhaustive()
    }
}
