//! RSS (all versions) and Atom: an article per entry.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value, json};

use super::html::{plain_text, resolve_entity, title_of};
use super::shop::{Cells, ColumnName, Export, ShopReader, is_merchant_product};
use super::{At, Input, Reason, Sink, Stop, linked};
use crate::limits::ITEM_BYTES_MAX;

/// Elements that may be open at once.
const DEPTH_MAX: usize = 1_000;

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    input.begin_record();
    let mut shop = ShopReader::new(Export::Merchant, input.shop_url().as_deref(), '.');
    let mut reader = Reader::from_reader(input);
    let config = reader.config_mut();
    // Feeds are read as they come: a tag that is not closed costs an entry, not the feed.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut feed = Feed::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let at = reader.get_ref().at();
        let event = reader.read_event_into(&mut buffer).map_err(|error| Stop::rest(at.line, error))?;
        if matches!(event, Event::Eof) {
            feed.finish(at)?;
            return shop.finish(sink);
        }
        if let Some(entry) = feed.take(event, at)? {
            let at = At { line: entry.line, bytes: at.bytes };
            match entry.into_product(&feed.language) {
                Ok(cells) => shop.row(cells, at, sink)?,
                Err(entry) => entry.offer(at, &feed.language, sink)?,
            }
            reader.get_mut().begin_record();
        }
    }
}

/// The feed as far as it has been read.
#[derive(Default)]
struct Feed {
    depth: usize,
    language: Option<String>,
    entry: Option<Entry>,
    /// The element whose text is being read, and the depth at which it ends.
    field: Option<(String, usize)>,
    text: String,
}

/// One entry as far as it has been read.
#[derive(Default)]
struct Entry {
    line: u64,
    depth: usize,
    bytes: usize,
    fields: Map<String, Value>,
    /// All of it, as the feed calls it.
    cells: Cells,
}

impl Feed {
    /// Takes one event; gives back an entry when it is complete.
    fn take(&mut self, event: Event<'_>, at: At) -> Result<Option<Entry>, Stop> {
        match event {
            Event::Start(tag) if self.depth < DEPTH_MAX => self.open(&tag, at),
            Event::Start(_) => return Err(Stop::rest(at.line, "too many elements inside of each other")),
            Event::End(_) => return Ok(self.close()),
            Event::Text(text) => self.push(&text.xml10_content()),
            Event::CData(text) => self.push(&text.xml10_content()),
            Event::GeneralRef(name) => match resolve_entity(&name) {
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
                None => self.push(" "),
            },
            _ => {}
        }
        Ok(None)
    }

    fn open(&mut self, tag: &BytesStart<'_>, at: At) {
        self.depth += 1;
        if let Some(language) = attribute(tag, "xml:lang").filter(|_| self.language.is_none()) {
            self.language = Some(language);
        }
        let (name, local) = (tag.name(), tag.local_name());
        let (name, local): (&str, &str) = (name.as_ref(), local.as_ref());
        // RSS 1.0 has its items beside the channel, so that the depth says nothing.
        if self.entry.is_none() && matches!(local, "item" | "entry") {
            self.entry = Some(Entry { line: at.line, depth: self.depth, ..Entry::default() });
            return;
        }
        if let Some(entry) = &mut self.entry {
            entry.note_attributes(local, tag);
        }
        // Direct children alone: a `title` within a media element is that of a picture.
        let begins = match &self.field {
            Some((field, _)) => field == "author" && local == "name",
            None => self.entry.as_ref().map_or(local == "language", |entry| self.depth == entry.depth + 1),
        };
        if begins {
            self.text.clear();
            let field = if name == "content:encoded" { "content" } else { local };
            self.field = Some((field.to_owned(), self.depth));
        } else {
            // Markup inside of a text separates words.
            self.push(" ");
        }
    }

    fn push(&mut self, text: &str) {
        if self.field.is_none() {
            return;
        }
        if self.text.len() + text.len() <= ITEM_BYTES_MAX {
            self.text.push_str(text);
        }
        if let Some(entry) = &mut self.entry {
            // Counted although it is not kept, so that an entry that is too long is told and not cut.
            entry.bytes += text.len();
        }
    }

    fn close(&mut self) -> Option<Entry> {
        if let Some((field, _)) = self.field.take_if(|(_, depth)| *depth == self.depth) {
            let text = std::mem::take(&mut self.text);
            match &mut self.entry {
                Some(entry) => entry.note(&field, text.trim()),
                None if field == "language" => self.language = Some(text.trim().to_owned()),
                None => {}
            }
        }
        let depth = self.depth;
        self.depth = depth.saturating_sub(1);
        self.entry.take_if(|entry| entry.depth == depth)
    }

    fn finish(&self, at: At) -> Result<(), Stop> {
        match &self.entry {
            Some(entry) => Err(Stop::rest(entry.line, "it ends inside an entry")),
            // An empty file is an empty feed. One that breaks off is told, since what it lacks would count as removed.
            None if at.bytes == 0 || self.depth == 0 => Ok(()),
            None => Err(Stop::rest(at.line, "it ends before its last element is closed")),
        }
    }
}

impl Entry {
    fn note_attributes(&mut self, local: &str, tag: &BytesStart<'_>) {
        match local {
            "link" => {
                let usable = attribute(tag, "rel").is_none_or(|rel| rel == "alternate");
                if let Some(href) = attribute(tag, "href").filter(|_| usable) {
                    self.note("link", &href);
                }
            }
            "category" => {
                if let Some(term) = attribute(tag, "term") {
                    self.note("category", &term);
                }
            }
            _ => {}
        }
    }

    /// Keeps one element's text under schema.org's name for it. The first one of a kind counts.
    fn note(&mut self, field: &str, text: &str) {
        self.cells.push(ColumnName::of(field).into(), text.to_owned());
        let key = match field {
            _ if text.is_empty() => return,
            "title" => "name",
            "link" => "url",
            "guid" | "id" => "identifier",
            "description" | "summary" | "subtitle" => "description",
            "content" => "articleBody",
            "pubDate" | "published" | "date" | "issued" => "datePublished",
            "updated" | "modified" => "dateModified",
            "author" | "creator" | "name" => "author",
            "category" | "subject" => return self.note_keyword(text),
            _ => return,
        };
        let value = match key {
            "name" | "description" | "articleBody" => plain_text(text),
            "datePublished" | "dateModified" => date(text),
            _ => text.to_owned(),
        };
        self.fields.entry(key).or_insert_with(|| value.into());
    }

    /// The cells of a product; the entry itself when it is none, or longer than an item may be.
    fn into_product(mut self, language: &Option<String>) -> Result<Cells, Box<Self>> {
        if self.bytes > ITEM_BYTES_MAX || !is_merchant_product(&self.cells) {
            return Err(Box::new(self));
        }
        if let Some(language) = language {
            self.cells.push(ColumnName::of("inLanguage").into(), language.clone());
        }
        Ok(self.cells)
    }

    /// What an entry without a title is called: the beginning of what it says.
    fn name_itself(&self) -> Option<String> {
        let said = ["articleBody", "description"].iter().find_map(|key| self.fields.get(*key)?.as_str());
        title_of(said?)
    }

    fn note_keyword(&mut self, text: &str) {
        let keywords = self.fields.entry("keywords").or_insert_with(|| json!([]));
        if let Value::Array(keywords) = keywords {
            keywords.push(text.into());
        }
    }

    fn offer(&self, at: At, language: &Option<String>, sink: &mut dyn Sink) -> Result<(), Stop> {
        if self.bytes > ITEM_BYTES_MAX {
            return sink.skip(at, Reason::TooLong);
        }
        let mut item = self.fields.clone();
        item.insert("@type".to_owned(), "Article".into());
        if !item.contains_key("name") {
            item.extend(self.name_itself().map(|name| ("name".to_owned(), name.into())));
        }
        if let Some(language) = language {
            item.insert("inLanguage".to_owned(), language.as_str().into());
        }
        if let Some(author) = item.get_mut("author") {
            *author = json!({"@type": "Person", "name": author.take()});
        }
        // A permanent link makes an id of its own; other identifiers are only the feed's.
        if let Some(id) =
            item.get("identifier").and_then(Value::as_str).filter(|id| id.contains(':')).map(str::to_owned)
        {
            item.entry("url").or_insert_with(|| id.as_str().into());
            item.insert("@id".to_owned(), id.into());
        }
        linked::offer(&Value::Object(item), at, None, sink)
    }
}

pub(super) fn attribute(tag: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(key).ok()??;
    Some(attribute.normalized_value(quick_xml::XmlVersion::default()).ok()?.trim().to_owned())
}

/// RSS writes RFC 2822 dates; items carry RFC 3339.
fn date(text: &str) -> String {
    match jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_zoned(text) {
        Ok(zoned) => zoned.timestamp().to_string(),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;

    const RSS: &str = r#"<?xml version="1.0"?><rss version="2.0" xmlns:content="x" xmlns:dc="y"><channel>
<title>Blog</title><language>de-DE</language><link>https://e.org/</link>
<item><title>First &amp; <![CDATA[<b>best</b>]]></title><link>https://e.org/1</link><guid isPermaLink="false">tag:1</guid>
<description>&lt;p&gt;Short&lt;/p&gt;</description><content:encoded><![CDATA[<p>Long <i>text</i></p>]]></content:encoded>
<pubDate>Sat, 07 Sep 2002 00:00:01 GMT</pubDate><dc:creator>Ann</dc:creator><category>x</category><category>y</category></item>
<item><title>Second</title><link>https://e.org/2</link></item>
</channel></rss>"#;

    #[test]
    fn rss_entries_are_articles() {
        let heap = load_bytes(Format::Feed, RSS.as_bytes());
        let first = json!({"@type": "Article", "@id": "tag:1", "identifier": "tag:1", "url": "https://e.org/1",
            "name": "First & best", "description": "Short", "articleBody": "Long text", "inLanguage": "de-DE",
            "datePublished": "2002-09-07T00:00:01Z", "author": {"@type": "Person", "name": "Ann"}, "keywords": ["x", "y"]});
        assert_eq!(heap.items[0], first);
        assert_eq!(names(&heap), ["First & best", "Second"]);
        assert_eq!(heap.lines, [3, 6]);
        assert!(heap.skipped.is_empty());
    }

    #[test]
    fn atom_entries_are_articles() {
        let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>T</title><entry>
<title type="html">A &lt;em&gt;title&lt;/em&gt;</title><id>urn:uuid:1</id>
<link rel="edit" href="https://e.org/edit"/><link href="https://e.org/a"/>
<author><name>Bob</name><email>b@e.org</email></author><category term="news"/>
<updated>2003-12-13T18:30:02Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One</p><p>two</p></div></content></entry></feed>"#;
        let heap = load_bytes(Format::Feed, atom.as_bytes());
        let item = &heap.items[0];
        assert_eq!(item["name"], "A title");
        assert_eq!(item["url"], "https://e.org/a");
        assert_eq!(item["@id"], "urn:uuid:1");
        assert_eq!(item["author"]["name"], "Bob");
        assert_eq!(item["articleBody"], "One two");
        assert_eq!(item["keywords"], json!(["news"]));
        assert_eq!(item["inLanguage"], "en");
    }

    #[test]
    fn an_entry_without_a_title_goes_by_what_it_says() {
        let feed = b"<rss><item><description>&lt;p&gt;We moved. Come and see us.&lt;/p&gt;</description></item></rss>";
        assert_eq!(names(&load_bytes(Format::Feed, feed)), ["We moved."]);
        let long = format!("<rss><item><description>{}</description></item></rss>", "word ".repeat(100));
        assert!(names(&load_bytes(Format::Feed, long.as_bytes()))[0].ends_with("word…"));
    }

    #[test]
    fn products_of_a_shop_feed_have_offers() {
        let feed = r#"<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>1</g:id><title>Lamp</title>
            <g:price>19.99 EUR</g:price><g:sale_price>15.00 EUR</g:sale_price><g:availability>in stock</g:availability>
            <g:image_link>https://e.org/a.jpg</g:image_link><g:brand>Acme</g:brand></item></channel></rss>"#;
        let item = load_bytes(Format::Feed, feed.as_bytes()).items.remove(0);
        assert_eq!(
            (&item["@type"], &item["brand"], &item["identifier"]),
            (&json!("Product"), &json!("Acme"), &json!("1"))
        );
        let list =
            json!([{"@type": "UnitPriceSpecification", "priceType": "https://schema.org/ListPrice", "price": "19.99"}]);
        let offer = json!({"@type": "Offer", "price": "15.00", "priceCurrency": "EUR", "priceSpecification": list,
            "availability": "https://schema.org/InStock"});
        assert_eq!(item["offers"], offer);
    }

    #[test]
    fn entities_of_a_feed_grow_into_nothing() {
        let laughs = (1..10).map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)));
        let feed = format!(
            "<!DOCTYPE x [<!ENTITY l0 \"ha\">{}]><rss><item><title>a&l9;b</title></item></rss>",
            laughs.collect::<String>()
        );
        assert_eq!(names(&load_bytes(Format::Feed, feed.as_bytes())), ["a b"]);
    }

    #[test]
    fn an_entry_without_a_title_is_passed_on_for_the_index_to_refuse() {
        let heap = load_bytes(Format::Feed, b"<rss><item><link>https://e.org/</link></item></rss>");
        assert_eq!((heap.items.len(), names(&heap).len()), (1, 0));
    }

    #[test]
    fn a_feed_that_breaks_off_keeps_what_was_read() {
        let cut = &RSS[..RSS.find("Second").unwrap()];
        let heap = load_bytes(Format::Feed, cut.as_bytes());
        assert_eq!(heap.items.len(), 1);
        assert!(matches!(heap.skipped.as_slice(), [(6, Reason::Rest(_))]), "{:?}", heap.skipped);
    }

    #[test]
    fn an_entry_is_too_long_past_the_bound() {
        let feed = |bytes: usize| {
            let text = "x".repeat(bytes - 1);
            format!(
                "<rss><item><title>a</title><description>{text}</description></item><item><title>b</title></item></rss>"
            )
        };
        assert_eq!(names(&load_bytes(Format::Feed, feed(ITEM_BYTES_MAX).as_bytes())), ["a", "b"]);
        let longer = load_bytes(Format::Feed, feed(ITEM_BYTES_MAX + 1).as_bytes());
        assert_eq!((names(&longer), &longer.skipped), (vec!["b"], &vec![(1, Reason::TooLong)]));
    }

    #[test]
    fn deep_nesting_ends_the_file() {
        let feed = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(load_bytes(Format::Feed, feed(DEPTH_MAX).as_bytes()).skipped.is_empty());
        assert_eq!(load_bytes(Format::Feed, feed(DEPTH_MAX + 1).as_bytes()).skipped.len(), 1);
    }
}
