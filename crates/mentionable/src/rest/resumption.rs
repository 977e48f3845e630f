//! Going on after a refusal: a request that echoes a state and says nothing else is the question that was kept
//! with it. PolicyResolution 5.3 pattern 2, companion decision 9.6.
//!
//! This holds for a GET too, which settles nothing: what was asked for was done on a page of ours, by a POST. The
//! host takes the state once, so that a reload is refused and runs nothing twice.

use forecourt_core::policy::Submission;
use forecourt_core::{Part, Sender, StateToken, ThreadId};
use forecourt_host::Host;
use forecourt_issuance::{Issuance, IssuanceStatus};

use super::answer::{HttpAnswer, RestError};
use super::conversation_cookie;
use super::decision::DecisionKind;
use super::errors::Failure;
use super::media::Media;
use super::responder::Responder;
use super::wire::Ask;

/// What a request goes on with.
#[derive(Default)]
pub(crate) struct Resumption {
    /// What the message brings along.
    pub(crate) submission: Option<Box<Submission>>,
    /// The question that was kept, where it stands for one of the request's own.
    pub(crate) asked: Vec<Part>,
}

/// What a state in a request comes to.
pub(crate) enum ResumedRequest {
    /// A message to be carried.
    Message(Resumption),
    /// An answer already: the page of the decision, for who may not see more than it.
    Answer(Box<HttpAnswer>),
}

/// Looks up the state that `ask` echoes and completes it: the conversation where the browser holds it, the
/// question where it brings none.
///
/// Fails with 404 when there is nothing to go on with, for whatever reason, and with 410 when it was answered.
pub(crate) async fn resume(
    host: &Host,
    responder: &Responder<'_>,
    ask: &mut Ask,
    sender: &Sender,
) -> Result<ResumedRequest, RestError> {
    let Some(text) = ask.state.take() else { return Ok(ResumedRequest::Message(Resumption::default())) };
    let is_wordless = ask.runs.is_empty() && ask.parts.is_none();
    let found = match StateToken::parse(&text) {
        Some(state) => host.issuance(&state).await?.map(|issuance| (state, issuance)),
        None => None,
    };
    // The state of another agent's refusal is as unknown here as one that never was.
    let found = found.filter(|(_, issuance)| issuance.agent == *responder.route.card.handle());
    let Some((state, issuance)) = found else {
        // With words of its own it is a question, whatever the state was worth.
        return if is_wordless {
            Err(Failure::no_such_decision().into())
        } else {
            Ok(ResumedRequest::Message(Resumption::default()))
        };
    };
    let waited = conversation_cookie::waiting_thread(responder.request.headers(), &issuance);
    if let (None, Some(thread)) = (&ask.session, thread_of(&issuance, waited.as_ref(), sender)) {
        ask.session = Some(thread.expose().to_owned());
    }
    if is_wordless {
        let thread = ask.session.as_deref().and_then(ThreadId::parse);
        // Whoever was merely given the address may decide, and is not shown the answer.
        if !issuance.is_held_by(sender, thread.as_ref()) {
            return elsewhere(responder, &state, &issuance);
        }
        if issuance.asked.is_empty() && issuance.status == IssuanceStatus::Consumed {
            return Err(Failure::already_answered().into());
        }
        if issuance.asked.is_empty() {
            let message = "your question was too long to be kept; send it once more, with this state";
            return Err(Failure::bad_request(message).into());
        }
        ask.parts = Some(issuance.asked.clone());
    }
    let submission = Some(Box::new(Submission { state: Some(state), payment: None }));
    let asked = if is_wordless { issuance.asked } else { Vec::new() };
    Ok(ResumedRequest::Message(Resumption { submission, asked }))
}

/// The conversation that goes on: the one that this browser waits for, or that of the proven holder.
fn thread_of(issuance: &Issuance, waited: Option<&ThreadId>, sender: &Sender) -> Option<ThreadId> {
    let is_subjects = issuance.holder.subject.is_some() && issuance.holder.subject.as_deref() == sender.owner();
    // An adopted name is the client's own word and no proof that it holds the conversation.
    let own = issuance.holder.thread.as_ref().filter(|thread| is_subjects && !thread.is_adopted());
    waited.or(own).cloned()
}

/// What somebody else's question comes to: to a person the page that says where it stands, if it says anything.
fn elsewhere(responder: &Responder<'_>, state: &StateToken, issuance: &Issuance) -> Result<ResumedRequest, RestError> {
    let is_over = matches!(issuance.status, IssuanceStatus::Consumed | IssuanceStatus::Expired);
    match responder.request.media {
        Some(Media::Html) if !is_over => {
            let page = DecisionKind::of(issuance).path(state);
            Ok(ResumedRequest::Answer(Box::new(responder.see_other(&page))))
        }
        _ => Err(Failure::no_such_decision().into()),
    }
}
