//! The transport put together: which doors there are, and the trip of a message through one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use forecourt_core::policy::{PaymentSubmission, Submission};
use forecourt_core::{File, Handle, Link, MessageId, Part};
use forecourt_egress::{Egress, hops};
use forecourt_host::{Host, Run};
use forecourt_identity::Verifier;
use forecourt_pages::Pages;
use forecourt_surface::credentials;

use super::agent_route::AgentRoute;
use super::answer::Outcome;
use super::from_wire::{Envelope, message};
use super::media::Media;
use super::request::RestRequest;
use super::resumption::{ResumedRequest, Resumption};
use super::same_origin::is_cross_site;
use super::wire::{Ask, Entry};
use crate::section::MentionableSettings;

/// The transport, made once at start.
pub(crate) struct Rest {
    pub(crate) host: Arc<Host>,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) egress: Arc<Egress>,
    /// How pages look.
    pub(crate) pages: Arc<Pages>,
    pub(crate) settings: MentionableSettings,
    /// The handles of all agents in the order in which people look for them.
    pub(super) listed: Vec<Handle>,
    doors: HashMap<Handle, Arc<AgentRoute>>,
    pub(super) ids: Ids,
    /// The default agent's.
    pub(crate) default: Arc<AgentRoute>,
}

impl Rest {
    /// A door for each agent of the host.
    pub(crate) fn new(
        host: Arc<Host>,
        verifier: Arc<Verifier>,
        egress: Arc<Egress>,
        pages: Arc<Pages>,
        settings: MentionableSettings,
    ) -> Self {
        let door = |card: &Arc<_>| Arc::new(AgentRoute::new(Arc::clone(card)));
        let residents = host.directory().iter();
        let doors: HashMap<_, _> = residents.map(|r| (r.card.handle().clone(), door(&r.card))).collect();
        let default = host.directory().default_agent();
        let default = doors.get(default.card.handle()).cloned().unwrap_or_else(|| door(&default.card));
        let ids = Ids { run: MessageId::mint(&**host.entropy()), last: AtomicU64::new(0) };
        let listed = listed(&host);
        Self { host, verifier, egress, pages, settings, listed, doors, ids, default }
    }

    /// The door of an agent; the default one's when it has left.
    pub(crate) fn door(&self, agent: &Handle) -> &AgentRoute {
        self.doors.get(agent).unwrap_or(&self.default)
    }

    /// The door at a path segment such as `~chef`. Handles fold case; nothing is percent-decoded but
    /// the tilde, which some clients encode.
    pub(crate) fn door_at(&self, path: &str) -> Option<&AgentRoute> {
        let segment = path.strip_prefix('/')?;
        let tilde = ["~", "%7E", "%7e"].iter().find_map(|tilde| segment.strip_prefix(tilde))?;
        let name = tilde.strip_suffix('/').unwrap_or(tilde);
        if name.starts_with('@') {
            return None;
        }
        self.doors.get(&Handle::parse(name).ok()?).map(|door| &**door)
    }
}

/// What the last turn says, for the page of its answer.
fn said(ask: &Ask) -> Vec<Part> {
    let entries = ask.runs.last().map(|run| run.entries.as_slice()).unwrap_or_default();
    let part = |entry: &Entry| match entry {
        Entry::Text { text, .. } if !text.starts_with("data:") => Part::text(text.clone()),
        Entry::Text { .. } => Part::Link(Link { url: String::new(), title: None, description: None }),
        Entry::File { mime, name, .. } => Part::File(File::inline(mime.clone(), name.clone(), Bytes::new())),
    };
    entries.iter().map(part).collect()
}

/// The agents in the order in which people look for them: the default one, those that find things, those that compose
/// answers, and then the others, which are most often there to try things out. Within each, as they are configured.
fn listed(host: &Host) -> Vec<Handle> {
    let default = host.directory().default_agent().card.handle().clone();
    let mut cards: Vec<_> = host.directory().iter().map(|resident| &resident.card).collect();
    cards.sort_by_key(|card| (*card.handle() != default, !card.finds, !card.composes));
    cards.into_iter().map(|card| card.handle().clone()).collect()
}

/// Names for messages, which have none on this wire. They open nothing, so that a name for this run
/// and a count is enough, and randomness is kept for what must not be guessed.
pub(super) struct Ids {
    run: MessageId,
    last: AtomicU64,
}

impl Ids {
    pub(super) fn next(&self) -> MessageId {
        self.run.numbered(self.last.fetch_add(1, Ordering::Relaxed))
    }
}

impl RestRequest<'_> {
    /// Carries what was asked to the agent, and the answer back. `payment` and `body` are those of a POST; the raw
    /// body is what signatures cover.
    pub(crate) async fn carried(
        &self,
        mut ask: Ask,
        payment: Option<PaymentSubmission>,
        body: Option<&Bytes>,
        run: Run,
    ) -> Outcome {
        let media = self.media()?;
        let host = &self.rest.host;
        let received_at = host.clock().now();
        let body = body.map(|body| &**body);
        let back = self.way_back(&ask);
        let proof = credentials::Request { head: self.head, body, agent: &self.door.card.address, now: received_at };
        let sender = self.or_person(credentials::sender(&self.rest.verifier, host.site(), proof).await?);
        let Resumption { submission, asked } = match ask.state {
            // On the heap: few requests go on after a refusal.
            Some(_) => match Box::pin(self.resumed(&mut ask, &sender)).await? {
                ResumedRequest::Message(resumption) => resumption,
                ResumedRequest::Answer(answer) => return Ok(*answer),
            },
            None => Resumption::default(),
        };
        let submission = match payment {
            Some(payment) => Some(Box::new(Submission {
                payment: Some(payment),
                ..submission.map(|submission| *submission).unwrap_or_default()
            })),
            None => submission,
        };
        let search = self.search(&ask, &asked);
        let asked = if asked.is_empty() && media == Media::Html { said(&ask) } else { asked };
        let envelope = Envelope {
            recipient: self.door.card.handle().clone(),
            sender,
            language: self.language(),
            finds: self.door.card.finds,
            with_facets: search.is_some(),
            hop: hops::read(&self.head.headers),
            id: self.rest.ids.next(),
            submission,
            may_spend: !is_cross_site(&self.head.headers, host.site()),
            received_at,
        };
        let reply = host.receive(message(ask, envelope)?, run).await?;
        let reply = match back {
            Some(back) => back.of(reply),
            None => reply,
        };
        Ok(match search {
            // On the heap, as is a stream: what most requests don't need must not make every request's future larger.
            Some(search) => Box::pin(self.found(search, reply)).await,
            None => self.replied(media, reply, &asked).await,
        })
    }
}
