//! One visit to a site: from `robots.txt` to the last page.

mod bounds;
mod discovery;
mod page;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Clock;
use forecourt_egress::Egress;
use forecourt_loaders::limits::REASONS_MAX;
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::fetch::Fetcher;
use crate::frontier::Frontier;
use crate::hosts::Hosts;
use crate::kept::{Before, KeptPage, Writer};
use crate::limits::{PAGE_FAILURES_MAX, PUBLISH_EVERY, PUBLISH_FIRST_AFTER, PUBLISH_PAGES, SITE_BYTES_MAX};
use crate::robots::Robots;
use crate::site::WebSite;
use bounds::PassedBounds;
use discovery::WaitingSitemaps;

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
                sitemaps: WaitingSitemaps::default(),
                passed: PassedBounds::default(),
                begun: Instant::now(),
                has_changed: false,
                published: (0, Instant::now()),
                is_cancelled: false,
                told: Visit::default(),
            };
            tour.begin().await;
            let mut is_sitemaps_turn = true;
            while !tour.told.gave_up {
                let has_pages = tour.frontier.counts().0 > 0;
                // A page, a sitemap, a page: with hundreds of sitemaps, the first pages do not wait for the last of them.
                let sitemap = if is_sitemaps_turn || !has_pages { tour.sitemaps.next() } else { None };
                let page = if sitemap.is_none() { tour.frontier.next() } else { None };
                let Some(url) = sitemap.as_ref().or(page.as_ref().map(|(url, _)| url)) else { break };
                if let Some(reason) = tour.enough(cancel) {
                    tour.told.tell_bound(url.as_str(), &format!("the visit ends here: {reason}"));
                    tour.told.gave_up = true;
                    tour.is_cancelled = cancel();
                    break;
                }
                is_sitemaps_turn = sitemap.is_none();
                if let Some(sitemap) = sitemap {
                    tour.read_sitemap(&sitemap).await;
                } else if let Some((url, depth)) = page {
                    tour.page(&url, depth).await?;
                    tour.told.waiting = tour.frontier.counts().0;
                    progress(&tour.told);
                    tour.publish()?;
                }
            }
            tour.finish()
        })
    }
}

/// The state of a visit under way.
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
    /// Sitemaps that wait to be read, and those that were found.
    sitemaps: WaitingSitemaps,
    /// What a bound kept out.
    passed: PassedBounds,
    /// When the visit began.
    begun: Instant,
    /// Whether a page is another one than before, and that was not handed on.
    has_changed: bool,
    /// How many pages there were when what was found was handed on, and when that was.
    published: (usize, Instant),
    is_cancelled: bool,
    told: Visit,
}

impl Tour<'_> {
    /// Why no further page is asked for, if there is a reason.
    fn enough(&self, cancel: &(dyn Fn() -> bool + Sync)) -> Option<String> {
        if self.failures >= PAGE_FAILURES_MAX {
            return Some(format!("{PAGE_FAILURES_MAX} pages in a row could not be read"));
        }
        if self.begun.elapsed() >= self.site.time_max {
            return Some(format!("it has taken {} s", self.site.time_max.as_secs()));
        }
        cancel().then(|| "it was told to stop".to_owned())
    }

    fn keep(&mut self, page: &KeptPage, depth: u32) -> io::Result<()> {
        self.told.pages += 1;
        self.follow(page, depth);
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
        let waited = if pages == 0 { self.begun.elapsed() } else { at.elapsed() };
        if !is_due(pages, self.told.pages, waited) || !self.has_changed {
            return Ok(());
        }
        self.writer.publish(unmet(&mut self.cut_off, &mut self.before))?;
        self.published = (self.told.pages, Instant::now());
        self.has_changed = false;
        Ok(())
    }

    /// Puts the new state in place. After a whole visit, pages that were not met are gone; after one that
    /// ended early, and without a sitemap that lists them, they stay.
    fn finish(mut self) -> io::Result<Visit> {
        // A sitemap that failed ends the visit only where no other one listed a page.
        self.told.gave_up |= self.keeps_before && self.frontier.counts().1 == 0;
        self.tell_bounds();
        if self.is_cancelled {
            self.writer.publish(unmet(&mut self.cut_off, &mut self.before))?;
            // The next visit goes on from what was written; the old state stays until one comes to its end.
            self.writer.leave()?;
            return Ok(self.told);
        }
        if self.told.gave_up || self.keeps_before {
            let mut cut_off = std::mem::take(&mut self.cut_off);
            for page in cut_off.rest() {
                // The state of the visit that broke off is newer than that of the last whole one.
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

/// Whether pages are to be handed on, of which `before` were so already. `waited` is the time since then, or since the
/// visit began.
fn is_due(before: usize, pages: usize, waited: Duration) -> bool {
    match before {
        0 => pages >= PUBLISH_PAGES || (pages > 0 && waited >= PUBLISH_FIRST_AFTER),
        // A fifth more than last time: handing on copies all that was found, so the copies together stay few times its
        // size.
        _ => pages > before + before / 5 && waited >= PUBLISH_EVERY,
    }
}

/// What is known of pages that were not met, the newer state of each.
fn unmet<'a>(cut_off: &'a mut Before, before: &'a mut Before) -> impl Iterator<Item = KeptPage> + 'a {
    let newer: HashSet<String> = cut_off.urls().map(str::to_owned).collect();
    cut_off.rest().chain(before.rest().filter(move |page| !newer.contains(&page.url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pages_are_handed_on_early_and_others_more_seldom() {
        let none = Duration::ZERO;
        assert!(!is_due(0, PUBLISH_PAGES - 1, none) && is_due(0, PUBLISH_PAGES, none));
        let short = PUBLISH_FIRST_AFTER - Duration::from_millis(1);
        assert!(!is_due(0, 1, short) && is_due(0, 1, PUBLISH_FIRST_AFTER) && !is_due(0, 0, PUBLISH_FIRST_AFTER));
        assert!(!is_due(1, 2, PUBLISH_EVERY - Duration::from_millis(1)) && is_due(1, 2, PUBLISH_EVERY));
        assert!(!is_due(100, 120, PUBLISH_EVERY) && is_due(100, 121, PUBLISH_EVERY));
    }
}
