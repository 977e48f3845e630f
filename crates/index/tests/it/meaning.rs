//! Search by meaning with a model of four words.

use std::path::Path;

use forecourt_index::{Error, Library, Options, Query, RankBy};
use forecourt_understanding::Filter;
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::common::Shelf;

/// `soup` and `stew` are close, `car` and `dinner` are like nothing else.
fn toy_model(folder: &Path) {
    let tokenizer = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],
        "normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"[UNK]":0,"soup":1,"stew":2,"car":3,"dinner":4},"unk_token":"[UNK]"}}"#;
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
    let rows = [[0.0_f32, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 0.2, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]];
    let data: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, vec![5, 3], &data).unwrap();
    std::fs::write(folder.join("model.safetensors"), safetensors::serialize([("embeddings", view)], None).unwrap())
        .unwrap();
}

fn options(dir: &Path) -> Options {
    toy_model(dir);
    Options { model: Some(dir.to_owned()), ..Options::default() }
}

fn item(id: &str, name: &str, kind: &str) -> String {
    format!("{{\"@id\":\"urn:{id}\",\"@type\":\"{kind}\",\"name\":\"{name}\"}}\n")
}

#[test]
fn what_is_meant_is_found_without_its_word() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    shelf.put(
        "a.jsonl",
        &(item("1", "stew", "Recipe") + &item("2", "car", "Product") + &item("3", "unknown thing", "Product")),
    );
    shelf.index();
    assert!(shelf.library.has_model());
    assert_eq!((shelf.library.len(), shelf.library.embedded()), (3, 2), "nothing is known of the third");
    assert_eq!(shelf.names("soup"), ["stew"]);
    assert!(shelf.names("nothing").is_empty());
    assert_eq!(shelf.names("thing"), ["unknown thing"]);
    let query = Query { filters: vec![Filter::is("@type", "Product")], ..Query::new("soup") };
    assert!(shelf.library.search(&query).unwrap().is_empty());
}

#[test]
fn what_is_explained_is_what_is_found() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    shelf.put("a.jsonl", &(item("1", "stew", "Recipe") + &item("2", "car", "Product") + &item("3", "soup", "Recipe")));
    shelf.index();
    let recipes = vec![Filter::is("@type", "Recipe")];
    // Nothing calls itself a dinner and nothing is near one: every recipe will do.
    for (text, filters, count) in [("dinner", recipes, 2), ("soup", Vec::new(), 2), ("dinner", Vec::new(), 0)] {
        let query = Query { filters, ..Query::new(text) };
        let found: Vec<String> = shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.id).collect();
        let explained: Vec<String> = shelf.library.explain(&query).unwrap().into_iter().map(|one| one.id).collect();
        assert_eq!(found.len(), count, "{text}");
        assert_eq!(explained, found, "{text}");
    }
}

#[test]
fn vectors_follow_changes_and_survive_a_restart() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    shelf.put("a.jsonl", &(item("1", "stew", "Recipe") + &item("2", "car", "Product")));
    shelf.index();
    shelf.put("a.jsonl", &(item("1", "car", "Recipe") + &item("2", "car", "Product") + &item("3", "stew", "Recipe")));
    shelf.index();
    let Shelf { library, dir } = shelf;
    drop(library);
    let library = Library::open(&dir.path().join("index"), options(model.path())).unwrap();
    let hits = library.search(&Query::new("soup")).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["urn:3"]);
}

#[test]
fn a_model_that_comes_later_or_loses_its_files_is_made_up_for() {
    let model = tempfile::tempdir().unwrap();
    let Shelf { library, dir } = Shelf::new();
    let sources = [forecourt_loaders::ContentSource::new(dir.path().join("content"))];
    std::fs::write(dir.path().join("content/a.jsonl"), item("1", "stew", "Recipe")).unwrap();
    library.index(&sources, &mut (), &|| false).unwrap();
    drop(library);
    for _ in 0..2 {
        let library = Library::open(&dir.path().join("index"), options(model.path())).unwrap();
        assert!(library.search(&Query::new("soup")).unwrap().is_empty());
        assert_eq!(library.index(&sources, &mut (), &|| false).unwrap().unchanged, 1);
        assert_eq!(library.search(&Query::new("soup")).unwrap().len(), 1);
        drop(library);
        std::fs::remove_dir_all(dir.path().join("index/vectors")).unwrap();
    }
}

#[test]
fn a_file_that_is_broken_or_of_another_version_is_made_again() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    shelf.put("a.jsonl", &item("1", "stew", "Recipe"));
    shelf.index();
    let Shelf { mut library, dir } = shelf;
    let sources = [forecourt_loaders::ContentSource::new(dir.path().join("content"))];
    let folder = std::fs::read_dir(dir.path().join("index/vectors")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(folder.join("0000000000.vec")).unwrap();
    let older = [b"FCV1", &whole[4..]].concat();
    for broken in [&whole[..whole.len() - 1], &whole[..7], &[], &older] {
        drop(library);
        std::fs::write(folder.join("0000000000.vec"), broken).unwrap();
        library = Library::open(&dir.path().join("index"), options(model.path())).unwrap();
        assert!(library.search(&Query::new("soup")).unwrap().is_empty());
        assert_eq!((library.len(), library.embedded()), (1, 0));
        library.index(&sources, &mut (), &|| false).unwrap();
        assert_eq!(library.search(&Query::new("soup")).unwrap().len(), 1);
        assert_eq!((library.len(), library.embedded()), (1, 1));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn many_small_runs_leave_few_files() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    let bound = forecourt_index::limits::VECTOR_FILES_MAX;
    for run in 0..2 * bound {
        shelf.put(&format!("{run}.jsonl"), &item(&run.to_string(), "stew", "Recipe"));
        shelf.index();
        let folder = std::fs::read_dir(shelf.dir.path().join("index/vectors")).unwrap().flatten().next().unwrap();
        assert!(std::fs::read_dir(folder.path()).unwrap().count() <= bound);
    }
    assert_eq!(shelf.names("soup").len(), 10);
}

#[test]
fn words_are_found_at_once_and_meaning_follows() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    shelf.put(
        "a.jsonl",
        &(item("1", "stew", "Recipe") + &item("2", "unknown", "Recipe") + &item("3", "car", "Product")),
    );
    let sources = [forecourt_loaders::ContentSource::new(shelf.content())];
    shelf.library.index_words(&sources, &mut (), &|| false).unwrap();
    assert_eq!((shelf.names("stew"), shelf.names("soup")), (vec!["stew".to_owned()], Vec::new()));
    assert_eq!((shelf.library.embedded(), shelf.library.unembedded()), (0, 3));
    // Given up before the first item, then carried on.
    shelf.library.embed(&mut |_, _| {}, &|| true).unwrap();
    assert_eq!(shelf.library.unembedded(), 3);
    let mut told = Vec::new();
    shelf.library.embed(&mut |embedded, missing| told.push((embedded, missing)), &|| false).unwrap();
    assert_eq!(told, [(0, 3), (2, 0)]);
    assert_eq!(shelf.names("soup"), ["stew"]);
    assert_eq!((shelf.library.embedded(), shelf.library.unembedded()), (2, 0), "the model knows nothing of one");
    let Shelf { library, dir } = shelf;
    drop(library);
    let library = Library::open(&dir.path().join("index"), options(model.path())).unwrap();
    assert_eq!((library.embedded(), library.unembedded()), (2, 0), "and that is known after a restart");
}

#[test]
fn what_a_batch_has_embedded_stays_when_the_work_breaks_off() {
    let model = tempfile::tempdir().unwrap();
    let shelf = Shelf::with(options(model.path()));
    let [_, batch] = forecourt_index::limits::EMBED_BATCH_ITEMS;
    let kinds = ["stew", "soup", "car"];
    shelf.put(
        "a.jsonl",
        &(0..batch).map(|n| item(&n.to_string(), &format!("{} {n}", kinds[n % 3]), "Recipe")).collect::<String>(),
    );
    let sources = [forecourt_loaders::ContentSource::new(shelf.content())];
    shelf.library.index_words(&sources, &mut (), &|| false).unwrap();
    let asked = std::cell::Cell::new(0);
    let half = || {
        asked.set(asked.get() + 1);
        asked.get() > batch / 2
    };
    shelf.library.embed(&mut |_, _| {}, &half).unwrap();
    let done = shelf.library.embedded();
    assert!(done > 0 && done < batch as u64, "{done}");
    let Shelf { library, dir } = shelf;
    drop(library);
    let library = Library::open(&dir.path().join("index"), options(model.path())).unwrap();
    assert_eq!((library.embedded(), library.unembedded()), (done, batch as u64 - done));
    library.embed(&mut |_, _| {}, &|| false).unwrap();
    assert_eq!((library.embedded(), library.unembedded()), (batch as u64, 0));
}

#[test]
fn without_a_model_nothing_is_found_by_meaning() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &item("1", "stew", "Recipe"));
    shelf.index();
    let found = |by| shelf.library.search_by(&Query::new("stew"), by).unwrap().len();
    assert_eq!([RankBy::Words, RankBy::Meaning, RankBy::Both].map(found), [1, 0, 1]);
    assert_eq!(shelf.library.embedded(), 0);
}

#[test]
fn a_missing_model_is_said_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { model: Some(dir.path().join("none")), ..Options::default() };
    let error = Library::open(&dir.path().join("index"), options).err().unwrap();
    assert!(matches!(error, Error::Model(_)));
}
