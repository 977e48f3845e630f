//! A server as it is asked what it has. Nothing that does something there can be asked by this.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ServerPeerInfo, SubscriptionFilter,
};
use rmcp::service::{Peer, ServiceError, Subscription};

/// A server to be asked what it has, and to be heard when that changes.
#[derive(Clone)]
pub(crate) struct Lister(Peer<RoleClient>);

impl Lister {
    pub(crate) fn new(peer: Peer<RoleClient>) -> Self {
        Self(peer)
    }

    /// What it said of itself at the beginning.
    pub(super) fn about(&self) -> Option<Arc<ServerPeerInfo>> {
        self.0.peer_info()
    }

    /// A page of its tools.
    pub(super) fn tools(
        &self,
        page: Option<PaginatedRequestParams>,
    ) -> BoxFuture<'_, Result<ListToolsResult, ServiceError>> {
        Box::pin(self.0.list_tools(page))
    }

    /// A page of its resources.
    pub(super) fn resources(
        &self,
        page: Option<PaginatedRequestParams>,
    ) -> BoxFuture<'_, Result<ListResourcesResult, ServiceError>> {
        Box::pin(self.0.list_resources(page))
    }

    /// A page of the forms of its resources' addresses.
    pub(super) fn templates(
        &self,
        page: Option<PaginatedRequestParams>,
    ) -> BoxFuture<'_, Result<ListResourceTemplatesResult, ServiceError>> {
        Box::pin(self.0.list_resource_templates(page))
    }

    /// A page of its prompts.
    pub(super) fn prompts(
        &self,
        page: Option<PaginatedRequestParams>,
    ) -> BoxFuture<'_, Result<ListPromptsResult, ServiceError>> {
        Box::pin(self.0.list_prompts(page))
    }

    /// Hears of changes, from a server of the newest revision.
    pub(crate) fn listen(&self, wanted: SubscriptionFilter) -> BoxFuture<'_, Result<Subscription, ServiceError>> {
        Box::pin(self.0.listen(wanted))
    }
}
