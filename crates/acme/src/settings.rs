//! `[tls.acme]`.

use std::path::PathBuf;

use instant_acme::{ChallengeType, LetsEncrypt};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// `[tls.acme]`: certificates from an authority that speaks ACME. Without a word here they are ordered from Let's
/// Encrypt where HTTPS listens off loopback, the domain is a public one and `[tls]` has no `cert` and `key`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AcmeSettings {
    /// `false` orders none whatever the domain is; `true` orders them on loopback and for private domains too, which
    /// needs a `directory` of your own.
    pub enabled: Option<bool>,
    /// The authority's directory, `https://…`. Let's Encrypt when absent.
    pub directory: Option<String>,
    /// Whether to try it out at Let's Encrypt's staging directory: generous limits, and certificates that nobody
    /// trusts.
    pub staging: bool,
    /// Where the authority can write to you about the account.
    pub email: Option<String>,
    /// Whether you accept the authority's terms of service. With `false` nothing is ordered.
    pub accept_terms: bool,
    /// How a name is proven: `auto` takes whichever can work, and the other one after a failure.
    pub challenge: ChallengeChoice,
    /// A PEM file with the certificates of authorities that are trusted for the directory beside those of the
    /// system, relative to the deployment folder: for an authority of your own.
    pub ca_file: Option<PathBuf>,
    /// The account at an authority that takes no strangers, such as ZeroSSL.
    pub external_account: Option<ExternalAccount>,
}

/// How a name is proven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ChallengeChoice {
    /// Whichever can work.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// A file over plain HTTP on port 80: needs `http` in `[listen]` off loopback, or a proxy that passes
    /// `/.well-known/acme-challenge/` on.
    #[serde(rename = "http-01")]
    Http01,
    /// A certificate within TLS on port 443. Not where several nodes share a store: the authority may reach any.
    #[serde(rename = "tls-alpn-01")]
    TlsAlpn01,
}

/// An account that was made at the authority's site. RFC 8555 7.3.4.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalAccount {
    /// What the authority calls it.
    pub id: String,
    /// The HMAC key that it gave, base64url, best from the environment or a file.
    pub key: String,
}

impl std::fmt::Debug for ExternalAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalAccount").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Default for AcmeSettings {
    fn default() -> Self {
        Self {
            enabled: None,
            directory: None,
            staging: false,
            email: None,
            accept_terms: true,
            challenge: ChallengeChoice::Auto,
            ca_file: None,
            external_account: None,
        }
    }
}

impl AcmeSettings {
    /// Where orders go.
    pub fn directory(&self) -> &str {
        match (&self.directory, self.staging) {
            (Some(directory), _) => directory,
            (None, true) => LetsEncrypt::Staging.url(),
            (None, false) => LetsEncrypt::Production.url(),
        }
    }

    /// The authority, for people.
    pub fn authority(&self) -> String {
        match (&self.directory, self.staging) {
            (None, false) => "Let's Encrypt".to_owned(),
            (None, true) => "Let's Encrypt (staging: nobody trusts these certificates)".to_owned(),
            (Some(directory), _) => {
                let host = Url::parse(directory).ok().and_then(|url| url.host_str().map(str::to_owned));
                host.unwrap_or_else(|| directory.clone())
            }
        }
    }

    /// What is wrong with them: the key, and what is right.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let is_https = |text: &String| Url::parse(text).is_ok_and(|url| url.scheme() == "https" && url.has_host());
        if self.directory.as_ref().is_some_and(|directory| !is_https(directory)) {
            return Some(("directory", "`directory` is an https URL"));
        }
        if self.staging && self.directory.is_some() {
            return Some(("staging", "`staging` is Let's Encrypt's: take it or `directory` out"));
        }
        if self.email.as_ref().is_some_and(|email| !email.contains('@') || email.contains(char::is_whitespace)) {
            return Some(("email", "`email` is an address such as `you@example.com`"));
        }
        if self.enabled == Some(true) && !self.accept_terms {
            return Some((
                "accept_terms",
                "no authority signs for who does not accept its terms: `accept_terms = true`",
            ));
        }
        None
    }

    /// How a name is proven at the n-th try, from 0 on.
    pub(crate) fn challenge(&self, attempt: u32, is_shared: bool, has_port_80: bool) -> ChallengeType {
        match (self.challenge, is_shared) {
            // With a shared store the authority may reach another node, which finds tokens there but has no certificate
            // to show.
            (ChallengeChoice::Http01, _) | (_, true) => ChallengeType::Http01,
            (ChallengeChoice::TlsAlpn01, false) => ChallengeType::TlsAlpn01,
            // The likelier way first, and the other after each failure.
            (ChallengeChoice::Auto, false) if has_port_80 == attempt.is_multiple_of(2) => ChallengeType::Http01,
            (ChallengeChoice::Auto, false) => ChallengeType::TlsAlpn01,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_what_can_work_and_then_the_other() {
        let kinds = |settings: &AcmeSettings, shared, port| [0, 1, 2].map(|n| settings.challenge(n, shared, port));
        let (http, tls) = (ChallengeType::Http01, ChallengeType::TlsAlpn01);
        let auto = AcmeSettings::default();
        assert_eq!(kinds(&auto, false, true), [http.clone(), tls.clone(), http.clone()]);
        assert_eq!(kinds(&auto, false, false), [tls.clone(), http.clone(), tls.clone()]);
        assert_eq!(kinds(&auto, true, false), [http.clone(), http.clone(), http.clone()]);
        let only = AcmeSettings { challenge: ChallengeChoice::TlsAlpn01, ..auto };
        assert_eq!(kinds(&only, false, true), [tls.clone(), tls.clone(), tls]);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let problem = |change: fn(&mut AcmeSettings)| {
            let mut settings = AcmeSettings::default();
            change(&mut settings);
            settings.problem().map(|(key, _)| key)
        };
        assert_eq!(problem(|_| ()), None);
        assert_eq!(problem(|s| s.directory = Some("http://ca.example/dir".into())), Some("directory"));
        assert_eq!(problem(|s| s.directory = Some("ca.example".into())), Some("directory"));
        let both = |s: &mut AcmeSettings| (s.staging, s.directory) = (true, Some("https://ca.example/dir".into()));
        assert_eq!(problem(both), Some("staging"));
        assert_eq!(problem(|s| s.email = Some("me".into())), Some("email"));
        assert_eq!(problem(|s| (s.enabled, s.accept_terms) = (Some(true), false)), Some("accept_terms"));
    }
}
