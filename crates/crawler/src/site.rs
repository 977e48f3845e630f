//! What the operator says of a site.

use std::time::Duration;

use url::Url;

/// A site, or a part of one, to read from the web.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebSite {
    /// Where to begin. Only what has its origin is read.
    pub url: Url,
    /// What lies there.
    pub read: SiteRead,
    /// Pages of one visit.
    pub pages_max: usize,
    /// Links from the first page to the last one. Used by [`SiteRead::Pages`].
    pub depth_max: u32,
    /// The least time between two requests. The site's own wish is heeded when it is longer.
    pub delay: Duration,
    /// The longest time that a visit may take: [`crate::limits::VISIT_TIME_MAX`] unless there is a reason.
    pub time_max: Duration,
}

/// What a [`WebSite`]'s URL leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SiteRead {
    /// A sitemap, or an index of sitemaps, gzip or not: the pages that it lists are read.
    Sitemap,
    /// A page: it is read, and those that it links to.
    Pages,
    /// A document with items: a feed, JSON, JSON-LD, JSON Lines or CSV.
    Document,
}
