//! `search`: what is asked, found, refused and reranked.

mod beside_limits;
mod content;
mod conversations;
mod documentation;
mod engines;
mod facts;
mod guide;
mod meaning;
mod near;
mod over;
mod parts_asked;
mod ranking;
mod refusals;
mod rerank;
mod rerank_faults;
mod rerank_limits;
mod search;
mod shelves;
mod shop;
mod shown_facts;
mod sites;
mod support;
mod told;
mod trade;
