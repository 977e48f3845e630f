//! Public test data: Wycheproof, the JOSE cookbook, RFC 9421 appendix B and structured fields.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use forecourt_identity::http_signature::{CoveredMessage, SignatureInput, matches_digest, signature_base};
use forecourt_identity::jws::Jws;
use forecourt_identity::{Algorithm, KeySet, ProofError, SigningKey, VerifyKey};
use forecourt_testkit::{vector_files, vectors};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::now;

fn read(path: &str) -> Option<Value> {
    serde_json::from_slice(&vectors(path)?).unwrap()
}

fn tests(path: &str) -> Vec<(Value, Value)> {
    let Some(file) = read(path) else { return Vec::new() };
    let groups = file["testGroups"].as_array().unwrap().clone();
    let of =
        |group: Value| group["tests"].as_array().unwrap().clone().into_iter().map(move |test| (group.clone(), test));
    groups.into_iter().flat_map(of).collect()
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn jwk(value: &Value) -> Option<VerifyKey> {
    VerifyKey::from_jwk(value.as_object()?).ok()
}

/// What differs from a set on purpose, by comment or flag, and why. Strict: a gap that closes fails.
const GAPS: [(&str, &str); 7] = [
    ("Figure20", "the key says PS256 and the signature PS384; the key decides"),
    ("Figure27", "the key's `alg` is spelled ES521, which RFC 7518 does not have"),
    ("invalidBase64Padding", "the token is the same as that of the valid case"),
    ("invalidBase64PaddingInPayload", "the token is the same as that of the valid case"),
    ("InvalidCharacterInsertedInHeader", "called valid there; RFC 7515 2 knows no such character"),
    ("InvalidCharacterInsertedInPayload", "called valid there; RFC 7515 2 knows no such character"),
    ("rejectsKeyWithRocaVulnerability", "keys are named by the operator; weak generators are not searched for"),
];

fn is_gap(test: &Value) -> bool {
    GAPS.iter().any(|(name, _)| test["comment"] == *name)
}

#[test]
fn wycheproof_ed25519() {
    for (group, test) in tests("jws/wycheproof-ed25519_test.json") {
        let key = VerifyKey::ed25519(&hex(&group["publicKey"]["pk"]));
        let verified = key.is_ok_and(|key| key.verify(&hex(&test["msg"]), &hex(&test["sig"])));
        assert_eq!(verified, test["result"] == "valid", "{test}");
    }
}

#[test]
fn wycheproof_ecdsa_p256() {
    for (group, test) in tests("jws/wycheproof-ecdsa_secp256r1_sha256_p1363_test.json") {
        let key = VerifyKey::from_pem(group["publicKeyPem"].as_str().unwrap(), None).unwrap();
        assert_eq!(key.algorithm(), Algorithm::Es256);
        let verified = key.verify(&hex(&test["msg"]), &hex(&test["sig"]));
        assert_eq!(verified, test["result"] == "valid", "{test}");
    }
}

#[test]
fn wycheproof_hmac_sha256() {
    for (group, test) in tests("jws/wycheproof-hmac_sha256_test.json") {
        let key = VerifyKey::secret(Algorithm::Hs256, &hex(&test["key"]));
        // Short keys are refused (RFC 7518 3.2), and so are shortened tags.
        let whole = group["tagSize"] == 256 && group["keySize"].as_u64().unwrap() >= 256;
        let verified = key.is_ok_and(|key| key.verify(&hex(&test["msg"]), &hex(&test["tag"])));
        assert_eq!(verified, whole && test["result"] == "valid", "{test}");
    }
}

#[test]
fn wycheproof_json_web_signature() {
    for (group, test) in tests("jws/wycheproof-json_web_signature_test.json") {
        let key = jwk(group.get("public").unwrap_or(&group["private"]));
        let Some(text) = test["jws"].as_str() else { continue };
        let verified = key.is_some_and(|key| Jws::parse(text).is_ok_and(|jws| jws.verify_with(&key).is_ok()));
        assert_eq!(verified, (test["result"] == "valid") != is_gap(&test), "{} {test}", group["comment"]);
    }
}

#[test]
fn wycheproof_json_web_key() {
    for (group, test) in tests("jws/wycheproof-json_web_key_test.json") {
        let keys = KeySet::from_jwks(group.get("public").unwrap_or(&group["private"]));
        let verified = keys.is_ok_and(|keys| {
            Jws::parse(test["jws"].as_str().unwrap()).is_ok_and(|jws| jws.verify(&keys, now()).is_ok())
        });
        assert_eq!(verified, (test["result"] == "valid") != is_gap(&test), "{} {test}", group["comment"]);
    }
}

#[test]
fn cookbook_signatures_verify_and_critical_extensions_do_not() {
    for file in vector_files("jws").unwrap_or_default() {
        let name = file.file_name().unwrap().to_string_lossy();
        if name.starts_with("wycheproof") {
            continue;
        }
        let case = read(&format!("jws/{name}")).unwrap();
        // The cookbook's RSA keys name no algorithm; here a key is for one.
        let mut own = case["input"]["key"].clone();
        if let Some(own) = own.as_object_mut() {
            own.insert("alg".to_owned(), case["input"]["alg"].clone());
        }
        let (flat, key) = (&case["output"]["json_flat"], jwk(&own));
        let (Some(protected), Some(key)) = (flat["protected"].as_str(), key) else { continue };
        let payload = case["input"]["payload"].as_str().unwrap();
        let found = Jws::detached(protected, payload.as_bytes(), flat["signature"].as_str().unwrap());
        if case["signing"]["protected"].get("b64").is_some() {
            assert!(found.is_err() || found.unwrap().verify_with(&key).is_err(), "{name}");
            continue;
        }
        assert_eq!(found.unwrap().verify_with(&key).map(<[u8]>::to_vec), Ok(payload.into()), "{name}");
        if let Some(compact) = case["output"]["compact"].as_str().filter(|text| !text.contains("..")) {
            assert!(Jws::parse(compact).unwrap().verify_with(&key).is_ok(), "{name}");
        }
    }
}

#[test]
fn rfc8037_a_4_the_signature_is_reproduced() {
    let Some(case) = read("jws/curve25519-jws.json") else { return };
    let seed = URL_SAFE_NO_PAD.decode(case["input"]["key"]["d"].as_str().unwrap()).unwrap();
    let der = [&[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20][..], &seed].concat();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der));
    let signature = SigningKey::from_pem(&pem).unwrap().sign(case["signing"]["sig-input"].as_str().unwrap().as_bytes());
    assert_eq!(URL_SAFE_NO_PAD.encode(signature), case["signing"]["sig"].as_str().unwrap());
}

/// A request in RFC 9421's spelling.
struct Message {
    method: String,
    target: String,
    headers: HeaderMap,
    body: String,
}

impl Message {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let mut start = lines.next().unwrap().split(' ');
        let (method, target) = (start.next().unwrap().to_owned(), start.next().unwrap().to_owned());
        let mut message = Self { method, target, headers: HeaderMap::new(), body: body.trim_end().to_owned() };
        message.add(lines);
        message
    }

    fn add<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            self.headers.append(name, HeaderValue::from_str(value).unwrap());
        }
    }

    fn base(&self, input: &SignatureInput) -> Result<String, ProofError> {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.target.as_str(), None),
        };
        let authority = self.headers["host"].to_str().unwrap();
        let target_uri = format!("https://{authority}{}", self.target);
        let Self { method, headers, .. } = self;
        signature_base(input, &CoveredMessage { method, target_uri: &target_uri, authority, path, query, headers })
    }
}

/// The keys of appendix B.1.
struct AppendixKeys(Vec<(String, VerifyKey)>);

impl AppendixKeys {
    fn read(blocks: &[Value]) -> Self {
        let block = |section: &str| {
            let found = blocks.iter().find(|block| block["section"] == section);
            found.map_or("", |block| block["text"].as_str().unwrap())
        };
        let of = |section: &str, algorithm| VerifyKey::from_pem(block(section), Some(algorithm)).unwrap();
        let secret = STANDARD.decode(block("Example Shared Secret").trim()).unwrap();
        Self(vec![
            ("test-key-rsa-pss".to_owned(), of("Example RSA PSS Key", Algorithm::Ps512)),
            ("test-key-ecc-p256".to_owned(), of("Example ECC P-256 Test Key", Algorithm::Es256)),
            ("test-key-ed25519".to_owned(), of("Example Ed25519 Test Key", Algorithm::Ed25519)),
            ("test-shared-secret".to_owned(), VerifyKey::secret(Algorithm::Hs256, &secret).unwrap()),
        ])
    }

    fn verify(&self, message: &Message) -> bool {
        let input = &SignatureInput::read(&message.headers).unwrap()[0];
        let (_, key) = self.0.iter().find(|(name, _)| Some(name.as_str()) == input.keyid.as_deref()).unwrap();
        key.verify(message.base(input).unwrap().as_bytes(), &input.signature)
    }
}

#[test]
fn rfc9421_b_2_bases_are_reproduced_and_signatures_verify() {
    let Some(blocks) = read("http-signatures/rfc9421-appendix-b.json") else { return };
    let blocks = blocks.as_array().unwrap();
    let keys = AppendixKeys::read(blocks);
    let text = |block: &Value| block["text"].as_str().unwrap().to_owned();
    let request = blocks.iter().find(|block| block["section"] == "Test Cases").map(text).unwrap();
    for pair in blocks.windows(2).filter(|pair| text(&pair[1]).starts_with("Signature-Input: sig-b2")) {
        let mut message = Message::parse(&request);
        message.add(text(&pair[1]).lines());
        let input = SignatureInput::read(&message.headers).unwrap().remove(0);
        let section = &pair[0]["section"];
        if section.as_str().unwrap().contains("Response") {
            // We sign and verify requests; the response's base is taken as it is printed.
            let (_, key) = keys.0.iter().find(|(name, _)| name == "test-key-ecc-p256").unwrap();
            assert!(key.verify(text(&pair[0]).trim_end().as_bytes(), &input.signature), "{section}");
            continue;
        }
        assert_eq!(message.base(&input).unwrap(), text(&pair[0]).trim_end(), "{section}");
        assert!(keys.verify(&message), "{section}");
        assert!(matches_digest(&message.headers, message.body.as_bytes()).is_ok(), "{section}");
    }
}

#[test]
fn rfc9421_b_2_6_our_key_makes_the_same_signature() {
    let Some(blocks) = read("http-signatures/rfc9421-appendix-b.json") else { return };
    let blocks = blocks.as_array().unwrap();
    let text = |section: &str, part: usize| {
        let found = blocks.iter().filter(|block| block["section"] == section).nth(part);
        found.unwrap()["text"].as_str().unwrap().trim_end().to_owned()
    };
    let pem = text("Example Ed25519 Test Key", 0);
    let key = SigningKey::from_pem(&pem[pem.find("-----BEGIN PRIVATE").unwrap()..]).unwrap();
    let signature = STANDARD.encode(key.sign(text("Signing a Request using ed25519", 0).as_bytes()));
    assert!(text("Signing a Request using ed25519", 1).contains(&signature));
}

#[test]
fn rfc9421_b_3_and_b_4_only_what_is_covered_matters() {
    let Some(blocks) = read("http-signatures/rfc9421-appendix-b.json") else { return };
    let keys = AppendixKeys::read(blocks.as_array().unwrap());
    let messages: Vec<_> = blocks.as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    let whole = messages.iter().filter(|text| text.contains("\nSignature-Input: ") && text.contains("\nHost: "));
    for text in whole {
        let message = Message::parse(text);
        // The two last messages of B.4 are the ones that were changed too much.
        let accept: Vec<_> = message.headers.get_all("accept").iter().collect();
        let changed = text.starts_with("POST /demo") || accept.first().is_some_and(|first| *first == "*/*");
        assert_eq!(keys.verify(&message), !changed, "{text}");
    }
}

#[test]
fn structured_fields_are_read_as_strictly_as_the_vectors_want() {
    for file in vector_files("structured-fields").unwrap_or_default() {
        let name = file.file_name().unwrap().to_string_lossy();
        let Some(stem) = name.strip_suffix(".json") else { continue };
        for case in read(&format!("structured-fields/{stem}.json")).unwrap().as_array().unwrap() {
            let Some(raw) = case["raw"].as_array() else { continue };
            let joined = raw.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join(", ");
            let parser = || sfv::Parser::new(&joined);
            let parsed = match case["header_type"].as_str().unwrap() {
                "dictionary" => parser().parse::<sfv::Dictionary>().is_ok(),
                "list" => parser().parse::<sfv::List>().is_ok(),
                _ => parser().parse::<sfv::Item>().is_ok(),
            };
            let may_fail = case["can_fail"] == json!(true);
            assert!(parsed != (case["must_fail"] == json!(true)) || may_fail, "{name}: {case}");
        }
    }
}
