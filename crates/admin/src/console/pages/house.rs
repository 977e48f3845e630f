//! The house itself: content, certificates, settings, reload, what operators did; and the playground.

use forecourt_pages::escape::query;
use serde_json::Value;

use super::{more, pretty};
use crate::api_error::ApiError;
use crate::console::view::{Act, Body, Cell, Page, Section, Tone};
use crate::desk::Ask;
use crate::nouns::{actions, certificates, config, content, reload};
use crate::playground;

pub(super) async fn content_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let mut sections = Vec::new();
    let mut rows = Vec::new();
    for content in content::list(ask).await?.contents {
        let current = match content.is_current {
            Some(true) if content.has_what_was_pushed => Cell::state("done"),
            Some(_) => Cell::Badge { tone: Tone::Busy, text: "behind its sources".to_owned() },
            None => Cell::state("failed"),
        };
        let run = content.last_run.map_or_else(String::new, |run| {
            format!(
                "{} new, {} changed, {} as before, {} gone, {} left out",
                run.loaded, run.updated, run.unchanged, run.removed, run.skipped
            )
        });
        let from = content.sources.join(", ");
        rows.push(vec![
            Cell::agent(&content.agent),
            Cell::Number(content.items),
            current,
            content.read_at.map_or(Cell::Nothing, |at| Cell::time(at, now)),
            content.changed_at.map_or(Cell::Nothing, |at| Cell::time(at, now)),
            Cell::text(run),
            Cell::text(from),
        ]);
        if !content.problems.is_empty() {
            sections.push(Section::new(format!("Left out for @{}", content.agent), Body::List(content.problems)));
        }
    }
    let head = vec!["Agent", "Items", "Index", "Read", "Changed", "Last run", "From"];
    let empty = "No agent here answers from content. `forecourt init --with search` makes one that does.";
    sections.insert(0, Section::table("Indexes of this node", head, rows, empty));
    Ok(Page { sections, ..Page::new("/console/content", "Content") })
}

pub(super) async fn certificates_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let row = |certificate: certificates::Certificate| {
        let tone = match certificate.days_left {
            ..1 => Tone::Bad,
            1..8 => Tone::Warn,
            _ => Tone::Good,
        };
        let left = format!("{} days left", certificate.days_left);
        vec![
            Cell::text(certificate.names.join(", ")),
            Cell::text(certificate.issuer),
            Cell::Badge { tone, text: left },
            Cell::time(certificate.not_before, now),
            Cell::time(certificate.not_after, now),
        ]
    };
    let rows = certificates::list(ask).await?.certificates.into_iter().map(row).collect();
    let head = vec!["Names", "By", "Left", "From", "Until"];
    Ok(Page {
        sections: vec![Section::table("Certificates of this node", head, rows, "None could be read.")],
        ..Page::new("/console/certificates", "Certificates")
    })
}

pub(super) async fn config_page(ask: Ask) -> Result<Page, ApiError> {
    let config::Config { files, more } = config::one(ask).await?;
    let mut sections: Vec<Section> =
        files.into_iter().map(|file| Section::new(file.name, Body::Text(file.text))).collect();
    if more > 0 {
        sections.push(Section::new("And", Body::Empty(format!("{more} files more."))));
    }
    let lead = "As this node read them last, without comments. What could be a secret is masked; `${VARIABLE}` says \
                where one comes from.";
    Ok(Page { lead: Some(lead.to_owned()), sections, ..Page::new("/console/config", "Settings") })
}

pub(super) async fn reload_page(ask: Ask) -> Result<Page, ApiError> {
    let reload::Reload { is_offered, status } = reload::one(ask).await?;
    let mut page = Page::new("/console/reload", "Reload");
    if !is_offered {
        let words = "This program can't read its deployment again while it serves. Restart it after a change.";
        page.sections.push(Section::new("Not offered", Body::Empty(words.to_owned())));
        return Ok(page);
    }
    let about = "The files are read again. If they have a mistake, nothing changes, and the page says where it is.";
    page.actions.push(Act::new("reload".to_owned(), "Reload now", about));
    if let Some(last) = status.get("last").filter(|last| !last.is_null()) {
        let text = |name: &str| last.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        page.facts = vec![
            ("Last outcome", Cell::state(&text("outcome").replace("applied", "done"))),
            ("When", Cell::text(text("at"))),
            ("By", Cell::text(text("by"))),
        ];
        let problems = last.get("problems").and_then(Value::as_array).cloned().unwrap_or_default();
        if !problems.is_empty() {
            let row = |problem: &Value| {
                let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                let line = problem.get("line").and_then(Value::as_u64);
                vec![
                    Cell::text(text("file")),
                    line.map_or(Cell::Nothing, Cell::Number),
                    Cell::text(text("message")),
                    Cell::text(text("hint")),
                ]
            };
            let rows = problems.iter().map(row).collect();
            page.sections.push(Section::table("What was wrong", vec!["File", "Line", "What", "What to do"], rows, ""));
        }
        let changed = last.get("changed").and_then(Value::as_array).into_iter().flatten();
        let changed: Vec<String> = changed.filter_map(Value::as_str).map(str::to_owned).collect();
        if !changed.is_empty() {
            page.sections.push(Section::new("What had changed", Body::List(changed)));
        }
    }
    page.sections.push(Section::new("As the program says it", Body::Text(pretty(&status))));
    Ok(page)
}

pub(super) async fn actions_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let actions::Actions { actions, next } = actions::list(ask).await?;
    let row = |action: crate::account::Action| {
        vec![
            Cell::time(action.at, now),
            Cell::text(action.by),
            Cell::text(action.action),
            Cell::text(action.target),
            Cell::maybe(action.reason),
            Cell::state(&action.outcome),
        ]
    };
    let head = vec!["When", "Who", "What", "To what", "Why", "Outcome"];
    Ok(Page {
        lead: Some("On every node, for a year.".to_owned()),
        sections: vec![Section::table(
            "Actions",
            head,
            actions.into_iter().map(row).collect(),
            "Nothing was done yet.",
        )],
        more: more("/console/actions", &asked, "before", next.map(|next| next.to_string())),
        is_live: true,
        ..Page::new("/console/actions", "What operators did")
    })
}

pub(super) async fn playground_page(ask: Ask) -> Result<Page, ApiError> {
    let playground::Playground { agents, endpoints, tools } = playground::list(ask).await?;
    let agent = |agent: playground::TriableAgent| {
        let href = format!("/console/try/agents/{}", query(&agent.handle));
        vec![
            Cell::link(href, format!("@{}", agent.handle)),
            Cell::text(agent.name),
            Cell::text(agent.examples.join(" · ")),
        ]
    };
    let things = |kind: &str, of: Vec<playground::Triable>| -> Vec<Vec<Cell>> {
        let row = |thing: playground::Triable| {
            let href = format!("/console/try/{kind}/{}", query(&thing.id));
            vec![Cell::link(href, &thing.name), Cell::text(thing.about)]
        };
        of.into_iter().map(row).collect()
    };
    Ok(Page {
        lead: Some(
            "You are an anonymous caller here: you see what anybody sees, rules and limits included.".to_owned(),
        ),
        sections: vec![
            Section::table(
                "Agents",
                vec!["Agent", "Name", "Questions to begin with"],
                agents.into_iter().map(agent).collect(),
                "None.",
            ),
            Section::table(
                "Endpoints",
                vec!["Endpoint", "What it does"],
                things("endpoints", endpoints),
                "None. Put a file into endpoints/ and reload.",
            ),
            Section::table("Tools", vec!["Tool", "What it does"], things("tools", tools), "None."),
        ],
        ..Page::new("/console/playground", "Playground")
    })
}
