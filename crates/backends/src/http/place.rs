//! Where the service works on a message, as it is noted; and what a later try does with it.

use forecourt_core::{EarlierTry, Ending, FailureCause, WorkJournal};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

/// A message that was sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SentMessage {
    /// Where the service tells how it stands, once it has said so.
    place: Option<String>,
}

impl SentMessage {
    /// A message of which the service said where it tells how it stands.
    pub(super) fn at(place: &Url) -> Self {
        Self { place: Some(place.to_string()) }
    }

    /// Notes it: the last one counts.
    pub(super) fn note(&self, journal: &WorkJournal) {
        journal.note(json!(self));
    }
}

/// How work begins.
#[derive(Debug, PartialEq)]
pub(super) enum WorkStart {
    /// The message is sent for the first time.
    Send,
    /// It is sent again, word for word and under the same key: it may not have arrived.
    SendAgain,
    /// It arrived, and this is where the service tells how it stands.
    Attach(Url),
}

/// How work begins, by what an earlier try of it has left.
///
/// # Errors
/// Nobody knows whether the message arrived, and sending it again might do its work twice; or it is at a place that is
/// none of the service's any more.
pub(super) fn start(journal: &WorkJournal, service: &Url, knows_repeats: bool) -> Result<WorkStart, Ending> {
    let EarlierTry::Left(mut sent) = journal.earlier() else { return Ok(WorkStart::Send) };
    // Noted before it was sent.
    let Some(sent) = sent.pop() else { return Ok(WorkStart::Send) };
    let sent: SentMessage = serde_json::from_value(sent).map_err(|_| unknown())?;
    match sent.place.map(|place| Url::parse(&place)) {
        Some(Ok(place)) if place.origin() == service.origin() => Ok(WorkStart::Attach(place)),
        Some(_) => Err(FailureCause::NodeLost.ending(
            "The host was lost while the service behind this agent worked, and by now it is set to another service.",
        )),
        None if knows_repeats => Ok(WorkStart::SendAgain),
        None => Err(unknown()),
    }
}

/// The ending of work of which it can't be noted that its message is about to be sent.
pub(super) fn unnoted() -> Ending {
    FailureCause::CutOff
        .ending("The service behind this agent was not asked: what this host would go on by can't be kept.")
}

fn unknown() -> Ending {
    FailureCause::NodeLost.ending(
        "The host was lost while it asked the service behind this agent, and nobody knows whether that heard of it.",
    )
}
