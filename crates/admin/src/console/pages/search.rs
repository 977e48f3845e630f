//! What happened, searched.

use forecourt_core::Timestamp;
use forecourt_pages::escape::query;

use super::more;
use crate::api_error::ApiError;
use crate::console::view::{Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::nouns::search::{self, KINDS, SearchHit, SearchKind, SearchResults};

/// The columns of a list of hits.
pub(super) const HEAD: [&str; 8] = ["When", "What", "Agent", "Outcome", "Of", "About", "Over", "See"];

pub(super) async fn search_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let SearchResults { hits, next, looked_back_to } = search::list(ask).await?;
    let value = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let free = |name, label| Filter { name, label, value: value(name), choices: Vec::new() };
    let kinds = KINDS.map(|kind| kind.name().to_owned()).to_vec();
    let rows: Vec<_> = hits.into_iter().map(|hit| row(hit, now)).collect();
    let empty = if next.is_some() { "Nothing in this part of history." } else { "Nothing of this kind is kept." };
    let section = Section::table("What happened", HEAD.to_vec(), rows, empty);
    let section = match looked_back_to.filter(|at| *at < now) {
        Some(at) => {
            section.lead(format!("Looked back to {}. More looks further back.", at.strftime("%Y-%m-%d %H:%M:%S UTC")))
        }
        None => section,
    };
    Ok(Page {
        lead: Some(LEAD.to_owned()),
        filters: vec![
            free("text", "Text"),
            Filter { name: "kind", label: "What", value: value("kind"), choices: kinds },
            Filter { name: "agent", label: "Agent", value: value("agent"), choices: agents },
            free("who", "Of"),
            free("since", "Since"),
            free("until", "Until"),
        ],
        sections: vec![section],
        more: more("/console/search", &asked, "cursor", next),
        ..Page::new("/console/search", "Search")
    })
}

const LEAD: &str = "Tasks, refusals, steps of consents and payments, models, conversations and deliveries of every node, the \
                    last one first: by names, ids and states. What was said is sealed and not searched. Days are in UTC, \
                    such as 2026-11-30.";

/// A line of something that happened.
pub(super) fn row(hit: SearchHit, now: Timestamp) -> Vec<Cell> {
    let see = see(&hit);
    vec![
        Cell::time(hit.at, now),
        Cell::text(hit.kind.name()),
        hit.agent.map_or(Cell::Nothing, |agent| Cell::agent(&agent)),
        Cell::state(&hit.outcome),
        Cell::text(hit.who),
        Cell::text(hit.about),
        Cell::maybe(hit.via),
        see,
    ]
}

/// What leads further: to the task, or to all that has the same id.
fn see(hit: &SearchHit) -> Cell {
    let mut cells: Vec<Cell> = hit.task.iter().map(|task| Cell::task(task)).collect();
    let of = |text: &str, words: &str| Cell::link(format!("/console/search?text={}", query(text)), words);
    if let Some(conversation) = &hit.conversation {
        let words = if hit.kind == SearchKind::Conversation { conversation } else { "its conversation" };
        cells.push(of(conversation, words));
    }
    if let Some(state) = &hit.state {
        cells.push(of(state, "its steps"));
    }
    if let Some(request) = &hit.request {
        cells.push(of(request, "its request"));
    }
    if cells.is_empty() { Cell::Nothing } else { Cell::Several(cells) }
}
