//! Search: answers from indexed content, without any model or reranked by one.
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
//! | `content_file_errors.rs` | what of its files of data can't be read, told without an index |
//! | `sites.rs` | sites of the web, visited when they are due |
//! | `request.rs`, `library_parser.rs` | what is looked for, and how questions are read with an index |
//! | `conversation.rs`, `conversation/about_shown.rs` | what is asked, after what was asked before, and of what was shown |
//! | `follow_up.rs`, `name_role.rs` | how a turn goes on with a question: what it adds and what it replaces |
//! | `held_limits.rs`, `let_go.rs` | which limits still hold, and which are let go of |
//! | `renumbered.rs`, `ruled_out.rs` | a number that takes another's place, and what is not wanted |
//! | `phrase.rs`, `wording.rs` | what each turn said, and the question in words, with what earlier turns said |
//! | `shown.rs` | the item that is meant of those that were shown |
//! | `phrases.rs` | words around what is asked for |
//! | `filters.rs` | filters by name, and what a person clicked |
//! | `caller_context.rs` | what is known of the caller |
//! | `elicit.rs`, `elicited.rs` | asking back when very many items fit, and what is answered to that |
//! | `facets.rs`, `facet_ranges.rs`, `item_order.rs` | how the items that fit differ, and orders to choose |
//! | `current.rs` | what is over |
//! | `find.rs`, `boost.rs`, `ranking.rs`, `kind_named.rs`, `unwanted.rs` | from what is asked to what was found, in which order |
//! | `yes_or_no.rs` | whether one place is open then |
//! | `closest.rs`, `sold_out.rs` | whether anything has all that was asked for, and can be had |
//! | `beside_limits.rs` | what is found where the words beside the limits fit nothing |
//! | `answer_text.rs`, `facts.rs`, `values.rs`, `markdown.rs` | what was found, in words |
//! | `fact_question.rs`, `named_item.rs`, `fact_answer.rs`, `contains.rs` | one fact of one item |
//! | `own_property.rs`, `asked_words.rs`, `asked_data.rs`, `stated_values.rs`, `stated_fact.rs` | what an item states in whichever property |
//! | `own_text.rs` | the sentence of an item's text that says what is asked |
//! | `stated_parts.rs`, `equal_amounts.rs` | what its parts state, and amounts in the unit that people use |
//! | `mentioned.rs`, `variant.rs` | an item whose name stands in a question; one variant of an item |
//! | `compared_item.rs`, `comparative.rs` | what is compared with an item by its name, and the one of the shown that is more so |
//! | `document.rs`, `passage.rs` | a section of a document as the answer |
//! | `fact_data.rs`, `fact_context.rs` | which properties say what, as data |
//! | `engine.rs` | one message, from its question to its answer |
//! | `rerank.rs` | the same with the help of a language model, where there is one |
//! | `tool.rs` | the same search as a tool for models |

mod answer_text;
mod asked_data;
mod asked_words;
mod beside_limits;
mod boost;
mod broader;
mod caller_context;
mod closest;
mod comparative;
mod compared_item;
mod contains;
mod content_file_errors;
mod content_index;
mod conversation;
mod cross_rerank;
mod current;
mod diagnosis;
mod document;
mod elicit;
mod elicited;
mod engine;
mod equal_amounts;
mod facet_ranges;
mod facets;
mod fact_answer;
mod fact_context;
mod fact_data;
mod fact_question;
mod fact_words;
mod facts;
mod features;
mod filters;
mod find;
mod follow_up;
mod head_noun;
mod held_limits;
mod index_slots;
mod item_order;
mod kind_named;
mod let_go;
mod library_parser;
pub mod limits;
mod markdown;
mod mentioned;
mod name_role;
mod named_item;
mod own_property;
mod own_text;
mod passage;
mod phrase;
mod phrases;
mod ranker;
mod ranking;
mod renumbered;
mod request;
mod rerank;
mod ruled_out;
mod settings;
mod shown;
mod sites;
mod sold_out;
mod stated_fact;
mod stated_parts;
mod stated_values;
mod tool;
mod unwanted;
mod values;
mod variant;
mod wording;
mod yes_or_no;

use std::sync::Arc;

use async_stream::stream;
use forecourt_agents::backend::{BuiltAgent, Context};
use forecourt_core::{Admitted, Agent, EventStream, Language};
use forecourt_sentences::SpokenLanguage;
use forecourt_settings::{MovedKey, Problems, Section};

pub use content_index::ContentIndex;
use cross_rerank::CrossReranker;
use engine::SearchEngine;
use rerank::Reranker;
use settings::SearchSettings;
pub use settings::{content_sources, vocabulary_of};
pub use tool::SearchTool;

/// Keys by the names that they had in the release before.
const MOVED: &[MovedKey] = &[MovedKey { old: "sharpen", new: "rerank" }, MovedKey { old: "noun", new: "item_label" }];

/// The schema of the section of a `search` backend.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(SearchSettings)
}

/// Reads the section of a `search` backend and builds its agent. Opens no index yet.
///
/// # Errors
/// What is wrong in the section, with the line of each.
pub fn build(mut section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    section.accept_moved(MOVED);
    let mut problems = Problems::new();
    let reranker = section.take("rerank").map(|section| rerank::settings::read(&section, context));
    let reranker = reranker.and_then(|read| problems.absorb(read));
    let engine = section.take("engine").map(|section| settings::engine::read(&section, context));
    let engine = engine.and_then(|read| problems.absorb(read));
    // All problems at once, those of the tables in it too (`check` tells everything that is wrong).
    let read = problems.absorb(settings::read(&section, engine, context));
    problems.into_result(())?;
    let Some((settings, index)) = read else { return Err(Problems::new()) };
    let reranker = reranker.map(Arc::new);
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

    fn answer_language(&self, wanted: Option<&Language>, own: &Language) -> Language {
        SpokenLanguage::for_caller(wanted, own).tag(wanted, own)
    }

    fn handle(&self, admitted: Admitted) -> EventStream {
        let (engine, admitted) = (self.engine.clone(), Arc::new(admitted));
        if admitted.message().search.completes {
            return Box::pin(stream! {
                for event in engine::completed(engine, admitted).await {
                    yield event;
                }
            });
        }
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
