//! `search`: answers from indexed content, without any model or reranked by one.
//!
//! An answer is a sentence or two about what was found, then the ranked items as a markdown list, and
//! then the items themselves as parts, as they were loaded. Constraints in the question ("under 30
//! minutes, no nuts") are applied and named. In a conversation, "more" goes on, and "only vegetarian
//! ones" narrows down what was asked before. The same question on the same content has the same answer.
//!
//! A data part `{"filters": {…}}` beside the text asks for values of properties, such as
//! `{"itemType": "Recipe", "recipeCuisine": "Indian"}`.
//!
//! A protocol of ours may set [`forecourt_core::SearchOptions`] on a message: to be told
//! [`forecourt_core::Findings`] before the answer, and how the items differ; and what a person then clicked
//! ([`forecourt_core::SearchRefinement`]). What was asked back is known from the question that stands in the turn.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs`, `limits.rs` | the keys, and every bound |
//! | `content_index.rs` | the index of one agent, opened when it is first needed |
//! | `sites.rs` | sites of the web, visited when they are due |
//! | `request.rs` | what is looked for |
//! | `conversation.rs` | what is asked, after what was asked before |
//! | `phrases.rs` | words around what is asked for |
//! | `filters.rs` | filters by name, and what a person clicked |
//! | `caller_context.rs` | what is known of the caller |
//! | `elicit.rs` | asking back when very many items fit |
//! | `facets.rs` | how the items that fit differ |
//! | `find.rs`, `boost.rs` | from what is asked to what was found, in which order |
//! | `answer_text.rs`, `facts.rs`, `markdown.rs` | what was found, in words |
//! | `engine.rs` | one message, from its question to its answer |
//! | `rerank.rs` | the same with the help of a language model, where there is one |
//! | `tool.rs` | the same search as a tool for models |

mod answer_text;
mod boost;
mod caller_context;
mod content_index;
mod conversation;
mod cross_rerank;
mod elicit;
mod engine;
mod facets;
mod facts;
mod filters;
mod find;
pub mod limits;
mod markdown;
mod phrases;
mod ranker;
mod request;
mod rerank;
mod settings;
mod sites;
mod tool;

use std::sync::Arc;

use async_stream::stream;
use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use forecourt_core::{Admitted, Agent, EventStream};
use forecourt_settings::{MovedKey, Problems, Section};

pub use content_index::ContentIndex;
use cross_rerank::CrossReranker;
use engine::SearchEngine;
use rerank::Reranker;
use settings::SearchSettings;
pub use settings::content_sources;
pub use tool::SearchTool;

/// The backends of this crate.
pub const BACKENDS: &[Backend] = &[BACKEND];

/// Answers from indexed content.
pub const BACKEND: Backend = Backend {
    kind: "search",
    about: "Answers from your own content: no model, no keys. Files are indexed at start, and again when they change.",
    schema: || schemars::schema_for!(SearchSettings),
    build,
};

/// Keys by the names that they had in the release before.
const MOVED: &[MovedKey] = &[MovedKey { old: "sharpen", new: "rerank" }, MovedKey { old: "noun", new: "item_label" }];

fn build(mut section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    section.accept_moved(MOVED);
    let reranker = section.take("rerank").map(|section| rerank::settings::read(&section, context)).transpose();
    let (settings, index) = match (settings::read(&section, context), &reranker) {
        (Ok(read), _) => read,
        (Err(mut problems), Err(others)) => {
            problems.extend(others.clone());
            return Err(problems);
        }
        (Err(problems), Ok(_)) => return Err(problems),
    };
    let reranker = reranker?.map(Arc::new);
    let index = Arc::new(index);
    let engine = SearchEngine {
        index: index.clone(),
        item_label: settings.item_label,
        results: settings.results,
        elicit: settings.elicit.over(),
        cross_reranker: settings.cross_encoder_dir.map(|dir| CrossReranker::new(context.resolve(dir))),
    };
    let agent = SearchAgent { engine: Arc::new(engine), reranker };
    Ok(BuiltAgent { remembers: true, finds: true, indexing: Some(index), ..BuiltAgent::new(agent) })
}

struct SearchAgent {
    engine: Arc<SearchEngine>,
    /// The model that helps, if one does.
    reranker: Option<Arc<Reranker>>,
}

impl Agent for SearchAgent {
    fn has_host(&self, host: &str) -> bool {
        self.engine.index.opened().is_some_and(|library| library.has_host(host))
    }

    fn handle(&self, admitted: Admitted) -> EventStream {
        let (engine, admitted) = (self.engine.clone(), Arc::new(admitted));
        match self.reranker.clone() {
            Some(reranker) => rerank::events(engine, reranker, admitted),
            None => Box::pin(stream! {
                for event in engine::answered(engine, admitted).await {
                    yield event;
                }
            }),
        }
    }
}
