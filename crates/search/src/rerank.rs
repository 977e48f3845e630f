//! This module lets a language model help a search: questions worded anew, items ranked and explained, a summary that
//! cites them. Every step may fail, be late or cost too much; the answer is then the one that the search gives
//! by itself, and says so.
//!
//! What a model reads of others is data, and what it writes is words: its scores have bounds, its numbers have
//! to be those of items, its links and markup are taken out, and nothing it says leads to anything being done.
//! An item can so flatter itself, at most; it can't speak in our name, lead elsewhere or bring to light what it
//! was not told. Security sheet, section 11.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | the keys |
//! | `candidates.rs`, `ranked_answer.rs` | an answer from its question to its candidates, and on to its last event |
//! | `rewrite.rs`, `rank.rs`, `order.rs`, `summary.rs` | the steps, as values |
//! | `prompt.rs`, `prompt_item.rs` | what a model is told, and items as it is shown them |
//! | `clean.rs`, `json.rs` | what a model wrote, read with suspicion |
//! | `model.rs`, `answer_cache.rs`, `budget.rs`, `error.rs` | one call: shared, cached, bounded in tokens and in time |

mod answer_cache;
mod budget;
mod candidates;
mod clean;
mod error;
mod json;
mod model;
mod order;
mod prompt;
mod prompt_item;
mod rank;
mod ranked_answer;
mod rewrite;
pub(super) mod settings;
mod summary;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Language, Message};

use budget::Budget;
use model::RerankModel;

pub(super) use ranked_answer::events;

/// The model of one agent, and what it is used for.
pub(super) struct Reranker {
    model: Arc<RerankModel>,
    /// That of the content.
    language: Language,
    /// Whether questions are worded anew.
    rewrites: bool,
    /// Items that are ranked. 0: none.
    rank: usize,
    /// Whether they say why they are here.
    reasons: bool,
    /// Whether answers end in a summary, unless the caller decides.
    summarizes: bool,
    /// Tokens of one question.
    tokens: usize,
    /// Until the order has to be known.
    rank_time: Duration,
    /// Until the summary has to be whole.
    total_time: Duration,
}

impl Reranker {
    /// What answering `message` may cost, from now on.
    fn budget(&self, message: &Message) -> Budget {
        Budget::new(message, self.tokens, self.rank_time, self.total_time)
    }

    /// Candidates for `page` items: whole pages, so that "more" goes on where an answer ended. `None`: items
    /// behind `offset` are not ranked.
    fn candidates(&self, page: usize, offset: usize) -> Option<usize> {
        let ranked = self.rank.div_ceil(page) * page;
        (offset < ranked).then_some(ranked)
    }
}
