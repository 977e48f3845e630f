//! Items into an index and out again.

mod archive;
mod common;
mod crash;
mod damage;
mod engine;
mod follow;
mod formats;
mod kitchen;
mod limits_kept;
mod limits_understood;
mod meaning;
mod names;
mod ordered;
mod push;
mod queries;
mod reindex;
mod retrieval;
mod stated;
mod times;
mod understanding;
mod variants;
