//! A log in a folder with the name of a node: named in its records.

use std::fs;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::node_name;
use forecourt_testkit::HandClock;

use crate::support::{agent, close, draft, kept, open_in, options};

#[tokio::test]
async fn records_and_events_name_the_node_of_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("node"), "3f9c02aa\n").unwrap();
    let log = open_in(folder.path(), options(), Arc::new(HandClock::new()));
    let one = agent(1);
    let payload = |jws: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
    };
    let record = log.record(draft(Some(&one), "r1")).await.unwrap();
    assert_eq!(payload(&record.jws)["extra"]["node"], "3f9c02aa");
    let event = log.event(&one, serde_json::Map::new()).await.unwrap();
    let event = log.find(&event).await.unwrap().unwrap();
    assert_eq!(payload(&event)["extra"]["node"], "3f9c02aa");
    close(log);
    assert_eq!(node_name(folder.path()).unwrap().as_deref(), Some("3f9c02aa"));
    fs::write(folder.path().join("node"), "../x").unwrap();
    assert!(node_name(folder.path()).is_err());
    assert_eq!(node_name(kept(options()).folder.path()).unwrap(), None, "one that is alone has no name");
}
