//! Loaders: any bytes in any format end, and what is read has a name and an id.

#![no_main]

use forecourt_loaders::read_items;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for name in [
        "a.jsonl", "a.json", "a.csv", "a.tsv", "a.xml", "a.md", "a.mdx", "a.rst", "a.adoc", "a.txt", "a.html", "a.docx",
        "a.odt", "a.epub", "a.pdf",
    ] {
        let mut items = 0;
        let report = read_items(name, bytes, &mut |id, item| {
            assert!(!id.is_empty() && item.is_object());
            items += 1;
        });
        assert_eq!(report.items, items);
    }
});
