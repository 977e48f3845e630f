//! Why something is not found.

use forecourt_core::Timestamp;

use crate::api_error::ApiError;
use crate::console::view::{Body, Cell, Filter, Page, Section, Tone};
use crate::desk::Ask;
use crate::nouns::why::{self, WhyFound, WhyItem, WhyLimit};

const LEAD: &str = "Whether an item is in the index, which limits of a question it passes, which of its words it has, where it \
                    ranks, and how one would have to ask to find it. An item is named by its id, its link or its name.";

pub(super) async fn why_page(mut ask: Ask) -> Result<Page, ApiError> {
    let (now, asked, agents) = (ask.now(), ask.query.clone(), why::agents(&ask));
    let value = |name: &str| asked.get(name).map(|value| value.trim().to_owned()).unwrap_or_default();
    let agent = match value("agent") {
        agent if agent.is_empty() => agents.first().cloned().unwrap_or_default(),
        agent => agent,
    };
    let is_asked = !value("question").is_empty() && !value("item").is_empty();
    let page = Page {
        lead: Some(LEAD.to_owned()),
        filters: vec![
            Filter { name: "agent", label: "Agent", value: agent.clone(), choices: agents.clone() },
            Filter { name: "question", label: "Question", value: value("question"), choices: Vec::new() },
            Filter { name: "item", label: "Item", value: value("item"), choices: Vec::new() },
        ],
        ..Page::new("/console/why", "Why is it not found?")
    };
    if agents.is_empty() {
        let words = "No agent here answers from content. `forecourt init --with search` makes one that does.";
        return Ok(Page { filters: Vec::new(), sections: vec![empty("No content", words)], ..page });
    }
    if !is_asked {
        return Ok(Page { sections: vec![empty("Ask", "Write a question and what should be found.")], ..page });
    }
    ask.query.remove("agent");
    ask.path.insert("agent".to_owned(), agent);
    let found = why::one(ask).await?;
    Ok(Page { sections: sections(found, now), ..page })
}

fn empty(heading: &str, words: &str) -> Section {
    Section::new(heading, Body::Empty(words.to_owned()))
}

fn sections(found: WhyFound, now: Timestamp) -> Vec<Section> {
    let WhyFound { verdict, read_at, words, text, item, nearest, left_out, first, .. } = found;
    let read = read_at.map_or(Cell::Nothing, |at| Cell::time(at, now));
    let id = item.as_ref().map(|item| item.id.clone());
    let mut sections =
        vec![Section::table("The item", vec!["What", ""], facts(item.as_ref(), read, now), "").lead(verdict)];
    if let Some(item) = item {
        sections.extend(of_item(item));
    }
    if !nearest.is_empty() {
        let rows = nearest.into_iter().map(|one| vec![Cell::text(one.name), Cell::Code(one.id)]).collect();
        sections.push(Section::table("Called almost so", vec!["Name", "Id"], rows, ""));
    }
    if !left_out.is_empty() {
        sections.push(Section::new("Left out of the index", Body::List(left_out)));
    }
    let reading = words.into_iter().chain([format!("Looked for: “{text}”")]).collect();
    sections.push(Section::new("How the question was read", Body::List(reading)));
    let row = |one: why::RankedItem| {
        let is_it = id.as_deref() == Some(one.id.as_str());
        let badge = Cell::Badge { tone: Tone::Good, text: "this one".to_owned() };
        vec![
            Cell::Number(one.rank),
            Cell::text(one.name),
            Cell::text(format!("{:.3}", one.score)),
            Cell::Code(one.id),
            if is_it { badge } else { Cell::Nothing },
        ]
    };
    let rows = first.into_iter().map(row).collect();
    let head = vec!["Place", "Name", "Score", "Id", ""];
    sections.push(Section::table("Found first", head, rows, "Nothing is found for this question."));
    sections
}

fn facts(item: Option<&WhyItem>, read: Cell, now: Timestamp) -> Vec<Vec<Cell>> {
    let mut rows = vec![vec![Cell::text("Sources read"), read]];
    let Some(item) = item else { return rows };
    let rank = item.rank.map_or(Cell::text("not among the first thousand"), Cell::Number);
    rows.extend([
        vec![Cell::text("Name"), Cell::text(&item.name)],
        vec![Cell::text("Id"), Cell::Code(item.id.clone())],
        vec![Cell::text("Link"), Cell::maybe(item.url.as_ref())],
        vec![Cell::text("From"), item.source.as_ref().map_or(Cell::text("pushed, or a file that is gone"), Cell::text)],
        vec![Cell::text("Written"), item.written_at.map_or(Cell::Nothing, |at| Cell::time(at, now))],
        vec![Cell::text("Place"), rank],
        vec![Cell::text("Score"), item.score.map_or(Cell::Nothing, |score| Cell::text(format!("{score:.3}")))],
    ]);
    rows
}

fn of_item(item: WhyItem) -> Vec<Section> {
    let limit = |limit: WhyLimit| {
        let (tone, word) = if limit.passes { (Tone::Good, "passes") } else { (Tone::Bad, "does not pass") };
        let states = if limit.values.is_empty() { "nothing".to_owned() } else { limit.values.join(", ") };
        vec![
            Cell::text(limit.limit),
            Cell::Badge { tone, text: word.to_owned() },
            Cell::text(states),
            Cell::text(limit.properties.join(", ")),
        ]
    };
    let limits = item.limits.into_iter().map(limit).collect();
    let matched = item
        .matched
        .into_iter()
        .map(|one| vec![Cell::text(one.word), Cell::text(one.field), Cell::text(format!("{:.3}", one.adds))]);
    let ways = item
        .ways
        .into_iter()
        .map(|way| vec![Cell::text(way.asks), way.rank.map_or(Cell::text("not found"), Cell::Number)]);
    let words = Section::table("Words that it has", vec!["Word", "Where", "Adds"], matched.collect(), "None.");
    let words = if item.lacks.is_empty() { words } else { words.lead(format!("It lacks: {}.", item.lacks.join(", "))) };
    vec![
        Section::table(
            "Limits of the question",
            vec!["Limit", "", "The item states", "Asked of"],
            limits,
            "It has none.",
        ),
        words,
        Section::table("Asked otherwise", vec!["Asked", "Place"], ways.collect(), ""),
    ]
}
