//! Content in, ranked items out: loaders for the formats that people keep their content in, and a
//! search index over it. Knows of no agent and no protocol.
//!
//! A [`Library`] is an index in a folder. [`Library::index`] brings it in line with a list of
//! [`ContentSource`]s, [`Library::search`] answers a [`Query`], and [`Library::understand`] finds the
//! constraints in a question. Ranking is BM25 by words, fused with the nearest vectors when an
//! embedding model is given.
//!
//! | module | holds |
//! |---|---|
//! | `loaders` | JSON Lines, JSON-LD, CSV, feeds and Markdown to items, as streams |
//! | `item`, `facts`, `measure` | what is read from an item, and what filters can ask about |
//! | `grounding` | where an item comes from |
//! | `push`, `pushed` | items that the operator puts and removes by hand, and where they are kept |
//! | `analysis` | text to words, by language |
//! | `index` | the index on disk, and the run that fills it |
//! | `dense` | vectors |
//! | `search` | queries, ranking, hits |
//! | `web` | sites of the web, read into files for the loaders |
//! | `understand` | "under 30 minutes, no nuts" to filters |
//! | `summary` | a text in fewer sentences of its own |
//! | [`limits`] | every bound, with its unit |

mod analysis;
mod best;
mod dense;
mod error;
mod facts;
mod grounding;
mod index;
mod item;
mod library;
pub mod limits;
mod loaders;
mod measure;
mod preview;
mod push;
mod pushed;
mod report;
mod search;
mod source;
mod summary;
mod understand;
mod web;

pub use error::{Error, Result};
pub use forecourt_embed::CrossEncoder;
pub use library::{Library, Options};
pub use preview::{read_items, read_page, read_sitemap, robots_allow};
pub use push::{PutOutcome, RemoveOutcome};
pub use report::{LoadProgress, Progress, Report, SkippedItem};
pub use search::{
    Correction, ExplainedHit, Facet, Facets, Filter, Hit, MatchedConstraint, Query, RankBy, SortOrder, Test,
};
pub use source::{ContentSource, Fingerprint, fingerprint};
pub use summary::{SummaryWish, summary};
pub use understand::ParsedQuestion;
pub use web::{SiteRead, Visit, Visitor, WebSite};
