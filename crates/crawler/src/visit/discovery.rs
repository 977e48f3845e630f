//! The beginning of a visit: what may be read, and what there is.

use std::collections::{HashSet, VecDeque};

use forecourt_loaders::decode_text;
use url::Url;

use super::{AGENT, Tour};
use crate::fetch::FetchOutcome;
use crate::limits::{DOCUMENT_BYTES_MAX, ROBOTS_BYTES_MAX, SITEMAPS_MAX};
use crate::robots::Robots;
use crate::site::SiteRead;
use crate::sitemap::Sitemap;

/// Sitemaps of a visit, each of them once.
#[derive(Debug, Default)]
pub(super) struct WaitingSitemaps {
    waiting: VecDeque<Url>,
    found: HashSet<String>,
}

impl WaitingSitemaps {
    /// Begins with one.
    fn begin(&mut self, url: Url) {
        self.found.insert(url.as_str().to_owned());
        self.waiting.push_back(url);
    }

    /// Adds one, unless it was found before. Whether there was room for it: [`SITEMAPS_MAX`].
    fn add(&mut self, url: Url) -> bool {
        if self.found.contains(url.as_str()) {
            return true;
        }
        if self.found.len() >= SITEMAPS_MAX {
            return false;
        }
        self.begin(url);
        true
    }

    pub(super) fn next(&mut self) -> Option<Url> {
        self.waiting.pop_front()
    }
}

impl Tour<'_> {
    /// Finds out what may be read, and where to begin.
    pub(super) async fn begin(&mut self) {
        if let Err(reason) = self.ask_robots().await {
            self.told.skip(self.site.url.as_str(), &format!("robots.txt cannot be read, so nothing else is: {reason}"));
            self.told.gave_up = true;
            return;
        }
        match self.site.read {
            SiteRead::Sitemap => self.sitemaps.begin(self.site.url.clone()),
            SiteRead::Pages | SiteRead::Document => self.frontier.add(&self.site.url, 0),
        }
    }

    /// RFC 9309 2.3.1: no file allows everything, a broken server nothing.
    async fn ask_robots(&mut self) -> Result<(), String> {
        let url = self.site.url.join("/robots.txt").map_err(|error| error.to_string())?;
        let is_own = |url: &Url| url.origin() == self.site.url.origin();
        self.robots = match self.fetcher.fetch(&url, ROBOTS_BYTES_MAX, None, &is_own).await {
            FetchOutcome::Found(_, document) => Robots::read(&decode_text(&document.bytes, "charset=utf-8"), AGENT),
            FetchOutcome::TooLarge(reason) | FetchOutcome::Failed(reason) => return Err(reason),
            FetchOutcome::Unchanged | FetchOutcome::Gone(_) => Robots::default(),
        };
        // The longer of the two wishes: the operator may be slower than the site asks for, never faster.
        self.fetcher.delay = self.robots.delay.map_or(self.site.delay, |delay| delay.max(self.site.delay));
        Ok(())
    }

    /// Reads a sitemap: the pages and the sitemaps that it lists wait then. When it cannot be read, nothing of before is
    /// given up.
    pub(super) async fn read_sitemap(&mut self, url: &Url) {
        let found = match self.sitemap(url).await {
            Ok(found) => found,
            Err(reason) => {
                self.told.skip(url.as_str(), &reason);
                self.keeps_before = true;
                return;
            }
        };
        if let Some(reason) = &found.broken {
            self.told.skip(url.as_str(), reason);
            self.keeps_before = true;
        }
        for page in found.pages.iter().filter_map(|page| url.join(page).ok()) {
            match self.frontier.is_own(&page) {
                true => self.frontier.add(&page, 0),
                // sitemaps.org: a sitemap speaks for its own site. Another one's pages would be read without that
                // site's robots.txt.
                false => self.told.skip(page.as_str(), "of another site than its sitemap"),
            }
        }
        for next in found.sitemaps.iter().filter_map(|next| url.join(next).ok()) {
            if !self.frontier.is_own(&next) {
                self.told.skip(next.as_str(), "of another site than its index");
            } else if !self.sitemaps.add(next) {
                self.passed.sitemaps += 1;
                // What they list is not gone because nobody looked.
                self.keeps_before = true;
            }
        }
    }

    async fn sitemap(&mut self, url: &Url) -> Result<Sitemap, String> {
        let is_own = |url: &Url| url.origin() == self.site.url.origin();
        match self.fetcher.fetch(url, DOCUMENT_BYTES_MAX, None, &is_own).await {
            FetchOutcome::Found(_, document) => Sitemap::decode(&document.bytes, &document.mime),
            FetchOutcome::Unchanged => Err("nothing of it was kept".to_owned()),
            FetchOutcome::Gone(reason) | FetchOutcome::TooLarge(reason) | FetchOutcome::Failed(reason) => Err(reason),
        }
    }
}
