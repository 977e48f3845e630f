//! Whom it is done for: refusals, limits, sessions, what people ask, and what models used for it.

use forecourt_core::Timestamp;
use forecourt_pages::escape::query;

use super::more;
use crate::api_error::ApiError;
use crate::console::view::{Act, Body, Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::limits::SESSIONS_LISTED_MAX;
use crate::nouns::{limits, questions, refusals, sessions, usage};

/// What may become of a message or a payment, as the audit calls it. What models used is on a page of its own.
const OUTCOMES: [&str; 15] = [
    "refused",
    "issued",
    "verified",
    "declined",
    "withdrawn",
    "reserved",
    "paid",
    "unpaid",
    "payment_refused",
    "unknown",
    "resumed",
    "deducted",
    "expired",
    "replayed",
    "foreign",
];

pub(super) async fn refusals_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let refusals::Refusals { records, next } = refusals::list(ask).await?;
    let row = |record: refusals::Refusal| {
        let decided = record.decided_by_proof.map(|proof| match record.decided_by {
            Some(subject) => format!("{subject} ({proof})"),
            None => format!("whoever has the {proof}"),
        });
        vec![
            Cell::time(record.at, now),
            Cell::agent(&record.agent),
            Cell::state(&record.outcome),
            Cell::text(record.kind.replace('_', " ")),
            Cell::text(record.rule),
            Cell::maybe(record.via),
            Cell::text(record.who),
            Cell::maybe(decided),
            record.state.map_or(Cell::Nothing, Cell::Code),
        ]
    };
    let value = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let head = vec!["When", "Agent", "Outcome", "Kind", "Rule", "Over", "Of", "Decided by", "State"];
    Ok(Page {
        lead: Some("Who was refused or asked for something first, and who was let through.".to_owned()),
        filters: vec![
            Filter { name: "agent", label: "Agent", value: value("agent"), choices: agents },
            Filter {
                name: "outcome",
                label: "Outcome",
                value: value("outcome"),
                choices: OUTCOMES.map(str::to_owned).to_vec(),
            },
        ],
        sections: vec![Section::table(
            "Records",
            head,
            records.into_iter().map(row).collect(),
            "None. Agents without rules refuse nobody; rules are under [policy] of an agent.",
        )],
        more: more("/console/refusals", &asked, "before", next.map(|next| next.to_string())),
        is_live: true,
        ..Page::new("/console/refusals", "Refusals")
    })
}

pub(super) async fn limits_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let row = |limit: limits::Limit| {
        vec![
            Cell::Code(limit.limit),
            limit.caller.map_or(Cell::text("all together"), Cell::Code),
            Cell::Number(limit.count),
            Cell::time(limit.last_at, now),
        ]
    };
    let rows = limits::list(ask).await?.limits.into_iter().map(row).collect();
    let empty = "Nobody ran into a bound since this node began. They are under [limits] in forecourt.toml.";
    let lead = "On this node, since it started. Callers are distinguished by a hash that nobody can trace back.";
    Ok(Page {
        lead: Some(lead.to_owned()),
        sections: vec![Section::table("Bounds", vec!["Bound", "Caller", "Times", "Last"], rows, empty)],
        is_live: true,
        ..Page::new("/console/limits", "Limits hit")
    })
}

pub(super) async fn sessions_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let sessions::Sessions { console, people, protocols, conversations } = sessions::list(ask).await?;
    let mut facts = vec![("Conversations, every node", Cell::Number(conversations))];
    if protocols.is_empty() {
        facts.push(("Sessions of protocols", Cell::text("no protocol here tells of any")));
    }
    if let Some(people) = &people {
        let is_all = people.len() < SESSIONS_LISTED_MAX;
        let count = if is_all { people.len().to_string() } else { format!("{SESSIONS_LISTED_MAX} or more") };
        facts.push(("People signed in, every node", Cell::text(count)));
    }
    let nobody = match &people {
        Some(_) => "Nobody is signed in.",
        None => "Nobody signs in here. [identity.oidc] in forecourt.toml names a provider at which people do.",
    };
    Ok(Page {
        facts,
        sections: vec![
            Section::table(
                "Of protocols, on this node",
                vec!["Protocol", "Open"],
                protocols.into_iter().map(|of| vec![Cell::text(of.protocol), Cell::Number(of.open)]).collect(),
                "None.",
            ),
            Section::table(
                "Of people who signed in, on every node",
                vec!["Who", "Since", "Seen", "At the latest until", ""],
                people.unwrap_or_default().into_iter().map(|session| person_row(session, now)).collect(),
                nobody,
            ),
            Section::table(
                "Of this console, on every node",
                vec!["Who", "Role", "Begun", "Until", ""],
                console.into_iter().map(|session| console_row(session, now)).collect(),
                "Nobody is logged in. Programs carry the token and have no session.",
            ),
        ],
        is_live: true,
        ..Page::new("/console/sessions", "Sessions")
    })
}

fn person_row(session: sessions::PersonSession, now: Timestamp) -> Vec<Cell> {
    let end = Act::new(format!("sessions/{}/end", query(&session.id)), "End", "That person must sign in again.");
    vec![
        Cell::text(session.who),
        Cell::time(session.begun_at, now),
        Cell::time(session.seen_at, now),
        Cell::time(session.until, now),
        Cell::Act(Box::new(end)),
    ]
}

fn console_row(session: sessions::ConsoleSession, now: Timestamp) -> Vec<Cell> {
    let end = Act::new(format!("sessions/{}/end", query(&session.id)), "End", "That operator must log in again.");
    vec![
        Cell::text(session.who),
        Cell::text(session.role.name()),
        Cell::time(session.begun_at, now),
        Cell::time(session.until, now),
        Cell::Act(Box::new(end)),
    ]
}

pub(super) async fn questions_page(ask: Ask) -> Result<Page, ApiError> {
    let asked = questions::list(ask).await?;
    if !asked.is_on {
        let words = "Questions are not counted. Set log = true under [questions] in forecourt.toml to see what people \
                     ask; no personal data is kept.";
        return Ok(Page {
            sections: vec![Section::new("Off", Body::Empty(words.to_owned()))],
            ..Page::new("/console/questions", "What people ask")
        });
    }
    let table = |heading: &'static str, of: Vec<questions::AskedOften>| {
        let row = |one: questions::AskedOften| {
            let numbers =
                [one.asked, one.nothing_found, one.not_understood, one.good, one.bad, one.clicked].map(Cell::Number);
            [Cell::text(one.question), Cell::agent(&one.agent)].into_iter().chain(numbers).collect()
        };
        let head = vec![
            "Question",
            "Agent",
            "Asked",
            "Nothing found",
            "Not understood",
            "Thumbs up",
            "Thumbs down",
            "Clicks on results",
        ];
        Section::table(heading, head, of.into_iter().map(row).collect(), "None.")
    };
    let results = |heading: &'static str, of: Vec<questions::ShownResult>| {
        let row = |one: questions::ShownResult| {
            vec![
                Cell::text(one.item),
                Cell::text(one.question),
                Cell::agent(&one.agent),
                Cell::Number(one.shown),
                Cell::Number(one.clicked),
                Cell::text(format!("{:.1}", one.place)),
            ]
        };
        let head = vec!["Result", "Question", "Agent", "Shown", "Clicked", "Place"];
        Section::table(heading, head, of.into_iter().map(row).collect(), "None.")
    };
    let (count, unanswered, days, clicks) = (asked.asked, asked.unanswered, asked.keep_days, asked.clicks);
    let place = asked.average_place.map(|place| format!(", at place {place:.1} on average")).unwrap_or_default();
    let lead = format!(
        "{count} questions in the last {days} days, {unanswered} without a good answer. Results were clicked {clicks} \
         times{place}. On this node. `forecourt admin questions --csv` exports these lists."
    );
    Ok(Page {
        lead: Some(lead),
        sections: vec![
            table("Asked most", asked.top),
            table("Without a good answer", asked.without_good_answer),
            results("Clicked most", asked.clicked_most),
            results("Shown and never clicked", asked.never_clicked),
        ],
        ..Page::new("/console/questions", "What people ask")
    })
}

pub(super) async fn usage_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let usage::Usages { answers, next } = usage::list(ask).await?;
    let row = |answer: usage::AnswerOfModels| {
        vec![
            Cell::time(answer.at, now),
            Cell::agent(&answer.agent),
            Cell::maybe(answer.via),
            Cell::text(answer.who),
            Cell::text(usage::words(&answer.models)),
            answer.cost.map_or(Cell::Nothing, |cost| Cell::text(cost.to_string())),
        ]
    };
    let agent = asked.get("agent").cloned().unwrap_or_default();
    let empty =
        "No model was asked. Agents with `kind = \"model\"` ask one; a `price` in their [backend] counts costs.";
    Ok(Page {
        lead: Some("Answers for which language models were asked: tokens, and costs where a price is set.".to_owned()),
        filters: vec![Filter { name: "agent", label: "Agent", value: agent, choices: agents }],
        sections: vec![Section::table(
            "Answers",
            vec!["When", "Agent", "Over", "For", "Used", "Cost"],
            answers.into_iter().map(row).collect(),
            empty,
        )],
        more: more("/console/usage", &asked, "before", next.map(|next| next.to_string())),
        is_live: true,
        ..Page::new("/console/usage", "Model usage")
    })
}
