//! Lists of tasks: one's own, and of those without an owner the ones of a conversation that the
//! caller can name (design 20).

use forecourt_core::Sender;
use forecourt_core::store::{Cursor, TaskFilter};

use super::{Caller, Service, ServiceError};
use crate::limits::PAGE_SIZE;
use crate::model::{ListQuery, OperationError, OperationOutcome, TaskListing};
use crate::view::{self, TaskDetail};

impl Service {
    pub(super) async fn list(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        query: ListQuery,
    ) -> Result<OperationOutcome, ServiceError> {
        let page_size = query.page_size.unwrap_or(PAGE_SIZE);
        let threads = match &query.context {
            Some(name) => self.threads(name, sender)?,
            None => Vec::new(),
        };
        let filter = TaskFilter {
            owner: None,
            threads,
            agent: caller.agent.clone(),
            state: query.state,
            since: query.since,
            cursor: cursor(query.page_token.as_deref())?,
            limit: page_size as usize,
        };
        let page = self.host.tasks(sender, filter).await?;
        let (history, artifacts) = (query.history_length, query.include_artifacts);
        let want = TaskDetail { history, artifacts, ..caller.detail() };
        let mut tasks = Vec::with_capacity(page.tasks.len());
        for task in &page.tasks {
            tasks.push(view::task(task, want, self.base(caller).as_str()).await);
        }
        let next_page_token = page.next.map(Cursor::to_text).unwrap_or_default();
        Ok(OperationOutcome::Listing(TaskListing { tasks, next_page_token, page_size, total: page.total }))
    }
}

fn cursor(token: Option<&str>) -> Result<Option<Cursor>, OperationError> {
    let wrong = |_| OperationError::param("pageToken", "must be the nextPageToken of an earlier page");
    token.filter(|token| !token.is_empty()).map(|token| Cursor::from_text(token).map_err(wrong)).transpose()
}
