//! This module builds a search that a scripted model reranks: what it knows, and how the model answers.

use axum::response::Response;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, Findings, FindingsDetail, Message, Part, SearchOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::provider::text;
use super::{ask, build, in_folder, message, stream};

/// A deployment with these items, and a search that a model reranks.
pub(crate) fn reranked(items: &[Value], url: &str, more: &str) -> (TempDir, Context, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let context = in_folder(folder.path());
    let built = build(&settings(url, more), &context);
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, context, built)
}

pub(crate) fn settings(url: &str, more: &str) -> String {
    format!(
        "[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\nitem_label = \"soups\"\nresults = 4\n\
         [backend.rerank]\nbase_url = \"{url}\"\nmodel = \"tiny\"\napi_key = \"${{KEY}}\"\n{more}"
    )
}

/// So many soups. The search has those of low numbers first, as they say more often what they are.
pub(crate) fn soups(count: usize) -> Vec<Value> {
    let soup = |n: usize| {
        json!({"@type": "Recipe", "@id": format!("urn:soup:{n:02}"), "url": format!("https://r.example/{n:02}"),
            "name": format!("Dish {n:02}"), "totalTime": format!("PT{}M", 10 + n),
            "description": format!("{}{}with things in it.", "Soup ".repeat(1 + count - n), "food ".repeat(n))})
    };
    (0..count).map(soup).collect()
}

/// What a request is for.
pub(crate) fn step(asked: &Value) -> &'static str {
    match asked["messages"][0]["content"].as_str().unwrap() {
        text if text.starts_with("You prepare") => "rewrite",
        text if text.starts_with("You judge") => "rank",
        text if text.starts_with("You answer") => "summary",
        other => panic!("{other}"),
    }
}

/// What others wrote, as a request holds it.
pub(crate) fn data(asked: &Value) -> Value {
    let content = asked["messages"][1]["content"].as_str().unwrap();
    serde_json::from_str(content.lines().nth(1).unwrap()).unwrap()
}

/// The judgements of a model that scores each entry so.
pub(crate) fn judged(asked: &Value, score: impl Fn(&Value) -> u64) -> Response {
    let entries = data(asked)["entries"].clone();
    let items = entries.as_array().unwrap().iter().map(|entry| {
        let reason = format!("Because it is {}.", entry["name"].as_str().unwrap());
        json!({"n": entry["n"], "score": score(entry), "reason": reason})
    });
    text(&json!({"items": items.collect::<Vec<_>>()}).to_string())
}

/// The number in the name of an entry.
pub(crate) fn number(entry: &Value) -> u64 {
    entry["name"].as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

/// A model that likes high numbers, and cites the first item.
pub(crate) fn helpful(asked: &Value) -> Response {
    match step(asked) {
        "rewrite" => text(r#"{"question": "soup with things", "also": []}"#),
        "rank" => judged(asked, |entry| 40 + number(entry)),
        _ => text("The first one is best [1]. It takes some time [2]."),
    }
}

pub(crate) fn names(answer: &CollectedReply) -> Vec<String> {
    answer.parts.iter().filter_map(name).collect()
}

pub(crate) fn name(part: &Part) -> Option<String> {
    match part {
        Part::Data(data) if data.mime.is_none() => data.data["name"].as_str().map(str::to_owned),
        _ => None,
    }
}

pub(crate) fn findings(answer: &CollectedReply) -> Findings {
    answer.findings.as_deref().cloned().expect("findings")
}

/// A message that wishes to be told of findings too.
pub(crate) fn wishing(text: &str) -> Message {
    let search = SearchOptions { findings: FindingsDetail::Summary, ..SearchOptions::default() };
    Message { search, ..message(vec![Part::text(text)]) }
}

pub(crate) async fn answer(built: &BuiltAgent, message: Message) -> CollectedReply {
    collect(stream(built, message).await).await
}

/// What the search says by itself.
pub(crate) async fn by_itself(items: &[Value], question: &str) -> Vec<String> {
    let (folder, _, built) = reranked(items, "http://127.0.0.1:1/v1", "rewrite = false\nrank = 0\nsummary = false\n");
    let names = names(&ask(&built, question).await);
    drop((folder, built));
    names
}
