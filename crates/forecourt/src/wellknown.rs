//! What programs look for on every host, whoever they are: which paths crawlers should leave alone, what a
//! language model should read first, and what catalogs list. Nothing here belongs to one protocol: what each
//! of them has to show is in the endpoints of the agents' cards.
//!
//! | path | file |
//! |---|---|
//! | `/robots.txt` (RFC 9309) | `robots.rs` |
//! | `/llms.txt` | `llms.rs` |
//! | `/license.xml` (RSL 1.0) | `crate::crawl` |
//! | `/sitemap.xml` | `sitemap.rs` |
//! | `/.well-known/api-catalog` (RFC 9727) | `api_catalog.rs` |
//! | `/.well-known/ai-catalog.json` (AI Catalog 1.0) | `ai_catalog.rs` |
//! | `/.well-known/security.txt` (RFC 9116) | the operator's own: `public.rs` |
//!
//! A file of the same name in the deployment's folder `public/` goes before what is made here.

mod ai_catalog;
mod api_catalog;
mod limits;
mod listing;
mod llms;
mod public;
mod robots;
mod sitemap;
mod surface;

pub(crate) use public::public_file;

use forecourt_surface::{HttpRoutes, Mount};

/// What these routes are called in metrics.
pub(crate) const NAME: &str = "well-known";

/// The routes.
pub(crate) fn routes(mount: &Mount) -> HttpRoutes {
    surface::routes(mount)
}
