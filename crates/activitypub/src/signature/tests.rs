use forecourt_identity::RequestSigner;
use forecourt_jose::RsaSigningKey;
use forecourt_testkit::CountedEntropy;
use http::{HeaderName, HeaderValue, Method};
use proptest::prelude::*;
use url::Url;

use super::*;
use crate::limits::{COVERED_MAX, PARAMETERS_MAX};

const BODY: &[u8] = br#"{"type":"Create"}"#;
const URL: &str = "https://demo.localhost/activitypub/inbox?x=1";
const KEY_ID: &str = "https://social.example/users/ann#main-key";

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn key() -> &'static RsaSigningKey {
    static KEY: std::sync::LazyLock<RsaSigningKey> = std::sync::LazyLock::new(|| RsaSigningKey::generate().unwrap());
    &KEY
}

fn public() -> VerifyKey {
    VerifyKey::from_pem(key().public_pem(), None).unwrap()
}

/// The fields of a request, signed in one of both forms.
fn signed(by_draft: bool, method: &Method, body: &[u8]) -> HeaderMap {
    let (url, mut headers) = (Url::parse(URL).unwrap(), HeaderMap::new());
    match by_draft {
        true => sign(key(), KEY_ID, method, &url, &mut headers, body, now()).unwrap(),
        false => {
            let signer = RequestSigner { key: key().clone(), keyid: KEY_ID.to_owned() };
            signer.sign(method, &url, &mut headers, body, now(), &CountedEntropy::default()).unwrap();
        }
    }
    headers.insert(HOST, HeaderValue::from_static("demo.localhost"));
    headers
}

fn arrived<'a>(method: &'a str, headers: &'a HeaderMap, body: &'a [u8]) -> ArrivedRequest<'a> {
    let target = "/activitypub/inbox?x=1";
    ArrivedRequest { method, origin: "https://demo.localhost", target, headers, body, now: now() }
}

fn verdict(request: &ArrivedRequest<'_>) -> Result<(), ProofError> {
    UnprovenSignature::read(request)?[0].verify(&public())
}

#[test]
fn both_forms_hold_for_the_request_that_was_signed_and_name_its_signer() {
    for by_draft in [true, false] {
        for (method, body) in [(Method::POST, BODY), (Method::GET, &b""[..])] {
            let headers = signed(by_draft, &method, body);
            let request = arrived(method.as_str(), &headers, body);
            assert_eq!(verdict(&request), Ok(()), "{by_draft} {method}");
            assert_eq!(UnprovenSignature::read(&request).unwrap()[0].key_id.as_str(), KEY_ID);
        }
    }
}

#[test]
fn nothing_of_a_signed_request_can_be_changed() {
    for by_draft in [true, false] {
        let headers = signed(by_draft, &Method::POST, BODY);
        let request = arrived("POST", &headers, BODY);
        assert_eq!(verdict(&ArrivedRequest { body: b"{}", ..request }), Err(ProofError::WrongDigest));
        assert_eq!(verdict(&ArrivedRequest { target: "/activitypub/inbox", ..request }), Err(ProofError::BadSignature));
        assert_eq!(verdict(&ArrivedRequest { method: "PUT", ..request }), Err(ProofError::BadSignature));
        let mut other = headers.clone();
        other.insert(HOST, HeaderValue::from_static("elsewhere.example"));
        let moved = ArrivedRequest { headers: &other, origin: "https://elsewhere.example", ..request };
        assert_eq!(verdict(&moved), Err(ProofError::BadSignature), "{by_draft}");
        let other = VerifyKey::from_pem(RsaSigningKey::generate().unwrap().public_pem(), None).unwrap();
        assert_eq!(UnprovenSignature::read(&request).unwrap()[0].verify(&other), Err(ProofError::BadSignature));
    }
}

#[test]
fn a_signature_holds_for_an_hour_and_not_in_the_future() {
    let hour = SIGNATURE_AGE_MAX.as_secs().cast_signed();
    let skew = CLOCK_SKEW_MAX.as_secs().cast_signed();
    let headers = signed(true, &Method::POST, BODY);
    let at = |seconds: i64| {
        let now = Timestamp::from_second(now().as_second() + seconds).unwrap();
        verdict(&ArrivedRequest { now, ..arrived("POST", &headers, BODY) })
    };
    assert_eq!((at(hour), at(hour + 1)), (Ok(()), Err(ProofError::Expired)));
    assert_eq!((at(-skew), at(-skew - 1)), (Ok(()), Err(ProofError::NotYetValid)));
    // The other form says itself that it ends sooner.
    let headers = signed(false, &Method::POST, BODY);
    let late = Timestamp::from_second(now().as_second() + 300).unwrap();
    assert_eq!(verdict(&ArrivedRequest { now: late, ..arrived("POST", &headers, BODY) }), Err(ProofError::Expired));
}

#[test]
fn what_a_signature_must_cover_is_named() {
    let text = |covered: &str, more: &str| {
        format!("keyId=\"{KEY_ID}\",algorithm=\"hs2019\",headers=\"{covered}\"{more},signature=\"YWJj\"")
    };
    for (covered, more, fault) in [
        ("host date digest", "", ProofError::Uncovered("(request-target)")),
        ("(request-target) date digest", "", ProofError::Uncovered("host")),
        ("(request-target) host date", "", ProofError::Uncovered("digest")),
        ("(request-target) host digest", "", ProofError::Uncovered("date, or (created)")),
        ("(request-target) host digest (created)", "", ProofError::Missing("created")),
        ("(request-target) host digest date date", "", MALFORMED),
        ("(request-target) host digest (created)", ",created=1699990000", ProofError::Expired),
        ("(request-target) host digest (created)", ",created=1700000000,expires=1699999999", ProofError::Expired),
        ("(request-target) host digest (created)", ",created=1700000000,created=1700000000", MALFORMED),
        ("(request-target) host digest (created)", ",created=soon", MALFORMED),
    ] {
        let mut headers = signed(true, &Method::POST, BODY);
        headers.insert("signature", HeaderValue::from_str(&text(covered, more)).unwrap());
        assert_eq!(verdict(&arrived("POST", &headers, BODY)), Err(fault), "{covered} {more}");
    }
    assert_eq!(verdict(&arrived("POST", &HeaderMap::new(), BODY)), Err(ProofError::Missing("Signature")));
}

#[test]
fn what_a_signature_covers_and_says_has_a_bound() {
    let with = |covered: usize, parameters: usize| {
        let mut headers = signed(true, &Method::POST, BODY);
        let fields: Vec<String> = (4..covered).map(|number| format!("x-{number}")).collect();
        for field in &fields {
            headers.insert(HeaderName::from_bytes(field.as_bytes()).unwrap(), HeaderValue::from_static("x"));
        }
        let more: String = (3..parameters).map(|number| format!(",p{number}=1")).collect();
        let covered = format!("(request-target) host date digest {}", fields.join(" "));
        let text = format!("keyId=\"{KEY_ID}\",headers=\"{covered}\",signature=\"YWJj\"{more}");
        headers.insert("signature", HeaderValue::from_str(&text).unwrap());
        verdict(&arrived("POST", &headers, BODY))
    };
    assert_eq!(with(COVERED_MAX, PARAMETERS_MAX), Err(ProofError::BadSignature));
    assert_eq!(with(COVERED_MAX + 1, PARAMETERS_MAX), Err(MALFORMED));
    assert_eq!(with(COVERED_MAX, PARAMETERS_MAX + 1), Err(MALFORMED));
}

const MALFORMED: ProofError = ProofError::Malformed("signature");

#[test]
fn created_is_signed_by_whoever_leaves_the_algorithm_to_the_key() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use forecourt_jose::MessageSigner;

    let mut headers = signed(true, &Method::POST, BODY);
    let digest = headers["digest"].to_str().unwrap().to_owned();
    let base = format!(
        "(request-target): post /activitypub/inbox?x=1\nhost: demo.localhost\n(created): 1700000000\ndigest: {digest}"
    );
    let signature = STANDARD.encode(key().signature(base.as_bytes()).unwrap());
    for (algorithm, expected) in
        [("hs2019", Ok(())), ("rsa-sha256", Err(MALFORMED)), ("md5", Err(ProofError::WrongAlgorithm))]
    {
        let text = format!(
            "keyId=\"{KEY_ID}\",algorithm=\"{algorithm}\",created=1700000000,\
             headers=\"(request-target) host (created) digest\",signature=\"{signature}\""
        );
        headers.insert("signature", HeaderValue::from_str(&text).unwrap());
        assert_eq!(verdict(&arrived("POST", &headers, BODY)), expected, "{algorithm}");
    }
}

proptest! {
    #[test]
    fn no_field_of_anybody_breaks_the_reader(text in "[ -~]{0,200}", input in "[ -~]{0,200}", both in any::<bool>()) {
        let mut headers = signed(true, &Method::POST, BODY);
        headers.insert("signature", HeaderValue::from_str(&text).unwrap());
        if both {
            headers.insert("signature-input", HeaderValue::from_str(&input).unwrap());
        }
        prop_assert!(verdict(&arrived("POST", &headers, BODY)).is_err());
    }

    #[test]
    fn no_parameters_break_the_reader(text in "(keyId|algorithm|headers|signature|created|expires|=|\"|,| |[a-z0-9.]){0,40}") {
        let mut headers = signed(true, &Method::POST, BODY);
        headers.insert("signature", HeaderValue::from_str(&text).unwrap());
        prop_assert!(verdict(&arrived("POST", &headers, BODY)).is_err());
    }
}
