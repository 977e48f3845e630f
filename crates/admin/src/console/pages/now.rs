//! What goes on: the overview, and agents.

use forecourt_pages::escape::query;

use super::{counts, tile, worry};
use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Page, Section, Tile, Tone};
use crate::desk::Ask;
use crate::nouns::checks::Check;
use crate::nouns::{agents, overview};

pub(super) async fn overview_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let host = ask.house.host.clone();
    let failures: Vec<Vec<Cell>> = {
        let mut all: Vec<_> = host
            .directory()
            .iter()
            .flat_map(|resident| {
                let handle = resident.card.handle().to_string();
                host.activity(resident.card.handle()).failures.into_iter().map(move |failure| (handle.clone(), failure))
            })
            .collect();
        all.sort_by_key(|(_, failure)| std::cmp::Reverse(failure.at));
        let row = |(handle, failure): (String, forecourt_host::AgentFailure)| {
            vec![
                Cell::time(failure.at, now),
                Cell::agent(&handle),
                Cell::text(failure.via),
                Cell::text(&failure.reason),
            ]
        };
        all.into_iter().take(10).map(row).collect()
    };
    let overview::Overview {
        name,
        domain,
        version,
        is_ready,
        not_ready,
        checks,
        agents,
        agents_away,
        tasks,
        tasks_running,
        conversations,
        deliveries,
        questions_waiting,
        nodes,
        limits_hit,
    } = overview::one(ask).await?;
    let kept: u64 = tasks.values().sum();
    let failed = tasks.get("failed").copied().unwrap_or_default();
    let away = if agents_away > 0 { format!("{agents_away} answer nobody") } else { "all answer".to_owned() };
    Ok(Page {
        lead: Some(format!("{domain}, Forecourt {version}")),
        alert: not_ready.map(|reason| format!("Not ready: {reason}")),
        tiles: vec![
            Tile {
                label: "Health",
                value: if is_ready { "Ready".to_owned() } else { "Not ready".to_owned() },
                note: format!("{nodes} {}", if nodes == 1 { "node" } else { "nodes" }),
                href: "/console/nodes".to_owned(),
                tone: if is_ready { Tone::Good } else { Tone::Bad },
            },
            tile("Agents", agents, away, "/console/agents", worry(agents_away, Tone::Warn)),
            tile(
                "Tasks at work",
                tasks_running,
                format!("{kept} kept"),
                "/console/tasks",
                worry(tasks_running, Tone::Busy),
            ),
            tile("Tasks failed", failed, "of those kept", "/console/tasks?state=failed", worry(failed, Tone::Bad)),
            tile(
                "Questions to you",
                questions_waiting,
                "wait for an answer",
                "/console/queue",
                worry(questions_waiting, Tone::Warn),
            ),
            tile("Deliveries", deliveries, "wait to be made", "/console/deliveries", Tone::Plain),
            tile("Limits hit", limits_hit, "callers on this node", "/console/limits", worry(limits_hit, Tone::Warn)),
            tile("Conversations", conversations, "can go on", "/console/sessions", Tone::Plain),
        ],
        sections: vec![
            Section::table("The house", vec!["Part", "State", "What there is to say"], parts(checks), ""),
            Section::table(
                "Answers that failed lately",
                vec!["When", "Agent", "Over", "What the caller was told"],
                failures,
                "None since this node began.",
            )
            .lead("On this node, since it began."),
        ],
        is_live: true,
        ..Page::new("/console", name)
    })
}

/// A row for each part of the house.
fn parts(checks: Vec<Check>) -> Vec<Vec<Cell>> {
    let tone = |state: &str| match state {
        "good" => Tone::Good,
        "warn" => Tone::Warn,
        "bad" => Tone::Bad,
        _ => Tone::Plain,
    };
    let row = |check: Check| {
        let badge = Cell::Badge { tone: tone(&check.state), text: check.state };
        vec![Cell::text(check.part), badge, Cell::text(check.about)]
    };
    checks.into_iter().map(row).collect()
}

pub(super) async fn agents_page(ask: Ask) -> Result<Page, ApiError> {
    let row = |agent: agents::Agent| {
        vec![
            Cell::agent(&agent.handle),
            Cell::text(&agent.name),
            Cell::state(&agent.state),
            Cell::Number(agent.running),
            counts(&agent.tasks),
            counts(&agent.answers),
            agent.items.map_or(Cell::Nothing, Cell::Number),
        ]
    };
    let rows = agents::list(ask).await?.agents.into_iter().map(row).collect();
    let head = vec!["Agent", "Name", "State", "At work", "Tasks", "Answers here", "Items"];
    let section = Section::table("All agents", head, rows, "There is no agent. Put a file into agents/ and reload.");
    let lead = "Tasks are those of every node. Answers are those of this node since it began.";
    Ok(Page {
        lead: Some(lead.to_owned()),
        sections: vec![section],
        is_live: true,
        ..Page::new("/console/agents", "Agents")
    })
}

pub(super) async fn agent_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let agents::AgentDetail { agent, changes, version, language, skills } = agents::one(ask).await?;
    let handle = query(&agent.handle);
    let act = |verb: &str, label: &str, about: &str| Act::new(format!("agents/{handle}/{verb}"), label, about);
    let mut actions = Vec::new();
    match agent.state.as_str() {
        "active" | "deprecated" => {
            actions.push(act("suspend", "Suspend", "Callers are refused until you resume it. Tasks under way go on."))
        }
        "suspended" => actions.push(act("resume", "Resume", "It answers again, at once.")),
        _ => {}
    }
    if agent.state != "retired" {
        let retire = act("retire", "Retire", "It never answers again under this handle. There is no way back.");
        actions.push(retire.dangerous());
    }
    let failures = agent
        .failures
        .iter()
        .map(|failure| vec![Cell::time(failure.at, now), Cell::text(&failure.via), Cell::text(&failure.reason)]);
    let changes = changes.into_iter().map(|change| {
        vec![
            Cell::time(change.at, now),
            Cell::state(&change.from),
            Cell::state(&change.to),
            Cell::maybe(change.by),
            Cell::maybe(change.reason),
        ]
    });
    let of = |page: &str| format!("/console/{page}?agent={handle}");
    Ok(Page {
        crumb: Some(("/console/agents".to_owned(), "Agents".to_owned())),
        lead: Some(agent.description.clone()).filter(|text| !text.is_empty()),
        facts: vec![
            ("Address", Cell::text(&agent.address)),
            ("Name", Cell::text(&agent.name)),
            ("State", Cell::state(&agent.state)),
            ("At work", Cell::Number(agent.running)),
            ("Tasks, every node", counts(&agent.tasks)),
            ("Answers, this node", counts(&agent.answers)),
            ("Items", agent.items.map_or(Cell::Nothing, Cell::Number)),
            ("Version", Cell::text(version)),
            ("Language", Cell::text(language)),
            ("Skills", Cell::text(skills.join(", "))),
            (
                "See",
                Cell::Several(vec![
                    Cell::link(of("tasks"), "its tasks"),
                    Cell::link(of("refusals"), "its refusals"),
                    Cell::link(of("usage"), "what its models used"),
                    Cell::link(format!("/console/try/agents/{handle}"), "try it"),
                ]),
            ),
        ],
        actions,
        sections: vec![
            Section::table(
                "Answers that failed lately",
                vec!["When", "Over", "What the caller was told"],
                failures.collect(),
                "None since this node began.",
            )
            .lead("On this node, since it began."),
            Section::table(
                "Where it stood",
                vec!["When", "From", "To", "By", "Why"],
                changes.collect(),
                "It has always been active.",
            ),
        ],
        is_live: true,
        ..Page::new("/console/agents", format!("@{}", agent.handle))
    })
}
