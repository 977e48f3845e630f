//! What a server has, in the words of MCP: as it answered last, or as it lay in a file before it ever did.

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use rmcp::model::{Implementation, PaginatedRequestParams, Prompt, Resource, ResourceTemplate, Tool};
use rmcp::service::ServiceError;
use serde::{Deserialize, Serialize};

use super::lister::Lister;
use crate::limits::{LIST_PAGES_MAX, LISTED_ENTRY_BYTES_MAX, LISTED_PER_SERVER_MAX};

/// The lists of one server, of each at most [`LISTED_PER_SERVER_MAX`] entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Catalog {
    pub(super) tools: Vec<Tool>,
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
    pub(super) prompts: Vec<Prompt>,
    /// What the server says of itself.
    pub(super) server: Option<Implementation>,
    /// Its words for models on what it is good for.
    pub(super) instructions: Option<String>,
}

impl Catalog {
    /// Asks a server for all that it says it has.
    pub(super) async fn ask(server: &Lister) -> Result<Self, ServiceError> {
        let Some(about) = server.about() else { return Err(ServiceError::UnexpectedResponse) };
        let has = &about.capabilities;
        let mut found =
            Self { server: about.server_info.clone(), instructions: about.instructions.clone(), ..Self::default() };
        if has.tools.is_some() {
            let page = |page| server.tools(page).map_ok(|one| (one.tools, one.next_cursor)).boxed();
            found.tools = pages(page).await?;
        }
        if has.resources.is_some() {
            let page = |page| server.resources(page).map_ok(|one| (one.resources, one.next_cursor)).boxed();
            found.resources = pages(page).await?;
            let page = |page| {
                let listed = server.templates(page);
                listed.map_ok(|one| (one.resource_templates, one.next_cursor)).boxed()
            };
            // Some servers have resources and know nothing of their forms.
            found.templates = optional(pages(page).await)?;
        }
        if has.prompts.is_some() {
            let page = |page| server.prompts(page).map_ok(|one| (one.prompts, one.next_cursor)).boxed();
            found.prompts = pages(page).await?;
        }
        Ok(found.bounded())
    }

    /// The same with no more and no larger entries than are taken.
    pub(super) fn bounded(mut self) -> Self {
        bound(&mut self.tools);
        bound(&mut self.resources);
        bound(&mut self.templates);
        bound(&mut self.prompts);
        self
    }
}

/// A page of a list, and the cursor of the next one.
type PageResult<T> = Result<(Vec<T>, Option<String>), ServiceError>;

/// A list, page by page, as far as it is taken.
async fn pages<'a, T>(
    mut page: impl FnMut(Option<PaginatedRequestParams>) -> BoxFuture<'a, PageResult<T>>,
) -> Result<Vec<T>, ServiceError> {
    let mut all = Vec::new();
    let mut cursor = None;
    for _ in 0..LIST_PAGES_MAX {
        let (items, next) = page(cursor.take()).await?;
        all.extend(items);
        if all.len() >= LISTED_PER_SERVER_MAX {
            tracing::warn!("an MCP server lists more than {LISTED_PER_SERVER_MAX} entries; the others are left out");
            all.truncate(LISTED_PER_SERVER_MAX);
            return Ok(all);
        }
        let Some(next) = next.filter(|next| !next.is_empty()) else { break };
        cursor = Some(PaginatedRequestParams::default().with_cursor(Some(next)));
    }
    Ok(all)
}

/// Leaves out what is too large, and then what is too much.
fn bound<T: Serialize>(entries: &mut Vec<T>) {
    let count = entries.len();
    entries.retain(|entry| serde_json::to_vec(entry).is_ok_and(|text| text.len() <= LISTED_ENTRY_BYTES_MAX));
    if entries.len() < count {
        let left_out = count - entries.len();
        tracing::warn!(
            "{left_out} entries in a list of an MCP server have more than {LISTED_ENTRY_BYTES_MAX} bytes, and are left out"
        );
    }
    entries.truncate(LISTED_PER_SERVER_MAX);
}

/// The list, empty where the server answers that it knows of none.
fn optional<T>(listed: Result<Vec<T>, ServiceError>) -> Result<Vec<T>, ServiceError> {
    match listed {
        Err(ServiceError::McpError(_)) => Ok(Vec::new()),
        listed => listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn listed(count: usize, endless: bool) -> usize {
        let page = |_| std::future::ready(Ok((vec![(); count], endless.then(|| "more".to_owned())))).boxed();
        pages(page).await.expect("a list").len()
    }

    #[test]
    fn entries_are_so_large_and_no_larger() {
        let tool = |bytes: usize| -> Tool {
            let mut tool = serde_json::json!({"name": "a", "description": "", "inputSchema": {"type": "object"}});
            let more = bytes - tool.to_string().len();
            tool["description"] = "x".repeat(more).into();
            serde_json::from_value(tool).expect("a tool")
        };
        let tools = vec![tool(LISTED_ENTRY_BYTES_MAX + 1), tool(LISTED_ENTRY_BYTES_MAX)];
        let kept = Catalog { tools, ..Catalog::default() }.bounded().tools;
        assert_eq!(kept, [tool(LISTED_ENTRY_BYTES_MAX)]);
        let many = Catalog { tools: vec![tool(100); LISTED_PER_SERVER_MAX + 1], ..Catalog::default() };
        assert_eq!(many.bounded().tools.len(), LISTED_PER_SERVER_MAX);
    }

    #[tokio::test]
    async fn a_server_that_lists_without_end_is_cut_off() {
        assert_eq!(listed(LISTED_PER_SERVER_MAX, false).await, LISTED_PER_SERVER_MAX);
        assert_eq!(listed(LISTED_PER_SERVER_MAX + 1, false).await, LISTED_PER_SERVER_MAX);
        assert_eq!(listed(1, true).await, LIST_PAGES_MAX);
        assert_eq!(listed(0, true).await, 0);
    }
}
