//! A log of one node among several: named in its records, and held against what is kept elsewhere.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::{LogOptions, node_name};

use crate::support::{agent, close, kept, open_in, options};

fn of_node(name: &str) -> LogOptions {
    LogOptions { node: Some(name.to_owned()), ..options() }
}

#[tokio::test]
async fn records_and_events_name_their_node_which_keeps_its_name() {
    let log = kept(of_node("3f9c02aa"));
    let one = agent(1);
    let payload = |jws: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
    };
    let record = log.record(&one, "r1").await;
    assert_eq!(payload(&record.jws)["extra"]["node"], "3f9c02aa");
    let event = log.log.event(&one, serde_json::Map::new()).await.unwrap();
    let event = log.log.find(&event).await.unwrap().unwrap();
    assert_eq!(payload(&event)["extra"]["node"], "3f9c02aa");
    let (clock, folder) = (log.clock.clone(), log.closed());
    let again = open_in(folder.path(), of_node("another"), clock);
    assert_eq!(again.node(), Some("3f9c02aa"));
    close(again);
    assert_eq!(node_name(folder.path()).unwrap().as_deref(), Some("3f9c02aa"));
    fs::write(folder.path().join("node"), "../x").unwrap();
    assert!(node_name(folder.path()).is_err());
    assert_eq!(node_name(kept(options()).folder.path()).unwrap(), None, "one that is alone has no name");
}
