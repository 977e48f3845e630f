//! Messages to the host: who writes, what goes on with what, and what the mail server is told.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_contract::Current;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Error, Handle, Message, MessageId, PolicyPart, Sender, ids, json};
use forecourt_correspondence::{Acceptance, Desk};
use forecourt_host::{EventOutcome, PlatformState, Platforms};
use forecourt_surface::Mount;
use forecourt_surface::failure::HostFailure;
use mail_auth::AuthenticatedMessage;
use serde_json::{Map, Value, json};

use crate::NAME;
use crate::address::{MailAddress, MailLetter};
use crate::alignment::{Alignment, Authenticator};
use crate::compose::ENVELOPE_VERSION;
use crate::inbound::InboundMail;
use crate::limits::ENVELOPE_BYTES_MAX;
use crate::lmtp::{Envelope, SmtpReply};
use crate::mailbox::Mailbox;
use crate::section::EmailSettings;
use crate::sender::sender;

/// What every message can need.
pub(crate) struct Service {
    pub(crate) desk: Arc<Desk<MailAddress>>,
    pub(crate) settings: EmailSettings,
    authenticator: Arc<Authenticator>,
    /// The service that takes this one's place once the deployment is replaced.
    pub(crate) current: Current<Service>,
}

impl Service {
    pub(crate) fn new(mount: &Mount, settings: EmailSettings, authenticator: Arc<Authenticator>) -> Arc<Self> {
        let service = Arc::new(Self {
            desk: Arc::new(Desk::new(Arc::clone(&mount.host), settings.messages_per_sender_per_hour)),
            settings,
            authenticator,
            current: mount.services.current(),
        });
        mount.services.publish(service.clone());
        Platforms::of(&mount.services).add(PlatformState { platform: NAME, name: None, agents: None });
        service
    }

    pub(crate) fn domain(&self) -> &str {
        self.desk.host().site().domain.as_str()
    }

    /// The agent of a mailbox here, with or without `+something` behind its handle.
    pub(crate) fn agent(&self, address: &str) -> Result<Handle, SmtpReply> {
        let unknown = || SmtpReply::refused("5.1.1", "no such agent here");
        let mailbox = Mailbox::parse(address).ok_or_else(unknown)?;
        if *mailbox.domain() != self.desk.host().site().domain {
            return Err(SmtpReply::refused("5.7.1", "mail for other domains is not taken here"));
        }
        let handle = Handle::parse(mailbox.user()).map_err(|_| unknown())?;
        self.desk.host().directory().find(&handle).map(|agent| agent.card.handle().clone()).ok_or_else(unknown)
    }

    /// Takes a message for each of its recipients.
    pub(crate) async fn take(&self, envelope: &Envelope, raw: &[u8]) -> Vec<SmtpReply> {
        let all = |reply: SmtpReply| {
            let outcome = if reply.code == 250 { EventOutcome::Dropped } else { EventOutcome::Malformed };
            envelope.recipients.iter().for_each(|_| self.desk.count_event(outcome));
            vec![reply; envelope.recipients.len()]
        };
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
            let outcome = taken.as_ref().map_or(EventOutcome::Failed, |(_, outcome)| *outcome);
            self.desk.count_event(outcome);
            replies.push(taken.map(|(reply, _)| reply).unwrap_or_else(|error| {
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
    ) -> Result<(SmtpReply, EventOutcome), Error> {
        use EventOutcome::{Dropped, Failed, Forged, Repeated, Taken, TooMany};

        let now = self.desk.host().clock().now();
        let address = self.desk.host().site().address(agent);
        let mailbox = Mailbox::parse(&format!("{agent}@{}", self.domain()));
        let alignment = mailbox.map_or(Alignment::None("no mailbox"), |it| alignment.bound(mail, &it, now));
        match &alignment {
            Alignment::Aligned(_) => {}
            Alignment::Unknown => {
                return Ok((SmtpReply::later("4.7.0", "DNS does not tell the keys of the signature"), Failed));
            }
            // RFC 7372 3.1. Nothing is ever sent to an address that somebody else made up.
            Alignment::None(why) if self.settings.require_aligned => {
                return Ok((SmtpReply::refused("5.7.22", why), Forged));
            }
            Alignment::None(_) => {}
        }
        let sender = sender(mail, &alignment, &address, now);
        let reader = sender.owner().map_or_else(|| MailAddress::stranger_of(&mail.from), str::to_owned);
        let fingerprint = fingerprint(agent, &reader, mail, raw);
        // Before the sender is counted: a mail server that did not hear the reply hands the same message over again.
        let threads = self.desk.threads();
        if threads.was_taken(&fingerprint).await? {
            return Ok((SmtpReply::taken(), Repeated));
        }
        if !self.desk.admit(&reader) {
            let reply = SmtpReply::later("4.7.1", "too many messages of this sender: try again later");
            return Ok((reply, TooMany));
        }
        let to = self.letter(agent, mail, sender, &reader).await?;
        let message = self.message(mail, &alignment, &to);
        let (reply, outcome) = match self.desk.ask(message, &to, None).await? {
            Acceptance::Taken => (SmtpReply::taken(), Taken),
            Acceptance::Later(part) => {
                (put_off(&part).unwrap_or_else(|| SmtpReply::later("4.3.2", &part.message)), Failed)
            }
            // The address may be somebody else's: whoever handed the message over is told, and nobody is written to.
            Acceptance::Untold(part) => (SmtpReply::refused("5.7.1", &part.message), Dropped),
        };
        if reply.code == 250 {
            // After the task is durable: a crash in between has the message taken twice, and never lost.
            threads.take(&fingerprint).await?;
        }
        Ok((reply, outcome))
    }

    /// What the answer will need: the conversation is that of the answer to which the message replies.
    async fn letter(
        &self,
        agent: &Handle,
        mail: &InboundMail,
        sender: Sender,
        reader: &str,
    ) -> Result<MailLetter, Error> {
        let mut known = None;
        for id in &mail.references {
            let Some((token, host)) = id.rsplit_once('@') else { continue };
            if ids::is_token(token) && host == self.domain() && known.is_none() {
                known = self.desk.threads().find(token, agent, reader).await?;
            }
        }
        let name = self.desk.host().directory().find(agent).map(|resident| resident.card.name.clone());
        let address = MailAddress::answering(mail, name.unwrap_or_else(|| agent.to_string()));
        Ok(self.desk.letter(agent.clone(), sender, mail.language.clone(), known, address))
    }

    fn message(&self, mail: &InboundMail, alignment: &Alignment, to: &MailLetter) -> Message {
        let id = mail.id.as_deref().and_then(MessageId::parse);
        let mut metadata = Map::from_iter([(NAME.to_owned(), json!({"subject": mail.subject}))]);
        if let Some(policy) = policy(mail, alignment) {
            metadata.insert("mentionable".to_owned(), json!({"policy": policy}));
        }
        Message { metadata, ..self.desk.message(id, to, mail.parts.clone()) }
    }
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
