//! Contracts for longer than a session, which stand in the manifest. AGTP-API 8.11, 10.8.

use super::*;

async fn manifest(hotel: &Hotel) -> (Value, String) {
    let answer = hotel.server.ask("DISCOVER", "").await;
    (body(&answer), answer.field("ETag").unwrap().to_owned())
}

fn pairs(manifest: &Value) -> Vec<&str> {
    manifest["endpoints"].as_array().unwrap().iter().filter_map(|endpoint| endpoint["path"].as_str()).collect()
}

#[tokio::test]
async fn s10_8_persistent_contracts_stand_in_the_manifest_while_they_last() {
    let hotel = Hotel::open().await;
    let (before, tag) = manifest(&hotel).await;
    assert_eq!(before["policies"]["synthesis_enabled"], true);
    let (_, said) = hotel.floor("PROPOSE", json!({"endpoint": weekend()})).await;
    assert_eq!(said["persistent"], false);
    assert_eq!(manifest(&hotel).await.1, tag, "one of a session is nobody else's business");
    let proposal = json!({"endpoint": weekend(), "persistent": true, "requested_duration": "2d"});
    let (code, said) = hotel.floor("PROPOSE", proposal).await;
    assert_eq!((code, &said["persistent"], &said["granted_duration"]), (263, &json!(true), &json!("2d")), "{said}");
    let (after, new_tag) = manifest(&hotel).await;
    assert!(pairs(&after).contains(&"/weekend") && !pairs(&before).contains(&"/weekend"));
    assert_ne!((&before["document_version"], &tag), (&after["document_version"], &new_tag));
    let methods = hotel.server.ask("DISCOVER /methods", "").await;
    assert_ne!(methods.field("AGTP-API-Version"), None);
    let listed = body(&methods);
    let entry = listed.as_array().unwrap().iter().find(|entry| entry["path"] == "/weekend").expect("an entry");
    assert_eq!((&entry["method"], &entry["tier"]), (&json!("RESERVE"), &json!("C")));
    let called = hotel.reserve(&[]).await;
    assert_eq!(called.start.code, 200, "it serves its agent on every connection");
    let theirs = Sent { by: "gate", line: "RESERVE /weekend", fields: &[], body: stay() };
    assert_eq!(hotel.say(theirs).await.start.code, 404, "and no other one");
    let id = said["synthesis_id"].as_str().unwrap();
    assert_eq!(hotel.floor("SUSPEND", json!({"synthesis_id": id})).await.0, 200);
    let (ended, _) = manifest(&hotel).await;
    assert!(!pairs(&ended).contains(&"/weekend"));
    let versions = [&before, &after, &ended].map(|manifest| manifest["document_version"].as_str().unwrap().to_owned());
    assert!(versions[0] != versions[1] && versions[1] != versions[2], "{versions:?}");
}

#[tokio::test]
async fn base_2_5_the_version_of_the_api_grows_with_them() {
    let hotel = Hotel::open().await;
    let version = async || {
        let answer = hotel.server.ask("DISCOVER", "").await;
        answer.field("AGTP-API-Version").unwrap().rsplit('.').next().unwrap().parse::<u64>().unwrap()
    };
    let before = version().await;
    let answer = hotel
        .say(Sent {
            by: "chef",
            line: "PROPOSE /",
            fields: &[],
            body: json!({"endpoint": weekend(), "persistent": true}),
        })
        .await;
    assert_eq!(answer.start.code, 263);
    assert!(version().await > before);
}

#[tokio::test]
async fn s10_8_the_operator_may_refuse_to_keep_any() {
    let hotel = Hotel::with(&format!("{OPEN}[synthesis]\npersistent_max_seconds = 0")).await;
    let (code, said) = hotel.floor("PROPOSE", json!({"endpoint": weekend(), "persistent": true})).await;
    assert_eq!((code, &said["persistent"]), (263, &json!(false)), "{said}");
}
