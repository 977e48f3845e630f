use super::*;

const NAME: &str = "27f2653c2f2b4c0ed8c8e18c6b8385ad2796d343311736d089d1949f78b6ee42";

fn issuer(key: &SigningKey) -> Issuer<'_> {
    Issuer { name: "acme.tld", key }
}

fn current() -> Current<'static> {
    Current { status: "suspended", updated_at: Some("2026-02-01T00:00:00Z".parse().unwrap()), methods: &["QUERY"] }
}

fn signed() -> AgentDocument {
    let plain = AgentDocument::check(object(document(NAME))).unwrap();
    plain.current(current(), issuer(&key())).unwrap()
}

#[test]
fn base_6_4_what_was_signed_is_read_again() {
    let signed = signed();
    let text = serde_json::to_vec_pretty(signed.fields()).unwrap();
    let read = AgentDocument::parse(&text).unwrap();
    assert_eq!(read, signed);
    assert!(read.is_signed() && !read.is_escaped());
    assert_eq!((read.text("status"), read.text("manifest_issuer")), (Some("suspended"), Some("acme.tld")));
    assert_eq!(read.fields()["methods"], json!(["QUERY"]));
    assert_eq!(read.text("updated_at"), Some("2026-02-01T00:00:00Z"));
}

#[test]
fn base_6_4_a_document_whose_signature_fails_is_none() {
    for (field, value) in [("name", json!("eve")), ("manifest_issuer", json!("evil.tld")), ("extra", json!(1))] {
        let mut changed = signed().fields().clone();
        changed.insert(field.to_owned(), value);
        assert_eq!(AgentDocument::check(changed), Err(AgentDocumentError::Signature), "{field}");
    }
    let mut other = signed().fields().clone();
    let stranger = SigningKey::generate(&crate::agents::tests::counted(7));
    other.insert("manifest_issuer_public_key".to_owned(), stranger.public().x.as_str().into());
    assert_eq!(AgentDocument::check(other), Err(AgentDocumentError::Signature));
    for part in ["manifest_issuer", "manifest_issuer_public_key", "manifest_signature"] {
        let mut half = signed().fields().clone();
        half.remove(part);
        assert_eq!(AgentDocument::check(half), Err(AgentDocumentError::HalfSigned), "{part}");
        let mut wrong = signed().fields().clone();
        wrong.insert(part.to_owned(), json!(7));
        assert!(matches!(AgentDocument::check(wrong), Err(AgentDocumentError::Field(_))), "{part}");
    }
}

#[test]
fn base_6_4_what_others_signed_is_served_as_it_is() {
    let signed = signed();
    let later = Current { status: "active", updated_at: None, methods: &[] };
    let other = SigningKey::generate(&counted(7));
    assert_eq!(signed.current(later, issuer(&other)).unwrap(), signed);
}

/// A document as the reference implementation signs it: escapes, and a PEM key.
#[test]
fn base_6_2_the_other_spelling_of_what_is_not_ascii_is_taken_and_told() {
    let mut document = object(document(NAME));
    document.insert("name".to_owned(), "café".into());
    document.insert("manifest_issuer".to_owned(), "acme.tld".into());
    document.insert("manifest_issuer_public_key".to_owned(), key().public().pem.as_str().into());
    let escaped = crate::canonical::escaped(&crate::canonical::plain(&document, &["manifest_signature"]).unwrap());
    let signature = forecourt_jose::encoding::to_base64url(&key().sign(escaped.as_bytes()));
    document.insert("manifest_signature".to_owned(), signature.into());
    assert!(AgentDocument::check(document).unwrap().is_escaped());
}

#[test]
fn base_6_3_what_is_there_is_of_the_right_kind() {
    for (field, value) in [
        ("agent_id", json!("lauren")),
        ("name", json!(1)),
        ("issued_at", json!("yesterday")),
        ("scopes_accepted", json!([1])),
        ("skills", json!("cooking")),
        ("requires", json!([])),
        ("requires", json!({"wildcards": "yes"})),
        ("requires", json!({"scopes": "booking:room"})),
        ("trust_tier", json!(4)),
        ("trust_tier", json!("1")),
    ] {
        let mut wrong = object(document(NAME));
        wrong.insert(field.to_owned(), value);
        assert_eq!(AgentDocument::check(wrong), Err(AgentDocumentError::Field(field)));
    }
    assert!(matches!(AgentDocument::parse(b"[]"), Err(AgentDocumentError::Malformed(_))));
    assert!(matches!(AgentDocument::parse(br#"{"a":1,"a":2}"#), Err(AgentDocumentError::Malformed(_))));
}

#[test]
fn base_6_3_a_signed_document_must_say_everything() {
    let mut short = object(document(NAME));
    short.remove("skills");
    let short = AgentDocument::check(short).unwrap();
    let signed = short.current(current(), issuer(&key())).unwrap();
    let fault = AgentDocument::check(signed.fields().clone());
    assert_eq!(fault, Err(AgentDocumentError::Missing("skills".to_owned())));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_a_document_or_a_fault(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = AgentDocument::parse(&bytes);
    }

    #[test]
    fn any_field_may_be_anything(n in 0..13usize, text in ".{0,40}") {
        let mut document = object(document(NAME));
        document.insert(crate::agents::document::REQUIRED[n].to_owned(), text.into());
        let _ = AgentDocument::check(document);
    }
}
