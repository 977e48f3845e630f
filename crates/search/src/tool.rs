//! The same search as a tool for models.

use std::sync::Arc;

use forecourt_core::{Language, Message, Timestamp};
use forecourt_index::{Adjustment, Hit, Library};
use forecourt_sentences::{Sentences, SpokenLanguage};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::content_index::ContentIndex;
use super::current;
use super::facts::facts;
use super::find::{SearchResults, find};
use super::request::SearchRequest;
use crate::limits::{TOOL_ITEM_BYTES_MAX, TOOL_ITEMS_MAX};
use forecourt_agents::tool::{Tool, ToolResult};

/// Searches the content of one agent.
pub struct SearchTool {
    index: Arc<ContentIndex>,
    description: String,
}

/// Items when the model does not say how many.
const ITEMS: usize = 5;

impl SearchTool {
    /// A tool that finds things called `item_label`.
    pub fn new(index: Arc<ContentIndex>, item_label: &str) -> Self {
        let description = format!(
            "Finds {item_label} in this agent's own content. Use it before you state a fact about them. \
             Limits can be part of the query in plain words, such as \"under 30 minutes, no nuts\"."
        );
        Self { index, description }
    }
}

impl Tool for SearchTool {
    fn name(&self) -> &str {
        "search"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, with its limits."},
                "limit": {"type": "integer", "minimum": 1, "maximum": TOOL_ITEMS_MAX, "description": "How many."},
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    fn is_idempotent(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, arguments: Value, message: &'a Message) -> BoxFuture<'a, ToolResult> {
        async move {
            let query = arguments["query"].as_str().ok_or("`query` must be a string")?.to_owned();
            let limit = match &arguments["limit"] {
                Value::Null => ITEMS,
                value => {
                    value.as_u64().and_then(|limit| usize::try_from(limit).ok()).ok_or("`limit` must be a number")?
                }
            };
            let (index, limit, now) = (self.index.clone(), limit.clamp(1, TOOL_ITEMS_MAX), message.received_at);
            // Searching reads from disk and takes processor time, which a runtime's thread must not spend.
            let work = move || {
                let library = index.library()?;
                let adjustments = index.rules().adjustments(&library, &query, now);
                searched(&library, &query, adjustments, limit, now)
            };
            let done = tokio::task::spawn_blocking(work).await.map_err(|_| "the search failed")?;
            done.map_err(|error: forecourt_index::Error| {
                tracing::error!(%error, "a search failed");
                "the search failed".into()
            })
        }
        .boxed()
    }
}

fn searched(
    library: &Library,
    query: &str,
    adjustments: Vec<Adjustment>,
    limit: usize,
    now: Timestamp,
) -> Result<Value, forecourt_index::Error> {
    let language = Language::english();
    let understood = library.understand_at(query, &language, now);
    let current = Some(current::filter(library.clock(now).date(), &language));
    let (text, filters) = (understood.text, understood.filters);
    let asked = SearchRequest { text, filters, current, adjustments, ..SearchRequest::default() };
    let found: SearchResults = find(library, &asked, limit)?;
    let without: Vec<&str> = found.relaxations.iter().map(|less| less.without.as_str()).collect();
    Ok(json!({
        "items": found.hits.iter().map(item).collect::<Vec<_>>(),
        "limits_applied": found.applied.iter().map(|filter| &filter.words).collect::<Vec<_>>(),
        "would_match_without": without,
        "notes": understood.notes,
    }))
}

fn item(hit: &Hit) -> Value {
    let english = Sentences::in_language(SpokenLanguage::English);
    let mut item = json!({"name": hit.name, "url": hit.url, "facts": facts(english, &hit.item), "text": hit.snippet});
    // A large item would fill the context of the model; its facts and snippet have to do.
    if hit.item.to_string().len() <= TOOL_ITEM_BYTES_MAX {
        item["data"] = Value::clone(&hit.item);
    }
    item
}
