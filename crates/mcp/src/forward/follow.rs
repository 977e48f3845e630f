//! Hearing of changes of a server's resource, in the name of a client that wants to.
#![expect(deprecated, reason = "revisions before 2026-07-28 subscribe to each resource")]

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::Ending;
use forecourt_host::ForwardPermit;
use futures::future::BoxFuture;
use http::HeaderValue;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{ClientRequest, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter};
use serde_json::json;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

use super::read::Reader;
use super::tool_call::asker;
use crate::elicit::Modes;
use crate::limits::SUBSCRIPTIONS_MAX;
use crate::servers::Server;
use crate::servers::call::CallFailure;
use crate::servers::credentials::Credentials;
use crate::servers::events::CallLinks;
use crate::servers::upstream::{Asker, SessionLease, Upstream};
use crate::upstream::call_error::CallError;

/// Tells a client that the resource at an address has changed. `false` when it is gone.
pub(crate) type TellUpdate = Arc<dyn Fn(String) -> BoxFuture<'static, bool> + Send + Sync>;

/// The resources of servers that one client follows, by their addresses.
#[derive(Default)]
pub(crate) struct ServerSubscriptions(Mutex<HashMap<String, FollowedResource>>);

/// Follows one resource, until it is dropped.
struct FollowedResource(JoinHandle<()>);

impl Drop for FollowedResource {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ServerSubscriptions {
    /// Follows a resource no longer.
    pub(crate) fn remove(&self, address: &str) {
        self.0.lock().remove(address);
    }
}

impl Reader<'_> {
    /// Has `tell` hear of changes of a resource, as one of those that are `followed`. `None` where no server has it.
    pub(crate) async fn follow(
        &self,
        followed: &ServerSubscriptions,
        address: &str,
        tell: TellUpdate,
    ) -> Option<Result<(), ErrorData>> {
        let server = self.offer.servers.of_resource(self.caller.agent.as_ref(), address)?;
        if followed.0.lock().len() >= SUBSCRIPTIONS_MAX {
            let words = format!("a client subscribes to at most {SUBSCRIPTIONS_MAX} resources");
            return Some(Err(ErrorData::invalid_request(words, None)));
        }
        Some(match self.begin(server, address).await {
            Ok((lease, updates)) => {
                let following = follow(updates, lease, address.to_owned(), tell);
                followed.0.lock().insert(address.to_owned(), following);
                Ok(())
            }
            Err(error) => Err(error),
        })
    }

    /// Subscribes at the server, by the session that the caller has there.
    async fn begin(
        &self,
        server: &Server,
        address: &str,
    ) -> Result<(SessionLease, broadcast::Receiver<String>), ErrorData> {
        let mut permit = self.pass(server, json!({"resource": address})).await?;
        let modes = Modes { form: false, url: false };
        let asker = asker(self.caller, modes, self.client.session());
        let upstream = &server.upstream;
        let outcome = subscribed(upstream, &asker, &mut permit, address).await;
        upstream.note(&outcome);
        match outcome {
            Ok(begun) => match permit.end(Ending::Complete).await {
                Ending::Complete => Ok(begun),
                ending => Err(self.failed(CallFailure { error: CallError::Unasked(ending.clone()), ending })),
            },
            Err(error) => {
                let failure = CallFailure::new(error, upstream);
                let ending = permit.end(failure.ending).await;
                Err(self.failed(CallFailure { error: failure.error, ending }))
            }
        }
    }
}

/// Subscribes with what the server takes of the caller.
async fn subscribed(
    upstream: &Upstream,
    asker: &Asker,
    permit: &mut ForwardPermit,
    address: &str,
) -> Result<(SessionLease, broadcast::Receiver<String>), CallError> {
    let mut credentials = Credentials::of(upstream, asker).await?;
    loop {
        let outcome = subscribed_with(upstream, asker, permit, address, credentials.shown()).await;
        if !credentials.are_refused(&outcome) {
            return outcome;
        }
        permit.take_back();
        credentials.renew().await?;
    }
}

async fn subscribed_with(
    upstream: &Upstream,
    asker: &Asker,
    permit: &mut ForwardPermit,
    address: &str,
    shown: Option<HeaderValue>,
) -> Result<(SessionLease, broadcast::Receiver<String>), CallError> {
    let lease = upstream.session_with(asker, shown).await?;
    // Before the server knows of it: it may tell of a change at once.
    let updates = lease.session.updates();
    if !lease.session.is_modern() {
        permit.begin();
        let request = SubscribeRequest::new(SubscribeRequestParams::new(address));
        let owner = asker.owner.as_ref().map(|owner| owner.key.clone());
        let (told, asked, logged) = (mpsc::channel(1).0, mpsc::channel(1).0, mpsc::channel(1).0);
        let links = CallLinks { owner, told, asked, logged };
        lease.session.ask(permit, ClientRequest::SubscribeRequest(request), false, links).await?;
    }
    Ok((lease, updates))
}

fn follow(
    updates: broadcast::Receiver<String>,
    lease: SessionLease,
    address: String,
    tell: TellUpdate,
) -> FollowedResource {
    FollowedResource(tokio::spawn(async move {
        // Held as long as it is followed, so that the session does not end for another.
        if lease.session.is_modern() {
            hear(&lease, address, tell).await;
        } else {
            pass_on(updates, address, tell).await;
        }
    }))
}

/// Hears of changes from a server of the newest revision.
async fn hear(lease: &SessionLease, address: String, tell: TellUpdate) {
    let wanted = SubscriptionFilter::builder().resource_subscription(address.clone()).build();
    let Ok(mut heard) = lease.session.lister().listen(wanted).await else { return };
    while let Ok(Some(_)) = heard.next().await {
        if !tell(address.clone()).await {
            return;
        }
    }
}

async fn pass_on(mut updates: broadcast::Receiver<String>, address: String, tell: TellUpdate) {
    loop {
        match updates.recv().await {
            Ok(changed) if changed != address => continue,
            // Of what was missed, any may have been this one.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
        if !tell(address.clone()).await {
            return;
        }
    }
}
