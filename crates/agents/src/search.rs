//! `search`: answers from indexed content, without any model.
//!
//! An answer is a sentence or two about what was found, then the ranked items as a markdown list, and
//! then the items themselves as parts, as they were loaded. Constraints in the question ("under 30
//! minutes, no nuts") are applied and named. In a conversation, "more" goes on, and "only vegetarian
//! ones" narrows down what was asked before. The same question on the same content has the same answer.
//!
//! A data part `{"filters": {…}}` beside the text asks for values of properties, such as
//! `{"itemType": "Recipe", "recipeCuisine": "Indian"}`.
//!
//! A message that wishes for [`forecourt_core::Findings`] is told them in a part before the answer, and
//! how the items differ if it wishes for that too; a [`forecourt_core::Narrowing`] in it is what a person
//! then clicked.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | the keys |
//! | `shelf.rs` | the index of one agent, opened when it is first needed |
//! | `sites.rs` | sites of the web, visited when they are due |
//! | `conversation.rs` | what is asked, after what was asked before |
//! | `elicit.rs` | asking back when very many items fit |
//! | `facets.rs` | how the items that fit differ |
//! | `named.rs` | filters by name, and what a person clicked |
//! | `background.rs` | what is known of the caller |
//! | `find.rs`, `lean.rs` | from what is asked to what was found, in which order |
//! | `answer.rs`, `facts.rs`, `markdown.rs` | what was found, in words |
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
pub(crate) mod settings;
pub(crate) mod shelf;
mod sites;
pub(crate) mod tool;

use std::sync::Arc;

use async_stream::stream;
use forecourt_content::{Error, Library};
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Findings, Message};
use forecourt_settings::{Problems, Section};

use crate::backend::{Backend, Built, Context};
use crate::limits::INLINE_ITEMS_MAX;
use crate::upstream::unavailable;
use answer::Words;
use conversation::{Asked, Wish};
use find::Found;
use settings::SearchSettings;
use shelf::Shelf;

/// Answers from indexed content.
pub const BACKEND: Backend = Backend {
    kind: "search",
    about: "Answers from your own content: no model, no keys. Files are indexed at start, and again when they change.",
    schema: || schemars::schema_for!(SearchSettings),
    build,
};

fn build(section: Section, context: &Context) -> Result<Built, Problems> {
    let (settings, shelf) = settings::read(&section, context)?;
    let shelf = Arc::new(shelf);
    let elicit = settings.elicit.over();
    let desk = Desk { shelf: shelf.clone(), noun: settings.noun, results: settings.results, elicit };
    Ok(Built { remembers: true, finds: true, indexing: Some(shelf), ..Built::new(SearchAgent(Arc::new(desk))) })
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
}

impl Agent for SearchAgent {
    fn has_host(&self, host: &str) -> bool {
        self.0.shelf.opened().is_some_and(|library| library.has_host(host))
    }

    fn handle(&self, admitted: Admitted) -> EventStream {
        let desk = self.0.clone();
        Box::pin(stream! {
            for event in answered(desk, admitted).await {
                yield event;
            }
        })
    }
}

async fn answered(desk: Arc<Desk>, admitted: Admitted) -> Vec<Event> {
    let events = match desk.shelf.opened() {
        // A small index answers sooner than a thread is woken.
        Some(library) if library.len() <= INLINE_ITEMS_MAX => desk.answer(&library, &admitted),
        _ => {
            let work = move || {
                let library = desk.shelf.library()?;
                desk.answer(&library, &admitted)
            };
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Ok(vec![broken()]))
        }
    };
    events.unwrap_or_else(|error| {
        tracing::error!(%error, "a search failed");
        vec![broken()]
    })
}

fn broken() -> Event {
    Event::Ending(Ending::failed("The search behind this agent failed."))
}

impl Desk {
    fn answer(&self, library: &Library, admitted: &Admitted) -> Result<Vec<Event>, Error> {
        if library.is_empty() && !self.shelf.is_filled() {
            let message = format!("I am still reading my {}. Please ask again in a moment.", self.noun);
            return Ok(vec![Event::Ending(unavailable(&message, Some(2)))]);
        }
        let words = Words { noun: &self.noun, card: admitted.card(), library };
        let wish = conversation::wish(admitted.message(), &self.noun, self.results, library);
        let mut events = match wish {
            Wish::Introduction => vec![Event::Text(words.introduction())],
            Wish::Items(asked) => {
                let question = match self.elicit {
                    Some(over) => elicit::question(library, &asked, &self.noun, over)?,
                    None => None,
                };
                if let Some(question) = question {
                    return Ok(vec![Event::Ending(Ending::Question(question))]);
                }
                let found = find::find(library, &asked, self.results)?;
                let told = match admitted.message().wants_findings() {
                    true => Some(findings(&words, admitted.message(), &asked, &found)?),
                    false => None,
                };
                let told = told.map(|findings| Event::Part(findings.to_part()));
                told.into_iter().chain(words.found(&asked, &found)).collect()
            }
        };
        events.push(Event::Ending(Ending::Complete));
        Ok(events)
    }
}

/// What an answer says about itself: as much of it as is wished for.
fn findings(words: &Words<'_>, message: &Message, asked: &Asked, found: &Found) -> Result<Findings, Error> {
    let findings = words.findings(asked, found);
    if !message.wants_facets() {
        return Ok(findings);
    }
    let (total, counted, facets) = facets::told(words.library, asked, found)?;
    Ok(Findings { total: Some(total), counted, facets, reasons: words.reasons(found), ..findings })
}
