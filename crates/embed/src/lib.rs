//! Text in, vectors out: embedding models that run in this process, on the processor, without a
//! network. Knows of no items and no index.
//!
//! | module | holds |
//! |---|---|
//! | `model` | [`Model`]: what callers see, whatever the kind |
//! | `cross_encoder` | [`CrossEncoder`]: how well a text answers a question |
//! | `folder` | which file of a model's folder is which |
//! | `tensors` | numbers out of a weight file |
//! | `table` | static models: a row per token |
//! | `encoder` | sentence transformers of the BERT family |
//! | [`limits`] | every bound, with its unit |

mod cross_encoder;
mod encoder;
mod error;
mod folder;
pub mod limits;
mod model;
mod table;
mod tensors;

pub use cross_encoder::CrossEncoder;
pub use error::{Error, Result};
pub use model::{Kind, Model};
