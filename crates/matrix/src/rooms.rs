//! Which rooms are conversations of two, and in which one a person is written to alone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forecourt_connectors::{Outcome, PlatformError};
use forecourt_egress::Egress;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::{Api, CallResult, segment};
use crate::ids::{Us, is_id};
use crate::limits::{
    DIRECT_ROOMS_MAX, DIRECT_TTL, EVENT_BYTES_MAX, MEMBERS_BYTES_MAX, NEWEST_ROOMS_MAX, ROOM_TOLD_WITHIN, ROOMS_MAX,
    ROOMS_PER_PERSON_MAX, SHARED_TTL,
};

/// What is known of rooms.
#[derive(Default)]
pub(crate) struct Rooms {
    /// Whether a room is direct, and since when that is known.
    direct: Mutex<HashMap<String, (Instant, bool)>>,
    /// Rooms that were told that they can't be read.
    encrypted: Mutex<HashSet<String>>,
    /// Direct rooms by person that are known here, whatever the list has: the homeserver keeps that as one value, and
    /// others may write it at the same time.
    newest: Mutex<HashMap<String, String>>,
    /// People for whom a room may have been made, and since when that is not known.
    unsure: Mutex<HashMap<String, Instant>>,
    /// Held while a room is looked for and made for one person, by that person.
    people: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// The homeserver, asked as the bot.
#[derive(Clone, Copy)]
pub(crate) struct Homeserver<'a> {
    pub(crate) api: &'a Api,
    pub(crate) egress: &'a Egress,
    pub(crate) us: &'a Us,
}

impl Rooms {
    /// Whether nobody but one person and the bot is in a room.
    pub(crate) async fn is_direct(&self, homeserver: Homeserver<'_>, room: &str) -> Outcome<bool> {
        let ttl = |is_direct| if is_direct { DIRECT_TTL } else { SHARED_TTL };
        let known = self.direct.lock().get(room).filter(|(since, is)| since.elapsed() < ttl(*is)).map(|(_, is)| *is);
        if let Some(known) = known {
            return Ok(known);
        }
        let is_direct = homeserver.members(room).await?.is_some_and(|members| members.len() == 2);
        let mut direct = self.direct.lock();
        if direct.len() >= ROOMS_MAX {
            direct.clear();
        }
        direct.insert(room.to_owned(), (Instant::now(), is_direct));
        Ok(is_direct)
    }

    /// Somebody came into a room or left it.
    pub(crate) fn forget(&self, room: &str) {
        self.direct.lock().remove(room);
    }

    /// Whether a room is told of its encryption now: once, and not again by this process.
    pub(crate) fn is_first_encrypted(&self, room: &str) -> bool {
        let mut encrypted = self.encrypted.lock();
        if encrypted.len() >= ROOMS_MAX {
            encrypted.clear();
        }
        encrypted.insert(room.to_owned())
    }

    /// It was not told.
    pub(crate) fn is_untold(&self, room: &str) {
        self.encrypted.lock().remove(room);
    }

    /// The room in which a person is written to alone: one that is there, else a new one, to which that person is
    /// invited. Of several that ask for one person each waits for those before it, and for nobody else.
    pub(crate) async fn of_person(&self, homeserver: Homeserver<'_>, user: &str) -> Outcome<String> {
        let turn = self.turn_of(user);
        let _turn = turn.lock().await;
        let list = homeserver.direct_rooms().await?;
        let listed = list.get(user).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let newest = self.newest.lock().get(user).cloned();
        let known = newest.iter().map(String::as_str).chain(listed.filter(|room| newest.as_deref() != Some(*room)));
        for room in known.filter(|room| is_id(room, '!')).take(ROOMS_PER_PERSON_MAX) {
            if homeserver.reaches(room, user).await? {
                return Ok(room.to_owned());
            }
        }
        if self.may_be_made(user) {
            return Err(PlatformError::Failed("it is not known yet whether a room was made".to_owned()));
        }
        let made = json!({
            "preset": "trusted_private_chat", "visibility": "private", "is_direct": true, "invite": [user],
        });
        let made = homeserver.api.post(homeserver.egress, "/createRoom", &made).await;
        if made.as_ref().is_err_and(|error| matches!(error.error, PlatformError::Failed(_))) {
            self.is_unsure(user);
        }
        let made = made?;
        let room = made["room_id"].as_str().filter(|room| is_id(room, '!')).map(str::to_owned);
        let room = room.ok_or_else(|| PlatformError::Failed("a room has no id".to_owned()))?;
        self.keep(homeserver, user, &room).await?;
        Ok(room)
    }

    /// Remembers a room for a person and the bot alone: one that a person made, or that the bot made, of which the
    /// homeserver tells even where its answer was lost.
    pub(crate) async fn keep(&self, homeserver: Homeserver<'_>, user: &str, room: &str) -> Outcome<()> {
        self.unsure.lock().remove(user);
        let newest = {
            let mut newest = self.newest.lock();
            if newest.len() >= NEWEST_ROOMS_MAX && !newest.contains_key(user) {
                newest.clear();
            }
            newest.insert(user.to_owned(), room.to_owned());
            newest.clone()
        };
        let mut list = homeserver.direct_rooms().await?;
        // With all that is known here: whoever writes last must not take away what another has just written.
        let missing: Vec<_> = newest.iter().filter(|(user, room)| !lists(&list, user, room)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.into_iter().for_each(|(user, room)| remember(&mut list, user, room));
        homeserver.keep_direct_rooms(list).await
    }

    /// What is held while a room is looked for, for one person.
    fn turn_of(&self, user: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut people = self.people.lock();
        // Nobody waits for the others any more.
        people.retain(|_, turn| Arc::strong_count(turn) > 1);
        people.entry(user.to_owned()).or_default().clone()
    }

    /// Whether a room may have been made for a person a moment ago, of which nothing is known yet.
    fn may_be_made(&self, user: &str) -> bool {
        self.unsure.lock().get(user).is_some_and(|since| since.elapsed() < ROOM_TOLD_WITHIN)
    }

    /// The answer of the homeserver that was to make a room for a person was lost.
    fn is_unsure(&self, user: &str) {
        let mut unsure = self.unsure.lock();
        unsure.retain(|_, since| since.elapsed() < ROOM_TOLD_WITHIN);
        if unsure.len() < DIRECT_ROOMS_MAX {
            unsure.insert(user.to_owned(), Instant::now());
        }
    }
}

impl Homeserver<'_> {
    /// Who is in a room. `None`: more than are told apart here, or the bot is not.
    pub(crate) async fn members(&self, room: &str) -> Outcome<Option<Vec<String>>> {
        let path = format!("/rooms/{}/joined_members", segment(room));
        match self.api.get_short(self.egress, &path, MEMBERS_BYTES_MAX).await {
            Ok(Some(value)) => Ok(value["joined"].as_object().map(|joined| joined.keys().cloned().collect())),
            Ok(None) => Ok(None),
            Err(error) if error.is_refused() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a person is alone with the bot in a room, just now, into which nobody else comes uninvited.
    pub(crate) async fn is_alone(&self, room: &str, user: &str) -> Outcome<bool> {
        let members = self.members(room).await?.unwrap_or_default();
        let is_there = |member: &str| members.iter().any(|other| other == member);
        let are_two = members.len() == 2 && is_there(user) && is_there(&self.us.user);
        Ok(are_two && self.is_closed(room).await? && self.invites_nobody_but(room, user).await?)
    }

    /// Whether no invitation stands by which somebody else could come in, and read what was said before.
    async fn invites_nobody_but(&self, room: &str, user: &str) -> Outcome<bool> {
        let path = format!("/rooms/{}/members?membership=invite", segment(room));
        match self.api.get_short(self.egress, &path, MEMBERS_BYTES_MAX).await {
            Ok(invited) => {
                let invited = invited.unwrap_or_default();
                Ok(invited["chunk"].as_array().is_some_and(|all| all.iter().all(|event| event["state_key"] == user)))
            }
            Err(error) if error.is_refused() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether only who is invited comes into a room, and nobody else reads it.
    async fn is_closed(&self, room: &str) -> Outcome<bool> {
        let joins = self.state(room, "m.room.join_rules").await?;
        let history = self.state(room, "m.room.history_visibility").await?;
        let is_by_invitation = matches!(joins["join_rule"].as_str(), Some("invite" | "knock" | "private"));
        Ok(is_by_invitation && history["history_visibility"] != "world_readable")
    }

    /// A piece of the state of a room; null where there is none.
    async fn state(&self, room: &str, path: &str) -> Outcome<Value> {
        let path = format!("/rooms/{}/state/{path}", segment(room));
        match self.api.get_short(self.egress, &path, EVENT_BYTES_MAX).await {
            Ok(state) => Ok(state.unwrap_or_default()),
            Err(error) if error.is_refused() => Ok(Value::Null),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a person alone is reached in a room: it is there, or invited, and nobody else is. Who left is invited.
    async fn reaches(&self, room: &str, user: &str) -> Outcome<bool> {
        let Some(members) = self.members(room).await? else { return Ok(false) };
        let is_ours = members.iter().all(|member| member == user || *member == self.us.user);
        let is_apart = is_ours && members.contains(&self.us.user);
        if !(is_apart && self.is_closed(room).await? && self.invites_nobody_but(room, user).await?) {
            return Ok(false);
        }
        if members.len() == 2 {
            return Ok(true);
        }
        let member = self.state(room, &format!("m.room.member/{}", segment(user))).await?;
        if member["membership"] == "invite" {
            return Ok(true);
        }
        let path = format!("/rooms/{}/invite", segment(room));
        match self.api.post(self.egress, &path, &json!({"user_id": user})).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_refused() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The list of direct rooms by person, which the homeserver keeps for the bot.
    async fn direct_rooms(&self) -> Outcome<Map<String, Value>> {
        match self.api.get(self.egress, &self.direct_rooms_path()).await {
            Ok(Value::Object(list)) => Ok(list),
            Ok(_) => Ok(Map::new()),
            Err(error) if error.is_not_found() => Ok(Map::new()),
            Err(error) => Err(error.into()),
        }
    }

    async fn keep_direct_rooms(&self, list: Map<String, Value>) -> Outcome<()> {
        let kept: CallResult<Value> = self.api.put(self.egress, &self.direct_rooms_path(), &Value::Object(list)).await;
        Ok(kept.map(|_| ())?)
    }

    fn direct_rooms_path(&self) -> String {
        format!("/user/{}/account_data/m.direct", segment(&self.us.user))
    }
}

/// Whether a room is among those of a person.
fn lists(list: &Map<String, Value>, user: &str, room: &str) -> bool {
    list.get(user).and_then(Value::as_array).is_some_and(|rooms| rooms.iter().any(|listed| listed == room))
}

/// Puts a room first among those of a person.
fn remember(list: &mut Map<String, Value>, user: &str, room: &str) {
    if list.len() >= DIRECT_ROOMS_MAX && !list.contains_key(user) {
        let first = list.keys().next().cloned();
        first.and_then(|first| list.remove(&first));
    }
    let before = list.get(user).and_then(Value::as_array).into_iter().flatten();
    let others = before.filter(|other| **other != *room).take(ROOMS_PER_PERSON_MAX - 1).cloned();
    let rooms: Vec<Value> = [Value::from(room)].into_iter().chain(others).collect();
    list.insert(user.to_owned(), rooms.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_people_and_rooms_of_each_are_remembered() {
        let mut list = Map::new();
        (0..DIRECT_ROOMS_MAX).for_each(|at| remember(&mut list, &format!("@{at:05}:a"), "!r"));
        assert_eq!(list.len(), DIRECT_ROOMS_MAX);
        remember(&mut list, "@new:a", "!n");
        assert!(list.len() == DIRECT_ROOMS_MAX && list["@new:a"] == json!(["!n"]));
        for room in ["!1", "!2", "!3", "!n", "!4"] {
            remember(&mut list, "@new:a", room);
        }
        assert_eq!(list["@new:a"], json!(["!4", "!n", "!3", "!2"]));
        assert_eq!(list.len(), DIRECT_ROOMS_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_room_that_may_have_been_made_is_waited_for_and_no_longer_than_its_time() {
        let rooms = Rooms::default();
        assert!(!rooms.may_be_made("@ann:a"));
        rooms.is_unsure("@ann:a");
        assert!(rooms.may_be_made("@ann:a") && !rooms.may_be_made("@bob:a"));
        tokio::time::advance(ROOM_TOLD_WITHIN - std::time::Duration::from_millis(1)).await;
        assert!(rooms.may_be_made("@ann:a"));
        tokio::time::advance(std::time::Duration::from_millis(1)).await;
        assert!(!rooms.may_be_made("@ann:a"));
        (0..=DIRECT_ROOMS_MAX).for_each(|at| rooms.is_unsure(&format!("@{at}:a")));
        assert_eq!(rooms.unsure.lock().len(), DIRECT_ROOMS_MAX);
    }

    #[tokio::test]
    async fn one_person_has_one_turn_at_a_time_and_others_have_theirs() {
        let rooms = Rooms::default();
        let (ann, again, bob) = (rooms.turn_of("@ann:a"), rooms.turn_of("@ann:a"), rooms.turn_of("@bob:a"));
        let _held = ann.lock().await;
        assert!(again.try_lock().is_err() && bob.try_lock().is_ok());
        drop((again, bob));
        rooms.turn_of("@carl:a");
        assert_eq!(rooms.people.lock().len(), 2, "ann, and carl until somebody asks next");
    }

    #[test]
    fn a_room_is_told_once_until_too_many_are_known() {
        let rooms = Rooms::default();
        assert!(rooms.is_first_encrypted("!0") && !rooms.is_first_encrypted("!0"));
        rooms.is_untold("!0");
        assert!((0..ROOMS_MAX).all(|at| rooms.is_first_encrypted(&format!("!{at}"))));
        assert!(rooms.is_first_encrypted("!more") && rooms.encrypted.lock().len() == 1);
    }
}
