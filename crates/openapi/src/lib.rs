//! Endpoints out of OpenAPI documents, and back. Draft-hood-agtp-api-01 section 14 and appendix A.3.
//!
//! | module | sections | holds |
//! |---|---|---|
//! | [`document`] | | JSON or YAML of OpenAPI 3.0 to 3.2, read with bounds |
//! | [`export`](mod@export) | 14.2, A.3 | an OpenAPI document out of endpoints, and what it loses |
//! | [`import`](mod@import) | 14.1, A.3, B.1 | endpoint files, every guess marked |
//! | [`reimport`] | 14.1 | a newer version of a document into the same folder: what people edited stays |
//! | [`limits`] | | every bound, with its unit |

pub mod document;
pub mod export;
pub mod import;
pub mod limits;

pub use import::reimport;

pub use export::{About, Export, export};
pub use import::{
    EndpointFiles, File, Import, ImportChoices, ImportError, ImportFate, ImportNotes, ImportedOperation, Options, Part,
    Review, ReviewCause, ToolDescription, ToolServer, import, import_tools,
};
