//! Items that are pushed by hand: durable, found at once, and stronger than files.

use std::path::Path;

use forecourt_core::Timestamp;
use forecourt_index::limits::{PUSH_BYTES_MAX, PUSH_ITEMS_MAX, VECTOR_FILES_MAX};
use forecourt_index::{Error, Library, LoadProgress, Options, PutOutcome, Query};
use forecourt_loaders::ContentSource;
use forecourt_loaders::limits::ITEM_BYTES_MAX;
use forecourt_understanding::Filter;

use crate::common::Shelf;

const LINES: &str = "application/x-ndjson";

fn options(dir: &Path) -> Options {
    Options { pushed: Some(dir.join("pushed/a.db")), ..Options::default() }
}

/// A shelf whose index takes pushes.
fn shelf() -> Shelf {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("content")).unwrap();
    let library = Library::open(&dir.path().join("index"), options(dir.path())).unwrap();
    Shelf { library, dir }
}

fn put(shelf: &Shelf, lines: &str) -> PutOutcome {
    shelf.library.put(lines.as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap()
}

fn item(id: &str, name: &str) -> String {
    format!("{{\"@id\":\"urn:{id}\",\"name\":\"{name}\"}}\n")
}

fn remove(shelf: &Shelf, names: &[&str]) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let removed = shelf.library.remove(&names).unwrap();
    assert!(removed.is_searchable);
    (removed.removed, removed.unknown)
}

#[test]
fn what_is_put_is_found_at_once_and_after_a_restart() {
    let shelf = shelf();
    shelf.put("a.jsonl", &item("soup", "pea soup"));
    shelf.index();
    let done = put(&shelf, &(item("stew", "bean stew") + &item("cake", "plum cake")));
    assert_eq!((done.stored, done.unchanged, done.skipped, done.is_searchable), (2, 0, 0, true));
    assert_eq!(
        (shelf.names("stew"), shelf.names("soup"), shelf.library.len()),
        (vec!["bean stew".into()], vec!["pea soup".into()], 3)
    );
    assert!(shelf.library.has_what_was_pushed().unwrap());
    let again = put(&shelf, &item("stew", "bean stew"));
    assert_eq!((again.stored, again.unchanged), (0, 1));
    assert_eq!(shelf.index().unchanged, 3, "a whole run sees the same");
    let Shelf { library, dir } = shelf;
    drop(library);
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    let library = Library::open(&dir.path().join("index"), options(dir.path())).unwrap();
    assert!(!library.has_what_was_pushed().unwrap());
    let report = library.index(&[ContentSource::new(dir.path().join("content"))], &mut (), &|| false).unwrap();
    assert_eq!((report.loaded, report.skipped), (3, 0));
    assert!(library.has_what_was_pushed().unwrap());
}

#[test]
fn what_is_put_counts_more_than_files_and_the_last_call_most() {
    let shelf = shelf();
    shelf.put("a.jsonl", &(item("soup", "pea soup") + &item("stew", "bean stew")));
    shelf.index();
    put(&shelf, &item("soup", "leek soup"));
    assert_eq!(shelf.names("soup"), ["leek soup"]);
    let report = shelf.index();
    assert_eq!((report.overridden, report.skipped, report.unchanged), (1, 0, 2));
    assert_eq!(shelf.names("soup"), ["leek soup"]);
    put(&shelf, &item("soup", "onion soup"));
    assert_eq!(shelf.names("soup"), ["onion soup"]);
    shelf.library.forget_pushed().unwrap();
    assert!(!shelf.library.has_what_was_pushed().unwrap());
    shelf.index();
    assert_eq!(shelf.names("soup"), ["pea soup"], "files alone count again");
}

#[test]
fn what_is_removed_stays_away_until_it_is_put_again() {
    let shelf = shelf();
    shelf.put("a.jsonl", &(item("soup", "pea soup") + &item("stew", "bean stew")));
    shelf.index();
    put(&shelf, "{\"@id\":\"urn:cake\",\"url\":\"https://e.org/cake\",\"name\":\"plum cake\"}");
    let gone = remove(&shelf, &["urn:soup", "https://e.org/cake", "urn:nothing", "urn:soup", "urn:cake"]);
    assert_eq!(gone, (vec!["urn:soup".into(), "urn:cake".into()], vec!["urn:nothing".into()]));
    assert_eq!(shelf.library.len(), 1);
    assert_eq!(remove(&shelf, &["urn:soup"]).1, ["urn:soup"], "it is gone already");
    let report = shelf.index();
    assert_eq!((report.overridden, report.skipped, shelf.library.len()), (1, 0, 1));
    put(&shelf, &item("soup", "leek soup"));
    assert_eq!(shelf.names("soup"), ["leek soup"]);
}

#[test]
fn a_removal_is_forgotten_when_no_file_has_the_item_any_more() {
    let shelf = shelf();
    shelf.put("a.jsonl", &item("soup", "pea soup"));
    shelf.index();
    remove(&shelf, &["urn:soup"]);
    shelf.index();
    shelf.put("a.jsonl", &item("stew", "bean stew"));
    shelf.index();
    shelf.put("a.jsonl", &item("soup", "pea soup"));
    shelf.index();
    assert_eq!(shelf.names("soup"), ["pea soup"]);
}

#[test]
fn what_cannot_be_taken_is_named_and_the_rest_is_taken() {
    let shelf = shelf();
    let long = format!("{{\"@id\":\"urn:long\",\"name\":\"{}\"}}\n", "x".repeat(ITEM_BYTES_MAX));
    let lines = "{oops\n{\"@id\":\"urn:1\"}\n{\"name\":\"no id\"}\n17\n".to_owned()
        + &item("twice", "first")
        + &item("twice", "second")
        + &long
        + "{\"name\":\"\u{0}\"";
    let done = put(&shelf, &lines);
    assert_eq!((done.stored, done.skipped), (1, 7));
    let reason = |line: u64| done.reasons.iter().find(|skipped| skipped.line == Some(line)).unwrap().reason.clone();
    assert!(reason(1).contains("broken JSON") && reason(2).contains("no name"), "{:?}", done.reasons);
    assert!(reason(3).contains("no `@id`") && reason(4).contains("not an object"), "{:?}", done.reasons);
    assert!(reason(5).contains("comes again") && reason(7).contains("longer"), "{:?}", done.reasons);
    assert_eq!(shelf.names("second first"), ["second"]);
}

#[test]
fn calls_are_bounded_in_bytes_items_and_ids() {
    let shelf = shelf();
    let of = |bytes: usize| item("a", "a").trim_end().to_owned() + &"\n".repeat(bytes - item("a", "a").len() + 1);
    let call = |document: &str| shelf.library.put(document.as_bytes(), LINES, Timestamp::UNIX_EPOCH);
    assert_eq!(call(&of(PUSH_BYTES_MAX)).unwrap().stored, 1);
    assert!(matches!(call(&of(PUSH_BYTES_MAX + 1)), Err(Error::TooMuch(_))));
    let many = |count: usize| (0..count).map(|n| item(&n.to_string(), "a")).collect::<String>();
    assert!(matches!(call(&many(PUSH_ITEMS_MAX + 1)), Err(Error::TooMuch(_))));
    assert_eq!(call(&many(PUSH_ITEMS_MAX)).unwrap().stored, PUSH_ITEMS_MAX as u64);
    let ids = |count: usize| (0..count).map(|n| format!("urn:{n}")).collect::<Vec<_>>();
    assert!(matches!(shelf.library.remove(&ids(PUSH_ITEMS_MAX + 1)), Err(Error::TooMuch(_))));
    assert_eq!(shelf.library.remove(&ids(PUSH_ITEMS_MAX)).unwrap().removed.len(), PUSH_ITEMS_MAX);
}

#[test]
fn formats_go_by_the_media_type() {
    let shelf = shelf();
    let put = |document: &str, mime: &str| shelf.library.put(document.as_bytes(), mime, Timestamp::UNIX_EPOCH);
    let json = r#"{"@graph": [{"@id": "urn:1", "name": "a"}, {"@id": "urn:2", "name": "b"}]}"#;
    assert_eq!(put(json, "application/ld+json; charset=utf-8").unwrap().stored, 2);
    assert_eq!(put("@id,name\nurn:3,c\n", "text/csv").unwrap().stored, 1);
    for mime in ["", "application/x-www-form-urlencoded", "image/png"] {
        assert!(matches!(put(json, mime), Err(Error::Unreadable(_))), "{mime}");
    }
    let closed = Shelf::new();
    assert!(matches!(closed.library.put(json.as_bytes(), LINES, Timestamp::UNIX_EPOCH), Err(Error::NothingPushed)));
}

#[test]
fn every_item_says_where_it_is_from() {
    let shelf = shelf();
    put(&shelf, "{\"url\":\"https://www.shop.example/a\",\"name\":\"apples\"}\n{\"@id\":\"urn:b\",\"name\":\"pears\"}");
    shelf.put("list.csv", "name,url\nplums,https://farm.example/plums\nnuts,\n");
    let source =
        ContentSource { url: Some("https://list.example/data".to_owned()), ..ContentSource::new(shelf.content()) };
    shelf.library.index(&[source], &mut (), &|| false).unwrap();
    let grounding = |text: &str| shelf.hits(text).remove(0).item["grounding"].clone();
    assert_eq!(grounding("apples")["source_urls"], serde_json::json!(["https://www.shop.example/a"]));
    assert_eq!(grounding("apples")["fetched_at"], "1970-01-01T00:00:00Z");
    assert_eq!(grounding("pears"), serde_json::json!({"fetched_at": "1970-01-01T00:00:00Z"}));
    let list = "https://list.example/data/list.csv";
    assert_eq!(grounding("plums")["source_urls"], serde_json::json!(["https://farm.example/plums", list]));
    assert_eq!(grounding("nuts")["source_urls"], serde_json::json!([list]));
    assert!(grounding("nuts")["fetched_at"].as_str().is_some_and(|at| at.starts_with("20")));
    let of = |host: &str| {
        let filters = vec![Filter::is("url.host", host)];
        let mut names: Vec<String> = shelf
            .library
            .search(&Query { filters, ..Query::new("") })
            .unwrap()
            .into_iter()
            .map(|hit| hit.name)
            .collect();
        names.sort();
        names
    };
    assert_eq!((of("shop.example"), of("list.example")), (vec!["apples".into()], vec!["nuts".into(), "plums".into()]));
    assert_eq!((of("farm.example"), of("nowhere.example").len()), (vec!["plums".into()], 0));
}

#[test]
fn what_is_put_during_a_run_is_kept_and_found_by_the_next() {
    let shelf = shelf();
    shelf.put("a.jsonl", &item("soup", "pea soup"));
    let sources = [ContentSource::new(shelf.content())];
    let mut listen = |_: &LoadProgress| {
        let done = put(&shelf, &item("stew", "bean stew"));
        assert!(!done.is_searchable);
    };
    shelf.library.index(&sources, &mut listen, &|| false).unwrap();
    assert!(!shelf.library.has_what_was_pushed().unwrap() && shelf.names("stew").is_empty());
    put(&shelf, &item("cake", "plum cake"));
    assert_eq!(shelf.names("cake"), ["plum cake"], "later ones need not wait");
    assert!(!shelf.library.has_what_was_pushed().unwrap());
    shelf.index();
    assert!(shelf.library.has_what_was_pushed().unwrap());
    assert_eq!(shelf.names("stew"), ["bean stew"]);
}

#[test]
fn vectors_follow_what_is_put() {
    let Some(model) = crate::common::model() else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("content")).unwrap();
    let options = Options { model: Some(model), ..options(dir.path()) };
    let library = Library::open(&dir.path().join("index"), options).unwrap();
    let shelf = Shelf { library, dir };
    shelf.put("a.jsonl", &(item("soup", "pea soup") + &item("car", "repairing engines")));
    shelf.index();
    let embed = || shelf.library.embed(&mut |_, _| {}, &|| false).unwrap();
    put(&shelf, &item("dog", "a puppy"));
    assert_eq!((shelf.names("puppy")[0].as_str(), shelf.library.unembedded()), ("a puppy", 1), "its words at once");
    embed();
    assert_eq!(shelf.names("canine")[0], "a puppy");
    remove(&shelf, &["urn:dog"]);
    assert!(!shelf.names("canine").contains(&"a puppy".to_owned()));
    let files = || {
        let entries = std::fs::read_dir(shelf.dir.path().join("index/vectors")).unwrap();
        entries.map(|model| std::fs::read_dir(model.unwrap().path()).unwrap().count()).sum::<usize>()
    };
    for n in 0..VECTOR_FILES_MAX + 4 {
        put(&shelf, &item(&format!("n{n}"), &format!("number {n}")));
        embed();
        assert!(files() <= VECTOR_FILES_MAX + 1, "{} files", files());
    }
    assert_eq!(shelf.names("automobile")[0], "repairing engines", "what was there before is still near");
}
