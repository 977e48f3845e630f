//! Content in, items out: the formats that people keep their content in (data, feeds, tables, documents, pages of the
//! web), read as schema.org items.
//!
//! An item is a JSON object with a name. A [`ContentSource`] is a file or a folder of the operator's, [`files`] finds
//! what is in it, and [`load`] reads one file and hands each item, or why there is none, to a [`Sink`]. Data is read as
//! a stream: what is in memory at once is one item. Documents are read whole, up to a bound.
//!
//! Knows of no index, no question and no connection: what is on the web comes as bytes.
//!
//! Begin at `formats.rs`; a format is a file in `formats/` and a line in `format.rs`.
//!
//! | module | holds |
//! |---|---|
//! | [`item`] | what is read from an item: its id, its name, its texts |
//! | [`grounding`] | where an item comes from |
//! | `source` | files and folders, and whether they have changed |
//! | `mapping` | what an operator says of the columns of a table |
//! | `format` | the formats, by endings and media types |
//! | `sink` | what takes items, and why something is none |
//! | `active` | addresses that no item is handed over with |
//! | `formats` | a file, or a document in memory, to items |
//! | `opening_hours` | opening hours as people write them |
//! | `prices` | which of an offer's prices counts at a moment |
//! | `preview` | what is in a file or a page, for who has no index |
//! | [`limits`] | every bound, with its unit |

mod active;
mod format;
mod formats;
pub mod grounding;
pub mod item;
pub mod limits;
mod mapping;
mod opening_hours;
mod preview;
mod prices;
mod sink;
mod source;

pub use format::Format;
pub use formats::{
    DocumentContents, Input, PLACES as URL_PLACES, Page, collect_items, decode_text, has_directive, load,
    read_pdf_if_asked, resolve_entity,
};
pub use mapping::TableMapping;
pub use preview::{FileItems, read_items, read_page};
pub use prices::{can_be_had, list_price, lowest_price, priced};
pub use sink::{At, Reason, Sink, Stop};
pub use source::{ContentSource, Files, Fingerprint, SkippedItem, SourceError, SourceFile, SourceLook, files, look};
