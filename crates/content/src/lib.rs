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
//! | `loaders` | data, feeds, tables and documents to items |
//! | `mapping` | what an operator says of the columns of a table |
//! | `item`, `facts`, `measure` | what is read from an item, and what filters can ask about |
//! | `classes` | of which classes of the vocabulary an item is |
//! | `grounding` | where an item comes from |
//! | `push`, `pushed` | items that the operator puts and removes by hand, and where they are kept |
//! | `follow` | the same on another node: what all nodes hold is put into this index |
//! | `archive` | a built index in one file |
//! | `analysis` | text to words, by language |
//! | `index` | the index on disk, and the run that fills it |
//! | `dense` | vectors |
//! | `search` | queries, ranking, hits |
//! | `web` | sites of the web, read into files for the loaders |
//! | `understand` | "under 30 minutes, no nuts" to filters |
//! | [`readable`] | addresses and opening hours as people write them |
//! | `summary` | a text in fewer sentences of its own |
//! | [`limits`] | every bound, with its unit |

mod analysis;
mod archive;
mod best;
mod classes;
mod dense;
mod error;
mod facts;
mod follow;
mod grounding;
mod index;
mod item;
mod library;
pub mod limits;
mod loaders;
mod mapping;
mod measure;
mod preview;
mod push;
mod pushed;
pub mod readable;
mod report;
mod search;
mod source;
mod summary;
mod understand;
mod web;

pub use archive::{INDEX_VERSION, unpack};
pub use error::{Error, Result};
pub use follow::{FollowedItem, FollowedRevision, PushedDocument, PushedItem};
pub use forecourt_embed::CrossEncoder;
pub use item::SECTION;
pub use library::{Library, Options};
pub use loaders::{PLACES as URL_PLACES, read_pdf_if_asked};
pub use mapping::TableMapping;
pub use preview::{read_items, read_page, read_sitemap, robots_allow};
pub use push::{NamedIds, PutOutcome, RemoveOutcome};
pub use report::{KindCount, LoadProgress, Progress, Report, SkippedItem};
pub use search::{
    ClassLimit, Correction, Exclusion, ExplainedHit, Facet, Facets, Filter, Hit, MatchedConstraint, Query, RankBy,
    SortOrder, Test, WordCoverage,
};
pub use source::{ContentSource, Fingerprint, SourceLook, fingerprint, look};
pub use summary::{SummaryWish, summary};
pub use understand::{Contradiction, ParsedQuestion, QuestionReading};
pub use web::{Hosts, SiteRead, Visit, Visitor, WebSite};
