//! A log of one node among several: named in its records, and held against what is kept elsewhere.

use std::fs;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::verify::verify;
use forecourt_attribution::{LogOptions, RecordKeys, node_name};
use parking_lot::Mutex;

use crate::support::{agent, close, draft, kept, open_in, options};

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

#[tokio::test]
async fn a_log_that_is_cut_short_with_its_mark_is_noticed_by_what_was_told_elsewhere() {
    let log = kept(of_node("3f9c02aa"));
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = told.clone();
    log.log.anchor_with(Box::new(move |mark| sink.lock().push(mark)));
    log.record(&agent(1), "r1").await;
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(log.folder.path()).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    log.log.record(draft(Some(&agent(1)), "r2")).await.unwrap();
    let folder = log.closed();
    let anchor = told.lock().last().cloned().expect("it was told");
    let verified = |folder: &std::path::Path, anchor: Option<&str>| {
        verify(folder, &RecordKeys::beside(folder).unwrap_or_default(), anchor, &|_| (), &|_| ()).unwrap()
    };
    assert!(verified(folder.path(), Some(&anchor)).is_fine(), "the whole log");
    assert!(verified(copy.path(), None).is_fine(), "an older copy is whole in itself");
    let short = verified(copy.path(), Some(&anchor));
    assert!(short.findings[0].message.contains("records are gone"), "{:?}", short.findings);
    assert!(verified(copy.path(), Some("nonsense")).is_fine(), "what is no statement says nothing");
    let forged = format!("{}x", &anchor[..anchor.len() - 1]);
    assert!(!verified(copy.path(), Some(&forged)).is_fine());
}
