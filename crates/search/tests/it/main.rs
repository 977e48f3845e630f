//! `search`: what is asked, found, refused and reranked.

mod content;
mod conversations;
mod facts;
mod guide;
mod meaning;
mod over;
mod refusals;
mod rerank;
mod rerank_faults;
mod search;
mod sites;
mod support;
mod trade;
