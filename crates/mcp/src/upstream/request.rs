//! One request to a server, which is cancelled there when nobody waits for it any more.

use rmcp::RoleClient;
use rmcp::model::{CancelledNotificationParam, ClientRequest, RequestId, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use tokio::sync::mpsc;

use super::progress::ProgressListeners;

/// Sends a request, says with `sent` by which id, tells `listener` of its progress, and gives its result. Dropped, it
/// cancels the request there.
pub(crate) async fn send<T>(
    peer: &Peer<RoleClient>,
    request: ClientRequest,
    told: &ProgressListeners<T>,
    listener: mpsc::Sender<T>,
    sent: impl FnOnce(&RequestId),
) -> Result<ServerResult, ServiceError> {
    let handle = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
    sent(&handle.id);
    // The token is made when the request is sent, so that progress may have come before anybody listens
    // (`Listener::Early`).
    let _listening = told.listen(handle.progress_token.clone(), listener);
    let leaving = Leaving::new(peer, handle.id.clone());
    let result = handle.await_response().await;
    leaving.stay();
    result
}

/// Cancels a call that nobody waits for any more.
pub(crate) struct Leaving {
    peer: Peer<RoleClient>,
    call: Option<RequestId>,
}

impl Leaving {
    pub(crate) fn new(peer: &Peer<RoleClient>, call: RequestId) -> Self {
        Self { peer: peer.clone(), call: Some(call) }
    }

    /// The call has its answer.
    pub(crate) fn stay(mut self) {
        self.call = None;
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let (Some(call), Ok(runtime)) = (self.call.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        let told = CancelledNotificationParam::new(Some(call), reason);
        runtime.spawn(async move { peer.notify_cancelled(told).await });
    }
}
