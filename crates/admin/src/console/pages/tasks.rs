//! Tasks: all of them, and one.

use forecourt_core::{TaskState, Timestamp};
use forecourt_pages::escape::query;
use forecourt_pages::markdown;

use super::{more, pretty, search};
use crate::api_error::ApiError;
use crate::console::view::{Act, ActivityLine, Body, Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::nouns::history::{self, TaskHistory};
use crate::nouns::search::SearchHit;
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
    let (found_by, around) = around(history::one(ask.clone()).await, now);
    let tasks::TaskDetail { line, turns, answer, ending, failure, refusal, usage, events, last_event } =
        tasks::one(ask).await?;
    let state = TaskState::from_name(&line.state);
    let is_final = state.is_some_and(TaskState::is_final);
    let is_settled = state.is_some_and(TaskState::is_settled);
    let cancel = Act::new(format!("tasks/{}/cancel", line.task), "Cancel", "It ends now, and its caller is notified.");
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
    sections.extend(around);
    Ok(Page {
        crumb: Some(("/console/tasks".to_owned(), "Tasks".to_owned())),
        alert: failure.map(|reason| format!("Failed: {reason}")),
        facts: [
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
        ]
        .into_iter()
        .chain(found_by)
        .collect(),
        actions: if is_final { Vec::new() } else { vec![cancel.dangerous()] },
        sections,
        // From behind what is shown, so that no event appears twice.
        follow: (!is_settled).then(|| format!("/api/v1/tasks/{}/events?after={shown}", line.task)),
        ..Page::new("/console/tasks", format!("Task {}", line.task))
    })
}

/// What a task is found by elsewhere, and what happened around it. Where that can't be looked at, it is still a task.
fn around(history: Result<TaskHistory, ApiError>, now: Timestamp) -> (Vec<(&'static str, Cell)>, Vec<Section>) {
    match history {
        Ok(history) => (found_by(&history), beside(history, now)),
        Err(error) => {
            let text = format!("It can't be looked at: {}", error.message);
            (Vec::new(), vec![Section::new("Around it", Body::Empty(text))])
        }
    }
}

/// What a task is found by elsewhere.
fn found_by(around: &TaskHistory) -> Vec<(&'static str, Cell)> {
    let trace = around.trace.clone().map_or(Cell::text("not traced"), Cell::Code);
    let of = |text: &str| Cell::link(format!("/console/search?text={}", query(text)), text);
    let conversation = around.conversation.as_deref().map_or(Cell::Nothing, of);
    let requests = around.requests.iter().map(|request| of(request)).collect();
    vec![("Trace, as in the access log", trace), ("Requests", Cell::Several(requests)), ("Conversation", conversation)]
}

const NOTHING_AROUND: &str = "No refusal, consent, payment, model, post or other task belongs to it.";

/// What happened around a task, a section for each thing that there was.
fn beside(around: TaskHistory, now: Timestamp) -> Vec<Section> {
    let hits = |heading: &'static str, hits: Vec<SearchHit>, empty: &str| {
        let rows = hits.into_iter().map(|hit| search::row(hit, now)).collect();
        Section::table(heading, search::HEAD.to_vec(), rows, empty)
    };
    let related = around.related.into_iter().map(|related| {
        let task = related.task;
        vec![
            Cell::text(related.relation.replace('_', " ")),
            Cell::task(&task.task),
            Cell::agent(&task.agent),
            Cell::state(&task.state),
            Cell::time(task.created_at, now),
        ]
    });
    let posts = around.deliveries.into_iter().map(|post| {
        let attempts = format!("{} of {}", post.attempts, post.attempts_max);
        vec![Cell::text(post.to), Cell::state(&post.state), Cell::text(attempts), Cell::time(post.due_at, now)]
    });
    let records = hits("Refusals, consents and payments on its way", around.records, "");
    let records = match around.is_whole {
        true => records,
        false => records.lead("So much happened around it that only a part was looked at."),
    };
    let head = vec!["How", "Task", "Agent", "State", "Begun"];
    let all = vec![
        records,
        hits("Consents and payments used for it", around.holdings, ""),
        hits("Models used for it", around.usage, ""),
        Section::table("Posts that tell of it and wait", vec!["To", "State", "Attempts", "Next"], posts.collect(), ""),
        Section::table("Other tasks", head, related.collect(), ""),
    ];
    let found: Vec<Section> = all.into_iter().filter(|section| !matches!(section.body, Body::Empty(_))).collect();
    if found.is_empty() { vec![Section::new("Around it", Body::Empty(NOTHING_AROUND.to_owned()))] } else { found }
}
