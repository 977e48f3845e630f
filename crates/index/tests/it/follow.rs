//! Items that nodes hold in common are taken into each node's own index.

use std::path::Path;

use forecourt_core::Timestamp;
use forecourt_index::{FollowedItem, FollowedRevision, Library, Options, PushedItem};

use crate::common::Shelf;

const LINES: &str = "application/x-ndjson";

fn open(dir: &Path) -> Library {
    let options = Options { pushed: Some(dir.join("pushed/a.db")), ..Options::default() };
    Library::open(&dir.join("index"), options).unwrap()
}

fn node() -> Shelf {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("content")).unwrap();
    let library = open(dir.path());
    Shelf { library, dir }
}

fn items(lines: &str) -> Vec<FollowedItem> {
    let read = Library::read_push(lines.as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap();
    read.items.into_iter().map(FollowedItem::Put).collect()
}

fn item(id: &str, name: &str) -> String {
    format!("{{\"@id\":\"urn:{id}\",\"name\":\"{name}\"}}\n")
}

fn at(epoch: u64, revision: u64) -> FollowedRevision {
    FollowedRevision { epoch, revision }
}

#[test]
fn what_another_node_was_given_is_found_here_and_known_after_a_restart() {
    let node = node();
    node.put("a.jsonl", &(item("soup", "pea soup") + &item("pie", "plum pie")));
    node.index();
    assert_eq!(node.library.followed().unwrap(), at(0, 0));
    assert!(node.library.follow(items(&item("stew", "bean stew")), at(7, 1)).unwrap(), "it is found at once");
    assert!(node.library.has_what_was_pushed().unwrap());
    assert_eq!(node.names("stew"), ["bean stew"]);
    let removed = FollowedItem::Removed("urn:pie".to_owned());
    assert!(node.library.follow([items(&item("cake", "plum cake")), vec![removed]].concat(), at(7, 2)).unwrap());
    assert_eq!((node.names("plum"), node.names("pea")), (vec!["plum cake".into()], vec!["pea soup".into()]));
    let Shelf { library, dir } = node;
    drop(library);
    let library = open(dir.path());
    assert_eq!(library.followed().unwrap(), at(7, 2));
    assert_eq!(library.named_ids(&["urn:cake".into(), "urn:pie".into()]).unwrap().ids, ["urn:cake"]);
}

#[test]
fn taking_the_same_in_twice_changes_nothing() {
    let node = node();
    node.library.follow(items(&item("stew", "bean stew")), at(7, 1)).unwrap();
    node.index();
    for _ in 0..2 {
        assert!(node.library.follow(items(&item("stew", "bean stew")), at(7, 1)).unwrap());
    }
    assert_eq!((node.library.len(), node.index().unchanged), (1, 1));
}

#[test]
fn another_epoch_begins_from_nothing() {
    let node = node();
    node.put("a.jsonl", &item("soup", "pea soup"));
    let removed = FollowedItem::Removed("urn:soup".to_owned());
    node.library.follow([items(&item("stew", "bean stew")), vec![removed]].concat(), at(7, 3)).unwrap();
    node.index();
    assert_eq!((node.names("soup").len(), node.names("stew").len()), (0, 1));
    assert!(!node.library.follow(Vec::new(), at(8, 0)).unwrap());
    assert!(!node.library.has_what_was_pushed().unwrap(), "until the next run");
    node.index();
    assert_eq!((node.names("soup").len(), node.names("stew").len()), (1, 0));
    assert!(node.library.follow(items(&item("cake", "plum cake")), at(8, 1)).unwrap());
    assert_eq!(node.names("cake"), ["plum cake"]);
}

#[test]
fn who_was_alone_can_tell_what_it_holds_and_begins_from_nothing_with_others() {
    let node = node();
    node.library.put(item("stew", "bean stew").as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap();
    node.library.remove(&["urn:stew".to_owned()]).unwrap();
    node.library.put(item("pie", "plum pie").as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap();
    let held = node.library.held_items(None).unwrap();
    let pie = items(&item("pie", "plum pie")).remove(0);
    let told: Vec<&FollowedItem> = held.iter().map(|(_, item)| item).collect();
    assert!(told.len() == 2 && told.contains(&&pie) && told.contains(&&FollowedItem::Removed("urn:stew".to_owned())));
    assert_eq!(node.library.held_items(held.last().map(|(key, _)| *key)).unwrap(), []);
    assert!(!node.library.follow(items(&item("cake", "plum cake")), at(7, 1)).unwrap(), "a run is due");
    node.index();
    assert_eq!(node.names("plum"), ["plum cake"]);
}

#[test]
fn reading_a_push_changes_nothing() {
    let node = node();
    let lines = item("stew", "bean stew") + "{\"name\": \"no id\"}\n" + &item("stew", "pea stew");
    let read = Library::read_push(lines.as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap();
    let names: Vec<(&str, bool)> =
        read.items.iter().map(|PushedItem { id, said, .. }| (id.as_str(), *said != 0)).collect();
    assert_eq!((names, read.skipped, read.reasons.len()), (vec![("urn:stew", true)], 2, 2));
    assert_eq!((node.library.len(), node.library.has_what_was_pushed().unwrap()), (0, true));
}
