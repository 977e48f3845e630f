//! `[payments.ap2]`: whose mandates are believed, and what settles them.

use std::path::{Path, PathBuf};

use forecourt_jose::Algorithm;
use schemars::JsonSchema;
use serde::Deserialize;
use url::{Host, Url};

use crate::limits::AP2_ISSUERS_MAX;
use crate::settings_error::SettingsError;

/// `[payments.ap2]`: mandates of AP2 v0.1. Off without `settle`.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ap2Settings {
    /// What moves the money of a mandate that was verified: `"x402"`, whose payment is in it, by the `facilitator` of
    /// `[payments]`; or `"processor"`, a payment processor of yours.
    pub settle: Option<SettledBy>,
    /// What people call you, in carts and in mandates. Your domain, unless it is set.
    pub merchant_name: Option<String>,
    /// The processor: the URL to which `/authorize`, `/capture` and `/release` are added. By https, or on this machine where
    /// `[egress]` lets out to it. Published in every cart.
    pub processor: Option<String>,
    /// What this host shows the processor as a bearer token, best as `"${PSP_SECRET}"` or `"${file:psp.secret}"`.
    pub processor_secret: Option<String>,
    /// The algorithms of signatures that count, by their names in JOSE. None with a shared secret.
    pub algorithms: Vec<String>,
    /// Who vouches for payers: providers of credentials, or payers with keys of their own. At most 64.
    pub issuers: Vec<Ap2Issuer>,
}

/// What moves the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// The payment of x402 within the mandate.
    X402,
    /// A payment processor.
    Processor,
}

/// `[[payments.ap2.issuers]]`: one who vouches for payers. Either `jwks_url` or `jwks_file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ap2Issuer {
    /// Its name, as its tokens have it in `iss`.
    pub issuer: String,
    /// Where its key set (JWKS) is, by https. Fetched when first needed, and again for a key that is not known.
    pub jwks_url: Option<String>,
    /// The same as a file, from the folder of the deployment on.
    pub jwks_file: Option<PathBuf>,
}

impl Default for Ap2Settings {
    fn default() -> Self {
        let algorithms = ["ES256", "ES384", "ES512", "EdDSA", "RS256", "PS256"].map(str::to_owned).to_vec();
        Self {
            settle: None,
            merchant_name: None,
            processor: None,
            processor_secret: None,
            algorithms,
            issuers: Vec::new(),
        }
    }
}

/// Never prints the secret.
impl std::fmt::Debug for Ap2Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { settle, processor, issuers, .. } = self;
        let mut shown = f.debug_struct("Ap2Settings");
        shown.field("settle", settle).field("processor", processor).field("issuers", issuers).finish_non_exhaustive()
    }
}

impl Ap2Settings {
    /// Whether mandates are taken.
    pub fn is_on(&self) -> bool {
        self.settle.is_some()
    }

    /// Has files be found from the folder of the deployment on.
    pub fn resolve_files(&mut self, resolve: impl Fn(&Path) -> PathBuf) {
        for file in self.issuers.iter_mut().filter_map(|issuer| issuer.jwks_file.as_mut()) {
            *file = resolve(file);
        }
    }

    /// The algorithms that count.
    pub(crate) fn algorithms(&self) -> Result<Vec<Algorithm>, SettingsError> {
        let read = |name: &String| {
            // A secret that both sides know proves nothing to a third one.
            let known = Algorithm::from_jose(name).filter(|_| !name.starts_with("HS"));
            known.ok_or_else(|| wrong(format!("`algorithms` has `{name}`"), "name some of ES256, EdDSA, RS256, PS256"))
        };
        self.algorithms.iter().map(read).collect()
    }

    /// Fails when the section can't work. `has_facilitator`: whether `[payments]` names one.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn check(&self, has_facilitator: bool) -> Result<(), SettingsError> {
        let Some(settle) = self.settle else {
            return match *self == Self::default() {
                true => Ok(()),
                false => Err(wrong("`settle` is not set", "set it to \"x402\" or \"processor\": AP2 moves no money")),
            };
        };
        match (settle, &self.processor) {
            (SettledBy::X402, Some(_)) => {
                return Err(wrong("`processor` is set, and x402 settles", "leave one of the two out"));
            }
            (SettledBy::X402, None) if !has_facilitator => {
                return Err(wrong("x402 settles, and there is no facilitator", "set `facilitator` in [payments]"));
            }
            (SettledBy::Processor, None) => {
                return Err(wrong("no `processor` is named", "set it to the URL of your payment processor"));
            }
            (SettledBy::Processor, Some(url)) => check_processor(url)?,
            (SettledBy::X402, None) => {}
        }
        if self.processor_secret.as_ref().is_some_and(|secret| secret.trim().is_empty()) {
            return Err(wrong("`processor_secret` is empty", "leave it out, or set it"));
        }
        if self.merchant_name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(wrong("`merchant_name` is empty", "leave it out, or set it"));
        }
        if self.algorithms()?.is_empty() {
            return Err(wrong("`algorithms` is empty", "leave it out for those that are usual"));
        }
        self.check_issuers()
    }

    fn check_issuers(&self) -> Result<(), SettingsError> {
        if self.issuers.is_empty() {
            let hint = "add [[payments.ap2.issuers]] with `issuer` and `jwks_url` or `jwks_file`";
            return Err(wrong("nobody's keys are trusted, so that every mandate would be refused", hint));
        }
        if self.issuers.len() > AP2_ISSUERS_MAX {
            let message = format!("there are {} issuers", self.issuers.len());
            return Err(wrong(message, format!("at most {AP2_ISSUERS_MAX} are trusted")));
        }
        for (at, one) in self.issuers.iter().enumerate() {
            let name = &one.issuer;
            if name.trim().is_empty() {
                return Err(wrong("an issuer has no `issuer`", "write what its tokens have in `iss`"));
            }
            if self.issuers[..at].iter().any(|other| other.issuer == *name) {
                return Err(wrong(format!("the issuer `{name}` is there twice"), "keep one of the two"));
            }
            match (&one.jwks_url, &one.jwks_file) {
                (Some(url), None) if !url.starts_with("https://") => {
                    return Err(wrong(format!("`jwks_url` of `{name}` is `{url}`"), "keys are fetched by https alone"));
                }
                (Some(_), None) | (None, Some(_)) => {}
                _ => return Err(wrong(format!("the issuer `{name}`"), "give it either `jwks_url` or `jwks_file`")),
            }
        }
        Ok(())
    }
}

/// Whether mandates may be sent there: they name a person and what they buy.
fn check_processor(url: &str) -> Result<(), SettingsError> {
    let example = "write it as https://psp.example/ap2";
    let parsed = Url::parse(url).map_err(|_| wrong(format!("`processor` is `{url}`"), example))?;
    // The names of the requests are added to the text, and would end up in either. The URL isn't repeated: it may hold
    // a secret.
    if parsed.query().is_some() || parsed.fragment().is_some() {
        let hint = "leave it out; a secret goes into `processor_secret`";
        return Err(wrong("`processor` has a query or a fragment", hint));
    }
    let is_local = match parsed.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        "http" => Err(wrong(format!("`processor` is `{url}`, which is not encrypted"), "mandates go by https alone")),
        _ => Err(wrong(format!("`processor` is `{url}`"), example)),
    }
}

fn wrong(message: impl Into<String>, hint: impl Into<String>) -> SettingsError {
    SettingsError::new(format!("ap2: {}", message.into()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(name: &str) -> Ap2Issuer {
        Ap2Issuer { issuer: name.to_owned(), jwks_url: Some("https://a.example/jwks".to_owned()), jwks_file: None }
    }

    fn with(change: impl Fn(&mut Ap2Settings)) -> Result<(), String> {
        let mut settings = Ap2Settings {
            settle: Some(SettledBy::Processor),
            processor: Some("https://psp.example/ap2".to_owned()),
            issuers: vec![issuer("https://a.example")],
            ..Ap2Settings::default()
        };
        change(&mut settings);
        settings.check(false).map_err(|error| error.message)
    }

    #[test]
    fn what_can_not_work_is_said() {
        assert_eq!((with(|_| {}), Ap2Settings::default().check(false).is_ok()), (Ok(()), true));
        assert_eq!(with(|settings| settings.processor = Some("http://127.0.0.1:9/ap2".to_owned())), Ok(()));
        let many =
            |count: usize| with(|settings| settings.issuers = (0..count).map(|n| issuer(&n.to_string())).collect());
        assert_eq!(many(AP2_ISSUERS_MAX), Ok(()));
        for (wrong, named) in [
            (with(|settings| settings.settle = None), "`settle`"),
            (with(|settings| settings.processor = None), "no `processor`"),
            (with(|settings| settings.processor = Some("http://psp.example".to_owned())), "not encrypted"),
            (with(|settings| settings.processor = Some("psp".to_owned())), "`processor`"),
            (with(|settings| settings.processor = Some("https://psp.example/ap2?key=1".to_owned())), "a query"),
            (with(|settings| settings.processor = Some("https://psp.example/ap2#a".to_owned())), "a fragment"),
            (with(|settings| settings.processor_secret = Some(" ".to_owned())), "`processor_secret`"),
            (with(|settings| settings.issuers.clear()), "nobody's keys are trusted"),
            (with(|settings| settings.issuers.push(issuer("https://a.example"))), "twice"),
            (with(|settings| settings.issuers[0].jwks_url = Some("http://a.example".to_owned())), "`jwks_url`"),
            (with(|settings| settings.issuers[0].jwks_url = None), "the issuer"),
            (with(|settings| settings.issuers[0].jwks_file = Some("a.json".into())), "the issuer"),
            (with(|settings| settings.algorithms = vec!["HS256".to_owned()]), "HS256"),
            (with(|settings| settings.algorithms = vec!["none".to_owned()]), "none"),
            (with(|settings| settings.algorithms.clear()), "`algorithms`"),
            (many(AP2_ISSUERS_MAX + 1), "65 issuers"),
            (with(|settings| settings.settle = Some(SettledBy::X402)), "`processor` is set"),
            (
                with(|settings| (settings.settle, settings.processor) = (Some(SettledBy::X402), None)),
                "there is no facilitator",
            ),
        ] {
            assert!(wrong.as_ref().is_err_and(|message| message.contains(named)), "{wrong:?} {named}");
        }
    }

    #[test]
    fn the_secret_is_not_printed() {
        let settings = Ap2Settings { processor_secret: Some("hush".to_owned()), ..Ap2Settings::default() };
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
