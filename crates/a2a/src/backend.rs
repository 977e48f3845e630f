//! `a2a`: a remote A2A agent answers, as if it lived here.
//!
//! Its card says where and how it is spoken to; the card is read when the first message comes and again as its server
//! says. Each conversation here has one there (`contextId`), and an answer to its question goes on with its task. If
//! the caller disconnects here, the remote task is cancelled. The remote task is kept with ours, so that another node
//! finds it again (`place.rs`).
//!
//! Refusals are passed on when they can be believed. Their links lead to the remote agent's host,
//! where a caller of ours must not be sent by a button (PolicyPart 3.2): they stand in the message,
//! and in `data` under `mentionable.relayed`.

mod answer;
mod faults;
mod leaving;
mod outgoing;
mod place;
pub(crate) mod settings;
mod threads;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_agents::{Backend, BuiltAgent, Context};
use forecourt_core::agent::AddressedFiles;
use forecourt_core::{Admitted, Agent, Clock, Ending, Entropy, EventStream, Handle, SubjectToken};
use forecourt_egress::{Egress, Purpose};
use forecourt_settings::{Problems, Section};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::sync::Semaphore;
use url::Url;

use self::settings::RemoteAgentSettings;
use self::threads::Threads;
use crate::client::limits::CANCELS_MAX;
use crate::client::{ClientTimeouts, Demotions, DiscoveredAgent, Discovery, Peer, PeerConfig, Rules};

/// The backend `a2a`: an agent here that passes its messages to a remote A2A agent.
pub const BACKEND: Backend = Backend {
    kind: "a2a",
    about: "Fronts a remote A2A agent, 0.3 or 1.0: whoever talks to this agent talks to that one.",
    schema: || schemars::schema_for!(RemoteAgentSettings),
    build,
};

fn build(section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let settings = settings::read(&section, context)?;
    let rules = Rules {
        purpose: Purpose::Upstream,
        headers: settings.headers.clone(),
        origins: settings.origins,
        signed_only: settings.require_signature,
        kept_max: settings.card_refresh,
    };
    let via = settings.url.host_str().map(str::to_owned).into_iter().collect();
    // The token of a caller is not kept, so nobody could ask for its task later.
    let attaches = settings.exchange.is_none();
    let front = FrontedAgent {
        url: settings.url,
        headers: settings.headers,
        exchange: settings.exchange,
        patience: settings.patience,
        send_history: settings.send_history,
        knows_repeats: settings.knows_repeats,
        discovery: Discovery::new(context.egress.clone(), context.clock.clone(), rules),
        last_peer: ArcSwapOption::empty(),
        egress: context.egress.clone(),
        handle: context.handle.clone(),
        host: context.host.clone(),
        clock: context.clock.clone(),
        entropy: context.entropy.clone(),
        threads: Threads::default(),
        demotions: Demotions::default(),
        cancels: Arc::new(Semaphore::new(CANCELS_MAX)),
    };
    Ok(BuiltAgent {
        uses_tools: true,
        remembers: true,
        composes: true,
        attaches,
        via,
        ..BuiltAgent::new(A2aAgent(Arc::new(front))).with_files()
    })
}

/// The agent: everything it needs for one answer goes into the stream.
struct A2aAgent(Arc<FrontedAgent>);

struct FrontedAgent {
    url: Url,
    headers: HeaderMap,
    /// Where tokens of callers come from that the remote agent is asked with.
    exchange: Option<Arc<TokenExchange>>,
    patience: ClientTimeouts,
    send_history: bool,
    /// Whether the remote agent does nothing twice for one `messageId`.
    knows_repeats: bool,
    discovery: Discovery,
    /// The agent that was asked last, with its address and its fields prepared.
    last_peer: ArcSwapOption<(Arc<DiscoveredAgent>, Peer)>,
    egress: Egress,
    handle: Handle,
    host: String,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    threads: Threads,
    demotions: Demotions,
    cancels: Arc<Semaphore>,
}

impl Agent for A2aAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        answer::answer(self.0.clone(), admitted.into_message())
    }

    /// A file by its address is a part of A2A: the remote agent fetches it.
    fn addressed_files(&self) -> AddressedFiles {
        AddressedFiles::Passed
    }
}

impl FrontedAgent {
    /// The agent that was found, ready to be asked. The operator wrote its origin down, so its
    /// address may be private.
    fn peer(&self, found: &Arc<DiscoveredAgent>) -> Peer {
        // By pointer: a card that was read anew is another `Arc`, so that a peer is never used for an endpoint that its
        // card no longer names.
        if let Some((_, peer)) = self.last_peer.load().as_deref().filter(|(known, _)| Arc::ptr_eq(known, found)) {
            return peer.clone();
        }
        let peer = self.peer_with(found, self.headers.clone());
        self.last_peer.store(Some(Arc::new((found.clone(), peer.clone()))));
        peer
    }

    /// The agent that was found, ready to be asked in the name of whoever bears `token`, where that is wanted.
    ///
    /// # Errors
    /// There is no token for it.
    async fn peer_for(&self, found: &Arc<DiscoveredAgent>, token: Option<&SubjectToken>) -> Result<Peer, Ending> {
        let Some(exchange) = &self.exchange else { return Ok(self.peer(found)) };
        let mut headers = self.headers.clone();
        headers.insert(AUTHORIZATION, exchange.authorization(token).await?);
        // Never kept in `last_peer`: it bears the token of one caller.
        Ok(self.peer_with(found, headers))
    }

    fn peer_with(&self, found: &Arc<DiscoveredAgent>, headers: HeaderMap) -> Peer {
        Peer::new(PeerConfig {
            egress: self.egress.clone(),
            purpose: Purpose::Upstream,
            endpoint: found.endpoint.clone(),
            headers,
            patience: self.patience,
            streams: found.streams(),
        })
    }
}
