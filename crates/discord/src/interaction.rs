//! An interaction as Discord posts it, after its signature was checked: `/ask`.

use std::collections::HashMap;

use forecourt_connectors::{ChatFile, ChatMessage, EventError, Incoming, Place, Reception, ReplyTicket};
use forecourt_core::clock::after;
use forecourt_core::{Handle, Language, Timestamp, json};
use forecourt_sentences::{Sentences, SpokenLanguage};
use serde::Deserialize;
use serde_json::{Value, json as value};

use crate::command::{AGENT, ASK, FILE, QUESTION};
use crate::ids;
use crate::limits::{TICKET_BYTES_MAX, TICKET_TTL};
use crate::message::{Attachment, Member, User, profile};
use crate::places::THREADS;

/// Kinds of interactions.
const PING: u64 = 1;
const COMMAND: u64 = 2;
/// Kinds of what answers them.
const PONG: u64 = 1;
const MESSAGE: u64 = 4;
const DEFERRED: u64 = 5;
/// Only who asked sees it.
pub(crate) const EPHEMERAL: u64 = 1 << 6;

/// What is posted. Discord adds fields as it likes; those that are not read are passed over.
#[derive(Deserialize)]
struct Interaction {
    id: String,
    application_id: String,
    #[serde(rename = "type")]
    kind: u64,
    #[serde(default)]
    token: String,
    channel_id: Option<String>,
    channel: Option<CommandChannel>,
    guild_id: Option<String>,
    /// In a server.
    member: Option<Member>,
    /// In a conversation of two.
    user: Option<User>,
    locale: Option<String>,
    data: Option<Command>,
}

/// The channel in which a command is given.
#[derive(Deserialize)]
struct CommandChannel {
    #[serde(rename = "type")]
    kind: Option<u64>,
}

#[derive(Deserialize)]
struct Command {
    name: String,
    #[serde(default)]
    options: Vec<CommandOption>,
    #[serde(default)]
    resolved: ResolvedData,
}

#[derive(Deserialize)]
struct CommandOption {
    name: String,
    #[serde(default)]
    value: Value,
}

#[derive(Default, Deserialize)]
struct ResolvedData {
    #[serde(default)]
    attachments: HashMap<String, Attachment>,
}

/// Reads an interaction of this application.
///
/// # Errors
/// [`EventError::Malformed`]: it is none that this application has.
pub(crate) fn read(body: &[u8], application: &str, now: Timestamp) -> Result<Incoming, EventError> {
    let malformed = EventError::Malformed("the interaction can't be read");
    let body = json::parse(body).map_err(|_| malformed)?;
    let interaction: Interaction = serde_json::from_value(body).map_err(|_| malformed)?;
    if interaction.application_id != application {
        return Err(EventError::Malformed("the interaction is for another application"));
    }
    match interaction.kind {
        PING => Ok(Incoming::Reply(value!({ "type": PONG }))),
        COMMAND => interaction.question(now).map(|message| Incoming::Message(Box::new(message))),
        _ => Err(EventError::Malformed("an interaction of this kind is not taken here")),
    }
}

impl Interaction {
    fn question(self, now: Timestamp) -> Result<ChatMessage, EventError> {
        let missing = EventError::Malformed("the command lacks its channel or its speaker");
        let nick = self.member.as_ref().and_then(Member::nick).map(str::to_owned);
        let user = self.member.and_then(|member| member.user).or(self.user).ok_or(missing)?;
        let channel = self.channel_id.ok_or(missing)?;
        ids::check([self.id.as_str(), &channel, &user.id].into_iter().chain(self.guild_id.as_deref()))?;
        if !is_token(&self.token) {
            return Err(EventError::Malformed("the token of the interaction is none"));
        }
        let command = self.data.filter(|command| command.name == ASK);
        let command = command.ok_or(EventError::Malformed("there is no such command: `/ask` is the one"))?;
        let (text, files) = command.read()?;
        let is_thread = self.channel.and_then(|channel| channel.kind).is_some_and(|kind| THREADS.contains(&kind));
        let ticket = ReplyTicket { token: self.token, until: after(now, TICKET_TTL) };
        Ok(ChatMessage {
            place: Place {
                channel,
                thread: None,
                is_reply: is_thread,
                is_direct: self.guild_id.is_none(),
                ticket: Some(ticket),
            },
            message: self.id,
            group: String::new(),
            profile: Some(profile(&user, nick.as_deref(), self.locale.as_deref())),
            user: user.id,
            text,
            mentions_connector: true,
            is_for_others: false,
            replies_to: None,
            files,
        })
    }
}

impl Command {
    /// What is asked: a name in `agent` is a mention before the question.
    fn read(&self) -> Result<(String, Vec<ChatFile>), EventError> {
        let option = |name: &str| self.options.iter().find(|option| option.name == name)?.value.as_str();
        let question = option(QUESTION).unwrap_or_default().trim();
        let text = match option(AGENT).map(|agent| agent.trim().trim_start_matches('@')).filter(|it| !it.is_empty()) {
            None => question.to_owned(),
            Some(agent) => match Handle::parse(&agent.to_lowercase()) {
                Ok(agent) => format!("@{agent} {question}"),
                Err(_) => return Err(EventError::Malformed("the name of the agent is none")),
            },
        };
        let file = option(FILE).and_then(|id| self.resolved.attachments.get(id)).map(Attachment::file);
        Ok((text, file.into_iter().collect()))
    }
}

/// A token is a name of a path.
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~=+:".contains(&byte);
    (1..=TICKET_BYTES_MAX).contains(&text.len()) && text.bytes().all(fits) && text.bytes().any(|byte| byte != b'.')
}

/// What Discord wants to hear of a command: that its answer comes later, or that there is none, for who asked alone.
pub(crate) fn acknowledgement(body: &[u8], reception: Reception) -> Value {
    match reception {
        Reception::Taken => value!({ "type": DEFERRED }),
        Reception::Dropped => {
            let locale = json::parse(body).ok().and_then(|body| Language::parse(body["locale"].as_str()?));
            let language = locale.as_ref().and_then(SpokenLanguage::of).unwrap_or(SpokenLanguage::English);
            let words = Sentences::in_language(language).decision_too_many_messages();
            value!({"type": MESSAGE, "data": {
                "content": words, "flags": EPHEMERAL, "allowed_mentions": {"parse": []},
            }})
        }
    }
}

#[cfg(test)]
mod tests;
