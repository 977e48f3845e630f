//! A hub of 5,000 agents against a hub of one: a message with a mention, and cards.

use std::ops::Range;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use super::{post, send_message};
use crate::arm::{Arm, OPEN_LIMITS};
use crate::load::{Asked, sample};
use crate::report::{compare, sides};
use crate::run::Run;

const AGENTS: usize = 5_000;
/// Agents of a smoke run.
const AGENTS_SMOKE: usize = 60;
const WORDS: &str = "hello from the other side";
const CARD: &str = "/.well-known/agent-card.json";

/// Starts all hubs, then compares what is asked of them.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let agents = run.of(AGENTS, AGENTS_SMOKE);
    // Somewhere in the middle, and the only one of the small hub.
    let mentioned = agents / 2 + 7;
    let one = mentioned..mentioned + 1;
    let arms = [hub("one agent", one.clone())?, hub("one agent again", one)?, hub("5,000 agents", 0..agents)?];
    println!("a message with a mention:");
    let body = send_message(&format!("@agent-{mentioned} {WORDS}"), &json!({}));
    compare(run, "a mention, ", &sides(&arms, |port| Asked::of(post(port, "/a2a", "1.0", &body), WORDS)))?;
    println!("the card of the hub, unchanged since it was read:");
    let mut tags = std::collections::HashMap::new();
    for arm in &arms {
        tags.insert(arm.port, read_card(arm)?);
    }
    compare(run, "the card unchanged, ", &sides(&arms, |port| Asked::of(get(port, CARD, &tags[&port]), "304")))?;
    println!("the card of the hub, whole (for information, as it is so much longer):");
    compare(run, "the card whole, ", &sides(&arms, |port| Asked::of(get(port, CARD, ""), "")))
}

/// A daemon with an agent for each number, and how long it took to start.
fn hub(name: &'static str, numbers: Range<usize>) -> anyhow::Result<Arm> {
    let mut files = vec![("forecourt.toml".to_owned(), OPEN_LIMITS.to_owned())];
    files.extend(numbers.map(|number| {
        let agent = format!("handle = \"agent-{number}\"\nname = \"Agent {number}\"\n[backend]\nkind = \"echo\"\n");
        (format!("agents/agent-{number}.toml"), agent)
    }));
    let begin = Instant::now();
    let arm = Arm::forecourt(name, &files)?;
    println!("{name}: up in {:.2} s, its files written", begin.elapsed().as_secs_f64());
    Ok(arm)
}

/// Reads the hub's card whole and gives its tag.
fn read_card(arm: &Arm) -> anyhow::Result<String> {
    let answer = sample(arm.port, &get(arm.port, CARD, ""))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    println!("{}: a card of {} KiB", arm.name, body.len() / 1024);
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).context("a card has a tag")?;
    Ok(tag.to_owned())
}

/// A GET, of what has not this tag if there is one.
fn get(port: u16, path: &str, tag: &str) -> String {
    let condition = if tag.is_empty() { String::new() } else { format!("If-None-Match: {tag}\r\n") };
    format!("GET {path} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nUser-Agent: bench\r\n{condition}\r\n")
}
