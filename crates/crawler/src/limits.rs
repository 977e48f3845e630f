//! Every bound of a visit to a site, with its unit.

/// Rules of one `robots.txt`; later ones are passed over.
pub const ROBOTS_RULES_MAX: usize = 10_000;
/// The longest time between two requests that a site's `robots.txt` can ask for.
pub const ROBOTS_DELAY_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of a `robots.txt`. RFC 9309 2.5 wants 500 KiB at least.
pub const ROBOTS_BYTES_MAX: usize = 512 * 1024;
/// URLs of one sitemap.
pub const SITEMAP_URLS_MAX: usize = 50_000;
/// Sitemaps of one site.
pub const SITEMAPS_MAX: usize = 1_000;
/// Bytes of a sitemap or a document as it is sent. Longer ones are skipped.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of what is unpacked from gzip.
pub const UNPACKED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a page. Longer ones are skipped.
pub const PAGE_BYTES_MAX: usize = forecourt_egress::limits::PAGE_BYTES_MAX;
/// Bytes of a page's URL.
pub const PAGE_URL_BYTES_MAX: usize = 2_048;
/// Bytes that are kept of a site: its items, and where its pages lead. Pages behind that are skipped.
pub const SITE_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Redirects followed for a page; all of them within the site.
pub const PAGE_REDIRECTS_MAX: usize = 5;
/// Hosts whose pace is remembered; more are forgotten when they may be asked again.
pub const HOSTS_MAX: usize = 10_000;
/// The longest time for which a host can ask to be left alone.
pub const RETRY_AFTER_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Pages of a visit that are read before what was found so far is handed on for the first time, unless
/// [`PUBLISH_FIRST_AFTER`] has passed.
pub const PUBLISH_PAGES: usize = 10;
/// The time after which the first pages are handed on, however few they are.
pub const PUBLISH_FIRST_AFTER: std::time::Duration = std::time::Duration::from_secs(2);
/// The least time between two times that what a visit has found is handed on.
pub const PUBLISH_EVERY: std::time::Duration = std::time::Duration::from_secs(5);
/// The longest time that a visit to a site may take. Then it gives up; what is known of the rest stays.
pub const VISIT_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(12 * 60 * 60);
/// Pages in a row that fail before a visit gives up; what is known of the rest stays.
pub const PAGE_FAILURES_MAX: usize = 10;
