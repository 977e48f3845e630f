//! Telling a client of a session that lists have changed.

use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Tells one client, until it is dropped.
pub(crate) struct ListWatch(JoinHandle<()>);

impl ListWatch {
    /// Tells `peer` of each change from now on.
    pub(crate) fn new(mut changes: watch::Receiver<u64>, peer: Peer<RoleServer>) -> Self {
        Self(tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                let told = peer.notify_tool_list_changed().await.is_ok()
                    && peer.notify_resource_list_changed().await.is_ok()
                    && peer.notify_prompt_list_changed().await.is_ok();
                if !told {
                    return;
                }
            }
        }))
    }
}

impl Drop for ListWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}
