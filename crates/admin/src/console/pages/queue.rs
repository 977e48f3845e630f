//! Questions to the operator.

use forecourt_pages::escape::query;

use super::pretty;
use crate::api_error::ApiError;
use crate::console::view::{Act, Body, Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::nouns::queue;

pub(super) async fn queue_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, all) = (ask.now(), ask.query("all").unwrap_or_default().to_owned());
    let queue::Queue { waiting, questions } = queue::list(ask).await?;
    let row = |asked: queue::Question| {
        vec![
            Cell::link(format!("/console/queue/{}", query(&asked.id)), &asked.subject),
            Cell::text(asked.reason.replace('_', " ")),
            Cell::state(&asked.urgency),
            asked.agent.as_deref().map_or(Cell::Nothing, Cell::agent),
            Cell::maybe(asked.by),
            Cell::time(asked.asked_at, now),
            Cell::state(asked.decision.as_deref().unwrap_or("waiting")),
        ]
    };
    let head = vec!["About", "Why you", "Urgency", "Agent", "Asked by", "When", "Answer"];
    let empty = "Nothing waits for you. Agents ask by ESCALATE when they may not decide something.";
    Ok(Page {
        lead: Some(format!("{waiting} wait for an answer.")),
        filters: vec![Filter { name: "all", label: "Answered ones too", value: all, choices: vec!["true".to_owned()] }],
        sections: vec![Section::table("Questions", head, questions.into_iter().map(row).collect(), empty)],
        is_live: true,
        ..Page::new("/console/queue", "Questions to you")
    })
}

pub(super) async fn question_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let asked = queue::one(ask).await?;
    let mut answer = Act::new(
        format!("queue/{}/answer", query(&asked.id)),
        "Answer",
        "It is answered once; `deferred` leaves it waiting. The agent that asked reads the reason.",
    );
    answer.choice = Some(("Decision", "decision", vec!["accepted", "rejected", "deferred"]));
    let mut facts = vec![
        ("Why you", Cell::text(asked.reason.replace('_', " "))),
        ("Urgency", Cell::state(&asked.urgency)),
        ("Agent", asked.agent.as_deref().map_or(Cell::Nothing, Cell::agent)),
        ("Asked by", Cell::maybe(asked.by.as_deref())),
        ("Asked", Cell::time(asked.asked_at, now)),
        ("Of use until", asked.due.map_or(Cell::Nothing, |due| Cell::time(due, now))),
        ("Answer", Cell::state(asked.decision.as_deref().unwrap_or("waiting"))),
    ];
    if let Some(at) = asked.decided_at {
        facts.push(("Answered", Cell::time(at, now)));
        facts.push(("By", Cell::maybe(asked.decided_by.as_deref())));
        facts.push(("Reason", Cell::maybe(asked.decision_reason.as_deref())));
    }
    Ok(Page {
        crumb: Some(("/console/queue".to_owned(), "Questions to you".to_owned())),
        facts,
        actions: if asked.waits { vec![answer] } else { Vec::new() },
        sections: vec![Section::new("What you should know", Body::Text(pretty(&asked.context)))],
        ..Page::new("/console/queue", asked.subject)
    })
}
