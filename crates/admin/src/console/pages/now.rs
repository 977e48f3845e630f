//! What goes on: the overview, and agents.

use forecourt_host::{AgentFailure, HostedAgent};
use forecourt_pages::escape::query;

use super::{counts, tile, trends, worry};
use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Page, Section, Tile, Tone};
use crate::desk::Ask;
use crate::nouns::checks::Check;
use crate::nouns::{agents, hubs, overview, servers};

/// Failures that the overview shows.
const FAILURES_SHOWN: usize = 10;

pub(super) async fn overview_page(ask: Ask) -> Result<Page, ApiError> {
    let failures = failures(&ask);
    let mut now = overview::one(ask).await?;
    let checks = std::mem::take(&mut now.checks);
    Ok(Page {
        lead: Some(format!("{}, Forecourt {}", now.domain, now.version)),
        alert: now.not_ready.as_ref().map(|reason| format!("Not ready: {reason}")),
        tiles: tiles(&now),
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
        ..Page::new("/console", now.name)
    })
}

pub(super) async fn servers_page(ask: Ask) -> Result<Page, ApiError> {
    let row = |server: servers::Server| {
        let (tone, state) = match server.answers {
            Some(true) => (Tone::Good, "answers"),
            Some(false) => (Tone::Bad, "does not answer"),
            None => (Tone::Plain, "not asked yet"),
        };
        vec![
            Cell::Code(server.server),
            Cell::Badge { tone, text: state.to_owned() },
            Cell::Number(server.tools),
            Cell::Number(server.sessions),
            server.last_error.map_or(Cell::Nothing, Cell::text),
        ]
    };
    let rows = servers::list(ask).await?.servers.into_iter().map(row).collect();
    let head = vec!["Server", "State", "Tools", "Sessions", "What went wrong since it last answered"];
    Ok(Page {
        lead: Some("Servers that stand behind this host, as this node knows them.".to_owned()),
        sections: vec![Section::table("Servers", head, rows, "None: each has a file in the folder servers.")],
        is_live: true,
        ..Page::new("/console/servers", "Servers")
    })
}

pub(super) async fn hubs_page(ask: Ask) -> Result<Page, ApiError> {
    let row = |hub: hubs::Hub| {
        let (tone, state) = match (hub.answers, &hub.last_error) {
            (Some(true), None) => (Tone::Good, "followed"),
            (Some(true), Some(_)) => (Tone::Bad, "behind"),
            (Some(false), _) => (Tone::Bad, "does not answer"),
            (None, _) => (Tone::Plain, "not looked at yet"),
        };
        let told: Vec<String> = hub.last_error.into_iter().chain(hub.left_out).collect();
        vec![
            Cell::Code(hub.hub),
            Cell::text(hub.url),
            Cell::Badge { tone, text: state.to_owned() },
            Cell::Number(hub.agents),
            hub.seen_at.map_or(Cell::Nothing, |at| Cell::text(at.to_string())),
            if told.is_empty() { Cell::Nothing } else { Cell::text(told.join("; ")) },
        ]
    };
    let rows = hubs::list(ask).await?.hubs.into_iter().map(row).collect();
    let head = vec!["Hub", "Card", "State", "Agents", "Seen", "What went wrong, and who is left out"];
    Ok(Page {
        lead: Some("Hubs elsewhere whose agents answer here, as this node knows them.".to_owned()),
        sections: vec![Section::table("Hubs", head, rows, "None: each has a file in the folder hubs.")],
        is_live: true,
        ..Page::new("/console/hubs", "Hubs")
    })
}

/// The last failures of all agents, the newest first.
fn failures(ask: &Ask) -> Vec<Vec<Cell>> {
    let (now, host) = (ask.now(), &ask.house.host);
    let of_agent = |resident: &std::sync::Arc<HostedAgent>| {
        let handle = resident.card.handle().clone();
        host.activity(&handle).failures.into_iter().map(move |failure| (handle.to_string(), failure))
    };
    let mut all: Vec<_> = host.directory().iter().flat_map(of_agent).collect();
    all.sort_by_key(|(_, failure)| std::cmp::Reverse(failure.at));
    let row = |(handle, failure): (String, AgentFailure)| {
        vec![Cell::time(failure.at, now), Cell::agent(&handle), Cell::text(failure.via), Cell::text(&failure.reason)]
    };
    all.into_iter().take(FAILURES_SHOWN).map(row).collect()
}

/// The numbers at the top of the overview.
fn tiles(now: &overview::Overview) -> Vec<Tile> {
    let kept: u64 = now.tasks.values().sum();
    let failed = now.tasks.get("failed").copied().unwrap_or_default();
    let away = match now.agents_away {
        0 => "all answer".to_owned(),
        away => format!("{away} answer nobody"),
    };
    let (running, questions) = (now.tasks_running, now.questions_waiting);
    vec![
        health(now),
        tile("Agents", now.agents, away, "/console/agents", worry(now.agents_away, Tone::Warn)),
        tile("Tasks at work", running, format!("{kept} kept"), "/console/tasks", worry(running, Tone::Busy)),
        tile("Tasks failed", failed, "of those kept", "/console/tasks?state=failed", worry(failed, Tone::Bad)),
        tile("Questions to you", questions, "wait for an answer", "/console/queue", worry(questions, Tone::Warn)),
        tile("Deliveries", now.deliveries, "wait to be made", "/console/deliveries", Tone::Plain),
        tile(
            "Limits hit",
            now.limits_hit,
            "callers on this node",
            "/console/limits",
            worry(now.limits_hit, Tone::Warn),
        ),
        tile("Conversations", now.conversations, "can go on", "/console/sessions", Tone::Plain),
    ]
}

fn health(now: &overview::Overview) -> Tile {
    let (value, tone) = if now.is_ready { ("Ready", Tone::Good) } else { ("Not ready", Tone::Bad) };
    Tile {
        label: "Health",
        value: value.to_owned(),
        note: format!("{} {}", now.nodes, if now.nodes == 1 { "node" } else { "nodes" }),
        href: "/console/nodes".to_owned(),
        tone,
    }
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
    let handle = ask.named("handle").trim_start_matches('@').to_owned();
    let trends = trends::of_agent(&ask, &handle).await?;
    let detail = agents::one(ask).await?;
    let agent = &detail.agent;
    let failures = agent
        .failures
        .iter()
        .map(|failure| vec![Cell::time(failure.at, now), Cell::text(&failure.via), Cell::text(&failure.reason)]);
    let changes = detail.changes.iter().map(|change| {
        vec![
            Cell::time(change.at, now),
            Cell::state(&change.from),
            Cell::state(&change.to),
            Cell::maybe(change.by.as_ref()),
            Cell::maybe(change.reason.as_ref()),
        ]
    });
    let sections = [
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
    ];
    Ok(Page {
        crumb: Some(("/console/agents".to_owned(), "Agents".to_owned())),
        lead: Some(agent.description.clone()).filter(|text| !text.is_empty()),
        facts: agent_facts(&detail),
        actions: agent_actions(agent),
        sections: trends.into_iter().chain(sections).collect(),
        is_live: true,
        ..Page::new("/console/agents", format!("@{}", agent.handle))
    })
}

/// What there is to know of an agent at a glance, and where there is more.
fn agent_facts(detail: &agents::AgentDetail) -> Vec<(&'static str, Cell)> {
    let agent = &detail.agent;
    let handle = query(&agent.handle);
    let of = |page: &str| format!("/console/{page}?agent={handle}");
    vec![
        ("Address", Cell::text(&agent.address)),
        ("Name", Cell::text(&agent.name)),
        ("State", Cell::state(&agent.state)),
        ("At work", Cell::Number(agent.running)),
        ("Tasks, every node", counts(&agent.tasks)),
        ("Answers, this node", counts(&agent.answers)),
        ("Items", agent.items.map_or(Cell::Nothing, Cell::Number)),
        ("Version", Cell::text(&detail.version)),
        ("Language", Cell::text(&detail.language)),
        ("Skills", Cell::text(detail.skills.join(", "))),
        (
            "See",
            Cell::Several(vec![
                Cell::link(of("tasks"), "its tasks"),
                Cell::link(of("refusals"), "its refusals"),
                Cell::link(of("usage"), "what its models used"),
                Cell::link(of("trends"), "what it did over time"),
                Cell::link(format!("/console/try/agents/{handle}"), "try it"),
            ]),
        ),
    ]
}

/// What can be done with an agent in its state.
fn agent_actions(agent: &agents::Agent) -> Vec<Act> {
    let handle = query(&agent.handle);
    let act = |verb: &str, label: &str, about: &str| Act::new(format!("agents/{handle}/{verb}"), label, about);
    let pause = match agent.state.as_str() {
        "active" | "deprecated" => {
            Some(act("suspend", "Suspend", "Callers are refused until you resume it. Tasks under way go on."))
        }
        "suspended" => Some(act("resume", "Resume", "It answers again, at once.")),
        _ => None,
    };
    let retire = (agent.state != "retired").then(|| {
        act("retire", "Retire", "It never answers again under this handle. There is no way back.").dangerous()
    });
    pause.into_iter().chain(retire).collect()
}
