//! Tasks: all of them, and one.

use forecourt_core::TaskState;
use forecourt_pages::escape::query;
use forecourt_pages::markdown;

use super::{more, pretty};
use crate::api_error::ApiError;
use crate::console::view::{Act, ActivityLine, Body, Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::nouns::tasks;
use crate::nouns::usage::words;

pub(super) async fn tasks_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let tasks::Tasks { tasks, total, next } = tasks::list(ask).await?;
    let row = |task: tasks::TaskLine| {
        vec![
            Cell::task(&task.task),
            Cell::agent(&task.agent),
            Cell::state(&task.state),
            Cell::text(task.via),
            Cell::maybe(task.owner),
            Cell::time(task.updated_at, now),
            Cell::time(task.created_at, now),
            Cell::Code(task.node),
        ]
    };
    let value = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let head = vec!["Task", "Agent", "State", "Over", "Of", "Changed", "Begun", "Node"];
    let empty = "No task. One is kept when an answer takes long, or when a caller wants it in the background.";
    let states = TaskState::ALL.iter().map(|state| state.name().to_owned()).collect();
    Ok(Page {
        lead: Some("Tasks of everybody, on every node. Their names here open nothing.".to_owned()),
        filters: vec![
            Filter { name: "state", label: "State", value: value("state"), choices: states },
            Filter { name: "agent", label: "Agent", value: value("agent"), choices: agents },
        ],
        sections: vec![Section::table(format!("{total} tasks"), head, tasks.into_iter().map(row).collect(), empty)],
        more: more("/console/tasks", &asked, "cursor", next),
        is_live: true,
        ..Page::new("/console/tasks", "Tasks")
    })
}

pub(super) async fn task_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let tasks::TaskDetail { line, turns, answer, ending, failure, refusal, usage, events, last_event } =
        tasks::one(ask).await?;
    let state = TaskState::from_name(&line.state);
    let is_final = state.is_some_and(TaskState::is_final);
    let is_settled = state.is_some_and(TaskState::is_settled);
    let cancel = Act::new(format!("tasks/{}/cancel", line.task), "Cancel", "It ends now, and its caller is told.");
    let mut sections = Vec::new();
    for turn in &turns {
        let who = if turn.who == "caller" { "The caller said" } else { "The agent asked" };
        sections.push(Section::new(who, Body::Text(turn.text.clone())));
        if !turn.others.is_empty() {
            sections.push(Section::new("With it came", Body::List(turn.others.clone())));
        }
    }
    if let Some(answer) = &answer {
        // The answer is untrusted: `markdown::to_html` escapes raw HTML and keeps an allow-list.
        sections.push(Section::new("The answer", Body::Html(markdown::to_html(answer))));
    }
    if let Some(refusal) = &refusal {
        sections.push(Section::new("The refusal", Body::Text(pretty(refusal))));
    }
    let shown = events.last().map_or(0, |event| event.number);
    let log = events.into_iter().map(|event| ActivityLine { number: event.number, kind: event.kind, text: event.text });
    let log = Section::new("What happened", Body::Log(log.collect()));
    sections.push(match last_event > shown {
        true => log.lead(format!("The first {shown} of {last_event} events.")),
        false => log,
    });
    Ok(Page {
        crumb: Some(("/console/tasks".to_owned(), "Tasks".to_owned())),
        alert: failure.map(|reason| format!("Failed: {reason}")),
        facts: vec![
            ("Agent", Cell::agent(&line.agent)),
            ("State", Cell::state(&line.state)),
            ("Ending", ending.as_deref().map_or(Cell::Nothing, Cell::state)),
            ("Over", Cell::text(&line.via)),
            ("Of", Cell::maybe(line.owner.as_deref())),
            ("Begun", Cell::time(line.created_at, now)),
            ("Changed", Cell::time(line.updated_at, now)),
            ("Kept until", Cell::time(line.expires_at, now)),
            ("Node", Cell::Code(line.node.clone())),
            ("Models used", if usage.is_empty() { Cell::Nothing } else { Cell::text(words(&usage)) }),
            ("See", Cell::link(format!("/console/refusals?agent={}", query(&line.agent)), "refusals of this agent")),
        ],
        actions: if is_final { Vec::new() } else { vec![cancel.dangerous()] },
        sections,
        // From behind what is shown, so that no event appears twice.
        follow: (!is_settled).then(|| format!("/api/v1/tasks/{}/events?after={shown}", line.task)),
        ..Page::new("/console/tasks", format!("Task {}", line.task))
    })
}
