//! The bounds that ended a visit, or the following of links: each is told, and before all other reasons.

use forecourt_loaders::limits::{PAGE_LINKS_MAX, REASONS_MAX};
use url::Url;

use super::{Tour, Visit};
use crate::kept::KeptPage;
use crate::limits::{PAGE_URL_BYTES_MAX, SITEMAPS_MAX};
use crate::site::SiteRead;

/// What was not followed because of a bound.
#[derive(Debug, Default)]
pub(super) struct PassedBounds {
    /// Pages of the last depth that lead to others.
    deep_pages: u64,
    /// Pages with as many links as are read of one.
    full_pages: u64,
    /// Sitemaps that were listed beyond as many as are read.
    pub(super) sitemaps: u64,
}

impl Visit {
    /// Tells a bound in front of what was left out, so that it is never among the reasons that are only counted.
    pub(super) fn tell_bound(&mut self, url: &str, bound: &str) {
        self.skipped += 1;
        self.reasons.truncate(REASONS_MAX - 1);
        self.reasons.insert(0, format!("{url}: {bound}"));
    }
}

impl Tour<'_> {
    /// Adds the pages that a page leads to, or notes the bound that keeps them out.
    pub(super) fn follow(&mut self, page: &KeptPage, depth: u32) {
        if self.site.read != SiteRead::Pages {
            return;
        }
        let mut links = page.links.iter().filter_map(|link| Url::parse(link).ok());
        self.passed.full_pages += u64::from(page.links.len() >= PAGE_LINKS_MAX);
        match depth < self.site.depth_max {
            true => links.for_each(|link| self.frontier.add(&link, depth + 1)),
            false => {
                let frontier = &self.frontier;
                self.passed.deep_pages += u64::from(links.any(|link| frontier.new_page(&link).is_some()));
            }
        }
    }

    /// Tells the bounds that kept pages out.
    pub(super) fn tell_bounds(&mut self) {
        let PassedBounds { deep_pages, full_pages, sitemaps } = std::mem::take(&mut self.passed);
        let (pages, depth, long) = (self.site.pages_max, self.site.depth_max, self.frontier.too_long);
        let bounds = [
            (long, format!("links of more than {PAGE_URL_BYTES_MAX} bytes were not followed: {long}")),
            (sitemaps, format!("sitemaps after the first {SITEMAPS_MAX} were not read: {sitemaps}")),
            (full_pages, format!("pages of which only the first {PAGE_LINKS_MAX} links were followed: {full_pages}")),
            (
                deep_pages,
                format!(
                    "further pages are linked from pages that are {depth} links away (`depth`), and were not followed; \
                     such pages: {deep_pages}"
                ),
            ),
            (u64::from(self.frontier.is_cut), format!("only the first {pages} pages are read (`pages`)")),
        ];
        for (_, bound) in bounds.iter().filter(|(count, _)| *count > 0) {
            self.told.tell_bound(self.site.url.as_str(), bound);
        }
    }
}
