//! Proofs that were written to do harm: headers that lead elsewhere, hostile JSON, text that breaks fields.
//! Security 6, 7, 9.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use forecourt_identity::{FROM_HEADER, PresentedCredentials, ProofError, Verifier, jws};
use forecourt_testkit::vectors;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::{Sent, Shelf, key, later, now, other_key};

const JWKS: &str = "https://idp.example/jwks";

fn claims() -> Value {
    json!({"iss": "https://idp.example", "sub": "ada", "aud": "https://demo.localhost",
        "iat": now().as_second(), "exp": later(300).as_second()})
}

fn remote(shelf: Arc<Shelf>) -> Verifier {
    let bearer = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"https://demo.localhost\"]\njwks_url = \"{JWKS}\"\n"
    );
    let connector = "[[trusted_issuers]]\nissuer = \"slack.example\"\nmethods = [\"m\"]\nassurance = [\"platform\"]\n\
                     subject_prefixes = [\"slack:\"]\n";
    crate::support::verifier(&(bearer + connector), shelf)
}

fn shelf() -> Arc<Shelf> {
    let shelf = Shelf::default();
    shelf.put(JWKS, json!({"keys": [key().public().to_jwk()]}));
    Arc::new(shelf)
}

/// A token with this header and these claims, by whoever has the key.
fn token(signer: &forecourt_identity::SigningKey, header: &Value, claims: &str) -> String {
    let input = format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims));
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signer.sign(input.as_bytes())))
}

fn bearing(token: &str) -> Sent {
    Sent::default().with("authorization", &format!("Bearer {token}"))
}

fn invalid(fault: ProofError) -> PresentedCredentials {
    PresentedCredentials::Invalid(fault)
}

#[tokio::test]
async fn s6_no_header_of_a_token_says_where_its_key_is() {
    let (shelf, evil) = (shelf(), other_key());
    shelf.put("https://evil.example/jwks", json!({"keys": [evil.public().to_jwk()]}));
    let verifier = remote(shelf.clone());
    for (name, value) in [
        ("jku", json!("https://evil.example/jwks")),
        ("x5u", json!("https://evil.example/jwks")),
        ("x5c", json!(["MIIB"])),
        ("jwk", evil.public().to_jwk()),
    ] {
        let header = json!({"alg": "EdDSA", "kid": evil.kid(), name: value});
        let presented = bearing(&token(&evil, &header, &claims().to_string())).presented(&verifier).await;
        assert_eq!(presented, invalid(ProofError::UnknownKey), "{name}");
    }
    for kid in ["https://evil.example/jwks", "../../../../dev/null", "/proc/self/environ", "' OR 1=1 --", "%00", ""] {
        let header = json!({"alg": "EdDSA", "kid": kid});
        let presented = bearing(&token(&evil, &header, &claims().to_string())).presented(&verifier).await;
        assert_eq!(presented, invalid(ProofError::UnknownKey), "{kid}");
    }
    assert_eq!(shelf.count(), 1, "the configured address, once");
    // Beside the right key such headers change nothing either.
    let header = json!({"alg": "EdDSA", "kid": key().kid(), "jku": "https://evil.example/jwks"});
    let good = bearing(&token(&key(), &header, &claims().to_string()));
    assert_eq!(good.presented(&verifier).await, PresentedCredentials::Valid);
    assert_eq!(shelf.count(), 1);
}

#[tokio::test]
async fn rfc8725_3_11_a_token_for_another_purpose_is_no_access_token() {
    let verifier = remote(shelf());
    let presented = async |typ: Value, claims: Value| {
        let header = json!({"alg": "EdDSA", "kid": key().kid(), "typ": typ});
        bearing(&token(&key(), &header, &claims.to_string())).presented(&verifier).await
    };
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT", "application/okta-internal-at+jwt"] {
        assert_eq!(presented(typ.into(), claims()).await, PresentedCredentials::Valid, "{typ}");
    }
    for typ in ["dpop+jwt", "logout+jwt", "secevent+jwt", "application/oauth-authz-req+jwt", "JOSE", "jose+json"] {
        assert_eq!(presented(typ.into(), claims()).await, invalid(ProofError::WrongKind), "{typ}");
    }
    assert_eq!(presented(json!(7), claims()).await, invalid(ProofError::Malformed("token")));
    let mut bound = claims();
    bound["cnf"] = json!({"jkt": "abc"});
    assert_eq!(presented("at+jwt".into(), bound).await, invalid(ProofError::BoundToKey));
}

/// Fetches for ever.
struct Stuck(tokio::sync::Semaphore, Shelf);

impl forecourt_identity::DocumentFetcher for Stuck {
    fn get<'a>(
        &'a self,
        url: &'a str,
    ) -> futures::future::BoxFuture<'a, Result<bytes::Bytes, forecourt_egress::EgressError>> {
        Box::pin(async move {
            let permit = self.0.acquire().await.unwrap();
            permit.forget();
            self.1.get(url).await
        })
    }
}

#[tokio::test]
async fn s0_a_known_key_waits_for_no_fetch_that_an_unknown_one_caused() {
    let stuck = Stuck(tokio::sync::Semaphore::new(1), Shelf::default());
    stuck.1.put(JWKS, json!({"keys": [key().public().to_jwk()]}));
    let toml = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"https://demo.localhost\"]\njwks_url = \"{JWKS}\"\n"
    );
    let verifier = Verifier::new(&crate::support::config(&toml), std::path::Path::new("."), Arc::new(stuck)).unwrap();
    let mut claims = claims();
    claims["exp"] = later(100_000).as_second().into();
    let good = bearing(&jws::sign(&key(), "JWT", claims.to_string().as_bytes()));
    let foreign = bearing(&jws::sign(&other_key(), "JWT", claims.to_string().as_bytes()));
    assert_eq!(good.presented(&verifier).await, PresentedCredentials::Valid);
    // From here on every fetch hangs. The keys are old enough that they would be fetched again, too.
    for seconds in [61, 601] {
        let foreign = foreign.clone().at(later(seconds));
        let waiting = foreign.to(&verifier);
        futures::pin_mut!(waiting);
        assert!(futures::poll!(&mut waiting).is_pending(), "it asks for the keys again");
        let good = good.clone().at(later(seconds));
        let presented = good.presented(&verifier);
        futures::pin_mut!(presented);
        assert_eq!(futures::poll!(&mut presented), std::task::Poll::Ready(PresentedCredentials::Valid), "{seconds}");
    }
}

#[tokio::test]
async fn s9_hostile_json_in_a_token_in_evidence_or_in_keys_proves_nothing() {
    let Some(bytes) = vectors("json-hostile/cases.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let text = case["json"].as_str().unwrap();
        if text.len() > 10_000 {
            // Longer than a token; the bounds have tests of their own.
            continue;
        }
        let verifier = remote(shelf());
        let header = json!({"alg": "EdDSA", "kid": key().kid()});
        let as_claims = bearing(&token(&key(), &header, text)).presented(&verifier).await;
        assert!(matches!(as_claims, PresentedCredentials::Invalid(_)), "{case}");
        let head = URL_SAFE_NO_PAD.encode(text);
        let as_header = bearing(&format!("{head}.e30.e30")).presented(&verifier).await;
        assert!(matches!(as_header, PresentedCredentials::Invalid(_)), "{case}");
        for carried in [text.to_owned(), format!("[{text}]")] {
            let carried = URL_SAFE_NO_PAD.encode(&carried);
            if carried.len() > 60_000 {
                continue;
            }
            let sent = Sent::default().with("mentionable-identity-evidence", &carried).to(&verifier).await;
            assert!(!sent.sender.verified && sent.presented == PresentedCredentials::Nothing, "{case}");
        }
    }
}

#[tokio::test]
async fn s7_4_nothing_that_breaks_fields_comes_out_of_a_hint() {
    let Some(bytes) = vectors("headers/injection.json") else { return };
    let verifier = remote(shelf());
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let raw = STANDARD.decode(case["value_b64"].as_str().unwrap()).unwrap();
        for name in [FROM_HEADER, HeaderName::from_static("mentionable-identity-evidence"), http::header::AUTHORIZATION]
        {
            for raw in [raw.clone(), [b"@chef@", &raw[..]].concat(), [b"Bearer ", &raw[..]].concat()] {
                let Ok(value) = HeaderValue::from_bytes(&raw) else { continue };
                let mut sent = Sent::default();
                sent.headers.insert(name.clone(), value);
                let verified = sent.to(&verifier).await;
                assert!(!verified.sender.verified, "{case}");
                let claimed = verified.sender.claimed_address.unwrap_or_default();
                assert!(!claimed.contains(char::is_control) && !claimed.contains(' '), "{case}");
            }
        }
    }
}
