//! What is in files, pages and sitemaps without an index and a visit: what a check of a deployment, and a
//! fuzzer, want to see.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use url::Url;

use crate::item::{Item, Place};
use crate::loaders::{At, Format, Input, Reason, Sink, Stop, load, page};
use crate::report::Report;
use crate::web::{self, Robots, Sitemap};

/// Reads a file as [`crate::Library::index`] would, and visits the items in it with their ids.
/// The report counts them as loaded; items that come twice are only noticed by an index. `name`
/// is the path under its source, and says by its ending which format it is; with an ending that
/// is no format's, there is nothing to read.
pub fn read_items(name: &str, reader: impl Read, take: &mut dyn FnMut(&str, &Value)) -> Report {
    let mut preview = Preview { name, take, report: Report::default() };
    let Some(format) = Format::of(Path::new(name)) else { return preview.report };
    if let Err(Stop::Broken { line, reason }) = load(format, &mut Input::new(reader, name, None), &mut preview) {
        preview.report.skip(name, Some(line), &reason);
    }
    preview.report
}

/// The items of a page that was found at `url`, as a visit would take them.
pub fn read_page(page: &[u8], media_type: &str, url: &Url) -> Vec<Value> {
    page::read(&web::body::text(page, media_type), url, "").items
}

/// The pages and the further sitemaps that a sitemap lists, gzip or not. Fails as a visit to it would.
pub fn read_sitemap(sitemap: &[u8], media_type: &str) -> Result<Vec<String>, String> {
    let text = web::body::text(&web::body::unpacked(sitemap)?, media_type);
    let Sitemap { mut pages, sitemaps, broken } = Sitemap::read(&text);
    pages.extend(sitemaps);
    match broken {
        Some(reason) if pages.is_empty() => Err(reason),
        _ => Ok(pages),
    }
}

/// Whether a `robots.txt` lets a visitor of this name read a path.
pub fn robots_allow(robots: &str, agent: &str, path: &str) -> bool {
    Robots::read(robots, agent).allows(path)
}

struct Preview<'a> {
    name: &'a str,
    take: &'a mut dyn FnMut(&str, &Value),
    report: Report,
}

impl Sink for Preview<'_> {
    fn item(&mut self, at: At, json: &Value, _: Option<&[u8]>) -> Result<(), Stop> {
        match Item::read(json, Place { file: self.name, line: at.line }) {
            Some(item) => {
                self.report.loaded += 1;
                (self.take)(&item.id, json);
                Ok(())
            }
            None => self.skip(at, Reason::NoName),
        }
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.report.skip(self.name, Some(at.line), &reason);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_seen_without_an_index() {
        let mut ids = Vec::new();
        let bytes = b"{\"name\":\"a\"}\n{\"x\":1}\n";
        let report = read_items("a/b.jsonl", &bytes[..], &mut |id, _| ids.push(id.to_owned()));
        assert_eq!((report.loaded, report.skipped), (1, 1));
        assert_eq!(ids, ["a/b.jsonl#L1"]);
        assert_eq!(read_items("x.png", &bytes[..], &mut |_, _| {}), Report::default());
    }

    #[test]
    fn pages_and_sitemaps_are_seen_without_a_visit() {
        let url = Url::parse("https://e.org/a").unwrap();
        assert_eq!(read_page(b"<title>caf\xE9</title>", "text/html; charset=latin1", &url)[0]["name"], "café");
        let listed = b"<urlset><url><loc>https://e.org/a</loc></url></urlset>";
        assert_eq!(read_sitemap(listed, "text/xml"), Ok(vec!["https://e.org/a".to_owned()]));
        assert!(read_sitemap(b"\x1F\x8Bno", "").is_err() && read_sitemap(b"", "").is_err());
        assert!(!robots_allow("user-agent: *\ndisallow: /a", "any", "/a/b"));
    }
}
