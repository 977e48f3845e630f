//! A page to items and links: JSON-LD, else microdata, else what the page says of itself for previews.

mod items;
mod markup;
mod microdata;
mod sections;
pub(super) mod tags;

use std::borrow::Cow;

use serde_json::Value;
use url::Url;

use super::outline::{Anchor, Outline};
use super::{Sink, Stop};
use crate::limits::PAGE_ATTRIBUTES_MAX;

pub(super) use items::{data, whole};
pub(super) use sections::{Piece, Table, read as sections};
pub use tags::has_directive;

/// A page of the web, read into items and links.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The URL that it gives itself.
    pub canonical: Option<Url>,
    /// Where its links lead, unless it asks that they be not followed.
    pub links: Vec<Url>,
    /// Its items, unless it asks not to be found.
    pub items: Vec<Value>,
}

impl Page {
    /// Reads HTML that was found at `url`. Whatever is broken in it is passed over. `asked` is what its server says
    /// about robots, as a page says it.
    pub fn read(html: &str, url: &Url, asked: &str) -> Self {
        let seen = tags::read(html, url);
        // Another site's address is not believed: its items would take the ids of that site.
        let canonical = seen.canonical.clone().filter(|canonical| canonical.origin() == url.origin());
        let asks = |word: &str| seen.asks(word) || has_directive(asked, word);
        let items = match asks("noindex") {
            true => Vec::new(),
            false => items::of(html, &seen, canonical.as_ref().unwrap_or(url)),
        };
        let links = if asks("nofollow") { Vec::new() } else { seen.links };
        Self { canonical, links, items }
    }
}

/// The page without tags that have more attributes than anybody writes, each of which would be compared with all
/// before it.
fn without_endless_tags(html: &str) -> Cow<'_, str> {
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(found) = memchr::memchr(b'<', &html.as_bytes()[at..]) {
        let from = at + found;
        let (length, attributes) = tag_length(&html.as_bytes()[from..]);
        if attributes > PAGE_ATTRIBUTES_MAX {
            out.push_str(&html[kept..from]);
            kept = from + length;
        }
        // Within a script, `<` compares and begins no tag.
        at = from + length + code_length(&html.as_bytes()[from..], length);
    }
    if kept == 0 { Cow::Borrowed(html) } else { Cow::Owned(out + &html[kept..]) }
}

/// How long the code is behind the start of a script or a style: nothing in that is a tag.
fn code_length(tag: &[u8], length: usize) -> usize {
    for end in [&b"</script"[..], b"</style"] {
        let name = &end[2..];
        if tag.get(1..=name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name)) {
            let code = tag.get(length..).unwrap_or_default();
            let mut ends = memchr::memmem::find_iter(code, b"</");
            let is_end = |at: &usize| code.get(*at..at + end.len()).is_some_and(|own| own.eq_ignore_ascii_case(end));
            return ends.find(is_end).unwrap_or(code.len());
        }
    }
    0
}

/// How long a tag is, and about how many attributes it has. What is no tag is its first byte.
fn tag_length(tag: &[u8]) -> (usize, usize) {
    if !tag.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
        return (1, 0);
    }
    let (mut quote, mut attributes) = (None, 0_usize);
    for (at, byte) in tag.iter().enumerate().skip(1) {
        match (quote, byte) {
            (Some(open), _) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => {
                quote = Some(*byte);
                attributes += 1;
            }
            (None, b'>') => return (at + 1, attributes),
            (None, b' ' | b'\t' | b'\n' | b'\r' | 0x0C | b'/' | b'<') => attributes += 1,
            _ => {}
        }
    }
    // Never closed: it is the rest, unless a quote in it was none and hides where the next tag ends.
    match quote {
        Some(_) if attributes <= PAGE_ATTRIBUTES_MAX => (1, 0),
        _ => (tag.len(), attributes),
    }
}

/// Hands the headings and blocks of a page to an outline, which makes sections of them.
pub(super) fn outline_of(pieces: Vec<Piece>, mut outline: Outline<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    for piece in pieces {
        match piece {
            Piece::Heading { level, text, id, line } => {
                outline.heading(level, &text, id.map_or(Anchor::Unknown, Anchor::Said), line, sink)?;
            }
            Piece::Block { text, markdown, line } => outline.block(&text, &markdown, line, sink)?,
        }
    }
    outline.finish(sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{
        PAGE_DATA_MAX, PAGE_ITEMS_MAX, PAGE_LINKS_MAX, PAGE_METAS_MAX, PAGE_PROPERTIES_MAX, PAGE_TEXT_BYTES_MAX,
    };
    use proptest::prelude::*;
    use serde_json::json;

    fn page(html: &str) -> Page {
        Page::read(html, &Url::parse("https://e.org/dir/page?q=1").unwrap(), "")
    }

    #[test]
    fn json_ld_comes_first_and_gets_an_address() {
        let found = page(
            r##"<link rel="canonical" href="/soup"><title>Site</title>
            <script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
              {"@type": "WebSite", "name": "The site", "publisher": {"@id": "#org"}},
              {"@type": "Organization", "@id": "#org", "name": "Org", "subOrganization": {"@id": "#org"}},
              {"@type": "Recipe", "name": "Soup", "image": "/soup.jpg"}]}</script>
            <script type='application/ld+json'>{"@type": "Recipe", "name": broken</script>
            <div itemscope itemtype="https://schema.org/Movie"><b itemprop="name">Not me</b></div>"##,
        );
        assert_eq!(found.canonical.unwrap().as_str(), "https://e.org/soup");
        assert_eq!(
            found.items,
            [json!({"@type": "Recipe", "name": "Soup", "image": "https://e.org/soup.jpg",
            "url": "https://e.org/soup"})]
        );
    }

    #[test]
    fn data_is_read_whatever_marks_hide_it() {
        for (before, behind) in [
            ("<![CDATA[", "]]>"),
            ("//<![CDATA[\n", "\n//]]>"),
            ("/* <![CDATA[ */", "/* ]]> */"),
            ("<!--//--><![CDATA[//><!--\n", "\n//--><!]]>"),
            ("<!--\n", "\n-->"),
            ("", ";"),
        ] {
            let found = page(&format!(
                "<script type=application/ld+json>{before}{{\"@type\":\"Recipe\",\"name\":\"A ]]\"}}{behind}</script>"
            ));
            assert_eq!(found.items[0]["name"], "A ]]", "{before}");
        }
    }

    #[test]
    fn several_items_of_a_page_keep_apart() {
        let found = page(
            r#"<html lang="fr"><script type="application/ld+json">[{"@type":"Recipe","name":"A"},
            {"@type":"Recipe","name":"B"},{"@type":"Recipe","name":"C","url":"c"},
            {"@type":"Recipe","name":"D","@id":""}]</script>"#,
        );
        let part = |item: &Value, key: &str| item[key].as_str().unwrap_or("-").to_owned();
        let ids: Vec<_> = found.items.iter().map(|item| (part(item, "@id"), part(item, "url"))).collect();
        let url = "https://e.org/dir/page?q=1".to_owned();
        assert_eq!(ids[0], ("-".to_owned(), url.clone()));
        assert_eq!(ids[1], (format!("{url}#item-2"), url.clone()));
        assert_eq!(ids[2], ("-".to_owned(), "https://e.org/dir/c".to_owned()));
        assert_eq!(ids[3], (format!("{url}#item-4"), url));
        assert_eq!(found.items[0]["inLanguage"], "fr");
    }

    #[test]
    fn microdata_is_read_with_items_in_items() {
        let found = page(
            r#"<base href="https://e.org/other/"><div itemscope itemtype="http://schema.org/Recipe http://x.org/Y" itemid="r1">
            <h1 itemprop="name">Pea <i>soup</i></h1><meta itemprop="recipeYield" content="4">
            <time itemprop="totalTime" datetime="PT20M">20 min</time>
            <ul><li itemprop="recipeIngredient">peas<li itemprop="recipeIngredient">salt</ul>
            <img itemprop="image" src="p.jpg"><a itemprop="url" href="soup">here</a>
            <div itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop="name">Ann</span></div>"#,
        );
        assert_eq!(
            found.items,
            [json!({"@type": "Recipe", "@id": "https://e.org/other/r1", "name": "Pea soup",
            "recipeYield": "4", "totalTime": "PT20M", "recipeIngredient": ["peas", "salt"],
            "image": "https://e.org/other/p.jpg", "url": "https://e.org/other/soup",
            "author": {"@type": "Person", "name": "Ann"}})]
        );
        assert_eq!(found.links[0].as_str(), "https://e.org/other/soup");
    }

    #[test]
    fn a_page_without_data_is_an_item_by_what_it_says_of_itself() {
        let found = page(
            "<title>Home &amp; away</title><meta property=og:title content='Away'><meta property='og:type' \
             content=article><meta name=description content='A trip.'><meta property=og:image content=/i.png>\
             <nav>Menu</nav><p>We went <b>far</b>.<script>var x</script></p><template>no</template>",
        );
        assert_eq!(
            found.items,
            [json!({"@type": "Article", "name": "Away", "description": "A trip.",
            "image": "https://e.org/i.png", "text": "We went far.", "url": "https://e.org/dir/page?q=1"})]
        );
        assert_eq!(page("<title>Only</title>").items[0]["@type"], "WebPage");
        assert!(page("<p>no name</p>").items.is_empty());
    }

    #[test]
    fn pages_may_ask_to_be_left_alone() {
        let html = |robots: &str| format!("<meta name=ROBOTS content='{robots}'><title>T</title><a href=x>x</a>");
        let counts = |robots: &str| (page(&html(robots)).items.len(), page(&html(robots)).links.len());
        assert_eq!(counts("NoIndex"), (0, 1));
        assert_eq!(counts("index, nofollow"), (1, 0));
        assert_eq!(counts("none"), (0, 0));
        assert_eq!(page("<a rel='ext nofollow' href=x>x</a><a href='javascript:x'>").links, []);
        assert_eq!(page("<link rel=canonical href='https://evil.example/'>").canonical, None);
    }

    #[test]
    fn a_page_is_read_up_to_its_bounds() {
        let after = |filler: &str, count: usize, html: &str| page(&format!("{}{html}", filler.repeat(count)));
        let links = |count: usize| after("<a href=x>", count, "").links.len();
        assert_eq!((links(PAGE_LINKS_MAX), links(PAGE_LINKS_MAX + 1)), (PAGE_LINKS_MAX, PAGE_LINKS_MAX));
        let item = "<script type=application/ld+json>{\"@type\":\"Recipe\",\"name\":\"A\"}</script>";
        let data = |count: usize| after(item, count, "").items.len();
        assert_eq!((data(PAGE_DATA_MAX), data(PAGE_DATA_MAX + 1)), (PAGE_DATA_MAX, PAGE_DATA_MAX));
        let micro = "<div itemscope itemtype=https://schema.org/Recipe><b itemprop=name>A</b></div>";
        let items = |count: usize| after(micro, count, "").items.len();
        assert_eq!((items(PAGE_ITEMS_MAX), items(PAGE_ITEMS_MAX + 1)), (PAGE_ITEMS_MAX, PAGE_ITEMS_MAX));
        let last_meta =
            |before: usize| after("<meta name=a content=b>", before, "<meta property=og:title content=T>").items.len();
        assert_eq!((last_meta(PAGE_METAS_MAX - 1), last_meta(PAGE_METAS_MAX)), (1, 0));
        let text = |bytes: usize| {
            let found = page(&format!("<title>T</title><p>{}</p>", "x".repeat(bytes)));
            found.items[0]["text"].as_str().unwrap().len()
        };
        assert_eq!(text(PAGE_TEXT_BYTES_MAX), PAGE_TEXT_BYTES_MAX);
        assert_eq!(text(PAGE_TEXT_BYTES_MAX + 1), PAGE_TEXT_BYTES_MAX);
        let properties = |count: usize| {
            let many = "<meta itemprop=p content=v>".repeat(count);
            page(&format!("<div itemscope itemtype=https://schema.org/Recipe>{many}")).items[0]["p"]
                .as_array()
                .map_or(0, Vec::len)
        };
        assert_eq!(properties(PAGE_PROPERTIES_MAX), PAGE_PROPERTIES_MAX);
        assert_eq!(properties(PAGE_PROPERTIES_MAX + 1), PAGE_PROPERTIES_MAX);
    }

    #[test]
    fn tags_with_endless_attributes_are_left_out() {
        let tag = |count: usize| format!("<p{}>text", (0..count).map(|n| format!(" a{n}")).collect::<String>());
        assert_eq!(without_endless_tags(&tag(PAGE_ATTRIBUTES_MAX)), tag(PAGE_ATTRIBUTES_MAX));
        assert_eq!(without_endless_tags(&tag(PAGE_ATTRIBUTES_MAX + 1)), "text");
        let open = format!("a < b <i>c</i><p{}", " x".repeat(PAGE_ATTRIBUTES_MAX + 1));
        assert_eq!(without_endless_tags(&open), "a < b <i>c</i>");
        assert_eq!(without_endless_tags("<a title='it\"s'>b"), "<a title='it\"s'>b");
        let script = format!("<script>if (a<b{}) {{}}</Script><b>x</b>", " ".repeat(PAGE_ATTRIBUTES_MAX + 1));
        assert_eq!(without_endless_tags(&script), script);
        for part in ["<a", "<a ", "<a \"", "<a '<b \"", "</a", "<a <"] {
            without_endless_tags(&part.repeat(100_000));
        }
    }

    #[test]
    fn hostile_pages_end() {
        let deep = "<div itemscope itemprop=a>".repeat(20_000);
        assert!(page(&format!("<title>t</title>{deep}")).items.len() <= 1);
        let json = format!("<script type=application/ld+json>{}</script>", "[".repeat(100_000));
        assert!(page(&json).items.is_empty());
        page(&"<a href=/x>".repeat(50_000));
        page(&"</div>".repeat(50_000));
        page("<script type=application/ld+json>{\"name\": \"never closed\"");
    }

    proptest! {
        #[test]
        fn any_html_is_read(
            html in "(<|>|/|div|li|meta| itemscope| itemprop=name| content=x|script|title|<!--|-->|\"|'|=|a href=|\\{|x| )*"
        ) {
            page(&html);
        }
    }
}
