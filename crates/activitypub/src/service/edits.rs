//! Notes that are changed or deleted after they asked: the answer changes, or goes, too.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::{Error, Handle, Part};
use forecourt_host::{EventOutcome, TaskAccess, TaskName};

use super::{InboxError, QueuedPost, Service};
use crate::NAME;
use crate::actors::RemoteActor;
use crate::compose;
use crate::iri::Iri;
use crate::kept::{AskedNote, KeptNotes};
use crate::letter::{Letter, NoteAddress};
use crate::limits::DELIVERY_TTL;
use crate::note::InboundNote;
use crate::wire::Activity;

impl Service {
    /// A note of an actor is gone. Whether it had asked an agent.
    pub(super) async fn on_note_gone(&self, activity: &Activity, actor: &RemoteActor) -> Result<bool, InboxError> {
        let Some(note) = activity.object_name().and_then(Iri::parse) else { return Ok(false) };
        let asked = KeptNotes::of(self.host()).asked(&note, &actor.id).await?;
        for of_agent in asked.values() {
            self.take_back(of_agent).await?;
        }
        Ok(!asked.is_empty())
    }

    /// A note of an actor says something else. Agents that it asks are asked anew, and their answers take the place of
    /// those before; those that it asks no more take theirs back.
    pub(super) async fn on_note_changed(
        &self,
        activity: &Activity,
        actor: &RemoteActor,
    ) -> Result<EventOutcome, InboxError> {
        let Some(id) = activity.object_name().and_then(Iri::parse) else { return Ok(EventOutcome::Ignored) };
        let asked = KeptNotes::of(self.host()).asked(&id, &actor.id).await?;
        // Only its name: there is nothing to go by.
        let note = match activity.object.is_object() {
            true => InboundNote::read(&activity.object, &actor.id, self.site())?,
            false => return Ok(EventOutcome::Ignored),
        };
        let agents = note.as_ref().map(|note| note.agents.clone()).unwrap_or_default();
        let mut outcome = EventOutcome::Ignored;
        for of_agent in asked.values().filter(|asked| !agents.contains(&asked.letter.agent)) {
            self.take_back(of_agent).await?;
            outcome = EventOutcome::Taken;
        }
        let Some(note) = note else { return Ok(outcome) };
        for agent in &agents {
            let Some(resident) = self.resident(agent) else { continue };
            let came = self.deliver(resident, &note, actor, asked.get(agent)).await?;
            outcome = if outcome == EventOutcome::Taken { outcome } else { came };
        }
        Ok(outcome)
    }

    /// The letter of a note: that of its first copy, or, of an edit of this number, the one before, whose answer is to
    /// be another.
    pub(super) async fn letter_for(
        &self,
        letter: Letter,
        before: Option<&AskedNote>,
        revision: u32,
    ) -> Result<Letter, Error> {
        let Some(AskedNote { letter: before, .. }) = before else {
            return KeptNotes::of(self.host()).first_of(letter).await;
        };
        if before.address.revision != revision {
            self.cancel(before).await?;
        }
        let address = NoteAddress { revision, ..letter.address };
        let (token, conversation) = (before.token.clone(), before.conversation.clone());
        Ok(Letter { token, conversation, address, ..letter })
    }

    /// What a letter answers is asked no more: nothing works on it, and its answer is deleted where it was sent.
    async fn take_back(&self, asked: &AskedNote) -> Result<(), Error> {
        let (host, letter) = (self.host(), &asked.letter);
        let notes = KeptNotes::of(host);
        if notes.is_withdrawn(&letter.token).await? {
            return Ok(());
        }
        let (_, answer) = notes.last(&letter.token).await?;
        // First, since an answer may be due at any moment.
        notes.withdraw(letter).await?;
        self.cancel(letter).await?;
        if answer.is_none() {
            return Ok(());
        }
        let activity = compose::delete(self.site(), letter);
        let (agent, inbox, reader) = (letter.agent.clone(), letter.address.inbox.clone(), letter.address.actor.clone());
        let post = QueuedPost { agent, inbox, reader, activity, answered: None };
        self.send(&post, letter.sender.account(), DELIVERY_TTL).await
    }

    /// Ends the task that works on the question of a letter.
    pub(super) async fn cancel(&self, letter: &Letter) -> Result<(), Error> {
        let name = task_name(&letter.agent, &letter.address.note, letter.address.revision);
        let Some(permit) = self.host().named_task(&name, TaskAccess::As(&letter.sender)).await? else { return Ok(()) };
        match permit.cancel().await {
            Err(Error::Conflict { .. } | Error::NotFound { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The name of the task that a note begins, or an edit of it.
pub(super) fn task_name(agent: &Handle, note: &Iri, revision: u32) -> Arc<TaskName> {
    let edit = if revision == 0 { String::new() } else { format!("\0{revision}") };
    Arc::new(TaskName { key: format!("{NAME}\0{agent}\0{note}{edit}").into(), said: Vec::new() })
}

/// Names what an edit of a note asks of an agent: the same for each copy of it.
pub(super) fn fingerprint(agent: &Handle, note: &Iri, said: &str, revision: u32) -> Vec<u8> {
    let first = [agent.as_str().as_bytes(), note.as_str().as_bytes()].join(&0);
    match revision {
        0 => first,
        _ => [first.as_slice(), revision.to_string().as_bytes(), said.as_bytes()].join(&0),
    }
}

/// A hash of what a note says.
pub(super) fn said(parts: &[Part]) -> String {
    let text = serde_json::to_vec(parts).unwrap_or_default();
    digest(&SHA256, &text).as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}
