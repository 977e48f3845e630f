//! One answer: rounds of asking, reading and calling. Dropping it cancels whatever is under way.
//!
//! What fails before a word of a reply was shown is asked again, of the same model or of one that stands in; after
//! that, a failure is the end, so that nobody reads half an answer twice.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::tool::ToolError;
use forecourt_agents::upstream::UpstreamFailure;
use forecourt_agents::usage::ModelCall;
use forecourt_completions::budget::{Hold, Spending};
use forecourt_completions::chain::{Attempts, Next, Target};
use forecourt_completions::draft::ReplyFinish;
use forecourt_completions::metering::Usage;
use forecourt_completions::{ModelReply, Piece, ProviderError, ReplyWait, WHO};
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Admitted, Ending, Event, ModelUsage, PolicyPart, Progress};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Model;
use super::conversation::{Conversation, FittedConversation, TooLong};
use super::earlier::{self, EarlierAnswer};
use super::limits::MODEL_TEXT_BYTES_MAX;
use super::silence::Silence;
use crate::tools::{Call, CallsSpent, Toolbox};

/// The state machine of one answer: ask the model, read its reply, call tools, ask again.
pub(super) struct AnswerRun {
    model: Arc<Model>,
    admitted: Admitted,
    /// The tools that this message may set to work.
    toolbox: Toolbox,
    conversation: Conversation,
    spent: CallsSpent,
    text_left: usize,
    deadline: Instant,
    attempts: Attempts,
    silence: Silence,
    /// Whether anything of the answer was shown.
    has_shown: bool,
    /// Whether the model had nothing to say once.
    was_empty: bool,
    /// Tokens of a request, after one was too long.
    most: Option<u64>,
    has_told_of_thoughts: bool,
    /// What an earlier try said, which is said again first.
    again: VecDeque<Event>,
    now: Now,
}

/// A request that was sent.
struct SentRequest {
    fitted: FittedConversation,
    hold: Hold,
    since: Instant,
    /// When something of its reply must have come.
    begins_by: Instant,
    /// Whether anything of its reply was shown.
    has_shown: bool,
}

/// The tokens of a reply as far as the provider reported them, and the bytes that it wrote.
#[derive(Debug, Clone, Copy)]
struct ReplyUsage {
    usage: Option<Usage>,
    written: usize,
}

impl ReplyUsage {
    fn of(reply: &ModelReply) -> Self {
        Self { usage: reply.draft.usage, written: reply.draft.written }
    }

    /// The tokens that the provider reports, or an estimate by bytes where it reports none.
    fn or_estimated(self, target: &Target, asked: &SentRequest) -> Usage {
        self.usage.unwrap_or_else(|| Usage {
            input: asked.fitted.tokens,
            cached: 0,
            output: target.window.estimate(self.written),
            is_estimated: true,
        })
    }
}

/// The next step of an answer.
enum Now {
    /// The model is asked, not before this moment.
    Asking(Instant),
    /// Its reply comes in.
    Reading(Box<ModelReply>, Box<SentRequest>),
    /// The tools that it asked for are called, the first one maybe under way already.
    Calling {
        calls: VecDeque<Call>,
        is_announced: bool,
        /// Whether it is noted that the first one is made.
        is_noted: bool,
    },
    /// This is the end.
    Ending(Ending),
    /// The ending was handed out; nothing follows.
    Over,
}

impl AnswerRun {
    pub(super) fn new(model: Arc<Model>, admitted: Admitted) -> Self {
        let toolbox = model.toolbox.offered(admitted.message());
        let conversation = model.prompt.conversation(&admitted, &toolbox);
        let now = Instant::now();
        let deadline = now + model.total_time;
        let silence = Silence::new(model.silent_max);
        let mut attempts = Attempts::default();
        let now = match model.chain.begin(&mut attempts) {
            Ok(()) => Now::Asking(now),
            Err(ending) => Now::Ending(ending),
        };
        let mut this = Self {
            model,
            admitted,
            toolbox,
            conversation,
            spent: CallsSpent::default(),
            text_left: MODEL_TEXT_BYTES_MAX,
            deadline,
            attempts,
            silence,
            has_shown: false,
            was_empty: false,
            most: None,
            has_told_of_thoughts: false,
            again: VecDeque::new(),
            now,
        };
        match EarlierAnswer::read(&this.admitted.message().journal) {
            Ok(Some(earlier)) => this.go_on_from(earlier),
            Ok(None) => {}
            Err(ending) => this.now = Now::Ending(ending),
        }
        this
    }

    /// Goes on behind the last call of an earlier try that is known to have been made. One that was begun is made again
    /// only where that is harmless.
    fn go_on_from(&mut self, earlier: EarlierAnswer) {
        let EarlierAnswer { events, rounds, spent, used, left, is_begun, refusal } = earlier;
        self.again = events.into();
        for event in &self.again {
            if let Event::Text(text) = event {
                self.has_shown = true;
                self.text_left = self.text_left.saturating_sub(text.len());
            }
        }
        self.conversation.rounds = rounds;
        self.spent = spent;
        used.models().iter().for_each(|used| self.admitted.message().usage.add(used.clone()));
        let lost = left.front().filter(|call| is_begun && !self.toolbox.may_repeat(call));
        if let Some(ending) = refusal {
            self.now = Now::Ending(ending);
        } else if let Some(call) = lost {
            // Said once more, so that the end stands behind all that was heard.
            self.again.push_back(call.running());
            self.now = Now::Ending(earlier::lost(call));
        } else if !left.is_empty() {
            self.now = Now::Calling { calls: left, is_announced: false, is_noted: is_begun };
        }
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
        if let Some(event) = self.again.pop_front() {
            return Ok(Some(event));
        }
        match &mut self.now {
            Now::Asking(at) => {
                let at = *at;
                sleep_until(at).await;
                self.ask().await.map(|()| None)
            }
            Now::Reading(reply, asked) => {
                let next = self.silence.next_piece(reply, asked.begins_by).await;
                let target = self.model.chain.target(&self.attempts);
                let output = target.window.estimate(reply.draft.written);
                // Updated with each piece: a caller that disconnects drops the hold, which then settles with this.
                asked.hold.spent = spent(target, &Usage { input: asked.fitted.tokens, output, ..Usage::default() });
                match next {
                    Ok(Some(Piece::Text(text))) => {
                        (asked.has_shown, self.has_shown) = (true, true);
                        self.spend(text).map(Some)
                    }
                    Ok(Some(Piece::Thought)) => Ok(self.tell_of_thoughts()),
                    Ok(None) => self.read().await,
                    Err(error) => self.broke_off(error).await.map(|()| None),
                }
            }
            Now::Calling { calls, is_announced: false, .. } => {
                let event = calls.front().map(Call::running);
                self.announce(event.is_some());
                Ok(event)
            }
            Now::Calling { .. } => self.call().await.map(Some),
            Now::Ending(ending) => Err(ending.clone()),
            Now::Over => Ok(None),
        }
    }

    /// Asks the model that it is the turn of, with as much as it reads.
    async fn ask(&mut self) -> Result<(), Ending> {
        let model = self.model.clone();
        let target = model.chain.target(&self.attempts);
        let wait = ReplyWait { beginning: self.silence.share(&model.chain, &self.attempts), end: self.deadline };
        let fitted = match self.fitted(target).await {
            Ok(fitted) => fitted,
            Err(error) => return self.does_not_fit(target, &error),
        };
        let hold = self.reserve(target, &fitted).await?;
        let body = self.body(target, &fitted);
        let asked = SentRequest { fitted, hold, since: Instant::now(), begins_by: wait.beginning, has_shown: false };
        match target.provider.ask(&body, self.admitted.message().hop, wait).await {
            Ok(reply) => {
                self.now = Now::Reading(Box::new(reply), Box::new(asked));
                Ok(())
            }
            Err(error) => {
                self.tell(target, error.outcome(), Usage::default(), &asked);
                // No reply began, so nothing is counted, and the caller's budget gets the reservation back.
                asked.hold.settle(Spending::default()).await;
                self.failed(error)
            }
        }
    }

    /// The conversation, as much of it as the model reads.
    async fn fitted(&mut self, target: &Target) -> Result<FittedConversation, TooLong> {
        let window = target.window.tokens(&target.provider).await.map(u64::from);
        // `max_tokens` may be set larger than the window: half of it stays for the request in any case.
        let reply = |window: u64| u64::from(target.max_tokens).min(window / 2);
        let most = window.map(|window| window - reply(window));
        let most = [most, self.most].into_iter().flatten().min();
        let tools = if self.offers_tools(target) { self.toolbox.bytes() } else { 0 };
        self.conversation.fitted(most, tools, &target.window, &target.provider.quirks)
    }

    /// What can't be left out does not fit: one that stands in may read more.
    fn does_not_fit(&mut self, target: &Target, error: &TooLong) -> Result<(), Ending> {
        tracing::info!(model = target.model, tokens = error.tokens, most = error.most, "a message is too long");
        let ending = Ending::Refused(Box::new(too_long(error)));
        self.after(ProviderError::Other(ending))
    }

    /// Sets aside what the request may come to.
    async fn reserve(&mut self, target: &Target, fitted: &FittedConversation) -> Result<Hold, Ending> {
        let Some(budget) = self.model.budget.clone() else { return Ok(Hold::none()) };
        let usage = Usage { input: fitted.tokens, output: target.max_tokens.into(), ..Usage::default() };
        match budget.reserve(self.admitted.message(), spent(target, &usage)).await {
            Ok(reservation) => {
                let mut hold = Hold::new(budget, reservation);
                // Dropped before the first piece, it comes to what the model was sent, and not to all that was set
                // aside.
                hold.spent = spent(target, &Usage { output: 0, ..usage });
                Ok(hold)
            }
            Err(error) => {
                self.model.record(target, "budget", &Usage::default(), Duration::ZERO);
                Err(error.into_ending())
            }
        }
    }

    /// The body of a request. When tools may not be used any more the model is still told of them,
    /// since its earlier calls are among the messages.
    fn body(&self, target: &Target, fitted: &FittedConversation) -> Map<String, Value> {
        let mut body = target.provider.fields.clone();
        body.insert("messages".to_owned(), fitted.messages.clone().into());
        if self.offers_tools(target) {
            body.insert("tools".to_owned(), self.toolbox.describe().into());
            body.insert("tool_choice".to_owned(), if self.spent.may_go_on() { "auto" } else { "none" }.into());
        }
        body
    }

    fn offers_tools(&self, target: &Target) -> bool {
        target.provider.quirks.tools && !self.toolbox.is_empty()
    }

    fn may_do_without_tools(&self) -> bool {
        self.model.tools_are_optional && !self.toolbox.is_empty() && self.spent.is_nothing()
    }

    /// A request got no reply, or one of which nothing was shown. One that was too long is cut further and tried once
    /// more; a model that takes no tools is asked again without them, when nobody insists.
    fn failed(&mut self, error: ProviderError) -> Result<(), Ending> {
        let model = self.model.clone();
        match &error {
            ProviderError::TooLong(_, bound) if self.most.is_none() && self.conversation.can_shrink() => {
                let target = model.chain.target(&self.attempts);
                if let Some(bound) = bound {
                    target.window.learn(*bound);
                }
                // Half of what was tried, as not every provider names its bound. `most` also marks that this was
                // tried: a second "too long" ends here.
                self.most = Some(self.tried_tokens(target) / 2);
                self.now = Now::Asking(Instant::now());
                Ok(())
            }
            ProviderError::TooLong(_, bound) => {
                let target = model.chain.target(&self.attempts);
                let tokens = self.tried_tokens(target);
                let most = bound.map_or(tokens.saturating_sub(1), u64::from);
                let ending = Ending::Refused(Box::new(too_long(&TooLong { tokens, most })));
                self.after(ProviderError::Other(ending))
            }
            ProviderError::Unfit(_) | ProviderError::Broke(_) if self.may_do_without_tools() => {
                self.toolbox = Toolbox::default();
                self.conversation = model.prompt.conversation(&self.admitted, &self.toolbox);
                self.now = Now::Asking(Instant::now());
                Ok(())
            }
            _ => self.after(error),
        }
    }

    /// The estimated tokens of the last request to this target.
    fn tried_tokens(&self, target: &Target) -> u64 {
        let tools = if self.offers_tools(target) { self.toolbox.bytes() } else { 0 };
        let fitted = self.conversation.fitted(self.most, tools, &target.window, &target.provider.quirks);
        fitted.map_or_else(|error| error.tokens, |fitted| fitted.tokens)
    }

    /// Asks the same model again, or the one that stands in, or ends: as the chain decides.
    fn after(&mut self, error: ProviderError) -> Result<(), Ending> {
        let until = self.silence.end(self.deadline);
        match self.model.chain.after(&mut self.attempts, error, until) {
            Next::Ask(wait) => {
                self.now = Now::Asking(Instant::now() + wait);
                Ok(())
            }
            Next::End(ending) => Err(ending),
        }
    }

    /// A reply broke off.
    async fn broke_off(&mut self, error: ProviderError) -> Result<(), Ending> {
        // Taken out of `now` before the first await: dropped there, the reply would be counted by `Drop` too.
        let Now::Reading(reply, asked) = std::mem::replace(&mut self.now, Now::Over) else { return Ok(()) };
        let has_shown = asked.has_shown;
        self.settle(ReplyUsage::of(&reply), *asked, error.outcome()).await;
        match has_shown {
            true => Err(error.into_ending()),
            false => self.failed(error),
        }
    }

    /// Counts what a reply used, as its provider says, or as it is estimated.
    async fn settle(&mut self, used: ReplyUsage, asked: SentRequest, outcome: &'static str) {
        let model = self.model.clone();
        let target = model.chain.target(&self.attempts);
        let usage = used.or_estimated(target, &asked);
        if !usage.is_estimated {
            target.window.measure(asked.fitted.bytes, usage.input);
        }
        self.tell(target, outcome, usage, &asked);
        asked.hold.settle(spent(target, &usage)).await;
    }

    fn tell(&self, target: &Target, outcome: &'static str, usage: Usage, asked: &SentRequest) {
        self.model.record(target, outcome, &usage, asked.since.elapsed());
        if usage != Usage::default() {
            self.admitted.message().usage.add(used(target, &usage));
        }
    }

    fn spend(&mut self, text: String) -> Result<Event, Ending> {
        self.text_left = self.text_left.checked_sub(text.len()).ok_or_else(|| UpstreamFailure::TooLarge.ending(WHO))?;
        Ok(Event::Text(text))
    }

    /// One progress event for the first thought; later ones are silent.
    fn tell_of_thoughts(&mut self) -> Option<Event> {
        let is_first = !std::mem::replace(&mut self.has_told_of_thoughts, true);
        is_first.then(|| Event::Progress(Progress { fraction: None, note: Some("Thinking…".to_owned()) }))
    }

    /// Looks at a reply that has come to its end.
    async fn read(&mut self) -> Result<Option<Event>, Ending> {
        // Taken out of `now` before the first await: dropped there, the reply would be counted by `Drop` too.
        let Now::Reading(mut reply, asked) = std::mem::replace(&mut self.now, Now::Over) else { return Ok(None) };
        let (has_shown, used) = (asked.has_shown, ReplyUsage::of(&reply));
        let finish = std::mem::take(&mut reply.draft).finish();
        // The connection and the span of the reply end here, and not after the wait for the store.
        drop(reply);
        let outcome = if finish.is_ok() { "answered" } else { "failed" };
        self.settle(used, *asked, outcome).await;
        match finish {
            Err(ending) if has_shown => return Err(ending),
            Err(ending) => return self.failed(ProviderError::Away(ending)).map(|()| None),
            Ok(_) => self.model.chain.target(&self.attempts).breaker.succeeded(),
        }
        match finish? {
            ReplyFinish::Whole => Err(Ending::Complete),
            ReplyFinish::Cut => {
                self.now = Now::Ending(Ending::Complete);
                Ok(Some(Event::Text("\n\n*The answer was cut off at its length limit.*".to_owned())))
            }
            // What came before the tools were called is an answer.
            ReplyFinish::Empty { .. } if self.has_shown => Err(Ending::Complete),
            ReplyFinish::Empty { was_cut: true } => {
                Err(Ending::failed("The model came to its length limit before it had said anything."))
            }
            ReplyFinish::Empty { was_cut: false } if self.was_empty => {
                Err(Ending::failed("The model had nothing to say, twice."))
            }
            ReplyFinish::Empty { was_cut: false } => {
                self.was_empty = true;
                self.now = Now::Asking(Instant::now());
                Ok(None)
            }
            ReplyFinish::Calls(asked) => {
                // The request had `tool_choice: none`: the model ignores it, and would do so again.
                if !self.spent.may_go_on() {
                    return Err(Ending::failed("The model kept asking for tools instead of answering."));
                }
                self.conversation.rounds.push(asked.message());
                let message = self.admitted.message();
                earlier::note_round(&message.journal, &asked, &message.usage);
                let calls = self.spent.next_round(asked);
                self.now = Now::Calling { calls, is_announced: false, is_noted: false };
                Ok(None)
            }
        }
    }

    fn announce(&mut self, there_is_one: bool) {
        match &mut self.now {
            Now::Calling { is_announced, .. } if there_is_one => *is_announced = true,
            _ => self.now = Now::Asking(Instant::now()),
        }
    }

    /// Calls the first tool in line. A refusal that is for the person who asked is the end.
    async fn call(&mut self) -> Result<Event, Ending> {
        let Now::Calling { calls, is_announced, is_noted } = &mut self.now else { return Err(Ending::unfinished()) };
        let Some(call) = calls.front() else { return Err(Ending::unfinished()) };
        let journal = &self.admitted.message().journal;
        if !*is_noted {
            earlier::note_begun(journal, call).await?;
        }
        // A tool has no deadline of its own here: it may take what is left of the whole answer.
        let outcome = timeout_at(self.deadline, self.toolbox.call(call, self.admitted.message()));
        let outcome = outcome.await.map_err(|_| Ending::failed("This agent took too long for its answer."))?;
        earlier::note_done(journal, call, &outcome);
        // Failed calls too: the API refuses a conversation in which a call has no result.
        self.conversation.rounds.push(call.result_message(&outcome));
        let refusal = match &outcome {
            Err(ToolError::Refused(part)) => Some(Ending::Refused(part.clone())),
            _ => None,
        };
        let done = call.done(outcome);
        calls.pop_front();
        (*is_announced, *is_noted) = (false, false);
        if let Some(ending) = refusal {
            self.now = Now::Ending(ending);
        }
        Ok(done)
    }
}

/// Records the usage of a reply whose caller disconnected in the middle: nothing else would count it.
impl Drop for AnswerRun {
    fn drop(&mut self) {
        if let Now::Reading(reply, asked) = &self.now {
            let target = self.model.chain.target(&self.attempts);
            self.tell(target, "canceled", ReplyUsage::of(reply).or_estimated(target, asked), asked);
        }
    }
}

impl Model {
    fn record(&self, target: &Target, outcome: &'static str, usage: &Usage, elapsed: Duration) {
        self.usage.record(&ModelCall {
            agent: self.handle.as_str(),
            provider: target.name,
            service: target.provider.service.provider,
            server: target.provider.service.server.as_ref().map(|(host, port)| (host.as_str(), *port)),
            model: &target.model,
            outcome,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cached_tokens: usage.cached,
            is_estimated: usage.is_estimated,
            cost_micros: spent(target, usage).micros,
            elapsed,
        });
    }
}

/// What one request used, for whoever adds up what its answer took.
fn used(target: &Target, usage: &Usage) -> ModelUsage {
    ModelUsage {
        model: target.model.clone(),
        requests: 1,
        input_tokens: usage.input,
        cached_tokens: usage.cached,
        output_tokens: usage.output,
        cost_micros: target.price.map(|price| price.micros(usage)),
        is_estimated: usage.is_estimated,
    }
}

fn spent(target: &Target, usage: &Usage) -> Spending {
    Spending { tokens: usage.tokens(), micros: target.price.map_or(0, |price| price.micros(usage)) }
}

/// What somebody is told whose message alone is more than the model reads.
fn too_long(error: &TooLong) -> PolicyPart {
    let message = format!(
        "This message is too long for this agent: with what belongs to it, it has about {} tokens, and at most {} fit. \
         Please send less.",
        error.tokens, error.most
    );
    let mut part = PolicyPart::new(RefusalKind::Forbidden, message);
    part.title = Some("Message too long".to_owned());
    part.code = Some("mentionable:message_too_long".to_owned());
    part
}
