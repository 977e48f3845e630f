//! Sitemaps and indexes of them: XML, or a URL on each line (sitemaps.org).

use quick_xml::Reader;
use quick_xml::events::Event;

use forecourt_loaders::{decode_text, resolve_entity};

use crate::gzip::unpacked;
use crate::limits::SITEMAP_URLS_MAX;

/// What a sitemap lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sitemap {
    /// Pages.
    pub(crate) pages: Vec<String>,
    /// Further sitemaps.
    pub(crate) sitemaps: Vec<String>,
    /// What ended the reading early; what came before counts.
    pub(crate) broken: Option<String>,
}

impl Sitemap {
    /// Reads a document as it was sent, gzip or not. Fails when it can't be unpacked.
    pub(crate) fn decode(bytes: &[u8], media_type: &str) -> Result<Self, String> {
        Ok(Self::read(&decode_text(&unpacked(bytes)?, media_type)))
    }

    /// Reads a text, at most [`SITEMAP_URLS_MAX`] URLs of it.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        match text.starts_with('<') {
            true => xml(text),
            false => lines(text),
        }
    }

    fn push(&mut self, parent: &str, url: &str) {
        let list = match parent {
            "url" => &mut self.pages,
            "sitemap" => &mut self.sitemaps,
            _ => return,
        };
        let url = url.trim();
        if !url.is_empty() {
            list.push(url.to_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.pages.len() + self.sitemaps.len() >= SITEMAP_URLS_MAX
    }
}

fn lines(text: &str) -> Sitemap {
    let mut urls = text.lines().map(str::trim).filter(|line| line.starts_with("http"));
    let pages: Vec<String> = urls.by_ref().take(SITEMAP_URLS_MAX).map(str::to_owned).collect();
    let broken = match pages.is_empty() {
        true => Some("neither XML nor a list of URLs".to_owned()),
        false => urls.next().map(|_| too_many()),
    };
    Sitemap { pages, broken, ..Sitemap::default() }
}

fn xml(text: &str) -> Sitemap {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut found = Sitemap::default();
    let (mut parent, mut url) = (String::new(), None::<String>);
    while !found.is_full() {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                let name = start.local_name().as_ref().to_owned();
                match name == "loc" {
                    true => url = Some(String::new()),
                    false => parent = name,
                }
            }
            Ok(Event::Text(part)) => push(&mut url, &part),
            Ok(Event::CData(part)) => push(&mut url, &part),
            Ok(Event::GeneralRef(name)) => {
                // Sitemaps that write the `&` of a query as it is are read all the same.
                let resolved = resolve_entity(&name).unwrap_or('&');
                push(&mut url, resolved.encode_utf8(&mut [0; 4]));
            }
            Ok(Event::End(end)) if end.local_name().as_ref() == "loc" => {
                found.push(&parent, &url.take().unwrap_or_default());
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                found.broken = Some(error.to_string());
                break;
            }
        }
    }
    let rest = usize::try_from(reader.buffer_position()).ok().and_then(|at| text.get(at..));
    if found.is_full() && rest.is_some_and(|rest| rest.contains("loc>")) {
        found.broken = Some(too_many());
    }
    if found.pages.is_empty() && found.sitemaps.is_empty() && found.broken.is_none() {
        found.broken = Some("there are no URLs in it".to_owned());
    }
    found
}

fn too_many() -> String {
    format!("only the first {SITEMAP_URLS_MAX} URLs of it are read")
}

fn push(url: &mut Option<String>, text: &str) {
    if let Some(url) = url {
        url.push_str(text);
    }
}

/// The pages and the further sitemaps that a sitemap lists, gzip or not. Fails as a visit to it would.
pub fn read_sitemap(sitemap: &[u8], media_type: &str) -> Result<Vec<String>, String> {
    let Sitemap { mut pages, sitemaps, broken } = Sitemap::decode(sitemap, media_type)?;
    pages.extend(sitemaps);
    match broken {
        Some(reason) if pages.is_empty() => Err(reason),
        _ => Ok(pages),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_and_sitemaps_are_told_apart() {
        let text = "\u{FEFF}<?xml version='1.0'?><urlset xmlns='x' xmlns:image='y'><url><loc> https://e.org/?a=1&amp;b=2 \
            </loc><image:image><image:loc>https://e.org/i.png</image:loc></image:image></url>\
            <url><loc><![CDATA[https://e.org/c]]></loc></url></urlset>";
        assert_eq!(Sitemap::read(text).pages, ["https://e.org/?a=1&b=2", "https://e.org/c"]);
        let index = Sitemap::read("<sitemapindex><sitemap><loc>https://e.org/1.xml.gz</loc></sitemap></sitemapindex>");
        assert_eq!((index.sitemaps.len(), index.pages.len(), index.broken), (1, 0, None));
        assert_eq!(Sitemap::read("https://e.org/a\n\nhttps://e.org/b\n").pages.len(), 2);
    }

    #[test]
    fn what_is_broken_keeps_what_came_before() {
        let found = Sitemap::read("<urlset><url><loc>https://e.org/a</loc></url><url><lo");
        assert_eq!(found.pages, ["https://e.org/a"]);
        assert!(found.broken.is_some());
        for nothing in ["", "not found", "<html><body>no</body></html>", "<urlset/>"] {
            assert!(Sitemap::read(nothing).broken.is_some(), "{nothing}");
        }
    }

    #[test]
    fn urls_end_at_the_bound() {
        let lines = |n: usize| "https://e.org/\n".repeat(n);
        let most = Sitemap::read(&lines(SITEMAP_URLS_MAX + 1));
        assert_eq!(most.pages.len(), SITEMAP_URLS_MAX);
        assert!(most.broken.is_some() && Sitemap::read(&lines(SITEMAP_URLS_MAX)).broken.is_none());
        let urls = |n: usize| format!("<urlset>{}</urlset>", "<url><loc>u</loc></url>".repeat(n));
        assert_eq!(Sitemap::read(&urls(SITEMAP_URLS_MAX)).pages.len(), SITEMAP_URLS_MAX);
        let most = Sitemap::read(&urls(SITEMAP_URLS_MAX + 1));
        assert_eq!(most.pages.len(), SITEMAP_URLS_MAX);
        assert!(most.broken.is_some() && Sitemap::read(&urls(SITEMAP_URLS_MAX)).broken.is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(<|>|</|loc|url|sitemap|urlset|&amp;|&|!\\[CDATA\\[|\\]\\]>| |x)*") {
            Sitemap::read(&text);
        }
    }

    #[test]
    fn a_sitemap_is_seen_without_a_visit() {
        let listed = b"<urlset><url><loc>https://e.org/a</loc></url></urlset>";
        assert_eq!(read_sitemap(listed, "text/xml"), Ok(vec!["https://e.org/a".to_owned()]));
        assert!(read_sitemap(b"\x1F\x8Bno", "").is_err() && read_sitemap(b"", "").is_err());
    }
}
