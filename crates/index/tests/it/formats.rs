//! Content of every ordinary kind, from a folder into an index and out again.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt_index::{KindCount, Library, Query, Report};
use forecourt_loaders::{ContentSource, TableMapping, item::SECTION};
use serde_json::{Value, json};

use crate::common::Shelf;

fn fixture(name: &str) -> ContentSource {
    ContentSource::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name))
}

fn indexed(source: ContentSource) -> (Shelf, Report) {
    let shelf = Shelf::new();
    let report = shelf.library.index(&[source], &mut (), &|| false).unwrap();
    (shelf, report)
}

fn first(library: &Library, text: &str) -> Value {
    let query = Query { text: text.to_owned(), limit: 1, ..Query::default() };
    let hit = library.search(&query).unwrap().into_iter().next();
    hit.map(|hit| serde_json::from_str(&hit.item.to_string()).unwrap()).unwrap_or_default()
}

#[test]
fn a_shop_feed_of_a_spreadsheet_needs_no_settings() {
    let mut source = fixture("shop.csv");
    let (shelf, report) = indexed(source.clone());
    assert_eq!((report.loaded, report.skipped), (3, 0), "{:?}", report.reasons);
    let lamp = first(&shelf.library, "dimmbar");
    assert_eq!(lamp["name"], "Leselampe Nord");
    let offer = json!({"price": "1049.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"});
    assert_eq!((&lamp["offers"], &lamp["sku"], &lamp["category"]), (&offer, &json!("L-100"), &json!("Lampen")));
    // What an operator says of the columns changes the items, though the file is the same.
    let lists = BTreeMap::from([("Schlagworte".to_owned(), ",".to_owned())]);
    source.tables = vec![TableMapping { kind: Some("Product".to_owned()), lists, ..TableMapping::default() }];
    let report = shelf.library.index(&[source], &mut (), &|| false).unwrap();
    assert_eq!((report.updated, report.loaded), (3, 0));
    let lamp = first(&shelf.library, "dimmbar");
    assert_eq!((&lamp["@type"], &lamp["keywords"]), (&json!("Product"), &json!(["licht", "lesen"])));
}

#[test]
fn a_folder_of_documentation_answers_with_its_sections_and_links() {
    let source = ContentSource { url: Some("https://e.org/docs/{page}/".to_owned()), ..fixture("docs") };
    let (shelf, report) = indexed(source);
    let kinds: Vec<_> = report.kinds.into_iter().collect();
    let kind = |files, items| KindCount { files, items };
    assert_eq!(kinds, [("HTML", kind(1, 3)), ("Markdown", kind(1, 1)), ("reStructuredText", kind(1, 3))]);
    let linux = first(&shelf.library, "install on linux");
    assert_eq!(linux["url"], "https://e.org/docs/guide/install/#linux");
    assert_eq!(linux[SECTION]["markdown"], "```sh\ncurl -O https://get.example/tool\n./tool install\n```");
    assert_eq!(linux[SECTION]["next"]["name"], "Installing › Windows");
    let next = linux[SECTION]["next"]["id"].as_str().unwrap();
    assert!(shelf.library.item(next).unwrap().is_some(), "a neighbour can be asked for");
    let welcome = first(&shelf.library, "welcome");
    let written = welcome[SECTION]["markdown"].as_str().unwrap();
    assert!(written.contains("(https://e.org/docs/guide/install/)"), "{written}");
    assert!(written.contains("(https://e.org/docs/rules/#pets)"), "{written}");
    assert_eq!(first(&shelf.library, "parrots")["url"], "https://e.org/docs/rules/#pets");
}

#[test]
fn events_have_their_places_and_offers_in_them() {
    let (shelf, report) = indexed(fixture("events.jsonld"));
    assert_eq!((report.loaded, report.skipped), (5, 0), "{:?}", report.reasons);
    let jazz = first(&shelf.library, "jazz in hamburg");
    assert_eq!(jazz["location"]["address"]["streetAddress"], "Kai 7");
    assert_eq!(jazz["offers"]["price"], "12.50");
    assert_eq!(jazz["location"]["event"], json!({"@id": "https://events.example/e/1"}), "a circle ends");
    let question = first(&shelf.library, "cloakroom");
    assert_eq!(question["text"], "Yes, on the ground floor.");
}

#[test]
fn nothing_in_a_folder_is_passed_over_in_silence() {
    let shelf = Shelf::new();
    for (name, text) in [
        ("a.jsonl", "{\"name\": \"a\"}\n{\"x\": 1}\n"),
        ("b.md", ""),
        ("c.xyz", "x"),
        (".secret.json", "{\"name\": \"s\"}"),
        ("d.csv", "Code,Was\n1,2\n"),
        ("e.html", "<meta name=robots content=noindex><p>x"),
        ("f.pdf", "no pdf"),
        ("g.json", "[]"),
    ] {
        std::fs::write(shelf.content().join(name), text).unwrap();
    }
    let report = shelf.index();
    let left_out: Vec<String> = report.left_out.iter().map(ToString::to_string).collect();
    let says = |file: &str, why: &str| left_out.iter().any(|line| line.starts_with(file) && line.contains(why));
    assert!(says("b.md", "empty") && says("c.xyz", "end in .xyz") && says(".secret.json", "hidden"), "{left_out:?}");
    assert!(["d.csv", "e.html", "f.pdf"].iter().all(|file| says(file, "could be taken")), "{left_out:?}");
    assert!(says("g.json", "is an item"), "{left_out:?}");
    let reasons: Vec<String> = report.reasons.iter().map(ToString::to_string).collect();
    let names = |start: &str, why: &str| reasons.iter().any(|line| line.starts_with(start) && line.contains(why));
    assert!(names("a.jsonl:2:", "no name") && names("d.csv:1:", "Code, Was"), "{reasons:?}");
    assert!(names("e.html:1:", "not to be indexed") && names("f.pdf:1:", "no PDF"), "{reasons:?}");
    assert_eq!((report.loaded, report.files_left_out), (1, 7));
}

#[test]
fn files_of_every_kind_come_change_and_go() {
    let shelf = Shelf::new();
    type FileOf = fn(&str) -> String;
    let files: &[(&str, FileOf)] = &[
        ("a.md", |word| format!("# T\n\n{word}")),
        ("b.mdx", |word| format!("import X from 'x'\n\n# T\n\n<X>{word}</X>")),
        ("c.rst", |word| format!("T\n=\n\n{word}\n")),
        ("d.txt", |word| format!("Title\n\n{word}\n")),
        ("e.html", |word| format!("<title>T</title><h1>T</h1><p>{word}")),
        ("f.adoc", |word| format!("= T\n\n{word}\n")),
        ("g.csv", |word| format!("Name;Text\nx;{word}\n")),
        ("h.tsv", |word| format!("name\ttext\nx\t{word}\n")),
        ("i.xml", |word| format!("<rss><item><description>{word}</description></item></rss>")),
        ("j.json", |word| {
            format!(
                "{{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{{\"id\": \"1\", \"content_text\": \"{word}\"}}]}}"
            )
        }),
    ];
    for (place, (name, text)) in files.iter().enumerate() {
        for (word, report) in [("zebra", (1, 0)), ("walrus", (0, 1))] {
            shelf.put(name, &text(&format!("{word}{place}")));
            let done = shelf.index();
            // A name that is made of the text is another item's for feeds without ids, which go by their line.
            assert_eq!((done.loaded, done.updated), report, "{name} {word}: {:?}", done.reasons);
            assert_eq!(shelf.hits(&format!("{word}{place}")).len(), 1, "{name} {word}");
        }
        std::fs::remove_file(shelf.content().join(name)).unwrap();
        assert_eq!(shelf.index().removed, 1, "{name}");
    }
}

#[test]
fn half_a_file_is_read_again_when_it_is_whole() {
    let shelf = Shelf::new();
    shelf.put("a.json", "[{\"name\": \"first\"},\n {\"name\": \"sec");
    let half = shelf.index();
    assert_eq!((half.loaded, half.skipped), (1, 1));
    shelf.put("a.json", "[{\"name\": \"first\"},\n {\"name\": \"second\"}]");
    let whole = shelf.index();
    assert_eq!((whole.loaded, whole.unchanged, whole.skipped), (1, 1, 0));
}

#[test]
fn hostile_documents_end_and_cost_nothing_else() {
    let shelf = Shelf::new();
    shelf.put("z.jsonl", "{\"name\": \"survivor\"}\n");
    shelf.put("a.md", &">".repeat(100_000));
    shelf.put("b.md", &"[".repeat(100_000));
    shelf.put("c.html", &"<div><ul><li><b>".repeat(50_000));
    shelf.put("d.json", &format!("{{\"@graph\": {}", "[".repeat(100_000)));
    shelf.put("e.csv", &format!("name{}\n", ",x".repeat(1_000_000)));
    shelf.put("f.mdx", &"{<A ".repeat(100_000));
    shelf.put("g.rst", &"a\n=\n".repeat(50_000));
    shelf.put("h.adoc", &"|===\n".repeat(100_000));
    shelf.put("i.txt", &"\0".repeat(100_000));
    std::fs::File::create(shelf.content().join("zeros.pdf")).unwrap().set_len(1 << 30).unwrap();
    let begun = std::time::Instant::now();
    shelf.index();
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
    assert_eq!(shelf.hits("survivor").len(), 1);
}
