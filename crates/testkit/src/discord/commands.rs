//! Commands that people give, and their answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::{Call, Refused};
use super::messages::{self, EDITED};
use super::{DiscordBooks, DiscordDouble};

/// How long Discord waits for an acknowledgement.
const PATIENCE: Duration = Duration::from_secs(3);

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandState {
    /// It was given, and nothing was heard of it.
    Given {
        /// Its channel.
        channel: String,
    },
    /// An answer was promised to everybody.
    Promised {
        /// Its channel.
        channel: String,
    },
    /// There is an answer, or was.
    Answered {
        /// Its channel.
        channel: String,
        /// The message that took the place of the promise; none where the promise itself was deleted.
        original: Option<String>,
    },
    /// Nothing more can be said to it.
    Over,
}

impl DiscordDouble {
    /// Somebody gives a command, which has this token.
    pub fn give(&self, token: &str, channel: &str) {
        self.books.lock().given.insert(token.to_owned(), CommandState::Given { channel: channel.to_owned() });
    }

    /// It was answered like that, after that time.
    pub fn acknowledge(&self, token: &str, status: u16, body: &str, after: Duration) {
        let mut books = self.books.lock();
        let Some(CommandState::Given { channel }) = books.given.get(token).cloned() else { return };
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let state = match value["type"].as_u64().filter(|_| status == 200 && after < PATIENCE) {
            Some(5) => CommandState::Promised { channel },
            Some(4) => {
                let data = value["data"].clone();
                if let Err((.., words)) = messages::check(&data, &[4, 64, 68]) {
                    books.note(format!("an acknowledgement: {words}"));
                }
                let is_ephemeral = data["flags"].as_u64().unwrap_or_default() & 64 != 0;
                let sent = messages::add(&mut books, &channel, data, is_ephemeral);
                CommandState::Answered { channel, original: sent["id"].as_str().map(str::to_owned) }
            }
            _ => {
                books.note(format!("an acknowledgement that is none: {status} {body} after {after:?}"));
                CommandState::Over
            }
        };
        books.given.insert(token.to_owned(), state);
    }

    /// The time of a command is over.
    pub fn expire(&self, token: &str) {
        self.books.lock().given.insert(token.to_owned(), CommandState::Over);
    }
}

/// A method of a command.
pub(super) fn answer(books: &mut DiscordBooks, call: &Call<'_>, token: &str, rest: &[&str]) -> Result<Value, Refused> {
    let state = books.given.get(token).cloned();
    let (channel, original, is_promised) = match state {
        // Discord has not read the acknowledgement yet.
        None | Some(CommandState::Given { .. }) => return Err((404, 10_015, "Unknown Webhook")),
        Some(CommandState::Over) => return Err((401, 50_027, "Invalid Webhook Token")),
        Some(CommandState::Promised { channel }) => (channel, None, true),
        Some(CommandState::Answered { channel, original }) => (channel, original, false),
    };
    let set = |books: &mut DiscordBooks, original: Option<String>| {
        books.given.insert(token.to_owned(), CommandState::Answered { channel: channel.clone(), original });
    };
    match (call.method.as_str(), rest) {
        ("PATCH", ["messages", "@original"]) if is_promised => {
            let fields = call.fields(&EDITED)?;
            messages::check(&fields, &[])?;
            let sent = messages::add(books, &channel, fields, false);
            set(books, sent["id"].as_str().map(str::to_owned));
            Ok(sent)
        }
        ("DELETE", ["messages", "@original"]) if is_promised => {
            set(books, None);
            Ok(Value::Null)
        }
        ("POST", []) => {
            if let (false, None) = (is_promised, &original) {
                // Nothing follows a promise that was deleted.
                return Err((404, 10_008, "Unknown Message"));
            }
            if let Some(sent) = messages::file(books, call, &channel) {
                return sent;
            }
            let fields = call.fields(&messages::POSTED)?;
            messages::check(&fields, &[0, 4, 64, 68])?;
            // What follows a promise takes its place, and everybody sees it.
            let is_ephemeral = !is_promised && fields["flags"].as_u64().unwrap_or_default() & 64 != 0;
            let sent = messages::add(books, &channel, fields, is_ephemeral);
            if is_promised {
                set(books, sent["id"].as_str().map(str::to_owned));
            }
            Ok(sent)
        }
        ("PATCH", ["messages", id]) => {
            let id = if *id == "@original" { original.unwrap_or_default() } else { (*id).to_owned() };
            let fields = call.fields(&EDITED)?;
            messages::check(&fields, &[])?;
            messages::change(books, &fields, |message| message.id == id && message.channel == channel)
        }
        ("DELETE", ["messages", id]) => {
            let id = if *id == "@original" { original.unwrap_or_default() } else { (*id).to_owned() };
            messages::remove(books, |message| message.id == id && message.channel == channel)
        }
        _ => Err((404, 0, "404: Not Found")),
    }
}

/// `/ask` as Discord posts it: given by Ann, in a server or to the bot alone.
pub fn discord_command(id: &str, token: &str, guild: Option<&str>, options: &Value) -> Value {
    let user = json!({"id": "7", "username": "ann", "global_name": "Ann", "avatar": null});
    let mut interaction = json!({
        "id": id, "application_id": super::DISCORD_APPLICATION, "type": 2, "version": 1, "token": token,
        "channel_id": "50", "locale": "de", "app_permissions": "0", "entitlements": [], "context": 0,
        "data": {"id": "77", "name": "ask", "type": 1, "options": options},
    });
    match guild {
        Some(guild) => {
            interaction["guild_id"] = json!(guild);
            interaction["member"] = json!({"user": user, "roles": [], "nick": null});
        }
        None => interaction["user"] = user,
    }
    interaction
}
