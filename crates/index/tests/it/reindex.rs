//! Loading again: only what has changed is written, and nothing is lost on the way.

use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_index::{Error, Library, LoadProgress, Options, Query, Report};
use forecourt_loaders::ContentSource;
use forecourt_loaders::limits::ITEM_BYTES_MAX;

use crate::common::Shelf;

fn counts(report: &Report) -> [u64; 5] {
    [report.loaded, report.updated, report.unchanged, report.removed, report.skipped]
}

fn recipe(name: &str, text: &str) -> String {
    format!("{{\"@id\":\"urn:{name}\",\"name\":\"{name}\",\"description\":\"{text}\"}}\n")
}

#[test]
fn a_library_is_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Library>();
}

#[test]
fn only_changes_are_written() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &(recipe("pea soup", "green") + &recipe("bean stew", "red") + &recipe("toast", "brown")));
    assert_eq!(counts(&shelf.index()), [3, 0, 0, 0, 0]);
    assert_eq!(counts(&shelf.index()), [0, 0, 3, 0, 0]);
    shelf.put("a.jsonl", &(recipe("pea soup", "yellow") + &recipe("bean stew", "red") + &recipe("cake", "sweet")));
    assert_eq!(counts(&shelf.index()), [1, 1, 1, 1, 0]);
    assert_eq!(shelf.library.len(), 3);
    assert_eq!(shelf.names("yellow"), ["pea soup"]);
    assert!(shelf.names("green").is_empty() && shelf.names("toast").is_empty());
    assert_eq!(shelf.names("cake"), ["cake"]);
}

#[test]
fn an_item_that_grew_too_long_leaves_nothing_old_behind() {
    let shelf = Shelf::new();
    let items = |text: &str| format!("[{},{}]", recipe("pea soup", text), recipe("toast", "brown"));
    let frame = recipe("pea soup", "").trim_end().len();
    shelf.put("a.json", &items(&"x".repeat(ITEM_BYTES_MAX - frame)));
    assert_eq!(counts(&shelf.index()), [2, 0, 0, 0, 0]);
    shelf.put("a.json", &items(&"x".repeat(ITEM_BYTES_MAX - frame + 1)));
    assert_eq!(counts(&shelf.index()), [0, 0, 1, 1, 1]);
    assert!(shelf.names("pea").is_empty());
}

#[test]
fn a_moved_item_stays_one_item() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &recipe("soup", "green"));
    shelf.index();
    shelf.put("a.jsonl", "");
    shelf.put("b/c.jsonl", &recipe("soup", "green"));
    assert_eq!(counts(&shelf.index()), [0, 1, 0, 0, 0]);
    assert_eq!(shelf.library.len(), 1);
}

#[test]
fn an_id_that_comes_twice_is_named() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &(recipe("soup", "first") + &recipe("soup", "second")));
    let report = shelf.index();
    assert_eq!(counts(&report), [1, 0, 0, 0, 1]);
    assert_eq!(report.reasons[0].to_string(), "a.jsonl:2: the id `urn:soup` was seen before");
    assert_eq!(shelf.names("first"), ["soup"]);
}

#[test]
fn reasons_name_file_and_line() {
    let shelf = Shelf::new();
    shelf.put("bad/x.jsonl", "{\"name\":\"a\"}\n{\"description\":\"no name\"}\n{oops\n");
    let report = shelf.index();
    let reasons: Vec<String> = report.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(reasons[0], "bad/x.jsonl:2: no name, headline or title");
    assert!(reasons[1].starts_with("bad/x.jsonl:3: broken JSON: "), "{}", reasons[1]);
}

#[test]
fn a_file_that_breaks_off_keeps_what_it_had() {
    let shelf = Shelf::new();
    shelf.put("a.json", "[{\"@id\":\"urn:1\",\"name\":\"soup\"},{\"@id\":\"urn:2\",\"name\":\"stew\"}]");
    shelf.index();
    shelf.put("a.json", "[{\"@id\":\"urn:1\",\"name\":\"soup\"},{\"@id\":\"urn:2\",\"na");
    assert_eq!(counts(&shelf.index()), [0, 0, 1, 0, 1]);
    assert_eq!(shelf.names("stew"), ["stew"]);
}

#[test]
fn a_missing_source_changes_nothing() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &recipe("soup", "green"));
    shelf.index();
    let gone = [ContentSource::new(shelf.dir.path().join("gone"))];
    assert!(matches!(shelf.library.index(&gone, &mut (), &|| false), Err(Error::Source { .. })));
    assert_eq!(shelf.names("soup"), ["soup"]);
}

#[test]
fn a_cancelled_run_changes_nothing() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &recipe("soup", "green"));
    shelf.index();
    shelf.put("a.jsonl", &(recipe("stew", "red") + &recipe("toast", "brown")));
    let asked = AtomicUsize::new(0);
    let cancel = || asked.fetch_add(1, Ordering::Relaxed) > 0;
    let report = shelf.library.index(&[ContentSource::new(shelf.content())], &mut (), &cancel).unwrap();
    assert!(report.cancelled && !report.has_changed());
    assert_eq!(shelf.names("soup stew toast"), ["soup"]);
    assert_eq!(counts(&shelf.index()), [2, 0, 0, 1, 0]);
}

#[test]
fn one_run_at_a_time_and_queries_meanwhile() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &recipe("soup", "green"));
    shelf.index();
    shelf.put("a.jsonl", &recipe("stew", "red"));
    let sources = [ContentSource::new(shelf.content())];
    let mut seen = Vec::new();
    let mut listen = |progressed: &LoadProgress| {
        seen.push(*progressed);
        assert!(matches!(shelf.library.index(&sources, &mut (), &|| false), Err(Error::Busy)));
        assert_eq!(shelf.names("soup stew"), ["soup"]);
    };
    shelf.library.index(&sources, &mut listen, &|| false).unwrap();
    let bytes = recipe("stew", "red").len() as u64;
    let expected = LoadProgress { files: 1, files_total: 1, items: 1, skipped: 0, bytes, bytes_total: bytes };
    assert_eq!(seen, [expected]);
    assert_eq!(shelf.names("soup stew"), ["stew"]);
}

#[test]
fn who_opens_an_index_in_the_same_way_shares_it() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("index");
    let first = Library::shared(&folder, &Options::default()).unwrap();
    let spelled_otherwise = Library::shared(&dir.path().join("./index"), &Options::default()).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &spelled_otherwise));
    let french = Options { language: forecourt_core::Language::parse("fr"), ..Options::default() };
    assert!(matches!(Library::shared(&folder, &french), Err(Error::InUse(_))));
    drop((first, spelled_otherwise));
    Library::shared(&folder, &french).unwrap();
}

#[test]
fn the_index_is_found_again_and_by_one_owner_only() {
    let Shelf { library, dir } = Shelf::new();
    let folder = dir.path().join("index");
    assert!(matches!(Library::open(&folder, Options::default()), Err(Error::InUse(_))));
    std::fs::write(dir.path().join("content/a.jsonl"), recipe("soup", "green")).unwrap();
    library.index(&[ContentSource::new(dir.path().join("content"))], &mut (), &|| false).unwrap();
    drop(library);
    let library = Library::open(&folder, Options::default()).unwrap();
    assert_eq!(library.len(), 1);
    let report = library.index(&[ContentSource::new(dir.path().join("content"))], &mut (), &|| false).unwrap();
    assert_eq!(counts(&report), [0, 0, 1, 0, 0]);
}

#[test]
fn an_index_that_cannot_be_read_is_built_anew() {
    let damage: [&dyn Fn(&std::path::Path); 3] = [
        &|words| std::fs::write(words.join("meta.json"), "{}").unwrap(),
        &|words| std::fs::remove_file(words.join("meta.json")).unwrap(),
        &|words| {
            let meta = std::fs::read_to_string(words.join("meta.json")).unwrap();
            std::fs::write(words.join("meta.json"), meta.replace("\\\"version\\\":", "\\\"version\\\":9")).unwrap();
        },
    ];
    for damage in damage {
        let shelf = Shelf::new();
        shelf.put("a.jsonl", &recipe("soup", "green"));
        shelf.index();
        let Shelf { library, dir } = shelf;
        drop(library);
        damage(&dir.path().join("index/words"));
        let library = Library::open(&dir.path().join("index"), Options::default()).unwrap();
        assert!(library.is_empty());
        library.index(&[ContentSource::new(dir.path().join("content"))], &mut (), &|| false).unwrap();
        assert_eq!(library.search(&Query::new("soup")).unwrap().len(), 1);
    }
}

#[test]
fn items_without_a_name_are_named_by_their_line_and_those_without_an_id_get_one() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", "{\"name\":\"soup\"}\n{\"@id\":\"urn:x\"}\n{}\n[]\nnull\n{\"name\":\"stew\"}\n");
    let report = shelf.index();
    assert_eq!((report.loaded, report.skipped), (2, 3), "{}", reasons(&report));
    let mut ids: Vec<String> = shelf.hits("").into_iter().map(|hit| hit.id).collect();
    ids.sort();
    assert_eq!(ids, ["a.jsonl#L1", "a.jsonl#L6"]);
}

#[test]
fn ids_that_come_twice_are_told_with_file_and_line() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", "{\"@id\":\"urn:1\",\"name\":\"soup\"}\n");
    shelf.put("b.json", "[{\"@id\":\"urn:1\",\"name\":\"stew\"}]");
    let report = shelf.index();
    assert_eq!((report.loaded, reasons(&report).as_str()), (1, "b.json:1: the id `urn:1` was seen before\n"));
    assert_eq!(shelf.names("soup stew"), ["soup"], "the first one counts");
}

fn reasons(report: &Report) -> String {
    report.reasons.iter().map(|skipped| format!("{skipped}\n")).collect()
}
