//! Sessions: of the console, of people who signed in to talk to agents, of protocols, and conversations by their number.

use forecourt_core::Timestamp;
use forecourt_host::OpenSessions;
use forecourt_identity::Verifier;
use forecourt_pages::clean;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};
use crate::limits::SESSIONS_LISTED_MAX;
use crate::role::Role;
use crate::sessions;

/// Sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions {
    /// Of this console, on every node, the last one first.
    pub console: Vec<ConsoleSession>,
    /// Of people who signed in at the pages of this host, on every node, the last one first; none where nobody signs
    /// in. At most 200.
    pub people: Option<Vec<PersonSession>>,
    /// Of protocols that have sessions, on this node.
    pub protocols: Vec<ProtocolSessions>,
    /// Conversations that somebody can go on with, on every node.
    pub conversations: u64,
}

/// Somebody who is logged in here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConsoleSession {
    /// Names it. Opens nothing.
    pub id: String,
    /// Who.
    pub who: String,
    /// What they may do.
    pub role: Role,
    /// When it was begun.
    #[schemars(with = "String")]
    pub begun_at: Timestamp,
    /// When it ends unless it goes on.
    #[schemars(with = "String")]
    pub until: Timestamp,
}

/// Somebody who signed in at the pages of this host.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PersonSession {
    /// Names it. Opens nothing.
    pub id: String,
    /// What the provider calls them.
    pub who: String,
    /// When they signed in.
    #[schemars(with = "String")]
    pub begun_at: Timestamp,
    /// When they came last, give or take some minutes.
    #[schemars(with = "String")]
    pub seen_at: Timestamp,
    /// When it ends at the latest.
    #[schemars(with = "String")]
    pub until: Timestamp,
}

/// How many sessions a protocol has open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProtocolSessions {
    /// The protocol.
    pub protocol: String,
    /// How many, on this node.
    pub open: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<Sessions, ApiError> {
    let console = sessions::open(&ask.house.host).await?.into_iter().map(|(id, session)| ConsoleSession {
        id,
        who: session.who,
        role: session.role,
        begun_at: session.begun_at,
        until: session.until,
    });
    let people = people(&ask).await?;
    let told = ask.house.services.get::<OpenSessions>();
    let protocols =
        told.iter().map(|told| ProtocolSessions { protocol: told.protocol.to_owned(), open: (told.count)() as u64 });
    let conversations = ask.desk.reads.overview(ask.now()).await?.conversations;
    Ok(Sessions { console: console.collect(), people, protocols: protocols.collect(), conversations })
}

async fn people(ask: &Ask) -> Result<Option<Vec<PersonSession>>, ApiError> {
    let verifier = ask.house.services.get::<Verifier>();
    let Some(sessions) = verifier.as_ref().and_then(|verifier| verifier.sessions()) else { return Ok(None) };
    let open = sessions.open(SESSIONS_LISTED_MAX, ask.now()).await?.into_iter().map(|listed| PersonSession {
        // People choose their names at the provider: hidden characters are taken out.
        who: clean::line(listed.person.name()),
        id: listed.name,
        begun_at: listed.person.at,
        seen_at: listed.seen_at,
        until: listed.until,
    });
    Ok(Some(open.collect()))
}

/// Ends the session of somebody who signed in; `false` when there is none of this name that is open.
async fn end_of_person(ask: &Ask) -> Result<bool, ApiError> {
    let verifier = ask.house.services.get::<Verifier>();
    match verifier.as_ref().and_then(|verifier| verifier.sessions()) {
        Some(sessions) => Ok(sessions.end_named(ask.named("id"), ask.now()).await?),
        None => Ok(false),
    }
}

pub(crate) async fn end(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    // The id names a session of the console or one of a person who signed in: both are tried.
    let is_ended = sessions::end_named(&ask.house.host, ask.named("id")).await? || end_of_person(&ask).await?;
    let (came, words) = match is_ended {
        true => (Came::Done, "the session has ended, on every node"),
        // An unknown name is no error: a session may have ended since the list was shown.
        false => (Came::Already, "no such session is open"),
    };
    let target = format!("session {}", super::shortened(ask.named("id"), 16));
    account::note(&ask.house.host, &ask.actor.name, "end", target, why.as_deref(), came).await;
    Ok(ActionOutcome::new(came, words))
}
