//! Each rule by breaking it in a manifest that keeps all of them.

use forecourt_agtp_wire::message::StatusLine;
use forecourt_identity::{HostKeys, jws};
use forecourt_testkit::CountedEntropy;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::limits::MANIFEST_FINDINGS_MAX;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// The example of section 8.2, whole.
fn manifest() -> Value {
    json!({
        "agtp_version": "1.0",
        "agtp_api_version": "1.0",
        "document_version": "v2",
        "catalog_version": "1.0.0",
        "catalog_versions_supported": ["1.0.0"],
        "server": {
            "server_id": "agents.acme.com",
            "domain": null,
            "operator": "Acme Retail",
            "contact": "ops@acme.com",
            "supported_features": ["endpoint-registry", "synthesis"],
            "issued": "2026-01-15T09:00:00Z",
            "updated": "2026-04-15T09:00:00Z"
        },
        "embedded_methods": forecourt_contract::catalog::EMBEDDED.map(|name| json!({"name": name})),
        "custom_methods": [{"name": "FROBNICATE"}],
        "endpoints": [{
            "method": "BOOK",
            "path": "/rooms/{room_id}",
            "description": "Books a room.",
            "semantic": {
                "intent": "Book a room.", "actor": "agent", "outcome": "The room is booked.",
                "capability": "transaction", "confidence": 0.9, "impact": "reversible", "is_idempotent": false
            },
            "input_schema": {
                "type": "object", "properties": {"room_id": {"type": "string"}}, "additionalProperties": false
            },
            "output_schema": {"type": "object"},
            "errors": ["room_unavailable"],
            "required_scopes": ["booking:room"],
            "handler": {"type": "registered_function"}
        }],
        "agent_disclosure": "public",
        "hosted_agents": [{"agent_id": "ab".repeat(32), "name": "chef"}],
        "agent_disclosure_notice": null,
        "policies": {
            "wildcards_accepted": false,
            "anonymous_discovery": true,
            "scope_required_for_invocation": true,
            "synthesis_enabled": true,
            "max_synthesis_depth": 10,
            "methods": {
                "allow": "*", "disallow": ["TRANSFER"], "legacy": ["GET"], "aliases": {"GET": "FETCH"},
                "redirects": [{"from_method": "BOOK", "from_path": "/room", "to_method": "RESERVE"}]
            }
        },
        "manifest_signature": null
    })
}

fn checked(manifest: &Value) -> ManifestVerdict {
    check(manifest.to_string().as_bytes(), NOW)
}

/// The sections of what is wrong when a place of the manifest holds another value, or none.
fn broken(pointer: &str, value: Option<Value>) -> Vec<&'static str> {
    let mut manifest = manifest();
    match value {
        Some(value) => match manifest.pointer_mut(pointer) {
            Some(place) => *place = value,
            None => {
                let (parent, name) = pointer.rsplit_once('/').unwrap();
                manifest.pointer_mut(parent).unwrap()[name] = value;
            }
        },
        None => {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            manifest.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        }
    }
    let found = checked(&manifest).findings.into_iter();
    found.filter(|finding| finding.weight == Weight::Wrong).map(|finding| finding.section).collect()
}

#[test]
fn s8_2_the_example_is_fine_and_advised_to_be_signed() {
    let verdict = checked(&manifest());
    let told: Vec<_> = verdict.findings.iter().map(|finding| (finding.weight, finding.section)).collect();
    assert_eq!(told, [(Weight::Advice, "8.8")], "{verdict:?}");
    assert!(verdict.is_fine());
}

#[test]
fn s8_every_field_that_must_be_there_is_missed() {
    for (pointer, section) in [
        ("/agtp_version", "8.2"),
        ("/agtp_api_version", "8.2"),
        ("/document_version", "8.2"),
        ("/catalog_versions_supported", "4.3"),
        ("/server", "8.3"),
        ("/server/server_id", "8.3"),
        ("/server/operator", "8.3"),
        ("/server/issued", "8.3"),
        ("/server/updated", "8.3"),
        ("/embedded_methods", "8.4"),
        ("/agent_disclosure", "8.5"),
        ("/hosted_agents", "8.5"),
        ("/policies", "8.7"),
        ("/policies/wildcards_accepted", "8.7"),
        ("/policies/anonymous_discovery", "8.7"),
        ("/policies/scope_required_for_invocation", "8.7"),
        ("/policies/synthesis_enabled", "8.7"),
        ("/policies/max_synthesis_depth", "8.7"),
        ("/endpoints/0/method", "6.4"),
        ("/endpoints/0/path", "6.4"),
        ("/endpoints/0/description", "6.4"),
        ("/endpoints/0/semantic", "7.1"),
        ("/endpoints/0/semantic/impact", "7.1"),
        ("/endpoints/0/input_schema", "6.4"),
        ("/endpoints/0/output_schema", "6.4"),
        ("/endpoints/0/handler", "8.9"),
        ("/endpoints/0/handler/type", "8.9"),
    ] {
        assert_eq!(broken(pointer, None), [section], "{pointer}");
    }
    assert_eq!(broken("/catalog_version", None), ["4.3", "4.3"], "which the supported ones must hold");
    for pointer in
        ["/custom_methods", "/endpoints", "/agent_disclosure_notice", "/manifest_signature", "/server/domain"]
    {
        assert!(broken(pointer, None).is_empty(), "{pointer} may be left out");
    }
}

#[test]
fn s8_values_of_the_wrong_kind_are_found_in_their_section() {
    for (pointer, value, section) in [
        ("/catalog_versions_supported", json!(["1.0.0", "2.0.0"]), "4.8"),
        ("/catalog_versions_supported", json!(["2.0.0"]), "4.3"),
        ("/document_version", json!(2), "8.2"),
        ("/server/updated", json!("2025-01-01T00:00:00Z"), "8.3"),
        ("/server/issued", json!("yesterday"), "8.3"),
        ("/server/domain", json!(7), "8.3"),
        ("/server/supported_features", json!([7]), "8.3"),
        ("/embedded_methods", json!(["QUERY"]), "8.4"),
        ("/custom_methods", json!(["frob"]), "3.2"),
        ("/agent_disclosure", json!("limited"), "8.5"),
        ("/agent_disclosure", json!("private"), "8.5"),
        ("/agent_disclosure_notice", json!([]), "8.5"),
        ("/apis", json!(["x"]), "8.6"),
        ("/hosted_protocols", json!([{}]), "8.6"),
        ("/policies/anonymous_discovery", json!("yes"), "8.7"),
        ("/policies/max_synthesis_depth", json!(0), "8.7"),
        ("/policies/max_synthesis_depth", json!(1.5), "8.7"),
        ("/policies/methods", json!("*"), "9.2"),
        ("/policies/methods/allow", json!("some"), "9.2"),
        ("/policies/methods/disallow", json!(["x y"]), "3.2"),
        ("/policies/methods/legacy", json!(["FETCH"]), "9.4"),
        ("/policies/methods/aliases", json!({"GET": "PUT", "PUT": "REPLACE"}), "9.2"),
        ("/policies/methods/redirects", json!([{"from_method": "BOOK"}]), "9.2"),
        ("/endpoints/0/method", json!("book"), "3.2"),
        ("/endpoints/0/method", json!("ZORK"), "3.3"),
        ("/endpoints/0/path", json!("/order/{room_id}"), "5.1"),
        ("/endpoints/0/semantic/confidence", json!(2), "7.1"),
        ("/endpoints/0/input_schema", json!({"type": "object"}), "6.4"),
        ("/endpoints/0/output_schema", json!({"type": 7}), "6.4"),
        ("/endpoints/0/errors", json!("none"), "6.4"),
        ("/endpoints/0/required_scopes", json!(["booking"]), "6.4"),
        ("/endpoints/0/handler", json!({"type": "magic"}), "12"),
    ] {
        assert_eq!(broken(pointer, Some(value.clone())), [section], "{pointer} = {value}");
    }
}

#[test]
fn s8_9_what_binds_an_endpoint_is_a_leak() {
    for (pointer, value) in [
        ("/endpoints/0/handler/function", json!("rooms.book")),
        ("/endpoints/0/handler/timeout_seconds", json!(3)),
        ("/endpoints/0/url", json!("https://inner.example")),
    ] {
        assert_eq!(broken(pointer, Some(value)), ["8.9"], "{pointer}");
    }
}

#[test]
fn s4_1_methods_and_paths_of_an_unknown_catalog_are_not_judged_by_ours() {
    let mut manifest = manifest();
    manifest["catalog_version"] = "7.0.0".into();
    manifest["catalog_versions_supported"] = json!(["7.0.0"]);
    manifest["endpoints"][0]["method"] = "ZORK".into();
    assert!(checked(&manifest).is_fine());
}

#[test]
fn s5_4_a_pair_that_is_there_twice_is_found() {
    let mut manifest = manifest();
    let endpoint = manifest["endpoints"][0].clone();
    manifest["endpoints"] = json!([endpoint, endpoint]);
    assert_eq!(checked(&manifest).findings[0].at, "/endpoints/1/path");
}

/// A manifest that was signed as ours are.
fn signed(keys: &HostKeys) -> Value {
    let mut manifest = manifest();
    manifest["server"]["signing_keys"] = keys.jwks(NOW);
    manifest.as_object_mut().unwrap().remove("manifest_signature");
    let payload = json::canonical(&manifest).unwrap();
    let parts = jws::sign_detached(keys.current(), "agtp-manifest+jws", &payload);
    manifest["manifest_signature"] = format!("{}..{}", parts.protected, parts.signature).into();
    manifest
}

#[test]
fn s8_8_a_signature_holds_for_what_was_signed_and_nothing_else() {
    let keys = HostKeys::in_memory(&CountedEntropy::default());
    let good = signed(&keys);
    let verdict = checked(&good);
    assert_eq!(verdict.signature, Signature::Valid { kid: Some(keys.current().kid().to_owned()) });
    assert!(verdict.findings.is_empty());
    let mut changed = good.clone();
    changed["server"]["operator"] = "Mallory".into();
    let mut stranger = good.clone();
    let mut others = HostKeys::in_memory(&CountedEntropy::default());
    let folder = std::env::temp_dir().join(format!("manifest-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    others.rotate(&folder, &forecourt_host::SystemEntropy, NOW).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    stranger["server"]["signing_keys"] = others.jwks(NOW);
    let mut keyless = good.clone();
    keyless["server"].as_object_mut().unwrap().remove("signing_keys");
    let mut attached = good.clone();
    attached["manifest_signature"] = "a.b.c".into();
    let mut none = good;
    none["manifest_signature"] = "eyJhbGciOiJub25lIn0..".into();
    for manifest in [changed, stranger, keyless, attached, none] {
        let verdict = checked(&manifest);
        assert!(matches!(verdict.signature, Signature::Invalid { .. }) && !verdict.is_fine(), "{verdict:?}");
    }
}

#[test]
fn s8_10_how_a_manifest_is_sent_is_judged_too() {
    let mut response = Response::new(StatusLine::new(200, "OK"));
    response.body = manifest().to_string().into();
    let sections = |response: &Response| -> Vec<&'static str> {
        check_response(response, NOW).findings.iter().map(|finding| finding.section).collect()
    };
    assert_eq!(sections(&response), ["8.10", "8.11", "8.11", "8.8"]);
    for (name, value) in [
        ("Content-Type", "application/vnd.agtp.manifest+json; charset=utf-8"),
        ("Cache-Control", "max-age=60"),
        ("ETag", "\"a\""),
    ] {
        response.fields.push(name, value).unwrap();
    }
    assert_eq!(sections(&response), ["8.8"]);
}

#[test]
fn what_is_no_manifest_is_said() {
    for text in ["", "7", "[]", "{\"a\":1,\"a\":2}", "AGTP/1.0"] {
        let verdict = check(text.as_bytes(), NOW);
        assert!(!verdict.is_fine() && verdict.findings.len() == 1, "{text}: {verdict:?}");
    }
}

#[test]
fn findings_are_counted_up_to_the_bound() {
    let mut manifest = manifest();
    manifest["server"]["supported_features"] = vec![7; MANIFEST_FINDINGS_MAX + 1].into();
    assert_eq!(checked(&manifest).findings.len(), MANIFEST_FINDINGS_MAX);
}

proptest! {
    #[test]
    fn checking_never_panics(place in 0..40usize, value in "[-0-9a-z\\[\\]{}\":,.]{0,12}") {
        let mut manifest = manifest();
        let pointers: Vec<String> = pointers(&manifest, String::new());
        let value = serde_json::from_str(&value).unwrap_or(Value::from(value));
        *manifest.pointer_mut(&pointers[place % pointers.len()]).unwrap() = value;
        let _ = checked(&manifest);
    }
}

fn pointers(value: &Value, at: String) -> Vec<String> {
    let inner: Vec<String> = match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| pointers(value, format!("{at}/{key}"))).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(key, value)| pointers(value, format!("{at}/{key}"))).collect()
        }
        _ => Vec::new(),
    };
    std::iter::once(at).chain(inner).collect()
}
