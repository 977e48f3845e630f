//! One visit to a site: from `robots.txt` to the last page.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Clock;
use forecourt_egress::{Egress, FetchedDocument};
use futures::future::BoxFuture;
use tokio::time::Instant;
use url::Url;

use super::fetch::{FetchOutcome, Fetcher};
use super::frontier::Frontier;
use super::hosts::Hosts;
use super::kept::{Before, KeptPage, Writer};
use super::own;
use super::robots::{self, Robots};
use super::sitemap::Sitemap;
use super::{SiteRead, WebSite, body};
use crate::grounding::{grounded_in, own_link};
use crate::limits::{
    DOCUMENT_BYTES_MAX, PAGE_BYTES_MAX, PAGE_FAILURES_MAX, PUBLISH_EVERY, PUBLISH_PAGES, REASONS_MAX, ROBOTS_BYTES_MAX,
    SITE_BYTES_MAX, SITEMAPS_MAX,
};
use crate::loaders::{DocumentContents, collect_items, page};

/// The product token that `robots.txt` calls us by.
const AGENT: &str = "forecourt";

/// Visits sites.
#[derive(Clone)]
pub struct Visitor {
    /// The way out. Private networks are closed unless they are opened there.
    pub egress: Egress,
    /// The time, for what items say of when they were read.
    pub clock: Arc<dyn Clock>,
    /// The pace of requests: [`Hosts::shared`], unless there is a reason.
    pub hosts: Hosts,
}

/// What a visit came to, or has come to so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visit {
    /// Pages read, those that had not changed included.
    pub pages: usize,
    /// Pages that had not changed since the last visit.
    pub unchanged: usize,
    /// Pages that a visit before had read when it broke off; they were not asked for again.
    pub resumed: usize,
    /// Pages that wait to be read.
    pub waiting: usize,
    /// Items on the pages.
    pub items: u64,
    /// Pages that were left out.
    pub skipped: u64,
    /// Why, for the first [`REASONS_MAX`] of them.
    pub reasons: Vec<String>,
    /// Whether it ended early. What is known of the pages behind stays.
    pub gave_up: bool,
}

impl Visit {
    fn skip(&mut self, url: &str, reason: &str) {
        self.skipped += 1;
        if self.reasons.len() < REASONS_MAX {
            self.reasons.push(format!("{url}: {reason}"));
        }
    }
}

impl Visitor {
    /// Reads a site into `items`, a file of JSON Lines; what is beside it is for the next visit. The file
    /// is replaced now and then by what was found so far and what was known of the rest, and at the end. A visit
    /// that was cancelled, or that broke off with the process, is gone on with by the next one. `progress` is
    /// told after every page; `cancel` is asked before each. Fails when the file cannot be written; a site that
    /// cannot be read leaves it as it is, and says why.
    pub fn visit<'a>(
        &'a self,
        site: &'a WebSite,
        items: &'a Path,
        progress: &'a mut (dyn FnMut(&Visit) + Send),
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> BoxFuture<'a, io::Result<Visit>> {
        Box::pin(async move {
            let mut tour = Tour {
                site,
                fetcher: Fetcher::new(&self.egress, &self.hosts, site.delay, cancel),
                robots: Robots::default(),
                frontier: Frontier::new(&site.url, site.pages_max),
                before: Before::open(items),
                cut_off: Before::of_cut_off(items)?,
                keeps_before: false,
                canonical: HashSet::new(),
                writer: Writer::begin(items, SITE_BYTES_MAX)?,
                now: format!("{:.0}", self.clock.now()),
                failures: 0,
                has_changed: false,
                published: (0, Instant::now()),
                is_cancelled: false,
                told: Visit::default(),
            };
            let begun = Instant::now();
            tour.begin().await;
            while !tour.told.gave_up {
                let Some((url, depth)) = tour.frontier.next() else { break };
                if let Some(reason) = tour.enough(begun.elapsed(), cancel) {
                    tour.told.skip(url.as_str(), &format!("the visit ends here: {reason}"));
                    tour.told.gave_up = true;
                    tour.is_cancelled = cancel();
                    break;
                }
                tour.page(&url, depth).await?;
                tour.told.waiting = tour.frontier.counts().0;
                progress(&tour.told);
                tour.publish()?;
            }
            tour.finish()
        })
    }
}

/// A visit under way.
struct Tour<'a> {
    site: &'a WebSite,
    fetcher: Fetcher<'a>,
    robots: Robots,
    frontier: Frontier,
    /// What is known of pages that were not met so far.
    before: Before,
    /// What a visit that broke off had read already.
    cut_off: Before,
    /// Whether pages that are not met stay, since not all that lists them could be read.
    keeps_before: bool,
    /// Addresses that pages gave themselves: what was read under one is not read again under another.
    canonical: HashSet<String>,
    writer: Writer,
    now: String,
    /// Pages in a row that could not be read.
    failures: usize,
    /// Whether a page is another one than before, and that was not handed on.
    has_changed: bool,
    /// How many pages there were when what was found was handed on, and when that was.
    published: (usize, Instant),
    is_cancelled: bool,
    told: Visit,
}

impl Tour<'_> {
    /// Finds out what may be read, and where to begin.
    async fn begin(&mut self) {
        if let Err(reason) = self.ask_robots().await {
            self.told.skip(self.site.url.as_str(), &format!("robots.txt cannot be read, so nothing else is: {reason}"));
            self.told.gave_up = true;
            return;
        }
        match self.site.read {
            SiteRead::Sitemap => self.read_sitemaps().await,
            SiteRead::Pages | SiteRead::Document => self.frontier.add(&self.site.url, 0),
        }
    }

    /// Why no further page is asked for, if there is a reason.
    fn enough(&self, elapsed: Duration, cancel: &(dyn Fn() -> bool + Sync)) -> Option<String> {
        if self.failures >= PAGE_FAILURES_MAX {
            return Some(format!("{PAGE_FAILURES_MAX} pages in a row could not be read"));
        }
        if elapsed >= self.site.time_max {
            return Some(format!("it has taken {} s", self.site.time_max.as_secs()));
        }
        cancel().then(|| "it was told to stop".to_owned())
    }

    /// RFC 9309 2.3.1: no file allows everything, a broken server nothing.
    async fn ask_robots(&mut self) -> Result<(), String> {
        let url = self.site.url.join("/robots.txt").map_err(|error| error.to_string())?;
        let is_own = |url: &Url| url.origin() == self.site.url.origin();
        self.robots = match self.fetcher.fetch(&url, ROBOTS_BYTES_MAX, None, &is_own).await {
            FetchOutcome::Found(_, document) => Robots::read(&body::text(&document.bytes, "charset=utf-8"), AGENT),
            FetchOutcome::TooLarge(reason) | FetchOutcome::Failed(reason) => return Err(reason),
            FetchOutcome::Unchanged | FetchOutcome::Gone(_) => Robots::default(),
        };
        self.fetcher.delay = self.robots.delay.map_or(self.site.delay, |delay| delay.max(self.site.delay));
        Ok(())
    }

    /// Reads the sitemap, and those that it lists. When one cannot be read, nothing of before is given up.
    async fn read_sitemaps(&mut self) {
        let mut waiting = VecDeque::from([self.site.url.clone()]);
        let mut seen = HashSet::from([self.site.url.to_string()]);
        while let Some(url) = waiting.pop_front() {
            let found = match self.sitemap(&url).await {
                Ok(found) => found,
                Err(reason) => {
                    self.told.skip(url.as_str(), &reason);
                    self.keeps_before = true;
                    continue;
                }
            };
            if let Some(reason) = &found.broken {
                self.told.skip(url.as_str(), reason);
                self.keeps_before = true;
            }
            for page in found.pages.iter().filter_map(|page| url.join(page).ok()) {
                match self.frontier.is_own(&page) {
                    true => self.frontier.add(&page, 0),
                    false => self.told.skip(page.as_str(), "of another site than its sitemap"),
                }
            }
            for next in found.sitemaps.iter().filter_map(|next| url.join(next).ok()) {
                if !self.frontier.is_own(&next) {
                    self.told.skip(next.as_str(), "of another site than its index");
                } else if seen.len() < SITEMAPS_MAX && seen.insert(next.to_string()) {
                    waiting.push_back(next);
                }
            }
        }
        // Pages that were listed are read all the same.
        self.told.gave_up = self.keeps_before && self.frontier.counts().0 == 0;
    }

    async fn sitemap(&mut self, url: &Url) -> Result<Sitemap, String> {
        let is_own = |url: &Url| url.origin() == self.site.url.origin();
        match self.fetcher.fetch(url, DOCUMENT_BYTES_MAX, None, &is_own).await {
            FetchOutcome::Found(_, document) => {
                let bytes = body::unpacked(&document.bytes)?;
                Ok(Sitemap::read(&body::text(&bytes, &document.mime)))
            }
            FetchOutcome::Unchanged => Err("nothing of it was kept".to_owned()),
            FetchOutcome::Gone(reason) | FetchOutcome::TooLarge(reason) | FetchOutcome::Failed(reason) => Err(reason),
        }
    }

    /// Reads one page, or keeps what is known of it.
    async fn page(&mut self, url: &Url, depth: u32) -> io::Result<()> {
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
                let found = page::read(&body::text(&document.bytes, &document.mime), &at, &asked);
                (found.canonical.unwrap_or(at), found.links, found.items)
            }
            false if page::says(&asked, "noindex") => return Err("its server asks that it be not indexed".to_owned()),
            false => {
                let bytes = body::unpacked(&document.bytes)?;
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
        let items = if is_first { items } else { Vec::new() };
        let items = items.into_iter().map(|item| {
            let item = own::believed(item, &canonical);
            let first =
                old.iter().find(|old| is_same(old, &item)).and_then(|old| old["grounding"]["fetched_at"].as_str());
            let read_at = first.unwrap_or(&self.now);
            // A document lists what lies elsewhere; a page is what it says.
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

    fn keep(&mut self, page: &KeptPage, depth: u32) -> io::Result<()> {
        self.told.pages += 1;
        if self.site.read == SiteRead::Pages && depth < self.site.depth_max {
            let links: Vec<Url> = page.links.iter().filter_map(|link| Url::parse(link).ok()).collect();
            links.iter().for_each(|link| self.frontier.add(link, depth + 1));
        }
        self.write(page)
    }

    fn write(&mut self, page: &KeptPage) -> io::Result<()> {
        match self.writer.add(page)? {
            true => self.told.items += page.items.len() as u64,
            false => self.told.skip(&page.url, "the site has too many items"),
        }
        Ok(())
    }

    /// Hands on what was found so far, the more seldom the more there is, if there is something new in it.
    fn publish(&mut self) -> io::Result<()> {
        let (pages, at) = self.published;
        let is_due = self.told.pages >= pages + PUBLISH_PAGES.max(pages / 5) && at.elapsed() >= self.patience();
        if !is_due || !self.has_changed {
            return Ok(());
        }
        self.writer.publish(unmet(&mut self.cut_off, &mut self.before))?;
        self.published = (self.told.pages, Instant::now());
        self.has_changed = false;
        Ok(())
    }

    /// The first time, nobody waits for anything else.
    fn patience(&self) -> Duration {
        if self.published.0 == 0 { Duration::ZERO } else { PUBLISH_EVERY }
    }

    /// Puts the new state in place. After a whole visit, pages that were not met are gone; after one that
    /// ended early, and without a sitemap that lists them, they stay.
    fn finish(mut self) -> io::Result<Visit> {
        if self.frontier.is_cut {
            self.told.skip(self.site.url.as_str(), &format!("only the first {} pages are read", self.site.pages_max));
        }
        if self.is_cancelled {
            self.writer.publish(unmet(&mut self.cut_off, &mut self.before))?;
            self.writer.leave()?;
            return Ok(self.told);
        }
        if self.told.gave_up || self.keeps_before {
            let mut cut_off = std::mem::take(&mut self.cut_off);
            for page in cut_off.rest() {
                drop(self.before.take(&page.url));
                self.write(&page)?;
            }
            for page in std::mem::take(&mut self.before).rest() {
                self.write(&page)?;
            }
        }
        self.writer.finish()?;
        Ok(self.told)
    }
}

/// What is known of pages that were not met, the newer state of each.
fn unmet<'a>(cut_off: &'a mut Before, before: &'a mut Before) -> impl Iterator<Item = KeptPage> + 'a {
    let newer: HashSet<String> = cut_off.urls().map(str::to_owned).collect();
    cut_off.rest().chain(before.rest().filter(move |page| !newer.contains(&page.url)))
}

fn is_page(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "text/html" | "application/xhtml+xml" | "")
}

/// Whether two items are the same apart from their grounding.
fn is_same(kept: &serde_json::Value, found: &serde_json::Value) -> bool {
    let (Some(kept), Some(found)) = (kept.as_object(), found.as_object()) else { return false };
    kept.len() == found.len() + 1 && found.iter().all(|(key, value)| kept.get(key) == Some(value))
}
