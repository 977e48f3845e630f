//! Content from the web: sites that the operator names, read as a polite visitor reads them.
//!
//! A [`WebSite`] is read into a file of JSON Lines, which is then a [`crate::ContentSource`] like any other. What is
//! kept beside it lets the next visit ask only for what has changed. Requests go through the guarded
//! client; nothing is fetched that is not of the site's own origin.
//!
//! | file | holds |
//! |---|---|
//! | `visit.rs` | one visit, from `robots.txt` to the last page |
//! | `fetch.rs` | one page: conditions, redirects, pace |
//! | `hosts.rs` | the pace of requests to each host |
//! | `own.rs` | what an item of a site may say of itself |
//! | `frontier.rs` | which pages are next |
//! | `kept.rs` | what is known of a site between two visits |
//! | `robots.rs`, `sitemap.rs` | the two files that sites have for visitors |
//! | `body.rs` | bytes to text: gzip and encodings |

pub(crate) mod body;
mod fetch;
mod frontier;
mod hosts;
mod kept;
mod own;
mod robots;
mod sitemap;
mod visit;

use std::time::Duration;

use url::Url;

pub use hosts::Hosts;
pub(crate) use robots::Robots;
pub(crate) use sitemap::Sitemap;
pub use visit::{Visit, Visitor};

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
