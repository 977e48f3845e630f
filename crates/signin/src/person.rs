//! Verified claims into somebody who may sign in. OpenID Connect Core 5.1, 5.7.

use forecourt_core::Timestamp;
use forecourt_identity::OidcSettings;
use forecourt_identity::limits::SUBJECT_BYTES_MAX;
use forecourt_identity::sessions::SignedIn;
use forecourt_oidc::verified_address;
use serde_json::{Map, Value};

use crate::error::SignInError;
use crate::limits::CLAIMS_BYTES_MAX;

/// The claims that are always kept, where the provider gives them.
const KEPT: [&str; 4] = ["name", "preferred_username", "email", "email_verified"];

/// Whether these claims leave out something that is needed, and that the provider may tell elsewhere.
pub(crate) fn wants_more(settings: &OidcSettings, claims: &Map<String, Value>) -> bool {
    let has = |name: &str| claims.contains_key(name);
    let asked = |scope: &str| settings.scopes.iter().any(|known| known == scope);
    !has(&settings.subject_claim)
        || (asked("email") && !has("email"))
        || (asked("profile") && !has("name") && !has("preferred_username"))
        || settings.claims.iter().any(|name| !has(name))
}

/// The person that these claims are about, if they may sign in.
pub(crate) fn person(
    settings: &OidcSettings,
    mut claims: Map<String, Value>,
    now: Timestamp,
) -> Result<SignedIn, SignInError> {
    let email = verified_address(&claims).map(str::to_ascii_lowercase);
    let subject = match settings.subject_claim.as_str() {
        // An address that nobody verified is anybody's.
        "email" => email.as_deref(),
        name => claims.get(name).and_then(Value::as_str),
    };
    let subject = subject.filter(|text| !text.is_empty() && text.len() <= SUBJECT_BYTES_MAX);
    let Some(subject) = subject.filter(|text| !text.chars().any(char::is_control)) else {
        tracing::warn!(claim = settings.subject_claim, "the provider gives no such claim that can tell people apart");
        return Err(SignInError::NotAllowed);
    };
    let subject = format!("{}{subject}", settings.subject_prefix());
    if !settings.allowed_domains.is_empty() {
        // `email` is the verified address: anybody may enter an address of an allowed domain at a provider.
        let domain = email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain);
        if !domain.is_some_and(|domain| settings.allowed_domains.iter().any(|allowed| allowed == domain)) {
            return Err(SignInError::NotAllowed);
        }
    }
    claims.retain(|name, _| KEPT.contains(&name.as_str()) || settings.claims.contains(name));
    if serde_json::to_vec(&claims).map_or(usize::MAX, |bytes| bytes.len()) > CLAIMS_BYTES_MAX {
        tracing::warn!(bytes_max = CLAIMS_BYTES_MAX, "a person's claims are too long, and left out but for the name");
        claims
            .retain(|name, value| name == "name" && value.as_str().is_some_and(|name| name.len() <= SUBJECT_BYTES_MAX));
    }
    Ok(SignedIn { subject, issuer: settings.issuer.clone(), claims, at: now, id_token: None })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forecourt_identity::Logout;
    use serde_json::json;

    use super::*;

    fn settings() -> OidcSettings {
        OidcSettings {
            issuer: "https://login.example".to_owned(),
            client_id: "us".to_owned(),
            client_secret: None,
            scopes: vec!["openid".to_owned()],
            allowed_domains: Vec::new(),
            subject_claim: "sub".to_owned(),
            claims: vec!["groups".to_owned()],
            session_lifetime: Duration::from_secs(60),
            session_idle: Duration::from_secs(60),
            logout: Logout::Host,
        }
    }

    fn read(settings: &OidcSettings, claims: Value) -> Result<SignedIn, SignInError> {
        person(settings, claims.as_object().unwrap().clone(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn core5_7_the_issuer_and_the_subject_together_are_the_person() {
        let given = json!({"sub": "u1", "name": "Ada", "groups": ["x"], "scope": "admin:*", "phone": "1"});
        let ada = read(&settings(), given).unwrap();
        assert_eq!(ada.subject, "oidc:https://login.example#u1");
        assert_eq!(ada.claims.keys().collect::<Vec<_>>(), ["groups", "name"]);
        assert_eq!(ada.name(), "Ada");
        for wrong in [json!({}), json!({"sub": ""}), json!({"sub": 7}), json!({"sub": "a\nb"})] {
            assert!(matches!(read(&settings(), wrong), Err(SignInError::NotAllowed)));
        }
        let long = |bytes| json!({"sub": "a".repeat(bytes)});
        assert!(read(&settings(), long(SUBJECT_BYTES_MAX)).is_ok());
        assert!(read(&settings(), long(SUBJECT_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn core5_7_only_a_verified_address_has_a_domain_or_is_a_subject() {
        let staff = OidcSettings { allowed_domains: vec!["acme.tld".to_owned()], ..settings() };
        let by_mail = OidcSettings { subject_claim: "email".to_owned(), ..settings() };
        let given = |email: &str, verified: Value| json!({"sub": "u1", "email": email, "email_verified": verified});
        for (email, verified, expected) in [
            ("ada@acme.tld", json!(true), true),
            ("Ada@ACME.tld", json!("true"), true),
            ("ada@acme.tld", json!(false), false),
            ("ada@acme.tld", json!(null), false),
            ("ada@evil.tld", json!(true), false),
            ("ada@acme.tld@evil.tld", json!(true), false),
            ("ada@sub.acme.tld", json!(true), false),
            ("acme.tld", json!(true), false),
        ] {
            assert_eq!(read(&staff, given(email, verified)).is_ok(), expected, "{email}");
        }
        assert!(read(&staff, json!({"sub": "u1", "email": "ada@acme.tld"})).is_err());
        assert_eq!(
            read(&by_mail, given("Ada@acme.tld", json!(true))).unwrap().subject,
            "oidc:https://login.example#ada@acme.tld"
        );
        assert!(read(&by_mail, given("ada@acme.tld", json!(false))).is_err());
    }

    #[test]
    fn claims_have_a_bound() {
        let given = |bytes: usize| json!({"sub": "u1", "name": "Ada", "groups": "g".repeat(bytes)});
        let frame = r#"{"groups":"","name":"Ada"}"#.len();
        assert!(read(&settings(), given(CLAIMS_BYTES_MAX - frame)).unwrap().claims.contains_key("groups"));
        let cut = read(&settings(), given(CLAIMS_BYTES_MAX - frame + 1)).unwrap();
        assert_eq!(cut.claims.keys().collect::<Vec<_>>(), ["name"]);
    }
}
