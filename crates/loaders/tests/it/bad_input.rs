//! What is wrong with content costs that content only. One test for each way to be wrong.

use std::io::Read;

use forecourt_loaders::limits::{ITEM_BYTES_MAX, RECORD_SEARCH_BYTES_MAX};
use forecourt_loaders::{FileItems, read_items};

/// The names of the items in a document, and what was said of the rest.
fn read(name: &str, bytes: &[u8]) -> (Vec<String>, FileItems) {
    let mut names = Vec::new();
    let report = read_items(name, bytes, &mut |_, item| names.push(item["name"].as_str().unwrap_or("?").to_owned()));
    (names, report)
}

fn reasons(report: &FileItems) -> String {
    report.reasons.iter().map(|skipped| format!("{skipped}\n")).collect()
}

#[test]
fn malformed_feeds_give_what_comes_before_the_break() {
    let entry = |name: &str| format!("<item><title>{name}</title><link>https://e.org/{name}</link></item>");
    for (broken, names) in [
        (format!("<rss>{}<item><title>b", entry("a")), vec!["a"]),
        (format!("<rss>{}<item <title>x</title></item>{}", entry("a"), entry("b")), vec!["a", "b"]),
        (format!("<rss>{}</channel></rss></rss>{}", entry("a"), entry("b")), vec!["a", "b"]),
        (format!("<rss><item><title>a & b</title></item>{}", entry("c")), vec!["a & b", "c"]),
        (String::from("<html><body>503</body></html>"), vec![]),
        (String::new(), vec![]),
    ] {
        assert_eq!(read("feed.xml", broken.as_bytes()).0, names, "{broken}");
    }
}

#[test]
fn entities_that_multiply_are_not_followed() {
    let laughs: String = (1..20).map(|n| format!("<!ENTITY l{n} \"&l{};&l{};\">", n - 1, n - 1)).collect();
    let feed = format!(
        "<!DOCTYPE rss [<!ENTITY l0 \"ha\">{laughs}<!ENTITY file SYSTEM \"file:///etc/passwd\">]>\
         <rss><item><title>a &l19; &file; b</title></item></rss>"
    );
    let (names, _) = read("feed.xml", feed.as_bytes());
    assert_eq!(names, ["a b"]);
}

#[test]
fn broken_encodings_cost_their_own_item_only() {
    let (names, report) =
        read("a.jsonl", b"{\"name\":\"a\"}\n{\"name\":\"\xFF\"}\n{\"name\":\"\\ud800\"}\n{\"name\":\"b\"}\n");
    assert_eq!((names, report.skipped), (vec!["a".into(), "b".into()], 2));
    assert_eq!(read("a.csv", b"name\na\n\xE9\nb\n").0, ["a", "\u{e9}", "b"]);
}

#[test]
fn other_encodings_are_read_when_they_say_so() {
    let feed = b"<?xml version='1.0' encoding='windows-1252'?><rss><item><title>caf\xE9 \x80</title></item></rss>";
    assert_eq!(read("feed.xml", feed).0, ["caf\u{e9} \u{20ac}"]);
    let text = "name,price\ncaf\u{e9},3\n";
    let sixteen: Vec<u8> = [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read("a.csv", &sixteen).0, ["caf\u{e9}"]);
}

#[test]
fn huge_items_are_left_out_and_what_follows_is_read() {
    let huge = format!("{{\"name\":\"{}\"}}\n{{\"name\":\"b\"}}\n", "x".repeat(ITEM_BYTES_MAX));
    let (names, report) = read("a.jsonl", huge.as_bytes());
    assert_eq!((names, report.skipped), (vec!["b".to_owned()], 1));
    assert!(reasons(&report).contains("a.jsonl:1: longer than"), "{}", reasons(&report));
}

#[test]
fn cycles_in_a_graph_end() {
    let graph = r##"{"@graph": [
        {"@id": "#a", "@type": "Recipe", "name": "a", "isPartOf": {"@id": "#b"}},
        {"@id": "#b", "@type": "Recipe", "name": "b", "hasPart": {"@id": "#a"}, "about": {"@id": "#b"}},
        {"@graph": [{"@id": "#c", "name": "c", "@graph": {"@id": "#c"}}]}]}"##;
    // What nothing refers to comes first.
    assert_eq!(read("a.jsonld", graph.as_bytes()).0, ["c", "a", "b"]);
    let deep = "{\"@graph\":[".repeat(50_000);
    let (names, report) = read("a.json", deep.as_bytes());
    assert!(names.is_empty() && report.skipped > 0);
}

#[test]
fn a_record_that_never_ends_ends_the_file_and_the_memory_stays_small() {
    let endless = |start: &'static [u8]| start.chain(std::io::repeat(b'x').take(16 * RECORD_SEARCH_BYTES_MAX));
    let before = peak_kib();
    for (name, start) in [
        ("a.jsonl", &b"{\"name\":\"a\"}\n{\"name\":\""[..]),
        ("a.csv", b"name\na\n\""),
        ("a.xml", b"<rss><item><title>a</title></item><item><title>"),
    ] {
        let mut names = 0;
        let report = read_items(name, endless(start), &mut |_, _| names += 1);
        assert_eq!((names, report.skipped), (1, 1), "{name} {}", reasons(&report));
    }
    let mut lines = 0;
    let many = b"{\"name\":\"a\"}\n".repeat(64 * 1024);
    read_items("a.jsonl", &many[..], &mut |_, _| lines += 1);
    assert_eq!(lines, 64 * 1024);
    let grown = (peak_kib().saturating_sub(before)) * 1024;
    assert!(grown < 3 * RECORD_SEARCH_BYTES_MAX, "{grown} bytes");
}

/// The most memory that this process ever held, where the system says so.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
