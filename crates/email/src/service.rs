//! Messages to the host: who writes, what goes on with what, and what the mail server is told.
//!
//! A message that is taken is a task before the mail server hears of it, and its answer a delivery of that task:
//! both survive whatever ends the process.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_contract::Current;
use forecourt_core::policy::{RefusalKind, Submission};
use forecourt_core::store::Notification;
use forecourt_core::{Ending, Error, Handle, Message, MessageId, Part, PolicyPart, Reply, Sender, ThreadId, ids, json};
use forecourt_host::{Host, Run};
use forecourt_surface::Mount;
use forecourt_surface::failure::HostFailure;
use mail_auth::AuthenticatedMessage;
use serde_json::{Map, Value, json};

use crate::NAME;
use crate::alignment::{Alignment, Authenticator};
use crate::compose::ENVELOPE_VERSION;
use crate::correspondence::Correspondence;
use crate::inbound::InboundMail;
use crate::limits::{ENVELOPE_BYTES_MAX, NOTICE_TTL};
use crate::lmtp::{Envelope, SmtpReply};
use crate::mailbox::Mailbox;
use crate::quota::SenderQuota;
use crate::section::EmailSettings;
use crate::sender::sender;
use crate::threads;

/// What a notice holds that tells of a refusal.
pub(crate) const REFUSAL: &str = "refusal";

/// What every message can need.
pub(crate) struct Service {
    pub(crate) host: Arc<Host>,
    pub(crate) settings: EmailSettings,
    authenticator: Arc<Authenticator>,
    /// Messages by author.
    senders: SenderQuota,
    /// The service that takes this one's place once the deployment is replaced.
    pub(crate) current: Current<Service>,
}

impl Service {
    pub(crate) fn new(mount: &Mount, settings: EmailSettings, authenticator: Arc<Authenticator>) -> Arc<Self> {
        let service = Arc::new(Self {
            host: Arc::clone(&mount.host),
            senders: SenderQuota::new(settings.messages_per_sender_per_hour.get()),
            settings,
            authenticator,
            current: mount.services.current(),
        });
        mount.services.publish(service.clone());
        service
    }

    pub(crate) fn domain(&self) -> &str {
        self.host.site().domain.as_str()
    }

    /// The agent of a mailbox here, with or without `+something` behind its handle.
    pub(crate) fn agent(&self, address: &str) -> Result<Handle, SmtpReply> {
        let unknown = || SmtpReply::refused("5.1.1", "no such agent here");
        let mailbox = Mailbox::parse(address).ok_or_else(unknown)?;
        if *mailbox.domain() != self.host.site().domain {
            return Err(SmtpReply::refused("5.7.1", "mail for other domains is not taken here"));
        }
        let handle = Handle::parse(mailbox.user()).map_err(|_| unknown())?;
        self.host.directory().find(&handle).map(|agent| agent.card.handle().clone()).ok_or_else(unknown)
    }

    /// Takes a message for each of its recipients.
    pub(crate) async fn take(&self, envelope: &Envelope, raw: &[u8]) -> Vec<SmtpReply> {
        let all = |reply: SmtpReply| vec![reply; envelope.recipients.len()];
        let Some(mut head) = AuthenticatedMessage::parse(raw) else {
            return all(SmtpReply::refused("5.6.0", "the message can't be read"));
        };
        let mail = match InboundMail::read(raw, &head) {
            Ok(mail) => mail,
            Err(error) => return all(SmtpReply::refused("5.6.0", error.to_string())),
        };
        let automatic = mail.automatic.or(envelope.return_path.is_empty().then_some("the null return path"));
        if let Some(why) = automatic {
            // Taken, not refused: a refusal becomes a bounce, which is an answer to a program again (RFC 3834 2).
            tracing::info!(why, "a message that nobody wants answered was dropped");
            return all(SmtpReply::taken());
        }
        let alignment = self.authenticator.check(&mut head, &mail.from).await;
        let mut replies = Vec::with_capacity(envelope.recipients.len());
        for agent in &envelope.recipients {
            let taken = self.deliver(agent, &mail, &alignment, raw).await;
            replies.push(taken.unwrap_or_else(|error| {
                tracing::warn!(%error, "a message was not taken");
                failure(&error)
            }));
        }
        replies
    }

    async fn deliver(
        &self,
        agent: &Handle,
        mail: &InboundMail,
        alignment: &Alignment,
        raw: &[u8],
    ) -> Result<SmtpReply, Error> {
        let now = self.host.clock().now();
        let address = self.host.site().address(agent);
        let mailbox = Mailbox::parse(&format!("{agent}@{}", self.domain()));
        let alignment = mailbox.map_or(Alignment::None("no mailbox"), |it| alignment.bound(mail, &it, now));
        match &alignment {
            Alignment::Aligned(_) => {}
            Alignment::Unknown => return Ok(SmtpReply::later("4.7.0", "DNS does not tell the keys of the signature")),
            // RFC 7372 3.1. Nothing is ever sent to an address that somebody else made up.
            Alignment::None(why) if self.settings.require_aligned => return Ok(SmtpReply::refused("5.7.22", why)),
            Alignment::None(_) => {}
        }
        let sender = sender(mail, &alignment, &address, now);
        let reader = reader(&sender, &mail.from);
        let fingerprint = fingerprint(agent, &reader, mail, raw);
        // Before the sender is counted: a mail server that did not hear the reply hands the same message over again.
        if threads::was_taken(&self.host, &fingerprint).await? {
            return Ok(SmtpReply::taken());
        }
        if !self.senders.admit(&reader, now) {
            return Ok(SmtpReply::later("4.7.1", "too many messages of this sender: try again later"));
        }
        let to = self.correspondence(agent, mail, &sender, &reader).await?;
        let message = self.message(agent, mail, &alignment, &to);
        let reply = self.ask(message, &to).await?;
        if reply.code == 250 {
            // After the task is durable: a crash in between has the message taken twice, and never lost.
            threads::take(&self.host, &fingerprint).await?;
        }
        Ok(reply)
    }

    /// Hands a message to its agent, in the background.
    pub(crate) async fn ask(&self, message: Message, to: &Correspondence) -> Result<SmtpReply, Error> {
        let verified = message.sender.verified;
        let webhook = to.webhook(ids::mint(self.host.entropy().as_ref()), []);
        let reply = self.host.receive(message, Run::in_background(Some(webhook))).await?;
        match refusal(reply).await {
            None => Ok(SmtpReply::taken()),
            Some(part) => self.refused(*part, to, verified).await,
        }
    }

    /// What becomes of a refusal that is no task: those that pass are the mail server's to wait for, and the
    /// others are told by mail, to who was proven to have written.
    async fn refused(&self, part: PolicyPart, to: &Correspondence, verified: bool) -> Result<SmtpReply, Error> {
        if let Some(reply) = put_off(&part) {
            return Ok(reply);
        }
        // The address may be somebody else's: whoever handed the message over is told, and nobody is written to.
        if !verified {
            return Ok(SmtpReply::refused("5.7.1", &part.message));
        }
        self.tell(&part, to).await?;
        Ok(SmtpReply::taken())
    }

    /// Has a refusal told by mail.
    async fn tell(&self, part: &PolicyPart, to: &Correspondence) -> Result<(), Error> {
        let now = self.host.clock().now();
        let part = Value::Object(part.to_json());
        let webhook = to.webhook(ids::mint(self.host.entropy().as_ref()), [(REFUSAL, part)]);
        let account = to.sender.account();
        let expires_at = now.checked_add(NOTICE_TTL).unwrap_or(now);
        self.host.notify(Notification { webhook, account, due_at: now, expires_at }).await
    }

    /// Asks again what was asked: what a refusal wanted was done, where there is a submission (PolicyPart 5.3,
    /// pattern 2), or its agent had no room.
    pub(crate) async fn ask_again(
        &self,
        to: &Correspondence,
        asked: Vec<Part>,
        submission: Option<Submission>,
    ) -> Result<SmtpReply, Error> {
        let entropy = self.host.entropy().as_ref();
        // Somebody did what was wanted in between: that is a new question and not one more attempt.
        let repeats = if submission.is_some() { 0 } else { to.repeats + 1 };
        let to = Correspondence { token: ids::mint(entropy), repeats, ..to.clone() };
        let reader = reader(&to.sender, &to.to);
        threads::remember(&self.host, &to.token, &to.agent, &reader, &to.conversation).await?;
        let (id, now) = (MessageId::mint(entropy), self.host.clock().now());
        let message = Message {
            thread: ThreadId::adopt_for(&reader, &to.conversation),
            sender: to.sender.clone(),
            language: to.language.as_deref().and_then(forecourt_core::Language::parse),
            submission: submission.map(Box::new),
            ..Message::new(id, to.agent.clone(), asked, NAME, now)
        };
        self.ask(message, &to).await
    }

    /// What the answer will need, with an id that is kept already.
    async fn correspondence(
        &self,
        agent: &Handle,
        mail: &InboundMail,
        sender: &Sender,
        reader: &str,
    ) -> Result<Correspondence, Error> {
        let entropy = self.host.entropy().as_ref();
        let known = threads::find(&self.host.ledger(NAME), self.domain(), agent, reader, &mail.references).await?;
        // The id of the answer is kept before there is one: a reply to it may come as soon as it is sent.
        let (conversation, token) = (known.unwrap_or_else(|| ids::mint(entropy)), ids::mint(entropy));
        threads::remember(&self.host, &token, agent, reader, &conversation).await?;
        let (subject, references) = Correspondence::headings(mail);
        let name = self.host.directory().find(agent).map(|resident| resident.card.name.clone());
        Ok(Correspondence {
            agent: agent.clone(),
            agent_name: name.unwrap_or_else(|| agent.to_string()),
            to: mail.from.clone(),
            subject,
            in_reply_to: mail.id.clone(),
            references,
            language: mail.language.as_ref().map(|language| language.as_str().to_owned()),
            token,
            conversation,
            sender: sender.clone(),
            repeats: 0,
        })
    }

    fn message(&self, agent: &Handle, mail: &InboundMail, alignment: &Alignment, to: &Correspondence) -> Message {
        let now = self.host.clock().now();
        let id = mail.id.as_deref().and_then(MessageId::parse);
        let id = id.unwrap_or_else(|| MessageId::mint(self.host.entropy().as_ref()));
        let mut metadata = Map::from_iter([(NAME.to_owned(), json!({"subject": mail.subject}))]);
        if let Some(policy) = policy(mail, alignment) {
            metadata.insert("mentionable".to_owned(), json!({"policy": policy}));
        }
        Message {
            thread: ThreadId::adopt_for(&reader(&to.sender, &mail.from), &to.conversation),
            sender: to.sender.clone(),
            language: mail.language.clone(),
            metadata,
            ..Message::new(id, agent.clone(), mail.parts.clone(), NAME, now)
        }
    }
}

/// Whose conversations they are: those of nobody that was proven are apart from those of the address.
fn reader(sender: &Sender, from: &Mailbox) -> String {
    sender.owner().map_or_else(|| format!("unverified:{from}"), str::to_owned)
}

/// Names a message: the same for each time that a mail server hands it over.
fn fingerprint(agent: &Handle, reader: &str, mail: &InboundMail, raw: &[u8]) -> Vec<u8> {
    let body = digest(&SHA256, raw);
    let name = mail.id.as_deref().map_or(body.as_ref(), str::as_bytes);
    [agent.as_str().as_bytes(), reader.as_bytes(), name].join(&0)
}

/// The envelope that came with a message. PolicyPart 4.4: only of the domain that is the address's own, and 4.1:
/// as data, byte for byte, where its version is none that is known.
fn policy(mail: &InboundMail, alignment: &Alignment) -> Option<Value> {
    let text = mail.policy.as_ref()?;
    if !matches!(alignment, Alignment::Aligned(signer) if signer.is_exact) {
        tracing::warn!("a policy envelope without an aligned signature was ignored");
        return None;
    }
    let bytes = (text.len() <= ENVELOPE_BYTES_MAX).then(|| STANDARD.decode(text).ok()).flatten()?;
    let envelope = json::parse(&bytes).ok()?;
    let is_known = envelope.get("v").and_then(Value::as_str) == Some(ENVELOPE_VERSION);
    let part = envelope.get("part").cloned();
    match (is_known, part) {
        (false, _) => Some(envelope),
        (true, Some(Value::Object(part))) => {
            let part = PolicyPart::from_json(part).ok()?;
            part.validate(mail.from.domain().as_str()).ok()?;
            Some(json!({"v": ENVELOPE_VERSION, "part": part.to_json()}))
        }
        (true, _) => None,
    }
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

/// What a mail server is told of a refusal that passes.
fn put_off(part: &PolicyPart) -> Option<SmtpReply> {
    match part.kind {
        RefusalKind::TooManyRequests { .. } => Some(SmtpReply::later("4.7.1", &part.message)),
        RefusalKind::ServiceUnavailable { .. } => Some(SmtpReply::later("4.3.2", &part.message)),
        _ => None,
    }
}

/// What a mail server is told of a failure.
fn failure(error: &Error) -> SmtpReply {
    match error {
        Error::NotFound { .. } => SmtpReply::refused("5.1.1", "no such agent here"),
        Error::Gone { .. } => SmtpReply::refused("5.1.6", "the agent was retired"),
        Error::Invalid { .. } => SmtpReply::refused("5.6.0", error.to_string()),
        Error::Full { .. } => SmtpReply::later("4.2.2", "the storage of this sender is full"),
        Error::Unavailable { .. } => SmtpReply::later("4.3.2", "the service is busy: try again later"),
        Error::Conflict { .. } | Error::Internal(_) => {
            SmtpReply::later("4.3.0", "the message could not be taken: try again later")
        }
    }
}

/// How a failure is told where a mail server is told of it; of other refusals their senders are, by mail.
pub(crate) fn spelling(failed: HostFailure) -> Option<String> {
    let reply = match failed {
        HostFailure::Error(error) => failure(&error),
        HostFailure::Refused(part) => match put_off(&part) {
            Some(reply) => reply,
            None => return Some("a mail".to_owned()),
        },
        HostFailure::Ended(Ending::Canceled) => return None,
        HostFailure::Ended(_) => return Some("a mail".to_owned()),
        // Endpoints are not called by mail.
        HostFailure::Call(_) => return None,
    };
    Some(format!("{} {}", reply.code, reply.enhanced))
}
