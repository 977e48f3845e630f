//! Content.
#![allow(dead_code, unused_imports)]
mod analysis;
mod error;
mod facts;
mod item;
mod loaders;
mod measure;
pub mod limits;
pub use error::{Error, Result};
