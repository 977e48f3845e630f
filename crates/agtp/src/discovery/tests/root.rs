//! Which DISCOVER is which: the table of base 2.6.

use forecourt_agtp_wire::media_types::MANIFEST;
use forecourt_agtp_wire::status::Status;

use super::*;

fn accepting(ask: Ask, accept: &str) -> Ask {
    Ask { accept: Some(accept.to_owned()), ..ask }
}

#[tokio::test]
async fn s8_10_without_a_target_and_without_a_name_it_is_the_manifest() {
    let place = Place::with("").await;
    for ask in [targetless(), accepting(targetless(), "application/json")] {
        let reply = place.reply(&ask).await;
        assert!(matches!(reply.body, Body::Made { media_type: MANIFEST, .. }));
        assert_eq!(field(&reply, "X-AGTP-Document-Type"), Some("agtp.server.manifest"));
        assert_eq!(body(&reply)["agtp_version"], "1.0");
        assert!(body(&reply).get("directory").is_none());
    }
}

#[tokio::test]
async fn s5_8_3_the_root_without_a_name_is_the_manifest_and_the_directory() {
    let place = Place::with("").await;
    for accept in [None, Some("*/*"), Some(MANIFEST), Some("application/json, application/vnd.agtp.manifest+json")] {
        let ask = Ask { accept: accept.map(str::to_owned), ..stranger("/") };
        let both = place.json(&ask).await;
        assert_eq!(both["server"]["server_id"], "demo.localhost", "{accept:?}");
        assert_eq!(both["directory"][0], json!({"path": "/methods", "tier": "A"}), "{accept:?}");
    }
}

#[tokio::test]
async fn s5_8_3_the_directory_stands_alone_for_who_takes_json_alone() {
    let place = Place::with("").await;
    for accept in ["application/json", "Application/VND.agtp+json;q=0.5", "text/html, application/json"] {
        let alone = place.json(&accepting(stranger("/"), accept)).await;
        assert_eq!(alone.as_object().unwrap().keys().collect::<Vec<_>>(), ["directory"], "{accept}");
    }
}

#[tokio::test]
async fn s5_8_3_the_directory_names_every_reserved_surface_with_its_tier() {
    let place = Place::with("").await;
    let root = place.by("chef", "/");
    for ask in [Ask { is_targetless: true, ..root.clone() }, root] {
        let directory = place.json(&ask).await;
        let paths: Vec<_> =
            directory["directory"].as_array().unwrap().iter().map(|entry| entry["path"].clone()).collect();
        assert_eq!(
            json!(paths),
            json!(["/methods", "/agents", "/genesis", "/tools", "/apis", "/patterns", "/contracts"])
        );
        assert!(directory["directory"].as_array().unwrap().iter().all(|entry| entry["tier"] == "A"));
    }
}

#[tokio::test]
async fn s5_8_3_operator_authored_entries_are_of_tier_b() {
    let mut own = definition("DISCOVER", "/rooms");
    own.semantic["capability"] = "discovery".into();
    let place = Place::of_contract(endpoints(vec![own, definition("BOOK", "/room")])).await;
    let directory = place.json(&place.by("chef", "/")).await;
    let last = directory["directory"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"path": "/rooms", "tier": "B"}), "and no other method is among them");
}

#[tokio::test]
async fn an_agent_that_names_the_manifest_s_type_gets_it() {
    let place = Place::with("").await;
    let manifest = place.json(&accepting(place.by("chef", "/"), MANIFEST)).await;
    assert_eq!(manifest["agtp_api_version"], "1.0");
}

#[tokio::test]
async fn an_agent_that_is_addressed_by_its_path_answers_with_the_directory() {
    let place = Place::with("").await;
    let ask = Ask { addressed: Some(place.agent("clerk")), ..stranger("/") };
    assert!(place.json(&ask).await.get("agtp_version").is_none());
}

#[tokio::test]
async fn s8_7_strangers_learn_nothing_where_they_may_not_look_around() {
    let place = Place::with("[policies]\nanonymous_discovery = false").await;
    for ask in [targetless(), stranger("/"), stranger("/methods"), stranger("/agents"), stranger("/contracts")] {
        let problem = place.refused(&ask).await;
        assert_eq!(problem.status, Status::AUTHORIZATION_REQUIRED);
        assert_eq!(problem.error["type"], "anonymous-discovery-disabled");
        assert_eq!(problem.error["code"], "authorization-required");
    }
    assert!(place.json(&place.by("chef", "/methods")).await.is_array());
    let proven = proven(targetless());
    assert_eq!(place.json(&proven).await["agtp_version"], "1.0");
}

#[tokio::test]
async fn s13_3_what_a_surface_does_not_declare_is_refused() {
    let place = Place::with("").await;
    let problem = place.refused(&asking(stranger("/methods"), json!({"limit": 3}))).await;
    assert_eq!(problem.status, Status::UNPROCESSABLE);
    assert_eq!(
        (&problem.error["code"], &problem.error["field"]),
        (&json!("input-validation-failed"), &json!("/limit"))
    );
    assert!(place.json(&asking(stranger("/methods"), json!({"context": {"a": 1}}))).await.is_array());
}
