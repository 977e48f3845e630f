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
pub(crate) struct Catalog {
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    /// What the server says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<Implementation>,
    /// Its words for models on what it is good for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instructions: Option<String>,
}

impl Catalog {
    /// Asks a server for all that it says it has. Gives what of that is left out, too, in a sentence each.
    pub(crate) async fn ask(server: &Lister) -> Result<(Self, Vec<String>), ServiceError> {
        let Some(about) = server.about() else { return Err(ServiceError::UnexpectedResponse) };
        let has = &about.capabilities;
        let mut found =
            Self { server: about.server_info.clone(), instructions: about.instructions.clone(), ..Self::default() };
        let page = |page| server.tools(page).map_ok(|one| (one.tools, one.next_cursor)).boxed();
        let tools = pages(page).await;
        // A server that lists tools without saying so is taken at its list.
        found.tools = if has.tools.is_some() { tools? } else { optional(tools)? };
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

    /// The same with no more and no larger entries than are taken, and what is left out.
    pub(super) fn bounded(mut self) -> (Self, Vec<String>) {
        let mut losses = Vec::new();
        bound(&mut self.tools, "tools", &mut losses);
        bound(&mut self.resources, "resources", &mut losses);
        bound(&mut self.templates, "templates", &mut losses);
        bound(&mut self.prompts, "prompts", &mut losses);
        (self, losses)
    }
}

/// A page of a list, and the cursor of the next one.
type PageResult<T> = Result<(Vec<T>, Option<String>), ServiceError>;

/// A list, page by page, until it is longer than what is taken.
async fn pages<'a, T>(
    mut page: impl FnMut(Option<PaginatedRequestParams>) -> BoxFuture<'a, PageResult<T>>,
) -> Result<Vec<T>, ServiceError> {
    let mut all = Vec::new();
    let mut cursor = None;
    for _ in 0..LIST_PAGES_MAX {
        let (items, next) = page(cursor.take()).await?;
        all.extend(items);
        let is_enough = all.len() > LISTED_PER_SERVER_MAX;
        let Some(next) = next.filter(|next| !next.is_empty() && !is_enough) else { break };
        cursor = Some(PaginatedRequestParams::default().with_cursor(Some(next)));
    }
    Ok(all)
}

/// Leaves out what is too large, and then what is too much.
fn bound<T: Serialize>(entries: &mut Vec<T>, what: &str, losses: &mut Vec<String>) {
    let count = entries.len();
    entries.retain(|entry| serde_json::to_vec(entry).is_ok_and(|text| text.len() <= LISTED_ENTRY_BYTES_MAX));
    if entries.len() < count {
        let left_out = count - entries.len();
        losses.push(format!("{what} of more than {LISTED_ENTRY_BYTES_MAX} bytes: {left_out} are left out"));
    }
    if entries.len() > LISTED_PER_SERVER_MAX {
        losses.push(format!("{what} after the first {LISTED_PER_SERVER_MAX}: no more are taken"));
        entries.truncate(LISTED_PER_SERVER_MAX);
    }
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
        let (kept, losses) = Catalog { tools, ..Catalog::default() }.bounded();
        assert_eq!((kept.tools, losses.len()), (vec![tool(LISTED_ENTRY_BYTES_MAX)], 1));
        for (count, left_out) in [(LISTED_PER_SERVER_MAX, 0), (LISTED_PER_SERVER_MAX + 1, 1)] {
            let (kept, losses) = Catalog { tools: vec![tool(100); count], ..Catalog::default() }.bounded();
            assert_eq!((kept.tools.len(), losses.len()), (LISTED_PER_SERVER_MAX, left_out));
        }
    }

    #[tokio::test]
    async fn a_server_that_lists_without_end_is_cut_off() {
        assert_eq!(listed(LISTED_PER_SERVER_MAX, false).await, LISTED_PER_SERVER_MAX);
        assert_eq!(listed(LISTED_PER_SERVER_MAX + 1, true).await, LISTED_PER_SERVER_MAX + 1, "one page");
        assert_eq!(listed(1, true).await, LIST_PAGES_MAX);
        assert_eq!(listed(0, true).await, 0);
    }
}
