//! Messages to the host, whose answers are deliveries.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::Arc;

use forecourt_core::policy::{RefusalKind, Submission};
use forecourt_core::store::Notification;
use forecourt_core::{
    Ending, Error, Handle, Language, Message, MessageId, Part, PolicyPart, Reply, Sender, ThreadId, ids,
};
use forecourt_host::{AnswerKind, CarryOutcome, EventOutcome, Host, Run, TaskName};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::letter::{Address, Letter, reader};
use crate::limits::NOTICE_TTL;
use crate::quota::SenderQuota;
use crate::threads::Threads;

/// What a notice holds that tells of a refusal.
pub(crate) const REFUSAL: &str = "refusal";

/// What became of a message. Whatever is acknowledged as taken is durable.
#[derive(Debug)]
pub enum Acceptance {
    /// It is a task, or a refusal that is on its way: whoever asked is told of it by a delivery.
    Taken,
    /// There is no room for it now. Nothing was kept: to be handed over again later.
    Later(Box<PolicyPart>),
    /// It was refused, and nobody is written to, since it is not proven who asked. Nothing was kept.
    Untold(Box<PolicyPart>),
}

/// The place where one protocol puts messages, and their answers begin.
pub struct Desk<A> {
    host: Arc<Host>,
    /// Messages by sender.
    senders: SenderQuota,
    address: PhantomData<fn() -> A>,
}

impl<A: Address> Desk<A> {
    /// A desk that takes so many messages of one sender within an hour.
    pub fn new(host: Arc<Host>, per_sender_per_hour: NonZeroU32) -> Self {
        Self { host, senders: SenderQuota::new(per_sender_per_hour.get()), address: PhantomData }
    }

    /// The host that is asked.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Which conversations foreign ids go on with.
    pub fn threads(&self) -> Threads {
        Threads::of(&self.host, A::PROTOCOL)
    }

    /// Counts one more message of a reader ([`Letter::reader`]); whether it is within the bound.
    pub fn admit(&self, reader: &str) -> bool {
        self.senders.admit(reader, self.host.clock().now())
    }

    /// By what `sender` at `address` is known: whose conversations they are, and who is counted.
    pub fn reader(&self, sender: &Sender, address: &A) -> String {
        reader(sender, address)
    }

    /// Counts an attempt to send the answer to a letter, or a refusal.
    pub fn count(&self, letter: &Letter<A>, kind: AnswerKind, outcome: CarryOutcome) {
        let since = letter.asked_at.map(|asked_at| self.host.clock().now().duration_since(asked_at));
        let since = since.filter(|_| kind == AnswerKind::Answer);
        self.host.metrics().platforms.answer(A::PROTOCOL, kind, outcome, since);
    }

    /// Counts an event of this protocol by what became of it.
    pub fn count_event(&self, outcome: EventOutcome) {
        self.host.metrics().platforms.event(A::PROTOCOL, None, outcome, self.host.clock().now());
    }

    /// A letter that has a token. Without a `conversation` it begins one.
    pub fn letter(
        &self,
        agent: Handle,
        sender: Sender,
        language: Option<Language>,
        conversation: Option<String>,
        address: A,
    ) -> Letter<A> {
        let entropy = self.host.entropy().as_ref();
        let conversation = conversation.unwrap_or_else(|| ids::mint(entropy));
        let (token, asked_at) = (ids::mint(entropy), Some(self.host.clock().now()));
        Letter { agent, sender, language, conversation, token, first: None, repeats: 0, asked_at, address }
    }

    /// The message that a letter is the answer to, of these parts; its protocol adds what it knows beside.
    pub fn message(&self, id: Option<MessageId>, letter: &Letter<A>, parts: Vec<Part>) -> Message {
        let id = id.unwrap_or_else(|| MessageId::mint(self.host.entropy().as_ref()));
        Message {
            thread: ThreadId::adopt_for(&letter.reader(), &letter.conversation),
            sender: letter.sender.clone(),
            language: letter.language.clone(),
            ..Message::new(id, letter.agent.clone(), parts, A::PROTOCOL, self.host.clock().now())
        }
    }

    /// Hands a message to its agent, in the background. With a `name` it is the task that it was before, however often
    /// it is handed over. Fails as [`Host::receive`] does.
    pub fn ask<'a>(
        &'a self,
        message: Message,
        letter: &'a Letter<A>,
        name: Option<Arc<TaskName>>,
    ) -> BoxFuture<'a, Result<Acceptance, Error>> {
        Box::pin(async move {
            let verified = message.sender.verified;
            if A::ANSWERS_HAVE_TOKENS {
                // Before there is an answer: a reply to it may come as soon as it is sent.
                let (threads, reader) = (self.threads(), letter.reader());
                threads.remember(&letter.token, &letter.agent, &reader, &letter.conversation).await?;
            }
            let webhook = letter.webhook(ids::mint(self.host.entropy().as_ref()), []);
            let run = Run { name, ..Run::in_background(Some(webhook)) };
            match refusal(self.host.receive(message, run).await?).await {
                None => Ok(Acceptance::Taken),
                Some(part) if passes(&part) => Ok(Acceptance::Later(part)),
                Some(part) if !verified => Ok(Acceptance::Untold(part)),
                Some(part) => self.tell(&part, letter).await.map(|()| Acceptance::Taken),
            }
        })
    }

    /// Has a refusal told where the answer would have gone. Durable when this returns.
    pub fn tell<'a>(&'a self, part: &'a PolicyPart, letter: &'a Letter<A>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let now = self.host.clock().now();
            let part = Value::Object(part.to_json());
            let webhook = letter.webhook(ids::mint(self.host.entropy().as_ref()), [(REFUSAL, part)]);
            let account = letter.sender.account();
            let expires_at = now.checked_add(NOTICE_TTL).unwrap_or(now);
            self.host.notify(Notification { webhook, account, due_at: now, expires_at }).await
        })
    }

    /// Asks again what was asked: what a refusal wanted was done, where there is a submission (PolicyPart 5.3,
    /// pattern 2), or its agent had no room.
    pub fn ask_again<'a>(
        &'a self,
        letter: &'a Letter<A>,
        asked: Vec<Part>,
        submission: Option<Submission>,
    ) -> BoxFuture<'a, Result<Acceptance, Error>> {
        Box::pin(async move {
            // Somebody did what was wanted in between: that is a new question and not one more attempt.
            let repeats = if submission.is_some() { 0 } else { letter.repeats + 1 };
            let token = ids::mint(self.host.entropy().as_ref());
            let asked_at = Some(self.host.clock().now());
            let first = Some(letter.origin().to_owned());
            let letter = Letter { token, first, repeats, asked_at, ..letter.clone() };
            let message = self.message(None, &letter, asked);
            let message = Message { submission: submission.map(Box::new), ..message };
            self.ask(message, &letter, None).await
        })
    }
}

/// Whether a refusal passes by itself.
pub(crate) fn passes(part: &PolicyPart) -> bool {
    matches!(part.kind, RefusalKind::TooManyRequests { .. } | RefusalKind::ServiceUnavailable { .. })
}

/// Why a reply is no task. `None`: it is one, and will be told when it settles.
async fn refusal(reply: Reply) -> Option<Box<PolicyPart>> {
    if reply.task.is_some() {
        return None;
    }
    match reply.collect().await.ending {
        Ending::Refused(part) => Some(part),
        _ => None,
    }
}
