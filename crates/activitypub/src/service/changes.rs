//! Activities that are no messages: follows, blocks, and actors that change or are gone.

use forecourt_core::ids;
use forecourt_core::limits::THREAD_TTL;
use forecourt_host::EventOutcome;
use serde_json::json;

use super::{InboxError, QueuedPost, Service};
use crate::actors::RemoteActor;
use crate::limits::ACCEPT_TTL;
use crate::names::{self, CONTEXT};
use crate::relations::{Relation, Relations};
use crate::sender::{sender, subject};
use crate::wire::{Activity, ActivityKind};

impl Service {
    /// What becomes of an activity that is no message. `Taken` where it changed something, whose copies must not do so
    /// once more.
    pub(super) async fn change(&self, activity: &Activity, actor: &RemoteActor) -> Result<EventOutcome, InboxError> {
        let changed = match activity.kind {
            ActivityKind::Follow => self.on_follow(activity, actor).await,
            ActivityKind::Block => self.relate(activity, actor, Relation::Blocks, true).await,
            ActivityKind::Undo => self.on_undo(activity, actor).await,
            ActivityKind::Delete if activity.deletes_actor() => self.on_gone(actor).await.map(|()| true),
            ActivityKind::Update if activity.object_name() == Some(actor.id.as_str()) => {
                self.actors.forget(&actor.id).await;
                Ok(false)
            }
            ActivityKind::Delete => self.on_note_gone(activity, actor).await,
            ActivityKind::Update => return self.on_note_changed(activity, actor).await,
            ActivityKind::Create | ActivityKind::Other => Ok(false),
        };
        changed.map(|changed| if changed { EventOutcome::Taken } else { EventOutcome::Ignored })
    }

    async fn on_follow(&self, activity: &Activity, actor: &RemoteActor) -> Result<bool, InboxError> {
        let agent = activity.object_name().and_then(|name| names::agent_at(self.site(), name));
        let Some(agent) = agent.filter(|agent| self.resident(agent).is_some()) else { return Ok(false) };
        self.relate(activity, actor, Relation::Follows, true).await?;
        // ActivityPub 7.5. Also to who follows already: its server may have lost the first one.
        let own = names::actor(self.site(), &agent);
        let follow = json!({"id": activity.id, "type": "Follow", "actor": actor.id, "object": own});
        let id = format!("{own}#accepts/{}", ids::mint(self.host().entropy().as_ref()));
        let accept = json!({"@context": CONTEXT, "id": id, "type": "Accept", "actor": own, "object": follow});
        let account = sender(actor, &self.site().address(&agent), self.host().clock().now()).account();
        let (inbox, reader) = (actor.inbox.clone(), actor.id.clone());
        let post = QueuedPost { agent, inbox, reader, activity: accept, answered: None };
        self.send(&post, account, ACCEPT_TTL).await?;
        Ok(true)
    }

    async fn on_undo(&self, activity: &Activity, actor: &RemoteActor) -> Result<bool, InboxError> {
        let Some(undone) = activity.undone() else { return Ok(false) };
        match undone.kind {
            ActivityKind::Follow => self.relate(&undone, actor, Relation::Follows, false).await,
            ActivityKind::Block => self.relate(&undone, actor, Relation::Blocks, false).await,
            _ => Ok(false),
        }
    }

    /// An actor follows or blocks the agent that is the object of its activity, or does so no more. Whether that is an
    /// agent here.
    async fn relate(
        &self,
        activity: &Activity,
        actor: &RemoteActor,
        relation: Relation,
        holds: bool,
    ) -> Result<bool, InboxError> {
        let agent = activity.object_name().and_then(|name| names::agent_at(self.site(), name));
        let Some(agent) = agent.filter(|agent| self.resident(agent).is_some()) else { return Ok(false) };
        let now = self.host().clock().now();
        // All of them first, so that no place is taken in the table of actors by who is refused.
        let has_room = self.changes_in_all.has_room("", now);
        if !(has_room && self.changes.admit(&subject(actor), now) && self.changes_in_all.admit("", now)) {
            return Err(InboxError::TooMany);
        }
        let account = sender(actor, &self.site().address(&agent), now).account();
        let relations = Relations::of(self.host());
        if relation == Relation::Blocks && holds {
            // ActivityPub 6.9: whoever blocks follows no more.
            relations.set(Relation::Follows, &agent, &actor.id, &account, false).await?;
        }
        relations.set(relation, &agent, &actor.id, &account, holds).await?;
        Ok(true)
    }

    /// An actor is gone for good: it follows nobody, and its key proves nothing any more.
    async fn on_gone(&self, actor: &RemoteActor) -> Result<(), InboxError> {
        let (relations, now) = (Relations::of(self.host()), self.host().clock().now());
        // As long as anything may be due: actors are made up and deleted, and would leave a row for each agent for ever.
        let until = now.checked_add(THREAD_TTL).ok();
        for resident in self.residents() {
            let agent = resident.card.handle();
            let account = sender(actor, &resident.card.address, now).account();
            relations.set(Relation::Follows, agent, &actor.id, &account, false).await?;
            // Nothing that is still worked on is sent to who is gone.
            relations.set_until(Relation::Blocks, agent, &actor.id, &account, true, until).await?;
        }
        self.actors.forget(&actor.id).await;
        Ok(())
    }
}
