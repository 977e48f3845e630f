//! One page of a visit: asked for, and read into what is kept of it.

use std::io;

use forecourt_egress::FetchedDocument;
use forecourt_loaders::grounding::{grounded_in, own_link};
use forecourt_loaders::{DocumentContents, Page, collect_items, decode_text, has_directive};
use url::Url;

use super::{AGENT, Tour};
use crate::fetch::FetchOutcome;
use crate::gzip::unpacked;
use crate::kept::KeptPage;
use crate::limits::{DOCUMENT_BYTES_MAX, PAGE_BYTES_MAX};
use crate::site::SiteRead;
use crate::{own, robots};

impl Tour<'_> {
    /// Reads one page, or keeps what is known of it.
    pub(super) async fn page(&mut self, url: &Url, depth: u32) -> io::Result<()> {
        // Taken before robots.txt is asked: a page that it closes now must not stay as one that was not met.
        let before = self.before.take(url.as_str());
        let is_document = self.site.read == SiteRead::Document;
        let robots = &self.robots;
        let allows = |url: &Url| robots.allows(&url[url::Position::BeforePath..url::Position::AfterQuery]);
        if !allows(url) {
            self.told.skip(url.as_str(), "robots.txt does not want it read");
            return Ok(());
        }
        if let Some(page) = self.cut_off.take(url.as_str()) {
            self.told.resumed += 1;
            self.canonical.extend(page.canonical.clone());
            self.has_changed = true;
            return self.keep(&page, depth);
        }
        let origin = self.site.url.origin();
        let may_go = |next: &Url| next.origin() == origin && allows(next);
        let bytes_max = if is_document { DOCUMENT_BYTES_MAX } else { PAGE_BYTES_MAX };
        let fetched = self.fetcher.fetch(url, bytes_max, before.as_ref(), &may_go).await;
        self.failures = if matches!(fetched, FetchOutcome::Failed(_)) { self.failures + 1 } else { 0 };
        let page = match fetched {
            FetchOutcome::Found(at, document) => self.read(url, at, document, before).map(Some),
            FetchOutcome::Unchanged => {
                self.told.unchanged += 1;
                self.canonical.extend(before.as_ref().and_then(|page| page.canonical.clone()));
                Ok(before)
            }
            FetchOutcome::Failed(reason) => {
                self.told.skip(url.as_str(), &reason);
                // A page that can't be read this time stays as it was; only one that is gone goes.
                Ok(before)
            }
            FetchOutcome::Gone(reason) | FetchOutcome::TooLarge(reason) => Err(reason),
        };
        match page {
            Ok(Some(page)) => self.keep(&page, depth)?,
            Ok(None) => {}
            Err(reason) => self.told.skip(url.as_str(), &reason),
        }
        Ok(())
    }

    /// A document that was found, as it is kept. An item that has not changed keeps the time at which it
    /// was read first, so that nothing is indexed again for the time alone.
    fn read(
        &mut self,
        url: &Url,
        at: Url,
        document: FetchedDocument,
        before: Option<KeptPage>,
    ) -> Result<KeptPage, String> {
        let is_html = is_page(&document.mime);
        let asked = robots::of_header(&document.robots, AGENT);
        let (canonical, links, items) = match is_html {
            true => {
                let found = Page::read(&decode_text(&document.bytes, &document.mime), &at, &asked);
                (found.canonical.unwrap_or(at), found.links, found.items)
            }
            false if has_directive(&asked, "noindex") => {
                return Err("its server asks that it be not indexed".to_owned());
            }
            false => {
                let bytes = unpacked(&document.bytes)?;
                let found = collect_items(&bytes, &document.mime, at.path(), Some(at.as_str()));
                let DocumentContents { items, skipped } = found.ok_or("neither a page nor a feed, JSON or CSV")?;
                for (line, reason) in skipped {
                    self.told.skip(at.as_str(), &format!("line {}: {reason}", line.unwrap_or(1)));
                }
                (at, Vec::new(), items.into_iter().map(|(_, item)| item).collect())
            }
        };
        let is_first = self.canonical.insert(canonical.as_str().to_owned());
        let old = before.map(|kept| kept.items).unwrap_or_default();
        // One page under two addresses is one: the second gives no items, and its links are followed.
        let items = if is_first { items } else { Vec::new() };
        let items = items.into_iter().map(|item| {
            let item = own::believed(item, &canonical);
            let first =
                old.iter().find(|old| is_same(old, &item)).and_then(|old| old["grounding"]["fetched_at"].as_str());
            let read_at = first.unwrap_or(&self.now);
            // An entry of a feed names the page that it is about as its source; an item of a page is from that page
            // alone.
            let own = if is_html { None } else { own_link(&item).map(str::to_owned) };
            grounded_in(item, own.as_deref(), &canonical, read_at)
        });
        let items: Vec<_> = items.collect();
        self.has_changed |= items != old;
        Ok(KeptPage {
            url: url.as_str().to_owned(),
            validators: document.validators,
            canonical: Some(canonical.into()),
            links: links.into_iter().map(String::from).collect(),
            items,
        })
    }
}

fn is_page(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // A server that names no type most often serves a page.
    matches!(kind.as_str(), "text/html" | "application/xhtml+xml" | "")
}

/// Whether two items are the same apart from their grounding.
fn is_same(kept: &serde_json::Value, found: &serde_json::Value) -> bool {
    let (Some(kept), Some(found)) = (kept.as_object(), found.as_object()) else { return false };
    // What is kept has its grounding beside what was found.
    kept.len() == found.len() + 1 && found.iter().all(|(key, value)| kept.get(key) == Some(value))
}
