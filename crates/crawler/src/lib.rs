//! Reads sites of the web that the operator names, as a polite visitor does.
//!
//! A [`Visitor`] reads a [`WebSite`] into a file of JSON Lines, which is content like any other then. It heeds
//! `robots.txt`, keeps to the pace of each host and to the site's own origin, and asks on its next visit only for what
//! has changed. Requests go through the guarded client.
//!
//! No search engine's crawler: it finds no site by itself, runs no script of a page, and fills no index. What pages and
//! documents hold is read by `loaders`.
//!
//! Begin at `visit.rs`.
//!
//! | module | holds |
//! |---|---|
//! | `site` | what the operator says of a site |
//! | `visit` | one visit, from `robots.txt` to the last page |
//! | `fetch` | one document: conditions, redirects, pace |
//! | `hosts` | the pace of requests to each host |
//! | `own` | what an item of a site may say of itself |
//! | `frontier` | which pages are next |
//! | `kept` | what is known of a site between two visits |
//! | `robots`, `sitemap` | the two files that sites have for visitors, which can be read without a visit too |
//! | `gzip` | what is packed, unpacked within a bound |
//! | [`limits`] | every bound, with its unit |

mod fetch;
mod frontier;
mod gzip;
mod hosts;
mod kept;
pub mod limits;
mod own;
mod robots;
mod site;
mod sitemap;
mod visit;

pub use hosts::Hosts;
pub use robots::robots_allow;
pub use site::{SiteRead, WebSite};
pub use sitemap::read_sitemap;
pub use visit::{Visit, Visitor};
