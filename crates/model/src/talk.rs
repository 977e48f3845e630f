//! One answer: rounds of asking, reading and calling. Dropping it cancels whatever is under way.

use std::collections::VecDeque;
use std::sync::Arc;

use forecourt_core::{Admitted, Ending, Event};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Model;
use super::toolbox::{Call, Spent, Toolbox};
use crate::limits::MODEL_TEXT_BYTES_MAX;
use forecourt_agents::provider::draft::{ModelReplyDraft, ReplyFinish};
use forecourt_agents::provider::{ModelReply, ProviderError, WHO};
use forecourt_agents::upstream::UpstreamFailure;

/// An answer on its way.
pub(super) struct AnswerRun {
    model: Arc<Model>,
    admitted: Admitted,
    /// The tools that this message may set to work.
    toolbox: Toolbox,
    /// Everything that was said, in the words of the API.
    messages: Vec<Value>,
    spent: Spent,
    text_left: usize,
    deadline: Instant,
    now: Now,
}

/// What happens next.
enum Now {
    /// The model is asked.
    Asking,
    /// Its reply comes in.
    Reading(Box<ModelReply>),
    /// The tools that it asked for are called, the first one maybe under way already.
    Calling { calls: VecDeque<Call>, is_announced: bool },
    /// Nothing.
    Over,
}

impl AnswerRun {
    pub(super) fn new(model: Arc<Model>, admitted: Admitted) -> Self {
        let toolbox = model.toolbox.offered(admitted.message());
        let messages = model.prompt.messages(&admitted, &toolbox);
        let deadline = Instant::now() + model.provider.timeouts.total;
        let text_left = MODEL_TEXT_BYTES_MAX;
        Self { model, admitted, toolbox, messages, spent: Spent::default(), text_left, deadline, now: Now::Asking }
    }

    /// The next event. `None` after the ending.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.step().await {
                Ok(Some(event)) => return Some(event),
                Ok(None) if matches!(self.now, Now::Over) => return None,
                Ok(None) => {}
                Err(ending) => {
                    self.now = Now::Over;
                    return Some(Event::Ending(ending));
                }
            }
        }
    }

    /// Goes one step on. `Err` is the ending, a good one too.
    async fn step(&mut self) -> Result<Option<Event>, Ending> {
        match &mut self.now {
            Now::Asking => self.ask().await.map(|()| None),
            Now::Reading(reply) => match reply.next().await? {
                Some(text) => self.spend(text).map(Some),
                None => self.read(),
            },
            Now::Calling { calls, is_announced: false } => {
                let event = calls.front().map(Call::running);
                self.announce(event.is_some());
                Ok(event)
            }
            Now::Calling { .. } => self.call().await.map(Some),
            Now::Over => Ok(None),
        }
    }

    /// Asks the model. One that takes no tools is asked again without them, when nobody insists.
    async fn ask(&mut self) -> Result<(), Ending> {
        let model = self.model.clone();
        let (hop, deadline) = (self.admitted.message().hop, self.deadline);
        let reply = match model.provider.ask(&self.body(), hop, deadline).await {
            Err(ProviderError::Unfit(_) | ProviderError::Broke(_)) if self.may_do_without_tools() => {
                self.toolbox = Toolbox::default();
                self.messages = model.prompt.messages(&self.admitted, &self.toolbox);
                model.provider.ask(&self.body(), hop, deadline).await
            }
            reply => reply,
        };
        self.now = Now::Reading(Box::new(reply.map_err(ProviderError::into_ending)?));
        Ok(())
    }

    /// The body of a request. When tools may not be used any more the model is still told of them,
    /// since its earlier calls are among the messages.
    fn body(&self) -> Map<String, Value> {
        let mut body = self.model.provider.fields.clone();
        body.insert("messages".to_owned(), self.messages.clone().into());
        if !self.toolbox.is_empty() {
            body.insert("tools".to_owned(), self.toolbox.describe().into());
            body.insert("tool_choice".to_owned(), if self.spent.may_go_on() { "auto" } else { "none" }.into());
        }
        body
    }

    fn may_do_without_tools(&self) -> bool {
        self.model.tools_are_optional && !self.toolbox.is_empty() && self.spent.is_nothing()
    }

    fn spend(&mut self, text: String) -> Result<Event, Ending> {
        self.text_left = self.text_left.checked_sub(text.len()).ok_or_else(|| UpstreamFailure::TooLarge.ending(WHO))?;
        Ok(Event::Text(text))
    }

    /// Looks at a reply that has come to its end.
    fn read(&mut self) -> Result<Option<Event>, Ending> {
        let Now::Reading(reply) = std::mem::replace(&mut self.now, Now::Over) else { return Ok(None) };
        match reply.draft.finish()? {
            ReplyFinish::Whole => Err(Ending::Complete),
            ReplyFinish::Cut => {
                self.now = Now::Reading(Box::new(ModelReply::ended(ModelReplyDraft::whole())));
                Ok(Some(Event::Text("\n\n*The answer was cut off at its length limit.*".to_owned())))
            }
            ReplyFinish::Calls(asked) => {
                if !self.spent.may_go_on() {
                    return Err(Ending::failed("The model kept asking for tools instead of answering."));
                }
                self.messages.push(asked.message());
                let calls = self.spent.next_round(asked);
                self.now = Now::Calling { calls, is_announced: false };
                Ok(None)
            }
        }
    }

    fn announce(&mut self, there_is_one: bool) {
        match &mut self.now {
            Now::Calling { is_announced, .. } if there_is_one => *is_announced = true,
            _ => self.now = Now::Asking,
        }
    }

    /// Calls the first tool in line.
    async fn call(&mut self) -> Result<Event, Ending> {
        let Now::Calling { calls, is_announced } = &mut self.now else { return Err(Ending::unfinished()) };
        let Some(call) = calls.front() else { return Err(Ending::unfinished()) };
        let outcome = tokio::time::timeout_at(self.deadline, self.toolbox.call(call, self.admitted.message()));
        let outcome = outcome.await.map_err(|_| Ending::failed("This agent took too long for its answer."))?;
        self.messages.push(call.result_message(&outcome));
        let done = call.done(outcome);
        calls.pop_front();
        *is_announced = false;
        Ok(done)
    }
}
