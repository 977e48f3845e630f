//! Signed requests. Mentionable REST 7.2; RFC 9421 and 9530.

use std::sync::Arc;

use forecourt_identity::http_signature::{KeyId, SignatureInput, content_digest, matches_digest};
use forecourt_identity::limits::{
    COMPONENTS_MAX, NONCE_BYTES_MAX, SIGNATURE_AGE_MAX, SIGNATURE_FIELDS_BYTES_MAX, SIGNATURES_MAX,
};
use forecourt_identity::{
    FoundKeys, KeyDirectory, PresentedCredentials, ProofError, RequestSigner, SigningKey, Verifier,
};
use forecourt_testkit::CountedEntropy;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;

use crate::support::{Sent, Shelf, book, key, later, now, other_key};

fn verifier(toml: &str) -> Verifier {
    crate::support::verifier(toml, Arc::new(Shelf::default())).with_directory(book(&key()))
}

fn signer(key: SigningKey) -> RequestSigner {
    RequestSigner { key, keyid: "acct:bot@peer.example".to_owned() }
}

/// A request signed by the agent that the directory knows.
fn signed() -> Sent {
    signed_with(&CountedEntropy::default(), signer(key()))
}

fn signed_with(entropy: &CountedEntropy, signer: RequestSigner) -> Sent {
    let mut sent = Sent::default();
    let url = sent.target_uri.parse().unwrap();
    let body = sent.body.clone().unwrap_or_default();
    signer.sign(&Method::POST, &url, &mut sent.headers, &body, now(), entropy).unwrap();
    sent
}

/// A request with a member of our own making, signed over the base that it asks for.
fn signed_as(member: &str) -> Sent {
    let mut sent = Sent::default();
    let set = |headers: &mut HeaderMap, name: &'static str, value: String| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    };
    set(&mut sent.headers, "content-digest", content_digest(b"hello"));
    set(&mut sent.headers, "signature-input", format!("s={member}"));
    set(&mut sent.headers, "signature", "s=:AA==:".to_owned());
    let Ok(inputs) = SignatureInput::read(&sent.headers) else { return sent };
    let base = {
        let message = forecourt_identity::http_signature::CoveredMessage {
            method: "POST",
            target_uri: &sent.target_uri,
            authority: "demo.localhost",
            path: "/~chef",
            query: Some("a=1"),
            headers: &sent.headers,
        };
        forecourt_identity::http_signature::signature_base(&inputs[0], &message)
    };
    let Ok(base) = base else { return sent };
    let signature = key().sign(base.as_bytes());
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, signature);
    set(&mut sent.headers, "signature", format!("s=:{encoded}:"));
    sent
}

fn invalid(fault: ProofError) -> PresentedCredentials {
    PresentedCredentials::InvalidSignature(fault)
}

#[tokio::test]
async fn a_signed_request_proves_the_address_of_its_agent() {
    let verified = signed().to(&verifier("")).await;
    assert_eq!(verified.presented, PresentedCredentials::Valid);
    let sender = verified.sender;
    assert_eq!(sender.auth_method, "http-message-signature");
    assert_eq!((sender.address.as_str(), sender.owner()), ("@bot@peer.example", Some("@bot@peer.example")));
    assert_eq!(sender.key_id.as_deref(), Some(key().kid()));
    let evidence = &sender.identities[0];
    assert_eq!((evidence.assurance.as_str(), evidence.issuer.as_str()), ("agent", "peer.example"));
}

#[tokio::test]
async fn whatever_was_signed_must_not_change() {
    let verifier = verifier("");
    let mut other_method = signed();
    other_method.method = "PUT".to_owned();
    let mut other_target = signed();
    other_target.target_uri.push('2');
    let mut other_body = signed();
    other_body.body = Some(b"hullo".to_vec());
    let mut no_body = signed();
    no_body.body = None;
    assert_eq!(other_method.presented(&verifier).await, invalid(ProofError::BadSignature));
    assert_eq!(other_target.presented(&verifier).await, invalid(ProofError::BadSignature));
    assert_eq!(other_body.presented(&verifier).await, invalid(ProofError::WrongDigest));
    assert_eq!(no_body.presented(&verifier).await, invalid(ProofError::WrongDigest));
}

#[tokio::test]
async fn a_signature_holds_for_five_minutes_and_one_use() {
    let oldest = SIGNATURE_AGE_MAX.as_secs() as i64;
    for (seconds, expected) in [
        (oldest - 1, PresentedCredentials::Valid),
        (oldest, invalid(ProofError::Expired)),
        (-60, PresentedCredentials::Valid),
        (-61, invalid(ProofError::NotYetValid)),
    ] {
        assert_eq!(signed().at(later(seconds)).presented(&verifier("")).await, expected, "{seconds}");
    }
    let verifier = verifier("");
    assert_eq!(signed().presented(&verifier).await, PresentedCredentials::Valid);
    assert_eq!(signed().presented(&verifier).await, invalid(ProofError::Replayed));
    let entropy = CountedEntropy::default();
    signed_with(&entropy, signer(key()));
    assert_eq!(signed_with(&entropy, signer(key())).presented(&verifier).await, PresentedCredentials::Valid);
}

#[tokio::test]
async fn the_key_must_be_the_one_of_the_agent_it_names() {
    let foreign = signed_with(&CountedEntropy::default(), signer(other_key()));
    assert_eq!(foreign.presented(&verifier("")).await, invalid(ProofError::BadSignature));
    for keyid in ["acct:else@peer.example", "https://evil.example/card", "key-1", "http://peer.example/card"] {
        let stranger = RequestSigner { key: key(), keyid: keyid.to_owned() };
        let sent = signed_with(&CountedEntropy::default(), stranger);
        assert_eq!(sent.presented(&verifier("")).await, invalid(ProofError::UnknownKey), "{keyid}");
    }
    let by_card = RequestSigner { key: key(), keyid: "https://peer.example/card".to_owned() };
    assert_eq!(
        signed_with(&CountedEntropy::default(), by_card).presented(&verifier("")).await,
        PresentedCredentials::Valid
    );
}

#[tokio::test]
async fn a_signature_must_cover_what_is_asked_of_whom_and_the_body() {
    let created = now().as_second();
    let tail = format!(";created={created};keyid=\"acct:bot@peer.example\"");
    let target = ProofError::Uncovered("@target-uri, or @authority with @path and @query");
    for (covered, expected) in [
        (r#"("@method" "@target-uri" "content-digest")"#, PresentedCredentials::Valid),
        (r#"("@method" "@authority" "@path" "@query" "content-digest")"#, PresentedCredentials::Valid),
        (r#"("@method" "@authority" "@request-target" "content-digest")"#, PresentedCredentials::Valid),
        (r#"("@target-uri" "content-digest")"#, invalid(ProofError::Uncovered("@method"))),
        (r#"("@method" "@authority" "@path" "content-digest")"#, invalid(target)),
        (r#"("@method" "@path" "@query" "content-digest")"#, invalid(target)),
        (r#"("@method" "@target-uri")"#, invalid(ProofError::Uncovered("content-digest"))),
        (r#"()"#, invalid(ProofError::Uncovered("@method"))),
    ] {
        assert_eq!(signed_as(&format!("{covered}{tail}")).presented(&verifier("")).await, expected, "{covered}");
    }
}

#[tokio::test]
async fn its_parameters_must_be_there_and_make_sense() {
    let covered = r#"("@method" "@target-uri" "content-digest")"#;
    let created = now().as_second();
    let agent = "keyid=\"acct:bot@peer.example\"";
    let malformed = ProofError::Malformed("signature");
    for (parameters, expected) in [
        (format!(";{agent}"), invalid(ProofError::Missing("created"))),
        (format!(";created={created}"), invalid(ProofError::Missing("keyid"))),
        (format!(";created={created};expires={created};{agent}"), invalid(ProofError::Expired)),
        (format!(";created={created};alg=\"rsa-v1_5-sha256\";{agent}"), invalid(ProofError::WrongAlgorithm)),
        (format!(";created={created};alg=\"ed25519\";{agent}"), PresentedCredentials::Valid),
        (format!(";created=\"now\";{agent}"), invalid(malformed)),
        (format!(";created={created};keyid=7"), invalid(malformed)),
    ] {
        let found = signed_as(&format!("{covered}{parameters}")).presented(&verifier("")).await;
        assert_eq!(found, expected, "{parameters}");
    }
    let no_nonce = format!("{covered};created={created};{agent}");
    let strict = verifier("http_signatures = { require_nonce = true }");
    assert_eq!(signed_as(&no_nonce).presented(&strict).await, invalid(ProofError::Missing("nonce")));
    assert_eq!(signed().presented(&strict).await, PresentedCredentials::Valid);
}

#[tokio::test]
async fn what_is_not_understood_is_refused_and_not_misread() {
    let tail = format!(";created={};keyid=\"acct:bot@peer.example\"", now().as_second());
    let whole = r#""@method" "@target-uri" "content-digest""#;
    for more in [
        r#""content-digest";sf"#,
        r#""content-digest";bs"#,
        r#""@method";req"#,
        r#""@status""#,
        r#""@unknown""#,
        r#""absent""#,
        r#""@method""#,
        r#""Content-Digest""#,
        r#""@query-param""#,
        r#""@signature-params""#,
        r#"7"#,
    ] {
        let found = signed_as(&format!("({whole} {more}){tail}")).presented(&verifier("")).await;
        assert_eq!(found, invalid(ProofError::Malformed("signature")), "{more}");
    }
    for (input, signature) in [("s=(", "s=:AA==:"), ("s=()", "s=x"), ("s=1", "s=:AA==:"), ("a=()", "b=:AA==:")] {
        let sent = Sent::default().with("signature-input", input).with("signature", signature);
        assert_eq!(sent.presented(&verifier("")).await, invalid(ProofError::Malformed("signature")), "{input}");
    }
    let half = Sent::default().with("signature", "s=:AA==:");
    assert_eq!(half.presented(&verifier("")).await, invalid(ProofError::Malformed("signature")));
}

#[tokio::test]
async fn signatures_are_not_looked_at_where_they_are_off() {
    let off = verifier("http_signatures = { enabled = false }");
    assert_eq!(signed().presented(&off).await, PresentedCredentials::Nothing);
    let nobody_to_ask = crate::support::verifier("", Arc::default());
    assert_eq!(signed().presented(&nobody_to_ask).await, PresentedCredentials::Nothing);
}

#[test]
fn fields_signatures_components_and_nonces_have_bounds() {
    let read = |input: String, signature: String| {
        let sent = Sent::default().with("signature-input", &input).with("signature", &signature);
        SignatureInput::read(&sent.headers)
    };
    let one = |input: String| read(format!("s={input}"), "s=:AA==:".to_owned());
    let components = |count: usize| (0..count).map(|n| format!("\"x{n}\"")).collect::<Vec<_>>().join(" ");
    for (count, fits) in [(COMPONENTS_MAX, true), (COMPONENTS_MAX + 1, false)] {
        assert_eq!(one(format!("({})", components(count))).is_ok(), fits, "{count}");
    }
    for (length, fits) in [(NONCE_BYTES_MAX, true), (NONCE_BYTES_MAX + 1, false)] {
        assert_eq!(one(format!("();nonce=\"{}\"", "n".repeat(length))).is_ok(), fits, "{length}");
    }
    let frame = "s=();tag=\"\"".len();
    for (length, fits) in [(SIGNATURE_FIELDS_BYTES_MAX - frame, true), (SIGNATURE_FIELDS_BYTES_MAX - frame + 1, false)]
    {
        assert_eq!(one(format!("();tag=\"{}\"", "t".repeat(length))).is_ok(), fits, "{length}");
    }
    let many = |value: &str| (0..=SIGNATURES_MAX).map(|n| format!("s{n}={value}")).collect::<Vec<_>>().join(", ");
    assert_eq!(read(many("()"), many(":AA==:")).unwrap().len(), SIGNATURES_MAX);
}

#[tokio::test]
async fn a_directory_that_finds_someone_else_finds_nobody() {
    struct Wrong(Arc<crate::support::Book>);
    impl KeyDirectory for Wrong {
        fn find<'a>(
            &'a self,
            _: &'a KeyId,
            now: forecourt_core::Timestamp,
        ) -> futures::future::BoxFuture<'a, Result<FoundKeys, ProofError>> {
            const CARD: &str = "https://peer.example/card";
            Box::pin(async move { self.0.find(&KeyId::Card(CARD.to_owned()), now).await })
        }
    }
    let verifier = crate::support::verifier("", Arc::default()).with_directory(Arc::new(Wrong(book(&key()))));
    assert_eq!(signed().presented(&verifier).await, PresentedCredentials::Valid);
    let stranger = RequestSigner { key: key(), keyid: "acct:else@peer.example".to_owned() };
    let sent = signed_with(&CountedEntropy::default(), stranger);
    assert_eq!(sent.presented(&verifier).await, invalid(ProofError::UnknownKey));
}

#[test]
fn rfc9530_2_every_known_digest_must_match() {
    let with = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("content-digest", HeaderValue::from_str(value).unwrap());
        matches_digest(&headers, b"hello")
    };
    let good = content_digest(b"hello");
    assert_eq!(with(&good), Ok(()));
    assert_eq!(with(&format!("{good}, md5=:AA==:, unixsum=7")), Ok(()));
    assert_eq!(with(&format!("{good}, sha-512=:AA==:")), Err(ProofError::WrongDigest));
    assert_eq!(with("md5=:XUFAKrxLKna5cZ2REBfFkg==:"), Err(ProofError::Missing("content-digest")));
    assert_eq!(with(""), Err(ProofError::Missing("content-digest")));
    assert_eq!(with("sha-256=hello"), Err(ProofError::Malformed("content digest")));
    assert_eq!(matches_digest(&HeaderMap::new(), b""), Err(ProofError::Missing("content-digest")));
}

proptest! {
    #[test]
    fn s0_no_field_makes_the_reader_panic(input in "[ -~]{0,120}", signature in "[ -~]{0,60}", digest in "[ -~]{0,60}") {
        let mut headers = HeaderMap::new();
        headers.insert("signature-input", HeaderValue::from_str(&input).unwrap());
        headers.insert("signature", HeaderValue::from_str(&signature).unwrap());
        headers.insert("content-digest", HeaderValue::from_str(&digest).unwrap());
        let _ = SignatureInput::read(&headers);
        let _ = matches_digest(&headers, b"hello");
        let _ = KeyId::parse(&input);
    }

    #[test]
    fn s0_no_list_of_components_makes_the_base_panic(names in proptest::collection::vec("@?[a-z-]{1,12}(;[a-z]{1,4}(=\"[ -~&&[^\"\\\\]]{0,8}\")?)?", 0..6)) {
        let items: Vec<String> = names.iter().map(|name| match name.split_once(';') {
            Some((name, parameter)) => format!("\"{name}\";{parameter}"),
            None => format!("\"{name}\""),
        }).collect();
        signed_as(&format!("({});created=1", items.join(" ")));
    }
}
