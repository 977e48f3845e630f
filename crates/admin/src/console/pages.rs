//! The pages: each reads the values that the API gives, and lays them out.

mod alerts;
mod bots;
mod callers;
mod chats;
mod consents;
mod costs;
mod house;
mod nodes;
mod now;
mod promises;
mod queue;
mod search;
mod tasks;
mod trends;
mod why;

use std::collections::BTreeMap;

use forecourt_pages::escape::query;
use futures::future::BoxFuture;
use serde_json::Value;

use super::editor;
use super::view::{Cell, Page, Tile, Tone};
use crate::api_error::ApiError;
use crate::desk::Ask;

pub(super) type Make = fn(Ask) -> BoxFuture<'static, Result<Page, ApiError>>;

/// A page, and where it is.
pub(super) struct PageRoute {
    pub(super) path: &'static str,
    pub(super) make: Make,
}

macro_rules! page {
    ($path:literal $make:path) => {
        PageRoute { path: $path, make: |ask| Box::pin($make(ask)) }
    };
}

/// The pages that read.
pub(super) const PAGES: &[PageRoute] = &[
    page!("/console" now::overview_page),
    page!("/console/trends" trends::trends_page),
    page!("/console/alerts" alerts::alerts_page),
    page!("/console/search" search::search_page),
    page!("/console/agents" now::agents_page),
    page!("/console/agents/{handle}" now::agent_page),
    page!("/console/tasks" tasks::tasks_page),
    page!("/console/tasks/{task}" tasks::task_page),
    page!("/console/servers" now::servers_page),
    page!("/console/hubs" now::hubs_page),
    page!("/console/chats" chats::chats_page),
    page!("/console/queue" queue::queue_page),
    page!("/console/queue/{id}" queue::question_page),
    page!("/console/refusals" callers::refusals_page),
    page!("/console/consents" consents::consents_page),
    page!("/console/payments" consents::payments_page),
    page!("/console/bots" bots::bots_page),
    page!("/console/limits" callers::limits_page),
    page!("/console/sessions" callers::sessions_page),
    page!("/console/questions" callers::questions_page),
    page!("/console/usage" callers::usage_page),
    page!("/console/costs" costs::costs_page),
    page!("/console/contracts" promises::contracts_page),
    page!("/console/records" promises::records_page),
    page!("/console/deliveries" promises::deliveries_page),
    page!("/console/content" house::content_page),
    page!("/console/why" why::why_page),
    page!("/console/nodes" nodes::nodes_page),
    page!("/console/certificates" house::certificates_page),
    page!("/console/config" house::config_page),
    page!("/console/deployment" editor::deployment_page),
    page!("/console/deployment/versions/{version}" editor::version_page),
    page!("/console/reload" house::reload_page),
    page!("/console/actions" house::actions_page),
    page!("/console/playground" house::playground_page),
];

/// The address of the same list further on.
fn more(path: &str, asked: &BTreeMap<String, String>, name: &str, next: Option<String>) -> Option<String> {
    let next = next?;
    let kept = asked.iter().filter(|(known, value)| *known != name && !value.is_empty());
    let pairs = kept.map(|(name, value)| format!("{}={}", query(name), query(value)));
    let pairs: Vec<String> = pairs.chain([format!("{name}={}", query(&next))]).collect();
    Some(format!("{path}?{}", pairs.join("&")))
}

fn tile(label: &'static str, value: u64, note: impl Into<String>, href: &str, tone: Tone) -> Tile {
    Tile { label, value: value.to_string(), note: note.into(), href: href.to_owned(), tone }
}

/// The tone of a number that had better be none.
fn worry(count: u64, tone: Tone) -> Tone {
    if count > 0 { tone } else { Tone::Plain }
}

fn counts(of: &BTreeMap<String, u64>) -> Cell {
    let badge = |(name, count): (&String, &u64)| Cell::Badge {
        tone: Tone::of(name),
        text: format!("{} {count}", name.replace('_', " ")),
    };
    if of.is_empty() { Cell::Nothing } else { Cell::Several(of.iter().map(badge).collect()) }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
