//! This module checks the `[identity]` configuration. It reports all problems at once, each with its key.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{json, origin};
use forecourt_egress::CheckedUrl;
use forecourt_jose::{Algorithm, KeyError, KeySet, VerifyKey};

use crate::api_keys::SUBJECT_PREFIX;
use crate::bearer::{BearerIssuer, Keys};
use crate::bots::{self, BotSettings, KnownBots};
use crate::card_keys;
use crate::config::{BearerConfig, HttpSignatureConfig, IdentityConfig, KeyConfig, TrustedIssuerConfig};
use crate::evidence::{IssuerKeys, IssuerTrust, TrustedIssuer, TrustedIssuers};
use crate::http_signature::SignaturePolicy;
use crate::oidc::{self, OidcConfig, OidcSettings};
use crate::remote_keys::{DocumentFetcher, KeyDocument, RemoteKeys};

/// Something that is wrong in `[identity]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("identity.{key}: {reason}")]
pub struct IdentityProblem {
    /// The dotted path of the key below `[identity]`, with `[n]` for the n-th of a list.
    pub key: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// The checked values of an [`IdentityConfig`].
pub(crate) struct CheckedConfig {
    pub(crate) bearer: Vec<BearerIssuer>,
    pub(crate) issuers: TrustedIssuers,
    pub(crate) signatures: Option<SignaturePolicy>,
    pub(crate) one_time_evidence: bool,
    pub(crate) oidc: Option<OidcSettings>,
    pub(crate) bots: KnownBots,
    /// Whether crawlers are verified by their signatures.
    pub(crate) bot_signatures: bool,
}

/// Checks a configuration; key files are read relative to `base`.
pub(crate) fn check(
    config: &IdentityConfig,
    base: &Path,
    documents: &Arc<dyn DocumentFetcher>,
) -> Result<CheckedConfig, Vec<IdentityProblem>> {
    let mut reader = Reader { base, documents, problems: Vec::new() };
    let bearer = config.bearer.iter().enumerate();
    let bearer = bearer.filter_map(|(n, one)| reader.bearer(one, &format!("bearer[{n}]"))).collect();
    reader.distinct(&config.bearer);
    let issuers = config.trusted_issuers.iter().enumerate();
    let issuers = issuers.filter_map(|(n, one)| reader.issuer(one, &format!("trusted_issuers[{n}]"))).collect();
    let signatures = reader.signatures(&config.http_signatures);
    let oidc = config.oidc.as_ref().and_then(|one| reader.oidc(one, config));
    let bots = reader.bots(&config.bots);
    match reader.problems.is_empty() {
        true => Ok(CheckedConfig {
            bearer,
            issuers: TrustedIssuers(issuers),
            signatures,
            one_time_evidence: config.one_time_evidence,
            oidc,
            bots,
            bot_signatures: config.bots.signatures,
        }),
        false => Err(reader.problems),
    }
}

struct Reader<'a> {
    base: &'a Path,
    documents: &'a Arc<dyn DocumentFetcher>,
    problems: Vec<IdentityProblem>,
}

impl Reader<'_> {
    fn wrong<T>(&mut self, key: String, reason: impl Into<String>) -> Option<T> {
        self.problems.push(IdentityProblem { key, reason: reason.into() });
        None
    }

    fn bearer(&mut self, config: &BearerConfig, key: &str) -> Option<BearerIssuer> {
        if config.audience.is_empty() {
            // RFC 8725 3.9: without an audience, a token for another service of the issuer would open this one.
            return self.wrong(format!("{key}.audience"), "name at least one audience, or any token would do");
        }
        if config.subject_prefix.is_none() && config.issuer.contains(ISSUER_END) {
            let reason = format!("an issuer has no `{ISSUER_END}`; give a `subject_prefix` if this one does");
            return self.wrong(format!("{key}.issuer"), reason);
        }
        let keys = match (&config.jwks_url, config.keys.is_empty()) {
            (Some(url), true) => {
                let url = self.https(url, format!("{key}.jwks_url"))?;
                Keys::Remote(self.remote(url, KeySet::from_public_jwks))
            }
            (None, false) => Keys::Fixed(self.keys(&config.keys, key)?),
            _ => return self.wrong(key.to_owned(), "give either `jwks_url` or `keys`"),
        };
        Some(BearerIssuer {
            subject_prefix: prefix(config),
            issuer: config.issuer.clone(),
            audience: config.audience.clone(),
            require_not_before: config.require_not_before,
            keys,
        })
    }

    /// That no token can name a subject of another issuer, or of this host.
    fn distinct(&mut self, all: &[BearerConfig]) {
        let prefixes: Vec<String> = all.iter().map(prefix).collect();
        for (n, own) in prefixes.iter().enumerate() {
            let key = || format!("bearer[{n}].subject_prefix");
            let of_another = |at: &usize| all[*at].issuer != all[n].issuer && collide(own, &prefixes[*at]);
            if let Some(other) = (0..n).find(of_another) {
                let reason = format!(
                    "`{own}` collides with `{}` of bearer[{other}]: a token of one issuer could name a subject of the other. \
                     Choose prefixes of which none begins with the other, or leave them out",
                    prefixes[other]
                );
                self.wrong::<()>(key(), reason);
            }
            if let Some(taken) = OWN_SUBJECTS.into_iter().find(|taken| collide(own, taken)) {
                let reason = format!("`{own}` collides with `{taken}`, which begins subjects of this host's own");
                self.wrong::<()>(key(), reason);
            }
        }
    }

    fn issuer(&mut self, config: &TrustedIssuerConfig, key: &str) -> Option<TrustedIssuer> {
        let Some(issuer) = origin::normalize(&config.issuer) else {
            return self.wrong(format!("{key}.issuer"), "must be a host name");
        };
        let lists = [("methods", &config.methods), ("assurance", &config.assurance)];
        for (name, list) in lists.into_iter().chain([("subject_prefixes", &config.subject_prefixes)]) {
            if list.is_empty() || list.iter().any(String::is_empty) {
                return self.wrong(format!("{key}.{name}"), "name at least one, and none that is empty");
            }
        }
        // A Connector that could assert `key:` subjects could pose as the bearer of any API key of this host, and with
        // `bot:` as any crawler.
        for (taken, whose) in [(SUBJECT_PREFIX, "API keys"), (bots::SUBJECT_PREFIX, "crawlers")] {
            if let Some(prefix) = config.subject_prefixes.iter().find(|prefix| collide(prefix, taken)) {
                let reason = format!("`{prefix}` collides with `{taken}`, which begins the subjects of {whose}");
                return self.wrong(format!("{key}.subject_prefixes"), reason);
            }
        }
        let keys = match (&config.card_url, config.keys.is_empty()) {
            (Some(_), false) => return self.wrong(key.to_owned(), "give `card_url` or `keys`, not both"),
            (None, false) => IssuerKeys::Fixed(self.keys(&config.keys, key)?),
            (url, true) => {
                let usual = || format!("https://{issuer}/.well-known/adapter-card");
                let url = self.https(&url.clone().unwrap_or_else(usual), format!("{key}.card_url"))?;
                IssuerKeys::Card(self.remote(url, card_keys::from_card))
            }
        };
        let trusted = IssuerTrust {
            issuer,
            methods: config.methods.clone(),
            assurance: config.assurance.clone(),
            subject_prefixes: config.subject_prefixes.clone(),
            authenticated_as: config.authenticated_as.clone(),
        };
        Some(TrustedIssuer { trusted, keys })
    }

    fn signatures(&mut self, config: &HttpSignatureConfig) -> Option<SignaturePolicy> {
        let mut algorithms = Vec::new();
        for name in &config.algorithms {
            match Algorithm::from_http(name) {
                Some(algorithm) => algorithms.push(algorithm),
                None => {
                    let known: Vec<_> = Algorithm::ALL.into_iter().filter_map(Algorithm::http_name).collect();
                    let reason = format!("`{name}` is not one of {}", known.join(", "));
                    self.wrong::<()>("http_signatures.algorithms".to_owned(), reason);
                }
            }
        }
        let age_max = Duration::from_secs(config.age_seconds.get().into());
        config.enabled.then_some(SignaturePolicy { algorithms, age_max, require_nonce: config.require_nonce })
    }

    fn bots(&mut self, settings: &BotSettings) -> KnownBots {
        KnownBots::new(settings).unwrap_or_else(|(at, reason)| {
            self.wrong::<()>(format!("bots.known[{at}]"), reason);
            KnownBots::default()
        })
    }

    /// The provider at which people sign in, if no proof of another kind can name its people.
    fn oidc(&mut self, config: &OidcConfig, all: &IdentityConfig) -> Option<OidcSettings> {
        let settings = match oidc::check(config, self.base) {
            Ok(settings) => settings,
            Err(problems) => {
                for (key, reason) in problems {
                    self.wrong::<()>(format!("oidc.{key}"), reason);
                }
                return None;
            }
        };
        let own = settings.subject_prefix();
        if let Some(n) = all.bearer.iter().position(|bearer| collide(&own, &prefix(bearer))) {
            let reason = format!("its subjects could be those of people who sign in, which begin with `{own}`");
            return self.wrong(format!("bearer[{n}].subject_prefix"), reason);
        }
        let names = |issuer: &TrustedIssuerConfig| issuer.subject_prefixes.iter().any(|other| collide(&own, other));
        if let Some(n) = all.trusted_issuers.iter().position(names) {
            let reason = format!("its subjects could be those of people who sign in, which begin with `{own}`");
            return self.wrong(format!("trusted_issuers[{n}].subject_prefixes"), reason);
        }
        Some(settings)
    }

    fn https(&mut self, url: &str, key: String) -> Option<String> {
        match CheckedUrl::parse(url) {
            Ok(target) if target.is_https() => Some(url.to_owned()),
            Ok(_) => self.wrong(key, "must begin with https://"),
            Err(refusal) => self.wrong(key, refusal.to_string()),
        }
    }

    fn remote(&self, url: String, read: fn(&[u8]) -> Result<KeySet, KeyError>) -> RemoteKeys {
        RemoteKeys::new(KeyDocument { url, read, documents: self.documents.clone() })
    }

    fn keys(&mut self, configs: &[KeyConfig], key: &str) -> Option<Arc<KeySet>> {
        let mut keys = Vec::new();
        for (n, config) in configs.iter().enumerate() {
            match read_key(config, self.base) {
                Ok(read) => keys.extend(read),
                Err(reason) => return self.wrong(format!("{key}.keys[{n}]"), reason),
            }
        }
        match KeySet::new(keys) {
            Ok(set) => Some(Arc::new(set)),
            Err(fault) => self.wrong(format!("{key}.keys"), fault.to_string()),
        }
    }
}

/// What parts the issuer from `sub` where no prefix is configured. No issuer has one: OpenID Connect Discovery 3.
const ISSUER_END: char = '#';

/// Beginnings of the subjects that this host gives out itself: addresses, agents of AGTP, senders of mail, bearers of
/// API keys, and crawlers.
const OWN_SUBJECTS: [&str; 5] = ["@", "agtp://", "mailto:", SUBJECT_PREFIX, bots::SUBJECT_PREFIX];

/// `oauth:` and the whole issuer, to the letter, so that no two pairs of an issuer and a `sub` are the same text.
fn default_prefix(issuer: &str) -> String {
    format!("oauth:{issuer}{ISSUER_END}")
}

/// What stands before `sub` in the subjects of an issuer.
fn prefix(config: &BearerConfig) -> String {
    config.subject_prefix.clone().unwrap_or_else(|| default_prefix(&config.issuer))
}

impl IdentityConfig {
    /// Who issues proofs that are believed here: of tokens, where people sign in, and Connectors.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        let bearer = self.bearer.iter().map(|one| one.issuer.as_str());
        let connectors = self.trusted_issuers.iter().map(|one| one.issuer.as_str());
        bearer.chain(self.oidc.iter().map(|one| one.issuer.as_str())).chain(connectors)
    }

    /// What the subjects of tokens, of who signs in and of what Connectors forward begin with.
    pub fn subject_prefixes(&self) -> impl Iterator<Item = String> {
        let forwarded = self.trusted_issuers.iter().flat_map(|one| one.subject_prefixes.iter().cloned());
        self.bearer.iter().map(prefix).chain(self.oidc.iter().map(OidcConfig::subject_prefix)).chain(forwarded)
    }
}

/// Whether a subject under one of the prefixes can be the same text as one under the other.
fn collide(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn read_key(config: &KeyConfig, base: &Path) -> Result<Vec<VerifyKey>, String> {
    let algorithm = match &config.alg {
        None => None,
        Some(name) => Some(Algorithm::from_jose(name).ok_or(format!("`{name}` is not an algorithm"))?),
    };
    let file = |path: &Path| {
        let path = base.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let pem = |text: &str| VerifyKey::from_pem(text, algorithm).map(|key| vec![key]).map_err(|f| f.to_string());
    let keys = match (&config.pem, &config.pem_file, &config.jwk, &config.jwk_file) {
        (Some(text), None, None, None) => pem(text)?,
        (None, Some(path), None, None) => pem(&file(path)?)?,
        (None, None, Some(jwk), None) => vec![VerifyKey::from_jwk(jwk).map_err(|fault| fault.to_string())?],
        (None, None, None, Some(path)) => return read_jwks(&file(path)?),
        _ => return Err("give exactly one of `pem`, `pem_file`, `jwk` and `jwk_file`".to_owned()),
    };
    let named = |key: VerifyKey| {
        let kid = key.kid().map(str::to_owned).or_else(|| config.kid.clone());
        key.with_kid(kid)
    };
    Ok(keys.into_iter().map(named).collect())
}

/// A file with one key or a set of them; each must be usable.
fn read_jwks(text: &str) -> Result<Vec<VerifyKey>, String> {
    let value = json::parse(text.as_bytes())?;
    let entries = match value.get("keys").and_then(|keys| keys.as_array()) {
        Some(entries) => entries.as_slice(),
        None => std::slice::from_ref(&value),
    };
    let read = |entry: &serde_json::Value| {
        let jwk = entry.as_object().ok_or("a JWK is an object")?;
        VerifyKey::from_jwk(jwk).map_err(|fault| fault.to_string())
    };
    entries.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn s7_2_no_two_pairs_of_issuer_and_sub_are_one_subject(
            one in ("[a-c:/.]{0,6}", "[a-c:/#.]{0,6}"),
            other in ("[a-c:/.]{0,6}", "[a-c:/#.]{0,6}"),
        ) {
            let subject = |(issuer, sub): &(String, String)| format!("{}{sub}", default_prefix(issuer));
            prop_assert_eq!(subject(&one) == subject(&other), one == other);
        }
    }

    #[test]
    fn prefixes_collide_when_one_begins_with_the_other() {
        for (one, other, expected) in [
            ("a:", "b:", false),
            ("a:", "a:b/", true),
            ("a:b/", "a:", true),
            ("a:", "a:", true),
            ("", "a:", true),
            ("oauth:https://h/realms/a#", "oauth:https://h/realms/b#", false),
            ("oauth:https://h/realms/a#", "oauth:https://h/realms/ab#", false),
        ] {
            assert_eq!(collide(one, other), expected, "{one} {other}");
        }
    }
}
