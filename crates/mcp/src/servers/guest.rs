//! Our side of a session, as the server sees it.
#![expect(deprecated, reason = "sampling, roots and logging are spoken by older servers, and declined or passed on")]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, Implementation, ListRootsResult, ProgressNotificationParam,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;

use super::events::{LoggedMessage, SessionEvents};
use crate::elicit::Modes;

/// Our side of a session.
pub(super) struct Guest {
    modes: Modes,
    events: Arc<SessionEvents>,
}

impl Guest {
    pub(super) fn new(modes: Modes, events: Arc<SessionEvents>) -> Self {
        Self { modes, events }
    }
}

impl ClientHandler for Guest {
    /// Declares what the person behind the caller can be asked, and nothing else: a server that wants a model or
    /// folders of the caller is told that there are none.
    fn get_info(&self) -> ClientConfig {
        let mut modes = serde_json::Map::new();
        for (name, is_there) in [("form", self.modes.form), ("url", self.modes.url)] {
            if is_there {
                modes.insert(name.to_owned(), json!({}));
            }
        }
        let declared = if modes.is_empty() { json!({}) } else { json!({"elicitation": modes}) };
        let capabilities: ClientCapabilities = serde_json::from_value(declared).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("forecourt", env!("CARGO_PKG_VERSION")))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(declined("this host has no model for servers: sampling is not passed on"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(declined("this host shows no folders of its callers: roots are not passed on"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.events.question(request, &context).await
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.told.tell(told.progress_token.clone(), told);
    }

    async fn on_logging_message(&self, message: LoggedMessage, context: NotificationContext<RoleClient>) {
        self.events.log(message, context.extensions.get::<InboundStreamOrigin>());
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.updated.tell(&updated.uri);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.lists_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.lists_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.lists_changed.notify_one();
    }
}

fn declined(words: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, words, None)
}
