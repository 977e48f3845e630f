//! Tokens beside the agent's name. Base 7.4.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Claims that are about the token and not about whoever it was issued for.
const NO_PRINCIPAL: [&str; 6] = ["iss", "aud", "exp", "nbf", "iat", "jti"];

/// The table `policies.oauth`. Base 7.4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OauthSettings {
    /// Whether a bearer token in `Authorization` is looked at. The issuers are those of `[[identity.bearer]]`; a
    /// token that does not hold is refused. Methods that need one are named in `token_required` of `[endpoints]`.
    pub enabled: bool,
    /// How tokens are checked: `jwt`, by the keys of their issuer. `noop`, for development, takes any token as it
    /// comes: on loopback only, with `allow_noop_validator`.
    pub validator: TokenValidator,
    /// The claim that says for whom the caller acts, as records of the call name it (`acting_principal_id`). A token
    /// without it is refused.
    pub principal_id_claim: String,
    /// Whether `validator` may be `noop`, so that nobody turns checks off with one word.
    pub allow_noop_validator: bool,
}

/// How tokens are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TokenValidator {
    /// As signed tokens of a known issuer. RFC 7519.
    #[default]
    Jwt,
    /// Not at all.
    Noop,
}

impl Default for OauthSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            validator: TokenValidator::Jwt,
            principal_id_claim: "sub".to_owned(),
            allow_noop_validator: false,
        }
    }
}

impl OauthSettings {
    /// What is wrong with them on a listener that only this machine reaches, or that others do.
    pub(super) fn problem(&self, is_loopback: bool) -> Option<String> {
        let claim = self.principal_id_claim.as_str();
        let is_noop = self.validator == TokenValidator::Noop;
        match () {
            () if claim.is_empty() || NO_PRINCIPAL.contains(&claim) => {
                Some(format!("`oauth.principal_id_claim` must name a principal, such as `sub`: `{claim}` does not"))
            }
            () if is_noop && !self.allow_noop_validator => Some(
                "`oauth.validator = \"noop\"` takes every token: it needs `allow_noop_validator = true`".to_owned(),
            ),
            () if is_noop && !is_loopback => {
                Some("`oauth.validator = \"noop\"` takes every token: it is for loopback only, use `jwt`".to_owned())
            }
            () => None,
        }
    }
}
