//! What an event asks for, once the homeserver said what is not in it: who is in its room, and what it answers or
//! replaces. Invitations are taken here.

use forecourt_connectors::{ChatMessage, Incoming, Outcome, Place, PlatformError};
use serde_json::{Map, Value, json};

use crate::api::segment;
use crate::content::{self, transaction};
use crate::error::ApiError;
use crate::event::{Relation, RoomEvent, said};
use crate::ids::{admits, user};
use crate::platform::Matrix;
use crate::rooms::Homeserver;
use crate::text::{mentions, read};

/// What the homeserver keeps for the bot in a room that was told that it can't be read.
const TOLD: &str = "forecourt.encrypted";

/// A message with what its event does not say.
struct RoomMessage<'a> {
    event: &'a RoomEvent,
    /// The content that counts: that of an edit is the new one.
    content: &'a Map<String, Value>,
    /// How the message is bound to others; an edit, as the message that it edits.
    relation: Relation,
    /// The id of the message.
    id: &'a str,
}

impl Matrix {
    /// What an event asks for.
    pub(crate) async fn resolve(&self, homeserver: Homeserver<'_>, event: Value) -> Outcome<Incoming> {
        let Some(event) = RoomEvent::read(event) else { return Ok(Incoming::Nothing) };
        match event.kind.as_str() {
            "m.room.member" => self.member(homeserver, &event).await,
            "m.room.encrypted" => self.encrypted(homeserver, &event.room_id).await,
            "m.room.redaction" => Ok(redaction(&event)),
            "m.room.message" => self.message(homeserver, &event).await,
            _ => Ok(Incoming::Nothing),
        }
    }

    /// Somebody comes, goes or is invited. An invitation of the bot is taken from those who may invite it, and refused
    /// from others, who see that.
    async fn member(&self, homeserver: Homeserver<'_>, event: &RoomEvent) -> Outcome<Incoming> {
        let room = event.room_id.as_str();
        self.rooms.forget(room);
        let is_ours = event.state_key.as_deref() == Some(homeserver.us.user.as_str());
        let is_invitation = event.content.get("membership").is_some_and(|membership| membership == "invite");
        let is_direct = event.content.get("is_direct") == Some(&Value::Bool(true));
        if let Some(person) = event.state_key.as_deref().filter(|_| event.sender == homeserver.us.user)
            && is_invitation
            && is_direct
            && user(person).is_some()
        {
            // A room that the bot made: its own call may not have been answered.
            self.rooms.keep(homeserver, person, room).await?;
        }
        if !is_ours || !is_invitation {
            return Ok(Incoming::Nothing);
        }
        let may_invite = self.invited_by.iter().any(|pattern| admits(pattern, &event.sender));
        let (path, body) = match may_invite {
            true => (format!("/join/{}", segment(room)), json!({})),
            false => {
                (format!("/rooms/{}/leave", segment(room)), json!({"reason": "This user may not invite the bot."}))
            }
        };
        match homeserver.api.post(homeserver.egress, &path, &body).await {
            Ok(_) => {}
            // That a homeserver far away can't be reached holds up nothing: who invited it can do so again.
            Err(ApiError { error: PlatformError::Failed(reason), is_answer: true, .. }) => {
                tracing::warn!(reason, "an invitation was neither taken nor refused");
                return Ok(Incoming::Nothing);
            }
            // It took too long: where the homeserver itself is there, that is the one far away.
            Err(ApiError { error: PlatformError::Failed(reason), .. })
                if homeserver.api.get(homeserver.egress, "/account/whoami").await.is_ok() =>
            {
                tracing::warn!(reason, "an invitation was neither taken nor refused in time");
                return Ok(Incoming::Nothing);
            }
            Err(error) => return Err(error.into()),
        }
        if may_invite && is_direct {
            self.rooms.keep(homeserver, &event.sender, room).await?;
        }
        Ok(Incoming::Nothing)
    }

    /// Says once in a room that it can't be read there.
    async fn encrypted(&self, homeserver: Homeserver<'_>, room: &str) -> Outcome<Incoming> {
        if !self.rooms.is_first_encrypted(room) {
            return Ok(Incoming::Nothing);
        }
        let told = self.tell_encrypted(homeserver, room).await;
        if matches!(told, Err(PlatformError::Later(_) | PlatformError::Failed(_))) {
            self.rooms.is_untold(room);
        }
        told.map(|()| Incoming::Nothing)
    }

    async fn tell_encrypted(&self, homeserver: Homeserver<'_>, room: &str) -> Outcome<()> {
        let Homeserver { api, egress, us } = homeserver;
        // Other processes ask the same homeserver, and so does this one after a restart.
        let told = format!("/user/{}/rooms/{}/account_data/{TOLD}", segment(&us.user), segment(room));
        match api.get(egress, &told).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        let content = content::words(&content::post(&self.say().chat_encrypted()));
        api.send(egress, room, &transaction(&["encrypted", room]), &content).await?;
        api.put(egress, &told, &json!({"told": true})).await?;
        Ok(())
    }

    /// A message, or an edit of one.
    async fn message(&self, homeserver: Homeserver<'_>, event: &RoomEvent) -> Outcome<Incoming> {
        let relation = event.relation();
        let Some(edited) = &relation.replaces else {
            let message = RoomMessage { event, content: &event.content, relation, id: &event.event_id };
            let message = self.chat_message(homeserver, message).await?;
            return Ok(message.map_or(Incoming::Nothing, |message| Incoming::Message(Box::new(message))));
        };
        // Servers do not look whose message an edit replaces: anybody could put words into another's mouth.
        let original = homeserver.api.event(homeserver.egress, &event.room_id, edited).await?;
        let original = original.and_then(RoomEvent::read).filter(|original| original.sender == event.sender);
        let new = event.content.get("m.new_content").and_then(Value::as_object);
        let (Some(original), Some(new)) = (original, new) else { return Ok(Incoming::Nothing) };
        let relation = original.relation();
        if relation.replaces.is_some() || original.event_id != *edited {
            return Ok(Incoming::Nothing);
        }
        let message = RoomMessage { event, content: new, relation, id: edited };
        let message = self.chat_message(homeserver, message).await?;
        Ok(message.map_or(Incoming::Nothing, |message| Incoming::Edited(Box::new(message))))
    }

    /// A message of a person. `None`: of a program, or nothing that is said.
    async fn chat_message(&self, homeserver: Homeserver<'_>, message: RoomMessage<'_>) -> Outcome<Option<ChatMessage>> {
        let Some((body, files)) = said(message.content) else { return Ok(None) };
        let text = read(&body, message.content, homeserver.us, message.relation.may_quote);
        if text.words.is_empty() && files.is_empty() && !text.mentions_us {
            return Ok(None);
        }
        let place = self.place(homeserver, &message, text.mentions_us).await?;
        Ok(Some(ChatMessage {
            place,
            message: message.id.to_owned(),
            group: String::new(),
            user: message.event.sender.clone(),
            profile: None,
            text: text.words,
            mentions_connector: text.mentions_us,
            is_for_others: text.is_for_others,
            replies_to: message.relation.reply_to.clone(),
            files,
        }))
    }

    /// Where a message is. In a room with others its answer begins a thread, unless it is in one; in a direct room it
    /// stands beside it.
    async fn place(&self, homeserver: Homeserver<'_>, message: &RoomMessage<'_>, mentions_us: bool) -> Outcome<Place> {
        let channel = message.event.room_id.clone();
        let is_direct = self.rooms.is_direct(homeserver, &channel).await?;
        let in_thread = |thread: Option<String>, is_reply| Place { channel, thread, is_reply, is_direct, ticket: None };
        if is_direct || message.relation.thread.is_some() {
            let thread = message.relation.thread.clone();
            let is_reply = thread.is_some();
            return Ok(in_thread(thread, is_reply));
        }
        // Clients that know no threads answer one of our messages beside its thread. Newer ones name whom they answer.
        let (are_named, _) = mentions(message.content, homeserver.us);
        let replied = message.relation.reply_to.as_ref().filter(|_| mentions_us || !are_named);
        let thread = match replied {
            Some(replied) => self.thread_of_ours(homeserver, &message.event.room_id, replied).await?,
            None => None,
        };
        let is_reply = thread.is_some();
        Ok(in_thread(thread.or_else(|| Some(message.id.to_owned())), is_reply))
    }

    /// The thread of a message of ours. `None`: it is not ours, or in none.
    async fn thread_of_ours(&self, homeserver: Homeserver<'_>, room: &str, event: &str) -> Outcome<Option<String>> {
        let event = homeserver.api.event(homeserver.egress, room, event).await?;
        let ours = event.and_then(RoomEvent::read).filter(|event| event.sender == homeserver.us.user);
        Ok(ours.and_then(|event| event.relation().thread))
    }
}

fn redaction(event: &RoomEvent) -> Incoming {
    match event.redacts() {
        Some(message) => {
            let place = Place { channel: event.room_id.clone(), ..Place::default() };
            Incoming::Deleted { place, message: message.to_owned() }
        }
        None => Incoming::Nothing,
    }
}
