//! A search index over items: words and vectors in a folder, and what is asked of them.
//!
//! A [`Library`] is an index in a folder. [`Library::index`] brings it in line with a list of
//! [`forecourt_loaders::ContentSource`]s, [`Library::put`] takes items that are pushed, [`Library::search`] answers a
//! [`Query`], and [`Library::understand`] finds the constraints in a question, as far as the items state such facts.
//! Ranking is BM25 by words, fused with the nearest vectors when an embedding model is given.
//!
//! Reads no format and no site (`loaders`, `crawler`), knows what no question means (`understanding`), and nothing of
//! agents and protocols.
//!
//! Begin at `library.rs`: `library/loading.rs` fills the index, `library/questions.rs` asks it.
//!
//! | module | holds |
//! |---|---|
//! | `library` | an open index: filled, pushed into, followed, asked, packed into an archive |
//! | `search` | queries, ranking, hits |
//! | `index` | the index on disk, and the run that fills it |
//! | `dense` | vectors |
//! | `columns` | what words and vectors have in common |
//! | `proposals` | words that a vocabulary could say more of |
//! | `pushed` | items that the operator puts and removes by hand, and where they are kept |
//! | `facts` | the properties of an item, by dot paths: what filters can ask about |
//! | `variants` | what the variants of an item state, told apart |
//! | `address` | addresses that are one text, taken apart |
//! | `classes` | of which classes of the vocabulary an item is |
//! | `promise` | whether an item keeps a limit only because it says so |
//! | `item_texts` | the texts of an item that are searched, and embedded |
//! | `analysis` | text to words, by language |
//! | `summary` | a text in fewer sentences of its own |
//! | `report` | what a run says while it runs and when it ends |
//! | `best` | the best few of many |
//! | [`limits`] | every bound, with its unit |

mod address;
mod analysis;
mod best;
mod classes;
mod columns;
mod dense;
mod error;
mod facts;
mod index;
mod item_texts;
mod library;
pub mod limits;
mod promise;
mod proposals;
mod pushed;
mod report;
mod search;
mod summary;
mod variants;

pub use error::{Error, Result};
pub use facts::is_sold_out;
pub use forecourt_embed::CrossEncoder;
pub use library::{
    EngineOptions, INDEX_VERSION, ItemsState, Library, NamedIds, Options, PutOutcome, RemoveOutcome, unpack,
};
pub use promise::Promise;
pub use proposals::UnansweredQuestion;
pub use pushed::{FollowedItem, FollowedRevision, PushedDocument, PushedItem};
pub use report::{KindCount, LoadProgress, Progress, Report};
pub use search::{
    Adjustment, Completion, Correction, Diagnosis, Effect, ExplainedHit, Facet, Facets, Hit, LimitVerdict,
    MatchedConstraint, Query, RankBy, RankedHits, WordCoverage,
};
pub use summary::{SummaryWish, summary};
