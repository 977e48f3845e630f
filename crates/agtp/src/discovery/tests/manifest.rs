//! The manifest, field by field, and how it is kept. AGTP-API 8.

use std::time::Duration;

use forecourt_agtp_wire::status::Status;

use super::*;

#[tokio::test]
async fn s8_2_every_field_is_there_in_its_order() {
    let place = Place::with("").await;
    let text = String::from_utf8(bytes(&place.reply(&targetless()).await)).unwrap();
    let fields = [
        "agtp_version",
        "agtp_api_version",
        "document_version",
        "catalog_version",
        "catalog_versions_supported",
        "server",
        "embedded_methods",
        "custom_methods",
        "endpoints",
        "agent_disclosure",
        "hosted_agents",
        "agent_disclosure_notice",
        "apis",
        "hosted_protocols",
        "policies",
        "manifest_signature",
    ];
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest.as_object().unwrap().len(), fields.len());
    // The last one of a name: schemas inside may have fields that are called the same.
    let places = fields.map(|name| text.rfind(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name}")));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!((&manifest["agtp_version"], &manifest["agtp_api_version"]), (&json!("1.0"), &json!("1.0")));
}

#[tokio::test]
async fn s8_what_we_publish_passes_the_check_of_manifests() {
    let recipes = recipes("[[recipe]]\nname = \"inner\"\nsteps = [{ method = \"QUERY\" }]");
    let bound = vec![definition("BOOK", "/room"), definition("QUERY", "/rooms/{guest_id}")];
    let contract = Arc::new(contract(bound, json!({"custom": ["FROBNICATE"]}), recipes));
    let section = "server.contact = \"ops@demo.localhost\"".to_owned();
    let place = Place::of(Blueprint { contract, section, ..blueprint() }).await;
    let now = place.mounted.mount.host.clock().now();
    for ask in [targetless(), stranger("/")] {
        let verdict = forecourt_agtp_client::manifest::check(&bytes(&place.reply(&ask).await), now);
        assert_eq!(verdict.findings, [], "not even advice");
        assert!(
            matches!(verdict.signature, forecourt_agtp_client::manifest::Signature::Valid { .. }),
            "{:?}",
            verdict.signature
        );
    }
}

#[tokio::test]
async fn s4_3_the_catalog_in_use_is_the_only_one_that_is_supported() {
    let manifest = Place::with("").await.manifest().await;
    assert_eq!(manifest["catalog_version"], "1.0.0");
    assert_eq!(manifest["catalog_versions_supported"], json!(["1.0.0"]));
}

#[tokio::test]
async fn s8_3_the_server_says_who_it_is() {
    let server = Place::with("").await.manifest().await["server"].clone();
    assert_eq!((&server["server_id"], &server["operator"]), (&json!("demo.localhost"), &json!("Demo")));
    assert_eq!((&server["domain"], &server["contact"]), (&Value::Null, &Value::Null));
    assert!(server["supported_features"].as_array().unwrap().contains(&json!("embedded-methods/18")));
    assert_eq!(server["issued"], server["updated"]);
    let section = "[server]\nserver_id = \"agents.acme.com\"\noperator = \"Acme Retail\"\ncontact = \"ops@acme.com\"\n\
                   domain = \"agtp.acme.com\"\nissued = \"2026-01-15T09:00:00Z\"";
    let server = Place::with(section).await.manifest().await["server"].clone();
    assert_eq!((&server["server_id"], &server["operator"]), (&json!("agents.acme.com"), &json!("Acme Retail")));
    assert_eq!((&server["contact"], &server["domain"]), (&json!("ops@acme.com"), &json!("agtp.acme.com")));
    assert_eq!(server["issued"], "2026-01-15T09:00:00Z");
}

#[tokio::test]
async fn s8_4_the_eighteen_are_objects_with_their_parameters() {
    let manifest = Place::with("").await.manifest().await;
    let embedded = manifest["embedded_methods"].as_array().unwrap();
    let names: Vec<_> = embedded.iter().map(|method| method["name"].as_str().unwrap()).collect();
    assert_eq!(names, forecourt_contract::catalog::EMBEDDED);
    let members = [
        "name",
        "category",
        "semantic_class",
        "idempotent",
        "state_modifying",
        "required_params",
        "optional_params",
        "error_codes",
        "description",
        "semantic",
    ];
    let catalog = Catalog::shipped();
    for method in embedded {
        assert_eq!(method.as_object().unwrap().len(), members.len());
        assert!(members.iter().all(|member| method.get(*member).is_some_and(|value| *value != json!(""))), "{method}");
        assert_eq!(method["state_modifying"], method["semantic"]["impact"] != "informational");
        forecourt_contract::Semantic::read(&method["semantic"], &catalog).unwrap();
    }
    let query = embedded.iter().find(|method| method["name"] == "QUERY").unwrap();
    assert_eq!(query["required_params"], json!(["intent"]));
    let revoke = embedded.iter().find(|method| method["name"] == "REVOKE").unwrap();
    assert_eq!((&revoke["required_params"], &revoke["semantic_class"]), (&json!(["reason"]), &json!("lifecycle")));
}

#[tokio::test]
async fn s8_4_methods_of_this_host_alone_are_listed() {
    let own = contract(Vec::new(), json!({"custom": ["FROBNICATE"]}), RecipeBook::default());
    assert_eq!(Place::of_contract(own).await.manifest().await["custom_methods"], json!([{"name": "FROBNICATE"}]));
    assert_eq!(Place::with("").await.manifest().await["custom_methods"], json!([]));
}

#[tokio::test]
async fn s5_8_built_in_endpoints_appear_like_any_other() {
    let place = Place::of_contract(endpoints(vec![definition("BOOK", "/room")])).await;
    let manifest = place.manifest().await;
    let endpoints = manifest["endpoints"].as_array().unwrap();
    let pairs: Vec<_> =
        endpoints.iter().map(|endpoint| format!("{} {}", endpoint["method"], endpoint["path"])).collect();
    assert_eq!(endpoints.len(), 9, "{pairs:?}");
    for endpoint in endpoints {
        for member in ["method", "path", "description", "semantic", "input_schema", "output_schema", "errors"] {
            assert!(endpoint.get(member).is_some(), "{member} of {endpoint}");
        }
        assert_eq!(endpoint["handler"], json!({"type": "registered_function"}));
        assert_eq!(endpoint["input_schema"]["additionalProperties"], false);
    }
}

#[tokio::test]
async fn s8_5_public_agents_are_named_to_everybody() {
    let place = Place::with("").await;
    let manifest = place.manifest().await;
    assert_eq!(manifest["agent_disclosure"], "public");
    assert_eq!(manifest["hosted_agents"], place.json(&stranger("/agents")).await, "the lists are one");
    assert_eq!(manifest["agent_disclosure_notice"], Value::Null);
}

#[tokio::test]
async fn s8_5_authenticated_agents_are_named_to_who_proved_who_it_is() {
    let section = "[agents]\ndisclosure = \"authenticated\"\ndisclosure_notice = \"Ask ops.\"";
    let place = Place::with(section).await;
    let manifest = place.manifest().await;
    assert_eq!((&manifest["agent_disclosure"], &manifest["hosted_agents"]), (&json!("authenticated"), &json!([])));
    assert_eq!(manifest["agent_disclosure_notice"], "Ask ops.");
    let proven = proven(targetless());
    let reply = place.reply(&proven).await;
    assert_eq!(body(&reply)["hosted_agents"].as_array().unwrap().len(), 2);
    assert_eq!(field(&reply, "Cache-Control"), Some("private, max-age=60"));
    assert_eq!(place.manifest().await["hosted_agents"], json!([]), "what one was told is nobody else's");
}

#[tokio::test]
async fn s8_5_private_agents_are_named_to_nobody() {
    let place = Place::with("agents.disclosure = \"private\"").await;
    let ask = Ask { accept: Some(forecourt_agtp_wire::media_types::MANIFEST.to_owned()), ..place.by("chef", "/") };
    for ask in [targetless(), ask] {
        let text = String::from_utf8(bytes(&place.reply(&ask).await)).unwrap();
        assert!(!text.contains("chef") && !text.contains(place.agent("clerk").agent_id.as_str()));
    }
}

#[tokio::test]
async fn s8_6_other_protocols_are_gathered_and_declared() {
    let mut chef = card("chef");
    chef.endpoints = vec![forecourt_core::Endpoint::new("talk", "https://demo.localhost/talk/chef".to_owned())];
    let residents = vec![resident(chef, ScriptedAgent::saying(["hi"]), Vec::new())];
    let section = "[[hosted_protocols]]\nprotocol = \"ACP\"\nversion = \"0.2\"\nendpoint = \"QUERY /acp\"";
    let place = Place::of(Blueprint { residents, section: section.to_owned(), ..Blueprint::default() }).await;
    let expected = json!([
        {"protocol": "talk", "url": "https://demo.localhost/talk/chef"},
        {"protocol": "ACP", "version": "0.2", "endpoint": "QUERY /acp"},
    ]);
    assert_eq!(place.manifest().await["hosted_protocols"], expected);
}

#[tokio::test]
async fn s8_7_the_switches_are_those_that_calls_are_held_to() {
    let mut strict = contract(Vec::new(), json!({"disallow": ["PATCH"]}), RecipeBook::default());
    strict.rules.scope_required = false;
    let policies = Place::of_contract(strict).await.manifest().await["policies"].clone();
    assert_eq!(policies["wildcards_accepted"], false);
    assert_eq!(policies["anonymous_discovery"], true);
    assert_eq!(policies["scope_required_for_invocation"], false);
    assert_eq!((&policies["synthesis_enabled"], &policies["max_synthesis_depth"]), (&json!(false), &json!(10)));
    assert_eq!(policies["methods"]["disallow"], json!(["PATCH"]), "section 9.3");
}

#[tokio::test]
async fn s8_11_who_has_the_manifest_is_not_given_it_again() {
    let place = Place::with("").await;
    let first = place.reply(&targetless()).await;
    let tag = field(&first, "ETag").unwrap().to_owned();
    assert_eq!(field(&first, "Cache-Control"), Some("public, max-age=60"));
    for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
        let reply = place.reply(&Ask { if_none_match: Some(known), ..targetless() }).await;
        assert_eq!(reply.status, Status::NOT_MODIFIED);
        assert!(matches!(reply.body, Body::Empty));
        assert_eq!(field(&reply, "ETag"), Some(tag.as_str()));
    }
    let other = place.reply(&Ask { if_none_match: Some("\"other\"".to_owned()), ..targetless() }).await;
    assert_eq!(other.status, Status::OK);
    assert_ne!(field(&place.reply(&stranger("/")).await, "ETag"), Some(tag.as_str()), "another body, another tag");
}

#[tokio::test]
async fn s8_11_the_tag_changes_if_and_only_if_the_content_does() {
    let place = Place::with("").await;
    let first = bytes(&place.reply(&targetless()).await);
    place.mounted.clock.advance(Duration::from_secs(3_600));
    assert_eq!(bytes(&place.reply(&targetless()).await), first, "time alone changes nothing");
    let restarted = Place { discovery: again(&place.mounted, &section("")), mounted: place.mounted };
    assert_eq!(bytes(&restarted.reply(&targetless()).await), first, "and a restart doesn't");
    let changed = again(&restarted.mounted, &section("server.operator = \"Somebody else\""));
    let changed = Place { discovery: changed, mounted: restarted.mounted };
    let after = changed.reply(&targetless()).await;
    let (before, after): (Value, Value) = (serde_json::from_slice(&first).unwrap(), body(&after));
    assert_ne!(before["document_version"], after["document_version"]);
    assert!(after["document_version"].as_str().unwrap().starts_with("v2-"));
    assert_eq!(before["server"]["issued"], after["server"]["issued"]);
    assert!(before["server"]["updated"].as_str() < after["server"]["updated"].as_str());
}

#[tokio::test]
async fn s17_4_the_api_version_goes_with_every_answer_and_stays() {
    let place = Place::with("").await;
    assert_eq!(place.discovery.api_version(), None);
    place.discovery.prepare().await;
    let version = place.discovery.api_version().unwrap();
    assert!(version.starts_with("1.0."), "{version}");
    place.mounted.clock.advance(Duration::from_secs(60));
    let restarted = again(&place.mounted, &section("server.operator = \"Somebody else\""));
    restarted.prepare().await;
    assert_eq!(restarted.api_version(), Some(version), "the endpoints are the same");
}
