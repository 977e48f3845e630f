//! The signature of a payer: an SD-JWT with a key binding, or a JWT of an issuer that vouches for its payers by itself.
//! AP2 v0.1, `user_authorization`; RFC 9901.

use forecourt_core::Timestamp;
use forecourt_jose::encoding::{from_base64url_lenient, sha256, to_base64url};
use forecourt_jose::jws::Jws;
use forecourt_jose::{Algorithm, KeySet, VerifyKey, claims};
use serde_json::{Map, Value};

use super::cart::digest;
use super::code::{MandateCode, code_of};
use crate::limits::{AUTHORIZATION_BYTES_MAX, DISCLOSURES_MAX, MANDATE_SKEW_SECONDS};

/// The type of a key binding. RFC 9901 4.3.
const KEY_BINDING: &str = "kb+jwt";

/// A signature that was read and not verified.
#[derive(Debug)]
pub(super) struct PresentedAuthorization {
    /// The token of the issuer.
    issued: Jws,
    /// What it says, not verified.
    claims: Map<String, Value>,
    /// The key binding, with all that stands before it.
    binding: Option<(Jws, String)>,
    /// Whether claims come along that the issuer's token has by hash alone.
    has_disclosures: bool,
}

/// Reads a signature of at most [`AUTHORIZATION_BYTES_MAX`] bytes, as it is or in base64url. `None` where it is none.
pub(super) fn read_authorization(text: &str) -> Option<PresentedAuthorization> {
    let text = text.trim();
    if text.len() > AUTHORIZATION_BYTES_MAX {
        return None;
    }
    if text.contains('.') {
        return PresentedAuthorization::read(text);
    }
    // AP2 says "base64_url-encoded": some take that for the whole presentation.
    let decoded = String::from_utf8(from_base64url_lenient(text)?).ok()?;
    PresentedAuthorization::read(&decoded)
}

impl PresentedAuthorization {
    fn read(text: &str) -> Option<Self> {
        let parse = |token: &str| Jws::parse_within(token, AUTHORIZATION_BYTES_MAX).ok();
        let (issued, binding, has_disclosures) = match text.split_once('~') {
            None => (parse(text)?, None, false),
            Some((issued, rest)) => {
                let (disclosures, binding) = rest.rsplit_once('~').map_or(("", rest), |(all, last)| (all, last));
                if disclosures.split('~').filter(|one| !one.is_empty()).count() > DISCLOSURES_MAX {
                    return None;
                }
                let presented = text[..text.len() - binding.len()].to_owned();
                // Without a key binding it ends with `~`, and was shown by anybody.
                let binding = if binding.is_empty() { None } else { Some((parse(binding)?, presented)) };
                (parse(issued)?, binding, !disclosures.is_empty())
            }
        };
        let claims = claims::read(issued.unverified_payload()).ok()?;
        Some(Self { issued, claims, binding, has_disclosures })
    }

    /// Who issued it, as it says.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.claims.get("iss").and_then(Value::as_str)
    }

    /// The key that the issuer's token says it was made with.
    pub(super) fn key(&self) -> (Option<&str>, Algorithm) {
        (self.issued.kid(), self.issued.algorithm())
    }

    /// Names its payer and nobody else: the hash of their key, or of their name at the issuer.
    pub(super) fn payer(&self) -> String {
        let named = self.claims.get("cnf").or_else(|| self.claims.get("sub")).unwrap_or(&Value::Null);
        digest(named).map(|hash| to_base64url(&hash)).unwrap_or_default()
    }

    /// What its payer signed, if `keys` of its issuer and the key of the payer made the signatures.
    pub(super) fn verify(
        &self,
        keys: &KeySet,
        algorithms: &[Algorithm],
        now: Timestamp,
    ) -> Result<Map<String, Value>, MandateCode> {
        let binding = self.binding.as_ref().map(|(binding, _)| binding.algorithm());
        if !algorithms.contains(&self.issued.algorithm()) || binding.is_some_and(|name| !algorithms.contains(&name)) {
            return Err(MandateCode::AlgorithmRefused);
        }
        self.issued.verify(keys, now).map_err(|error| code_of(error, MandateCode::IssuerSignature))?;
        check_times(&self.claims, now)?;
        // A credential that can be revoked counts only where that is found out, which nobody here does.
        if self.claims.contains_key("status") {
            return Err(MandateCode::CredentialStatus);
        }
        if self.claims.get("_sd_alg").is_some_and(|name| name != "sha-256") {
            return Err(MandateCode::AlgorithmRefused);
        }
        match (&self.binding, self.claims.get("cnf")) {
            (Some((binding, presented)), Some(cnf)) => self.verify_binding(binding, presented, cnf, now),
            // Whose credential is bound to a key shows that key.
            (None, None) if !self.has_disclosures => Ok(self.claims.clone()),
            _ => Err(MandateCode::HolderMissing),
        }
    }

    fn verify_binding(
        &self,
        binding: &Jws,
        presented: &str,
        cnf: &Value,
        now: Timestamp,
    ) -> Result<Map<String, Value>, MandateCode> {
        let jwk = cnf.get("jwk").and_then(Value::as_object).ok_or(MandateCode::HolderMissing)?;
        let key = VerifyKey::from_jwk(jwk).map_err(|_| MandateCode::HolderMissing)?;
        if binding.header().get("typ").and_then(Value::as_str) != Some(KEY_BINDING) {
            return Err(MandateCode::AuthorizationUnreadable);
        }
        let payload = binding.verify_with(&key).map_err(|error| code_of(error, MandateCode::HolderSignature))?;
        let claims = claims::read(payload).map_err(|_| MandateCode::AuthorizationUnreadable)?;
        check_times(&claims, now)?;
        let named = claims.get("sd_hash").and_then(Value::as_str);
        let is_of = |text: &str| named == Some(to_base64url(&sha256(text.as_bytes())).as_str());
        // RFC 9901 hashes what stands before the binding; AP2 speaks of the issuer's token, which is the same but for its
        // end where nothing is disclosed.
        let is_bare = !self.has_disclosures && is_of(presented.trim_end_matches('~'));
        if is_of(presented) || is_bare { Ok(claims) } else { Err(MandateCode::CredentialSwapped) }
    }
}

/// Whether a token holds at `now`, as far as it says when.
fn check_times(claims: &Map<String, Value>, now: Timestamp) -> Result<(), MandateCode> {
    let moment = |name: &str| claims::moment(claims, name).map_err(|_| MandateCode::AuthorizationUnreadable);
    if moment("exp")?.is_some_and(|end| now >= end) {
        return Err(MandateCode::CredentialExpired);
    }
    let soon = now.as_second().saturating_add(MANDATE_SKEW_SECONDS);
    let is_early = |begin: Timestamp| begin.as_second() > soon;
    match moment("nbf")?.is_some_and(is_early) || moment("iat")?.is_some_and(is_early) {
        true => Err(MandateCode::CredentialEarly),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A JWT of nobody's, whose claims are these.
    fn token(claims: &str) -> String {
        format!("{}.{}.AAAA", to_base64url(br#"{"alg":"ES256"}"#), to_base64url(claims.as_bytes()))
    }

    #[test]
    fn each_form_is_read() {
        let (issued, binding) = (token(r#"{"iss":"a"}"#), token("{}"));
        for (text, is_bound, discloses) in [
            (issued.clone(), false, false),
            (format!("{issued}~{binding}"), true, false),
            (format!("{issued}~YQ~Yg~{binding}"), true, true),
            (format!("{issued}~"), false, false),
            (to_base64url(format!("{issued}~{binding}").as_bytes()), true, false),
        ] {
            let read = read_authorization(&text).unwrap();
            assert_eq!((read.binding.is_some(), read.has_disclosures, read.issuer()), (is_bound, discloses, Some("a")));
        }
        let padded = |bytes: usize| format!("{issued}~{}", "~".repeat(bytes - issued.len() - 1));
        assert!(read_authorization(&padded(AUTHORIZATION_BYTES_MAX)).is_some());
        assert!(read_authorization(&padded(AUTHORIZATION_BYTES_MAX + 1)).is_none());
    }

    proptest! {
        #[test]
        fn no_text_breaks_its_reader(text in ".{0,64}", claims in ".{0,64}", cut in 0_usize..200) {
            let whole = format!("{}~{text}~{}", token(&claims), token("{}"));
            let at = whole.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(whole.len());
            for text in [&text, &whole, &whole[..at], &to_base64url(whole.as_bytes())] {
                if let Some(read) = read_authorization(text) {
                    prop_assert!(read.verify(&KeySet::default(), &Algorithm::ALL, Timestamp::UNIX_EPOCH).is_err());
                }
            }
        }
    }
}
