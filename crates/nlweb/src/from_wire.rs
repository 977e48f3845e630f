//! A question into a message: the one place where both vocabularies are in scope on the way in.

use forecourt_core::policy::{PaymentSubmission, Submission};
use forecourt_core::{
    AgentCard, FindingsDetail, Language, Message, MessageId, Part, QuestionAnswer, Role, SearchOptions,
    SearchRefinement, Sender, StateToken, ThreadId, Timestamp, Transport, Turn, findings,
};
use serde_json::{Map, Value};

use crate::NAME;
use crate::item::present;
use crate::wire::{Ask, Format};

/// The member of `session_context` that names a conversation.
pub(crate) const CONVERSATION: &str = "conversation_id";
/// The member of `session_context` with the state of a refusal, by which the next question goes on after it.
pub(crate) const STATE: &str = "mentionable.state";

/// What is known of a request beside the question.
pub(crate) struct Envelope {
    /// Who asks, as far as was proven.
    pub(crate) sender: Sender,
    /// Agents in line before this one.
    pub(crate) hop: u32,
    /// What the transport says about languages.
    pub(crate) language: Option<Language>,
    /// How it came.
    pub(crate) via: Transport,
    /// Our name for it.
    pub(crate) id: MessageId,
    /// When it came.
    pub(crate) received_at: Timestamp,
    /// A payment that came with it.
    pub(crate) payment: Option<PaymentSubmission>,
}

/// The message for the agent of `card`. NLWeb 3: the text is the turn, `prev` the turns before it, and
/// filters and context go along as data. Who finds items is told how many are wanted, and of which `host`.
pub(crate) fn message(ask: &Ask, card: &AgentCard, host: Option<&str>, envelope: Envelope) -> Message {
    let Envelope { sender, hop, language, via, id, received_at, payment } = envelope;
    let parts = std::iter::once(Part::text(ask.query.text.clone())).chain(beside(ask).map(Part::data)).collect();
    let thread = ask.meta.session.get(CONVERSATION).and_then(Value::as_str).and_then(ThreadId::parse);
    Message {
        thread,
        sender,
        history: ask.context.prev.iter().map(|text| Turn::text(Role::User, text.clone())).collect(),
        language: ask.prefer.language.clone().or(language),
        hop,
        // For the agent alone: nothing in it proves who asks or switches anything in the host.
        metadata: hearsay(ask).into_iter().map(|said| (NAME.to_owned(), said)).collect(),
        search: SearchOptions {
            findings: FindingsDetail::Summary,
            // A summary that has to be made belongs to the mode alone. NLWeb 3.3.2.
            list_only: !ask.style.summarize,
            wordless: !ask.style.summarize && ask.style.format == Format::ConversationalSearch,
            narrowing: if card.finds { narrowing(ask, host) } else { SearchRefinement::default() },
            completes: false,
            asks_several: ask.meta.asks_several,
        },
        answers: answers(ask),
        submission: submission(ask, payment),
        // Nobody has asked this agent alone.
        unrecorded: !ask.meta.remember || ask.meta.asks_several,
        ..Message::new(id, card.handle().clone(), parts, via, received_at)
    }
}

/// What it brings to go on after a refusal. PolicyPart 5.3.
fn submission(ask: &Ask, payment: Option<PaymentSubmission>) -> Option<Box<Submission>> {
    let state = ask.meta.session.get(STATE).and_then(Value::as_str).and_then(StateToken::parse);
    (state.is_some() || payment.is_some()).then(|| Box::new(Submission { state, payment }))
}

/// What narrows the search down.
fn narrowing(ask: &Ask, host: Option<&str>) -> SearchRefinement {
    let exactly: Vec<_> = host.map(|host| (findings::URL_HOST.to_owned(), host.to_owned())).into_iter().collect();
    SearchRefinement { exactly, results: ask.style.wanted(), ..SearchRefinement::default() }
}

/// What the caller says by name: where it was asked something, these are its answers. NLWeb 4.1.3.
fn answers(ask: &Ask) -> Vec<QuestionAnswer> {
    let answer = |(id, value): (&String, &Value)| QuestionAnswer { id: id.clone(), value: value.clone() };
    ask.query.filters.iter().map(answer).collect()
}

/// What the agent is given beside the words, if there is anything.
fn beside(ask: &Ask) -> Option<Value> {
    let mut data = Map::new();
    if !ask.query.filters.is_empty() {
        data.insert("filters".to_owned(), ask.query.filters.clone().into());
    }
    if !ask.context.about.is_empty() {
        data.insert("context".to_owned(), ask.context.about.clone().into());
    }
    (!data.is_empty()).then_some(Value::Object(data))
}

/// What the caller says about itself and its wishes, if it does.
fn hearsay(ask: &Ask) -> Option<Value> {
    let said = present([
        ("mode", ask.style.summarize.then(|| "list, summarize".into())),
        ("user", ask.meta.user.clone()),
        ("user_agent", ask.prefer.user_agent.clone().map(Value::from)),
        ("request_id", ask.meta.request_id.clone().map(Value::from)),
    ]);
    (!said.is_empty()).then_some(Value::Object(said))
}
