//! `search`: answers from indexed content, without any model or sharpened by one.
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
//! ([`forecourt_core::Narrowing`]). What was asked back is known from the question that stands in the turn.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | the keys |
//! | `shelf.rs` | the index of one agent, opened when it is first needed |
//! | `sites.rs` | sites of the web, visited when they are due |
//! | `conversation.rs` | what is asked, after what was asked before |
//! | `phrases.rs` | words around what is asked for |
//! | `named.rs` | filters by name, and what a person clicked |
//! | `background.rs` | what is known of the caller |
//! | `elicit.rs` | asking back when very many items fit |
//! | `facets.rs` | how the items that fit differ |
//! | `find.rs`, `lean.rs` | from what is asked to what was found, in which order |
//! | `answer.rs`, `facts.rs`, `markdown.rs` | what was found, in words |
//! | `sharpen.rs` | the same with the help of a language model, where there is one |
//! | `tool.rs` | the same search as a tool for models |

mod answer;
mod background;
mod conversation;
mod elicit;
mod facets;
mod facts;
mod find;
mod lean;
mod markdown;
mod named;
mod phrases;
pub(crate) mod settings;
mod sharpen;
pub(crate) mod shelf;
mod sites;
pub(crate) mod tool;

use std::ops::ControlFlow;
use std::sync::Arc;

use async_stream::stream;
use forecourt_content::{Error, Library};
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Findings, Message, Question};
use forecourt_settings::{Problems, Section};

use crate::backend::{Backend, BuiltAgent, Context};
use crate::declined::unavailable;
use crate::limits::INLINE_ITEMS_MAX;
use answer::Words;
use conversation::{Asked, Wish};
use find::Found;
use settings::SearchSettings;
use sharpen::Sharpener;
use shelf::Shelf;

/// Answers from indexed content.
pub const BACKEND: Backend = Backend {
    kind: "search",
    about: "Answers from your own content: no model, no keys. Files are indexed at start, and again when they change.",
    schema: || schemars::schema_for!(SearchSettings),
    build,
};

fn build(mut section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let sharpener = section.take("sharpen").map(|section| sharpen::settings::read(&section, context)).transpose();
    let (settings, shelf) = match (settings::read(&section, context), &sharpener) {
        (Ok(read), _) => read,
        (Err(mut problems), Err(others)) => {
            problems.extend(others.clone());
            return Err(problems);
        }
        (Err(problems), Ok(_)) => return Err(problems),
    };
    let shelf = Arc::new(shelf);
    let desk = Desk {
        shelf: shelf.clone(),
        noun: settings.noun,
        results: settings.results,
        elicit: settings.elicit.over(),
        sharpener: sharpener?.map(Arc::new),
    };
    Ok(BuiltAgent {
        remembers: true,
        finds: true,
        indexing: Some(shelf),
        ..BuiltAgent::new(SearchAgent(Arc::new(desk)))
    })
}

struct SearchAgent(Arc<Desk>);

/// Where questions are answered.
struct Desk {
    shelf: Arc<Shelf>,
    /// What several items are called.
    noun: String,
    /// Items of one answer.
    results: usize,
    /// How many items have to fit for a question to be asked back. `None`: never.
    elicit: Option<usize>,
    /// The model that helps, if one does.
    sharpener: Option<Arc<Sharpener>>,
}

impl Agent for SearchAgent {
    fn has_host(&self, host: &str) -> bool {
        self.0.shelf.opened().is_some_and(|library| library.has_host(host))
    }

    fn handle(&self, admitted: Admitted) -> EventStream {
        let (desk, admitted) = (self.0.clone(), Arc::new(admitted));
        match desk.sharpener.clone() {
            Some(sharpener) => sharpen::answer::events(desk, sharpener, admitted),
            None => Box::pin(stream! {
                for event in answered(desk, admitted).await {
                    yield event;
                }
            }),
        }
    }
}

async fn answered(desk: Arc<Desk>, admitted: Arc<Admitted>) -> Vec<Event> {
    let answered = desk.with_library(move |desk, library| desk.answer(library, &admitted)).await;
    answered.unwrap_or_else(|ending| vec![Event::Ending(ending)])
}

fn broken() -> Ending {
    Ending::failed("The search behind this agent failed.")
}

impl Desk {
    /// Does something with the index, on a thread of its own when that may take long.
    async fn with_library<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Library) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Ending> {
        let desk = self.clone();
        let done = match self.shelf.opened() {
            // A small index answers sooner than a thread is woken.
            Some(library) if library.len() <= INLINE_ITEMS_MAX => Some(work(&desk, &library)),
            _ => {
                let work = move || desk.shelf.library().and_then(|library| work(&desk, &library));
                tokio::task::spawn_blocking(work).await.ok()
            }
        };
        done.ok_or_else(broken)?.map_err(|error| {
            tracing::error!(%error, "a search failed");
            broken()
        })
    }

    fn answer(&self, library: &Library, admitted: &Admitted) -> Result<Vec<Event>, Error> {
        let asked = match self.wished(library, admitted) {
            ControlFlow::Continue(asked) => asked,
            ControlFlow::Break(events) => return Ok(events),
        };
        if let Some(question) = self.question(library, &asked)? {
            return Ok(vec![Event::Ending(Ending::Question(question))]);
        }
        let found = find::find(library, &asked, self.page(&asked))?;
        self.told(&self.words(library, admitted), admitted.message(), &asked, &found)
    }

    /// What is asked for, or the answer to who asks for nothing.
    fn wished(&self, library: &Library, admitted: &Admitted) -> ControlFlow<Vec<Event>, Asked> {
        if library.is_empty() && !self.shelf.is_filled() {
            let message = format!("I am still reading my {}. Please ask again in a moment.", self.noun);
            return ControlFlow::Break(vec![Event::Ending(unavailable(&message, Some(2)))]);
        }
        match conversation::wish(admitted.message(), &self.noun, self.results, library) {
            Wish::Items(asked) => ControlFlow::Continue(asked),
            Wish::Introduction => {
                let text = self.words(library, admitted).introduction();
                ControlFlow::Break(vec![Event::Text(text), Event::Ending(Ending::Complete)])
            }
        }
    }

    /// What is asked back, when very many items fit.
    fn question(&self, library: &Library, asked: &Asked) -> Result<Option<Question>, Error> {
        self.elicit.map_or(Ok(None), |over| elicit::question(library, asked, &self.noun, over))
    }

    /// Items of one answer.
    fn page(&self, asked: &Asked) -> usize {
        asked.results.unwrap_or(self.results)
    }

    fn words<'a>(&'a self, library: &'a Library, admitted: &'a Admitted) -> Words<'a> {
        Words { noun: &self.noun, card: admitted.card(), library }
    }

    /// The whole answer.
    fn told(&self, words: &Words<'_>, message: &Message, asked: &Asked, found: &Found) -> Result<Vec<Event>, Error> {
        let findings = self.findings(words, message, asked, found)?.map(|findings| Event::Findings(Box::new(findings)));
        let ending = Event::Ending(Ending::Complete);
        Ok(findings.into_iter().chain(words.found(asked, found)).chain([ending]).collect())
    }

    /// What an answer says about itself: as much of it as is wished for.
    fn findings(
        &self,
        words: &Words<'_>,
        message: &Message,
        asked: &Asked,
        found: &Found,
    ) -> Result<Option<Findings>, Error> {
        if !message.search.findings.is_wanted() {
            return Ok(None);
        }
        let findings = words.findings(asked, found);
        if !message.search.findings.with_facets() {
            return Ok(Some(findings));
        }
        let (total, counted, facets) = facets::told(words.library, asked, found)?;
        Ok(Some(Findings { total: Some(total), counted, facets, items: words.explained(found), ..findings }))
    }
}
