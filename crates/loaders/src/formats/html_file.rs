//! HTML files: the data in them, else their sections.

use encoding_rs::{Encoding, UTF_8};
use serde_json::Value;
use url::Url;

use super::outline::Outline;
use super::page;
use super::transcode;
use super::whole::{readable, whole_bytes};
use super::{At, Input, Reason, Sink, Stop, linked};
use crate::limits::{ENCODING_BYTES_READ, TEXT_FILE_BYTES_MAX};

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let bytes = whole_bytes(input, TEXT_FILE_BYTES_MAX)?;
    let at = At { line: 1, bytes: input.at().bytes };
    let Some(html) = text(bytes) else { return sink.skip(at, Reason::NoText) };
    read(&html, input, sink)
}

/// A text in the encoding that it names.
fn text(bytes: Vec<u8>) -> Option<String> {
    let head: String = bytes.iter().take(ENCODING_BYTES_READ).map(|byte| char::from(byte & 0x7F)).collect();
    let named = transcode::charset(&head).and_then(Encoding::for_label).map(Encoding::output_encoding);
    match named.filter(|encoding| *encoding != UTF_8) {
        // Pages often name an encoding that they are no longer in: what is valid UTF-8 is UTF-8.
        Some(encoding) if std::str::from_utf8(&bytes).is_err() => Some(encoding.decode(&bytes).0.into_owned()),
        _ => readable(bytes),
    }
}

/// Reads a page that is a file.
pub(super) fn read(html: &str, input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let at = At { line: 1, bytes: input.at().bytes };
    let own = input.url().and_then(|url| Url::parse(&url).ok());
    // A file without a public address gives relative links nothing to lead to: with this base, none becomes a link of
    // the web.
    let Some(nowhere) = Url::parse("file:///").ok() else { return Ok(()) };
    let seen = page::tags::read(html, own.as_ref().unwrap_or(&nowhere));
    if seen.asks("noindex") {
        return sink.skip(at, Reason::NoIndex);
    }
    let data = page::data(&seen);
    if !data.is_empty() {
        for (item, place) in data.into_iter().zip(1..) {
            let item = match &own {
                Some(url) => page::whole(item, place, &seen, url),
                None => Value::Object(item),
            };
            linked::offer(&item, at, None, sink)?;
        }
        return Ok(());
    }
    let mut outline = Outline::new(input, at.bytes);
    outline.titled(&seen.title());
    outline.in_language(seen.language.as_deref().unwrap_or_default());
    let link = |link: &str| outline.resolved(link);
    let pieces = page::sections(html, &link);
    page::outline_of(pieces, outline, sink)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Heap, load_bytes, names};
    use super::super::{Format, Reason};
    use super::*;
    use crate::item::SECTION;
    use proptest::prelude::*;

    const PAGE: &str = r##"<!doctype html><html lang="en"><head><title>Returns &amp; refunds</title></head><body>
<header><nav>Menu <a href="/">Home</a></nav></header><main>
<h1 id="top">Returns<a class="headerlink" href="#top">¶</a></h1><p>Within <b>30 days</b>, see <a href="b.html">shipping</a>.</p>
<section id="how"><h2>How</h2><ol><li>Pack <i>it</i></li><li>Send it<ul><li>by post</li></ul></li></ol>
<pre><code class="language-sh">forecourt serve
x &lt; y</code></pre></section>
<h2>Fees</h2><table><tr><th>Country<th>Fee</tr><tr><td>DE<td>0 | free</table><blockquote>Be <code>kind</code></blockquote>
<script>var no = 1</script></main><footer>Imprint</footer></body></html>"##;

    fn at(base: Option<&str>) -> Heap {
        let mut heap = Heap::default();
        let mut input = Input::new(PAGE.as_bytes(), "help/a.html", base);
        load(&mut input, &mut heap).unwrap();
        heap
    }

    #[test]
    fn headings_are_sections_and_their_content_is_markdown() {
        let heap = at(Some("https://e.org/"));
        assert_eq!(names(&heap), ["Returns", "Returns › How", "Returns › Fees"]);
        let written = |at: usize| heap.items[at][SECTION]["markdown"].as_str().unwrap().to_owned();
        assert_eq!(written(0), "Within **30 days**, see [shipping](https://e.org/help/b.html).");
        assert_eq!(written(1), "1. Pack *it*\n2. Send it\n  - by post\n\n```sh\nforecourt serve\nx < y\n```");
        assert_eq!(written(2), "| Country | Fee |\n|---|---|\n| DE | 0 \\| free |\n\n> Be `kind`");
        assert_eq!(heap.items[0]["url"], "https://e.org/help/a.html#top");
        assert_eq!(heap.items[1]["url"], "https://e.org/help/a.html#how");
        assert_eq!(heap.items[2]["url"], "https://e.org/help/a.html");
        assert_eq!(heap.items[0][SECTION]["page"], "Returns & refunds");
        assert_eq!(heap.items[0]["inLanguage"], "en");
        assert!(!heap.items.iter().any(|item| item.to_string().contains("Imprint")));
    }

    #[test]
    fn a_file_without_a_place_has_ids() {
        let heap = at(None);
        assert_eq!(heap.items[1]["@id"], "help/a.html#how");
        assert_eq!(heap.items[1].get("url"), None);
    }

    #[test]
    fn data_in_a_page_comes_before_its_text() {
        let page =
            r#"<h1>Shop</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp"}</script><p>text"#;
        let heap = load_bytes(Format::Html, page.as_bytes());
        assert_eq!(names(&heap), ["Lamp"]);
        let article = r#"<script type="application/ld+json">{"@type":"Article","headline":"Lamps"}</script><h1>Lamps</h1><p>Light."#;
        assert_eq!(load_bytes(Format::Html, article.as_bytes()).items[0]["text"], "Light.");
        let hidden = load_bytes(Format::Html, b"<meta name=robots content=noindex><h1>x</h1>");
        assert_eq!((hidden.items.len(), hidden.skipped), (0, vec![(1, Reason::NoIndex)]));
    }

    #[test]
    fn hostile_pages_end() {
        for part in [
            "<div>",
            "<ul><li>",
            "<b>",
            "<table><tr><td>",
            "<h1>",
            "<pre>",
            "<a href=x>",
            "</p>",
            "<blockquote>",
            "&",
            "<",
        ] {
            load_bytes(Format::Html, part.repeat(20_000).as_bytes());
        }
        let attributes = format!("<p {}>text", "a=b ".repeat(100_000));
        assert_eq!(load_bytes(Format::Html, attributes.as_bytes()).items[0]["text"], "text");
    }

    proptest! {
        #[test]
        fn any_page_is_read(html in "(<|>|/|div|li|ul|table|tr|td|h1|pre|code|main|a href=x|b|blockquote| id=x|\"|&amp;|x| |\n)*") {
            load_bytes(Format::Html, html.as_bytes());
        }
    }
}
