//! What the API answers, for people: tables and lines.

use forecourt_client::printable::line;
use serde_json::{Value, json};

use super::tables::{
    ACTIONS, AGENT_MONEY, AGENTS, ASKED, BOTS, BUDGETS, CALLER_MONEY, CERTIFICATES, CHAT_PLATFORMS, CHAT_THREADS,
    CHATS, CLICKED, CONSENTS, CONSOLE_SESSIONS, CONTENTS, CONTRACTS, DELIVERIES, EVENTS, FILES, FIRING, HITS, HUBS,
    LIMITS, MODEL_MONEY, NEVER_CLICKED, NODES, PAYMENTS, PEOPLE, PROTOCOLS, QUESTIONS, REFUSALS, RELATED, RULES,
    SERVERS, TASK_HOLDINGS, TASK_RECORDS, TASK_USAGE, TASKS, Table, UNANSWERED, USAGE, VERSIONS, WHY_FIRST, WHY_LIMITS,
    WHY_NEAREST, WHY_WAYS, WHY_WORDS,
};
use super::trends;
use crate::args::{AdminWhat, QuestionList};

/// Characters of a cell.
const CELL_CHARS_MAX: usize = 60;
/// Characters of what there is to say of a part of the house.
const CHECK_CHARS_MAX: usize = 400;

/// An answer, without a line end behind it.
pub(super) fn shown(what: &AdminWhat, told: &Value) -> String {
    match what {
        AdminWhat::Status => format!("{}\n\n{}", facts_without(told, &["checks"]), checks(&told["checks"])),
        AdminWhat::Agents { handle: None } => table(&AGENTS, told),
        AdminWhat::Tasks { task: None, .. } => tasks(told),
        AdminWhat::Tasks { .. } => format!("{}\n\n{}", facts_without(told, &["events", "turns"]), table(&EVENTS, told)),
        AdminWhat::Follow { .. } => followed(told),
        AdminWhat::Search(_) => hits(told),
        AdminWhat::Alerts { rules: false } => table(&FIRING, told),
        AdminWhat::Alerts { rules: true } => table(&RULES, told),
        AdminWhat::Why { .. } => why(told),
        AdminWhat::Sessions => sessions(told),
        AdminWhat::Refusals { .. } => table(&REFUSALS, told),
        AdminWhat::Consents(_) => held(&CONSENTS, told),
        AdminWhat::Payments(_) => held(&PAYMENTS, told),
        AdminWhat::Usage { .. } => table(&USAGE, &json!({USAGE.rows: used(&told["answers"])})),
        AdminWhat::Costs => {
            [&BUDGETS, &AGENT_MONEY, &MODEL_MONEY, &CALLER_MONEY].map(|of| table(of, told)).join("\n\n")
        }
        AdminWhat::Trends { .. } => trends::shown(told),
        AdminWhat::Questions { .. } => questions(told),
        AdminWhat::Bots { .. } => table(&BOTS, told),
        AdminWhat::Contracts => table(&CONTRACTS, told),
        AdminWhat::Deliveries => table(&DELIVERIES, told),
        AdminWhat::Queue { id: None, .. } => table(&QUESTIONS, told),
        AdminWhat::Limits => table(&LIMITS, told),
        AdminWhat::Content => table(&CONTENTS, told),
        AdminWhat::Servers => table(&SERVERS, told),
        AdminWhat::Hubs => table(&HUBS, told),
        AdminWhat::Chats => [&CHATS, &CHAT_PLATFORMS, &CHAT_THREADS].map(|of| table(of, told)).join("\n\n"),
        AdminWhat::Nodes => table(&NODES, &json!({NODES.rows: nodes(&told["nodes"])})),
        AdminWhat::Certificates => table(&CERTIFICATES, told),
        AdminWhat::Deployment => format!("{}\n\n{}", table(&FILES, told), table(&VERSIONS, told)),
        AdminWhat::PutBack(_) => put_back(told),
        AdminWhat::Actions => table(&ACTIONS, told),
        AdminWhat::Config => files(&told["files"]),
        AdminWhat::Reload { status: false, .. } => reloaded(&told["report"]),
        AdminWhat::Reload { .. } => facts(&told["status"]),
        AdminWhat::Agents { .. } | AdminWhat::Queue { .. } => facts(told),
        _ => told["message"].as_str().map(|text| line(text, 400)).unwrap_or_default(),
    }
}

/// Tasks, and how many more there are.
fn tasks(told: &Value) -> String {
    let rows = table(&TASKS, told);
    let listed = told["tasks"].as_array().map_or(0, Vec::len) as u64;
    let total = told["total"].as_u64().unwrap_or(0);
    if listed < total { format!("{rows}\n\n{listed} of {total}; --limit shows more") } else { rows }
}

/// What happened, and how to go on.
fn hits(told: &Value) -> String {
    let rows = table(&HITS, told);
    match goes_on(told) {
        None => rows,
        Some(further) => format!("{rows}\n\n{further}"),
    }
}

/// How a search goes on, where there is more than this page of it.
pub(super) fn goes_on(told: &Value) -> Option<String> {
    let next = line(told["next"].as_str()?, 400);
    let back = told["looked_back_to"].as_str().map(|at| format!("looked back to {}; ", line(at, CELL_CHARS_MAX)));
    Some(format!("{}there is more: --cursor {next}", back.unwrap_or_default()))
}

/// What happened around a task.
fn followed(told: &Value) -> String {
    let without = ["records", "holdings", "usage", "deliveries", "related", "task"];
    let tables = [&TASK_RECORDS, &TASK_HOLDINGS, &TASK_USAGE, &DELIVERIES, &RELATED].map(|of| table(of, told));
    format!("{}\n{}\n\n{}", facts(&told["task"]), facts_without(told, &without), tables.join("\n\n"))
}

/// Why an item is found, or is not.
fn why(told: &Value) -> String {
    let item = &told["item"];
    let words = told["words"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<String> = words.map(|text| line(text, CHECK_CHARS_MAX)).collect();
    let left_out = told["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let left_out = left_out.map(|text| format!("left out: {}", line(text, CHECK_CHARS_MAX)));
    let mut parts = vec![line(told["verdict"].as_str().unwrap_or_default(), CHECK_CHARS_MAX)];
    parts.extend(left_out);
    if item.is_null() {
        parts.push(table(&WHY_NEAREST, told));
    } else {
        parts.push(facts_without(item, &["limits", "matched", "ways"]));
        parts.extend([&WHY_LIMITS, &WHY_WORDS, &WHY_WAYS].map(|of| table(of, item)));
    }
    parts.push(words.join("\n"));
    parts.push(table(&WHY_FIRST, told));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// Nodes, each with what it said of itself.
fn nodes(nodes: &Value) -> Value {
    let line = |node: &Value| {
        let mut line = node["report"].clone();
        if !line.is_object() {
            line = json!({});
        }
        if let (Some(line), Some(node)) = (line.as_object_mut(), node.as_object()) {
            line.extend(node.clone());
        }
        line
    };
    nodes.as_array().into_iter().flatten().map(line).collect()
}

/// Consents or payments, and whether there are more.
fn held(of: &Table, told: &Value) -> String {
    let rows = table(of, told);
    if told["next"].is_null() { rows } else { format!("{rows}\n\nthere are more; --all shows them") }
}

/// The table of a list of the log of questions.
pub(super) fn of_list(list: QuestionList) -> &'static Table {
    match list {
        QuestionList::Asked => &ASKED,
        QuestionList::Unanswered => &UNANSWERED,
        QuestionList::Clicked => &CLICKED,
        QuestionList::NeverClicked => &NEVER_CLICKED,
    }
}

/// What people ask and click.
fn questions(told: &Value) -> String {
    if told["is_on"] == false {
        return "questions are not counted: set `log = true` under [questions] in forecourt.toml".to_owned();
    }
    let lists = [QuestionList::Asked, QuestionList::Unanswered, QuestionList::Clicked, QuestionList::NeverClicked];
    let headings = ["asked most", "without a good answer", "clicked most", "shown and never clicked"];
    let tables =
        lists.iter().zip(headings).map(|(list, heading)| format!("{heading}\n{}", table(of_list(*list), told)));
    let facts = facts_without(told, &["top", "without_good_answer", "clicked_most", "never_clicked"]);
    std::iter::once(facts).chain(tables).collect::<Vec<_>>().join("\n\n")
}

/// Who is logged in, signed in and connected.
fn sessions(told: &Value) -> String {
    let tables = [&CONSOLE_SESSIONS, &PEOPLE, &PROTOCOLS].map(|of| table(of, told)).join("\n\n");
    format!("{tables}\n\nconversations  {}", cell(&told["conversations"]))
}

/// A line for each part of the house, with all that there is to say.
fn checks(checks: &Value) -> String {
    let text = |value: &Value, chars| line(value.as_str().unwrap_or_default(), chars);
    let one = |check: &Value| {
        let (part, state) = (text(&check["part"], CELL_CHARS_MAX), text(&check["state"], CELL_CHARS_MAX));
        format!("{part:<12}  {state:<4}  {}", text(&check["about"], CHECK_CHARS_MAX))
    };
    checks.as_array().into_iter().flatten().map(one).collect::<Vec<_>>().join("\n")
}

/// A line for each model of each answer.
fn used(answers: &Value) -> Value {
    let line = |answer: &Value, used: &Value| {
        let mut line = answer.clone();
        if let (Some(line), Some(used)) = (line.as_object_mut(), used.as_object()) {
            line.extend(used.clone());
        }
        line
    };
    let lines = answers
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|answer| answer["models"].as_array().into_iter().flatten().map(move |used| line(answer, used)));
    lines.collect()
}

/// What stands in a cell, on one line.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        // Answers hold texts of callers: their control characters must not reach the terminal.
        Value::String(text) => line(text, CELL_CHARS_MAX),
        Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        Value::Object(counts) if counts.is_empty() => "-".to_owned(),
        Value::Object(counts) => {
            let pair = |(name, value): (&String, &Value)| format!("{} {}", line(name, 40), cell(value));
            counts.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        Value::Array(values) if values.is_empty() => "-".to_owned(),
        Value::Array(values) if values.iter().all(Value::is_string) => {
            line(&values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "), CELL_CHARS_MAX)
        }
        Value::Array(values) => format!("{} of them", values.len()),
        other => other.to_string(),
    }
}

/// Columns as wide as what stands in them; the last one as long as it is.
fn table(table: &Table, told: &Value) -> String {
    let Table { rows, columns, empty } = table;
    let rows: Vec<Vec<String>> = told[*rows]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| columns.iter().map(|(_, key)| cell(&row[*key])).collect())
        .collect();
    if rows.is_empty() {
        return (*empty).to_owned();
    }
    let head: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let width = |column: usize| {
        let all = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        all.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let written = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    [&head].into_iter().chain(&rows).map(written).collect::<Vec<_>>().join("\n")
}

fn facts(told: &Value) -> String {
    facts_without(told, &[])
}

fn facts_without(told: &Value, without: &[&str]) -> String {
    let Some(object) = told.as_object() else { return cell(told) };
    let shown = object.iter().filter(|(name, value)| !value.is_null() && !without.contains(&name.as_str()));
    let pairs: Vec<(String, String)> =
        shown.map(|(name, value)| (line(name, 40).replace('_', " "), cell(value))).collect();
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    pairs.iter().map(|(name, value)| format!("{name:<width$}  {value}")).collect::<Vec<_>>().join("\n")
}

/// Files, each under its name.
fn files(files: &Value) -> String {
    let file = |file: &Value| {
        let text = file["text"].as_str().unwrap_or_default();
        let lines: Vec<String> = text.lines().map(|text| line(text, 400)).collect();
        format!("# {}\n{}", cell(&file["name"]), lines.join("\n"))
    };
    files.as_array().into_iter().flatten().map(file).collect::<Vec<_>>().join("\n\n")
}

/// What came of reading a deployment again: each problem with its place.
fn reloaded(report: &Value) -> String {
    let line = format!(
        "{} ({} changed, {} ms)",
        cell(&report["outcome"]),
        cell(&report["changed_count"]),
        cell(&report["took_ms"])
    );
    with_problems(line, report)
}

/// What came of putting files back.
fn put_back(told: &Value) -> String {
    let files: Vec<String> =
        told["differences"].as_array().into_iter().flatten().map(|one| cell(&one["file"])).collect();
    let line = match (told["is_applied"] == true, files.is_empty()) {
        (true, true) => "the files are so already".to_owned(),
        (true, false) => format!("served: {}", files.join(", ")),
        (false, _) => "refused, and nothing has changed".to_owned(),
    };
    with_problems(line, told)
}

fn with_problems(first: String, told: &Value) -> String {
    let mut lines = vec![first];
    for problem in told["problems"].as_array().into_iter().flatten() {
        let text = |name: &str| problem[name].as_str().map(|text| line(text, 400)).unwrap_or_default();
        let place = match problem["line"].as_u64() {
            Some(number) => format!("{}:{number}", text("file")),
            None => text("file"),
        };
        lines.push(format!("{place}: {}", text("message")));
        if !text("hint").is_empty() {
            lines.push(format!("  hint: {}", text("hint")));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_as_wide_as_it_must_be_and_obeys_nobody() {
        let told = json!({"agents": [
            {"handle": "chef", "state": "active", "running": 2, "tasks": {"failed": 1}, "answers": {}, "name": "The\u{1b}[2J chef"},
            {"handle": "a", "state": "suspended", "running": 0, "tasks": {}, "answers": {"complete": 3}, "name": ""},
        ]});
        let text = shown(&AdminWhat::Agents { handle: None }, &told);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("chef   active     2        failed 1") && !text.contains('\u{1b}'), "{text}");
        assert!(lines[2].ends_with("complete 3    -"), "{text}");
        assert_eq!(shown(&AdminWhat::Limits, &json!({"limits": []})), "nobody ran into a bound");
    }

    #[test]
    fn a_search_says_how_it_goes_on_where_there_is_more() {
        assert_eq!(goes_on(&json!({"hits": [], "next": null})), None);
        let told = json!({"hits": [], "next": "c1", "looked_back_to": "2026-11-30T08:00:00Z"});
        let further = goes_on(&told).unwrap();
        assert_eq!(further, "looked back to 2026-11-30T08:00:00Z; there is more: --cursor c1");
        assert!(hits(&told).ends_with(&format!("\n\n{further}")));
    }
}
