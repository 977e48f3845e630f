//! What a question that is being typed may become, as JSON: `{"suggestions": [{"text": "…", "kind": "item"}]}`. It
//! passes the same limits and rules as a question does, and is recorded nowhere.

use forecourt_core::findings::Suggestion;
use forecourt_core::{Ending, Event, Reply};
use futures::StreamExt;
use http::StatusCode;
use serde::Serialize;

use super::answer::HttpAnswer;
use super::errors::Failure;
use super::media::Media;
use super::responder::Responder;

#[derive(Serialize)]
struct Suggestions {
    suggestions: Vec<Suggestion>,
}

/// The suggestions of a reply, or why there are none.
pub(crate) async fn answer(responder: &Responder<'_>, reply: Reply) -> HttpAnswer {
    let Reply { language, mut events, .. } = reply;
    let mut suggestions = Vec::new();
    let mut ending = Ending::unfinished();
    while let Some(event) = events.next().await {
        match event {
            Event::Findings(findings) => suggestions = findings.suggestions,
            Event::Ending(end) => ending = end,
            _ => {}
        }
    }
    if let Some(failure) = Failure::of_ending(&ending) {
        return responder.unanswered(&failure, &ending, None);
    }
    if let Ending::Refused(part) = &ending {
        return responder.refused(Media::Json, part, None);
    }
    let head = responder.answer_head(Media::Json, &language, None);
    // Writing plain texts to memory does not fail.
    let body = serde_json::to_vec(&Suggestions { suggestions }).unwrap_or_default();
    HttpAnswer::whole(StatusCode::OK, head, body)
}
