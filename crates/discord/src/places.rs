//! What is asked about channels, servers and persons, and remembered: whether a channel is a thread, the roles of the bot
//! in a server, the conversation with a person.

use std::collections::HashMap;

use forecourt_connectors::{Outcome, PlatformError};
use forecourt_egress::Egress;
use http::Method;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::{Api, Route};
use crate::ids::is_id;
use crate::limits::{PLACE_TTL, PLACES_MAX};

/// Kinds of channels that are threads.
pub(crate) const THREADS: [u64; 3] = [10, 11, 12];

/// What is remembered.
#[derive(Default)]
pub(crate) struct Places {
    threads: Memory<bool>,
    roles: Memory<Vec<String>>,
    direct: Memory<String>,
}

/// Values by id, for some time.
struct Memory<T>(Mutex<HashMap<String, (Instant, T)>>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Memory<T> {
    fn get(&self, id: &str) -> Option<T> {
        self.0.lock().get(id).filter(|(since, _)| since.elapsed() < PLACE_TTL).map(|(_, value)| value.clone())
    }

    fn put(&self, id: &str, value: T) -> T {
        let mut all = self.0.lock();
        if all.len() >= PLACES_MAX && !all.contains_key(id) {
            all.clear();
        }
        all.insert(id.to_owned(), (Instant::now(), value.clone()));
        value
    }
}

impl Places {
    /// Whether a channel is a thread. One that may not be asked about is none.
    pub(crate) async fn is_thread(&self, api: &Api, egress: &Egress, channel: &str) -> Outcome<bool> {
        if let Some(known) = self.threads.get(channel) {
            return Ok(known);
        }
        let route = Route::new(Method::GET, "channel", channel, format!("/channels/{channel}"));
        let is_thread = match api.call(egress, &route, None).await {
            Ok(channel) => channel["type"].as_u64().is_some_and(|kind| THREADS.contains(&kind)),
            Err(error) => without(error.error, false)?,
        };
        Ok(self.threads.put(channel, is_thread))
    }

    /// The roles that the bot has in a server.
    pub(crate) async fn roles(&self, api: &Api, egress: &Egress, guild: &str, us: &str) -> Outcome<Vec<String>> {
        if let Some(known) = self.roles.get(guild) {
            return Ok(known);
        }
        let route = Route::new(Method::GET, "member", guild, format!("/guilds/{guild}/members/{us}"));
        let roles = match api.call(egress, &route, None).await {
            Ok(member) => {
                let roles = member["roles"].as_array().into_iter().flatten();
                roles.filter_map(Value::as_str).filter(|id| is_id(id)).map(str::to_owned).collect()
            }
            Err(error) => without(error.error, Vec::new())?,
        };
        Ok(self.roles.put(guild, roles))
    }

    /// The conversation with a person. Refused where the person takes none.
    pub(crate) async fn direct(&self, api: &Api, egress: &Egress, user: &str) -> Outcome<String> {
        if let Some(known) = self.direct.get(user) {
            return Ok(known);
        }
        let route = Route::new(Method::POST, "direct", "", "/users/@me/channels".to_owned());
        let channel = api.call(egress, &route, Some(&json!({ "recipient_id": user }))).await?;
        match channel["id"].as_str().filter(|id| is_id(id)) {
            Some(id) => Ok(self.direct.put(user, id.to_owned())),
            None => Err(PlatformError::Failed("direct: a conversation has no id".to_owned())),
        }
    }
}

/// What is so where Discord does not say it, and never will.
fn without<T>(error: PlatformError, value: T) -> Outcome<T> {
    match error {
        PlatformError::Refused(_) => Ok(value),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_so_many_things_for_so_long() {
        let memory = Memory::default();
        for id in 0..PLACES_MAX {
            memory.put(&id.to_string(), id);
        }
        assert_eq!((memory.get("0"), memory.put("0", 7), memory.get("0")), (Some(0), 7, Some(7)));
        memory.put("one more", 1);
        assert_eq!((memory.get("0"), memory.get("one more")), (None, Some(1)));
        tokio::time::advance(PLACE_TTL).await;
        assert_eq!(memory.get("one more"), None);
    }

    #[test]
    fn what_is_refused_is_taken_as_it_is_and_what_passes_is_asked_again() {
        assert_eq!(without(PlatformError::Refused("no".to_owned()), 7), Ok(7));
        assert!(without(PlatformError::Failed("away".to_owned()), 7).is_err());
    }
}
