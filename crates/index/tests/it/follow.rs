//! Items that nodes hold in common are taken into each node's own index.

use std::path::Path;

use forecourt_core::Timestamp;
use forecourt_index::{FollowedItem, FollowedRevision, Library, Options, PushedItem, Query};
use forecourt_testkit::SearchEngine;
use forecourt_understanding::Filter;

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

#[test]
fn nodes_that_have_one_engine_undo_nothing_of_each_other() {
    let engine = SearchEngine::start();
    let (one, other) = (Shelf::of_engine(&engine, "items"), Shelf::of_engine(&engine, "items"));
    one.index();
    for (node, revision) in [(&one, 1), (&one, 2), (&other, 1), (&other, 2)] {
        let name = if revision == 1 { "bean stew" } else { "plum cake" };
        assert!(node.library.follow(items(&item(name, name)), at(7, revision)).unwrap(), "{revision}");
    }
    let both = |is_current| [&one, &other].map(|node| node.library.has_what_was_pushed().unwrap()) == [is_current; 2];
    assert!(both(true));
    // What one of them put before the other has heard of it, and a run over everything of one.
    assert!(one.library.follow(items(&item("pie", "plum pie")), at(7, 3)).unwrap());
    assert!(both(true));
    assert!(other.library.follow(items(&item("pie", "plum pie")), at(7, 3)).unwrap());
    assert_eq!((other.index().has_changed(), both(true)), (false, true));
    assert_eq!((one.names("plum").len(), other.names("stew").len()), (2, 1));
    // Another index has nothing of it, however it is on this node.
    let Shelf { library, dir } = one;
    drop(library);
    let moved = Shelf::of_engine(&engine, "others");
    std::fs::create_dir(moved.dir.path().join("pushed")).unwrap();
    std::fs::copy(dir.path().join("pushed/a.db"), moved.dir.path().join("pushed/a.db")).unwrap();
    assert!(!moved.library.has_what_was_pushed().unwrap(), "a run is due");
    moved.index();
    assert_eq!((moved.names("plum").len(), moved.library.has_what_was_pushed().unwrap()), (2, true));
}

#[test]
fn what_is_known_of_all_items_is_of_all_nodes() {
    let engine = SearchEngine::start();
    let nodes = [Shelf::of_engine(&engine, "items"), Shelf::of_engine(&engine, "items")];
    std::thread::scope(|scope| {
        for (number, node) in nodes.iter().enumerate() {
            scope.spawn(move || {
                for at in 0..10 {
                    let line =
                        format!("{{\"@id\":\"urn:{number}-{at}\",\"name\":\"pie {at}\",\"size{number}-{at}\":{at}}}\n");
                    let put = node.library.put(line.as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap();
                    assert!(put.is_searchable, "{number} {at}");
                }
            });
        }
    });
    assert!(nodes.iter().all(|node| node.library.has_what_was_pushed().unwrap()));
    let node = Shelf::of_engine(&engine, "items");
    assert_eq!(node.library.len(), 20);
    for (number, at) in [(0, 0), (0, 9), (1, 0), (1, 9)] {
        let filters = vec![Filter::within(format!("size{number}-{at}"), None, Some(9.0))];
        assert_eq!(node.library.search(&Query { filters, ..Query::new("") }).unwrap().len(), 1, "{number} {at}");
    }
}
