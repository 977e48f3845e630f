//! `search`: what is asked, found, refused and reranked.

mod content;
mod conversations;
mod documentation;
mod facts;
mod guide;
mod meaning;
mod over;
mod refusals;
mod rerank;
mod rerank_faults;
mod rerank_limits;
mod search;
mod sites;
mod support;
