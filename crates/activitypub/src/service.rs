//! Activities to the host: who wrote, what it means, what becomes of it.
//!
//! What is acknowledged is durable: a task, a relation, or that there is nothing to do. A message is taken once, by the
//! name of its note, whichever inbox it comes to and however often.

mod changes;
mod edits;
mod queue;

use std::sync::Arc;

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{Error, Handle, Message, MessageId, PolicyPart, Site};
use forecourt_correspondence::{Acceptance, SenderQuota};
use forecourt_host::{EventOutcome, Host, HostedAgent, PlatformState, Platforms};
use forecourt_jose::ProofError;
use forecourt_surface::Mount;
use serde_json::Value;

use crate::NAME;
use crate::actors::{RemoteActor, RemoteActors};
use crate::federation::Federation;
use crate::iri::Iri;
use crate::kept::{AskedNote, KeptNotes};
use crate::letter::{Desk, Letter, NoteAddress};
use crate::limits::{CHANGES_PER_ACTOR_PER_HOUR, CHANGES_PER_HOUR};
use crate::names;
use crate::note::InboundNote;
use crate::relations::{Relation, Relations};
use crate::section::ActivityPubSettings;
use crate::sender::sender;
use crate::signature::{ArrivedRequest, UnprovenSignature};
use crate::wire::{Activity, ActivityKind, DecodeError};

use self::edits::{fingerprint, said, task_name};

pub(crate) use queue::{AnsweredQuestion, LONG, POST, QueuedPost};

/// What every activity can need.
pub(crate) struct Service {
    pub(crate) desk: Arc<Desk>,
    pub(crate) settings: ActivityPubSettings,
    pub(crate) federation: Arc<Federation>,
    actors: RemoteActors,
    of_servers: SenderQuota,
    in_all: SenderQuota,
    changes: SenderQuota,
    changes_in_all: SenderQuota,
}

/// Why an activity was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InboxError {
    /// It is none.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It is not proven who sent it.
    #[error("{0}")]
    Unproven(ProofError),
    /// Somebody else than its actor sent it.
    #[error("the request must be signed by the actor of its activity")]
    OtherSigner,
    /// Too many of this sender, its server, or all: to be sent again later.
    #[error("too many messages: try again later")]
    TooMany,
    /// There is no room for it now.
    #[error("{}", .0.message)]
    Later(Box<PolicyPart>),
    /// The host could not take it.
    #[error(transparent)]
    Host(#[from] Error),
}

impl InboxError {
    /// As what it is counted.
    pub(crate) fn outcome(&self) -> EventOutcome {
        match self {
            Self::Decode(_) => EventOutcome::Malformed,
            Self::Unproven(ProofError::KeysUnavailable) | Self::Later(_) | Self::Host(_) => EventOutcome::Failed,
            Self::Unproven(_) | Self::OtherSigner => EventOutcome::Forged,
            Self::TooMany => EventOutcome::TooMany,
        }
    }
}

impl Service {
    pub(crate) fn new(mount: &Mount, settings: ActivityPubSettings, federation: Arc<Federation>) -> Arc<Self> {
        let agents = settings.agents.iter().filter_map(|handle| Handle::parse(handle).ok()).collect();
        let agents = Some(agents).filter(|agents: &Vec<Handle>| !agents.is_empty());
        Platforms::of(&mount.services).add(PlatformState { platform: NAME, name: None, agents });
        Arc::new(Self {
            desk: Arc::new(Desk::new(Arc::clone(&mount.host), settings.messages_per_actor_per_hour)),
            actors: RemoteActors::new(federation.clone()),
            federation,
            of_servers: SenderQuota::new(settings.messages_per_server_per_hour.get()),
            in_all: SenderQuota::new(settings.messages_per_hour.get()),
            changes: SenderQuota::new(CHANGES_PER_ACTOR_PER_HOUR),
            changes_in_all: SenderQuota::new(CHANGES_PER_HOUR),
            settings,
        })
    }

    pub(crate) fn host(&self) -> &Host {
        self.desk.host()
    }

    pub(crate) fn site(&self) -> &Site {
        self.desk.host().site()
    }

    /// The agents that are actors.
    pub(crate) fn residents(&self) -> impl Iterator<Item = &Arc<HostedAgent>> {
        self.host().directory().iter().filter(|resident| self.settings.has(resident.card.handle()))
    }

    /// An agent that is an actor.
    pub(crate) fn resident(&self, agent: &Handle) -> Option<&Arc<HostedAgent>> {
        self.host().directory().find(agent).filter(|_| self.settings.has(agent))
    }

    /// Who asks for what others should not see: fetched in the name of the first agent.
    pub(crate) async fn reader(&self, request: &ArrivedRequest<'_>) -> Result<Arc<RemoteActor>, ProofError> {
        let signatures = UnprovenSignature::read(request)?;
        let agent = self.residents().next().ok_or(ProofError::UnknownKey)?.card.handle();
        self.actors.signer(self.host(), agent, &signatures).await
    }

    /// Takes one activity.
    pub(crate) async fn take(&self, request: &ArrivedRequest<'_>) -> Result<EventOutcome, InboxError> {
        let activity = Activity::read(request.body)?;
        if activity.deletes_actor() && !self.actors.knows(&activity.actor).await {
            // Servers tell all others of each account that is gone, whose key is gone too. Nothing is known of it here,
            // so that nothing is to be done, and nobody has to be believed.
            return Ok(EventOutcome::Ignored);
        }
        let actor = match self.reader(request).await {
            Ok(actor) => actor,
            // Its server confirms that it is gone.
            Err(ProofError::UnknownKey) if activity.deletes_actor() => return Ok(EventOutcome::Ignored),
            Err(fault) => return Err(InboxError::Unproven(fault)),
        };
        if actor.id != activity.actor {
            return Err(InboxError::OtherSigner);
        }
        if activity.kind == ActivityKind::Create {
            // Known by its note, which may come in several activities.
            return self.on_create(&activity, &actor).await;
        }
        let threads = self.desk.threads();
        if !activity.kind.changes_something() {
            return Ok(EventOutcome::Ignored);
        }
        if threads.was_taken(activity.id.as_str().as_bytes()).await? {
            return Ok(EventOutcome::Repeated);
        }
        // Nothing is remembered of what changes nothing: each server tells all others of each note that is deleted.
        let outcome = self.change(&activity, &actor).await?;
        if outcome == EventOutcome::Taken {
            threads.take(activity.id.as_str().as_bytes()).await?;
        }
        Ok(outcome)
    }

    async fn on_create(&self, activity: &Activity, actor: &RemoteActor) -> Result<EventOutcome, InboxError> {
        let fetched;
        let object = match &activity.object {
            Value::String(name) => {
                let name = Iri::parse(name).filter(|name| name.is_beside(&actor.id));
                let name = name.ok_or(DecodeError::Foreign("object"))?;
                let Some(resident) = self.residents().next() else { return Ok(EventOutcome::Ignored) };
                let object = self.actors.object(self.host(), resident.card.handle(), &name).await;
                fetched = object.map_err(|_| Error::unavailable())?;
                &fetched
            }
            object => object,
        };
        let note = InboundNote::read(object, &actor.id, self.site())?;
        let Some(note) = note else { return Ok(EventOutcome::Ignored) };
        let mut outcome = EventOutcome::Ignored;
        for agent in &note.agents {
            if let Some(resident) = self.resident(agent) {
                let came = self.deliver(resident, &note, actor, None).await?;
                // One that is asked is enough.
                outcome = if outcome == EventOutcome::Taken { outcome } else { came };
            }
        }
        Ok(outcome)
    }

    /// Hands a note to one agent; with `before`, an edit of it, whose answer takes the place of the one before.
    async fn deliver(
        &self,
        resident: &HostedAgent,
        note: &InboundNote,
        actor: &RemoteActor,
        before: Option<&AskedNote>,
    ) -> Result<EventOutcome, InboxError> {
        let (agent, now) = (resident.card.handle(), self.host().clock().now());
        let said = said(&note.parts);
        // A copy of the last edit, which may have been cut short, is that one again.
        let is_copy = before.is_some_and(|before| before.said == said);
        let revision = before.map_or(0, |before| before.letter.address.revision + u32::from(!is_copy));
        let fingerprint = fingerprint(agent, &note.id, &said, revision);
        let threads = self.desk.threads();
        // Before anybody is counted: servers deliver to each inbox, and again when they did not hear the answer.
        if threads.was_taken(&fingerprint).await? {
            return Ok(EventOutcome::Repeated);
        }
        if let Some(why) = self.unanswered(agent, note, actor).await? {
            tracing::info!(why, "a note that is not answered was dropped");
            return Ok(EventOutcome::Dropped);
        }
        let sender = sender(actor, &resident.card.address, now);
        let address = NoteAddress::new(actor, note.id.clone(), note.is_public, note.hop);
        let reader = self.desk.reader(&sender, &address);
        let server = actor.id.authority();
        // Looked at before anybody is counted: else a server that is beyond its bound fills the table of senders with
        // actors that it makes up, and whoever is not in it has to wait.
        let has_room = self.in_all.has_room("", now) && self.of_servers.has_room(server, now);
        if !(has_room && self.desk.admit(&reader) && self.of_servers.admit(server, now) && self.in_all.admit("", now)) {
            return Err(InboxError::TooMany);
        }
        let known = self.conversation(agent, note, &reader).await?;
        let letter = self.desk.letter(agent.clone(), sender, note.language.clone(), known, address);
        let letter = self.letter_for(letter, before, revision).await?;
        // What replies to this note goes on with the same conversation, answered or not: else it would begin one anew
        // behind the last answer.
        threads.remember(note.id.as_str(), agent, &reader, &letter.conversation).await?;
        let turns = KeptNotes::of(self.host()).count_turn(&letter).await?;
        let bots = u64::from(self.settings.answers_to_bots);
        let most = if actor.is_bot { bots } else { self.settings.answers_per_thread.get().into() };
        if turns > most {
            tracing::info!(most, "a conversation that is too long is not answered any more");
            return Ok(EventOutcome::Dropped);
        }
        let asked = AskedNote { letter, said };
        // Before it is asked: whoever deletes the note meanwhile finds it.
        if !is_copy && !KeptNotes::of(self.host()).keep_asked(&asked).await? {
            return Ok(EventOutcome::Dropped);
        }
        self.ask(note, &asked.letter).await?;
        // After the task is durable: a crash in between has the message handed over twice, to the same task.
        threads.take(&fingerprint).await?;
        Ok(EventOutcome::Taken)
    }

    /// Why a note is not answered, if it is not.
    async fn unanswered(
        &self,
        agent: &Handle,
        note: &InboundNote,
        actor: &RemoteActor,
    ) -> Result<Option<&'static str>, Error> {
        if actor.is_bot && self.settings.answers_to_bots == 0 {
            return Ok(Some("a bot wrote it"));
        }
        if note.hop >= HOPS_MAX {
            return Ok(Some("too many agents handed it on"));
        }
        let blocks = Relations::of(self.host()).is(Relation::Blocks, agent, &actor.id).await?;
        Ok(blocks.then_some("its author blocked the agent"))
    }

    async fn conversation(&self, agent: &Handle, note: &InboundNote, reader: &str) -> Result<Option<String>, Error> {
        let Some(before) = &note.in_reply_to else { return Ok(None) };
        let id = names::note_at(self.site(), before).map_or(before.as_str(), |(_, token)| token);
        self.desk.threads().find(id, agent, reader).await
    }

    async fn ask(&self, note: &InboundNote, letter: &Letter) -> Result<(), InboxError> {
        let id = MessageId::parse(note.id.as_str());
        let message = Message { hop: note.hop, ..self.desk.message(id, letter, note.parts.clone()) };
        let name = task_name(&letter.agent, &note.id, letter.address.revision);
        match self.desk.ask(message, letter, Some(name)).await? {
            Acceptance::Taken => self.look_later(letter).await.map_err(InboxError::Host),
            Acceptance::Later(part) => Err(InboxError::Later(part)),
            // Who wrote is always proven here.
            Acceptance::Untold(_) => Ok(()),
        }
    }
}
