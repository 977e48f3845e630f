//! A message to its agent: the first mention wins, a thread stays with its agent, and another mention switches to one
//! that knows nothing of what was said before. Hub card 3.

mod addressing;
mod changes;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Error, File, Handle, Part, PolicyPart, Sender};
use forecourt_correspondence::{Acceptance, Desk, Letter};
use forecourt_egress::Egress;
use forecourt_host::{EventOutcome, Host, TaskAccess, TaskName};
use forecourt_pages::bytes_said;
use serde_json::{Map, json};

use self::addressing::Addressee;
use crate::address::ChatAddress;
use crate::chat::{ChatFile, ChatMessage, Place};
use crate::connector::{Connector, Connectors};
use crate::in_hand::MessagesInHand;
use crate::left_out::too_large;
use crate::limits::{FILE_BYTES_MAX, FILES_MAX, TEXT_BYTES_MAX};
use crate::live::LiveAnswers;
use crate::platform::Platform;
use crate::records::{AskedQuestion, Records, hash};
use crate::sender::sender;

/// What events of one kind of platform need.
pub(crate) struct Intake<P: Platform> {
    pub(crate) host: Arc<Host>,
    /// A desk for each connector, which counts its senders.
    pub(crate) desks: BTreeMap<Handle, Arc<Desk<ChatAddress<P>>>>,
    pub(crate) connectors: Arc<Connectors<P>>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) live: Arc<LiveAnswers>,
    pub(crate) in_hand: MessagesInHand,
}

/// A message that an agent is to hear, with what it takes the place of.
pub(crate) struct Question<'a> {
    pub(crate) message: &'a ChatMessage,
    /// Names the message, and which edit of it.
    pub(crate) name: String,
    /// The letter of the question as it was before.
    pub(crate) replaces: Option<String>,
}

impl<P: Platform> Intake<P> {
    /// Counts an event of a connector by what became of it.
    pub(crate) fn count(&self, connector: &Connector<P>, outcome: EventOutcome) {
        let now = self.host.clock().now();
        self.host.metrics().platforms.event(P::KIND, Some(&connector.name), outcome, now);
    }

    /// Asks the agent of a message, if it is for one.
    pub(crate) async fn hear(&self, connector: &Connector<P>, question: Question<'_>) -> Result<EventOutcome, Error> {
        let Some(desk) = self.desks.get(&connector.name) else { return Ok(EventOutcome::Ignored) };
        let (message, threads) = (question.message, desk.threads());
        let key = message.place.key(&connector.name);
        let stays_with = addressing::stays_with(&threads, &connector.name, message).await?;
        let is_for_others = message.is_for_others && !self.names_agent(connector, message);
        let goes_on = message.place.is_reply && stays_with.is_some() && !is_for_others;
        if !(message.place.is_direct || message.mentions_connector || goes_on) {
            return Ok(EventOutcome::Ignored);
        }
        let first = message_name(connector, &message.place, &message.message);
        let Some(in_hand) = self.in_hand.take(&question.name, first) else { return Err(Error::unavailable()) };
        // Before the speaker is counted: platforms send an event again whose answer they did not hear.
        if threads.was_taken(question.name.as_bytes()).await? {
            return Ok(EventOutcome::Repeated);
        }
        let addressee = self.addressee(connector, message, stays_with);
        let (Addressee::Agent(agent) | Addressee::Nobody(agent)) = &addressee;
        let (speaker, address) = self.speaker(connector, &question, agent).await;
        let reader = desk.reader(&speaker, &address);
        if !desk.admit(&reader) {
            // Nothing is written down of it: whoever floods would fill the store by that. It is counted again if the
            // platform sends it again, and is too many still.
            tracing::debug!(connector = %connector.name, "a message was dropped: too many of one person within an hour");
            return Ok(EventOutcome::Dropped);
        }
        // Each person has a conversation of its own with each agent of a thread: nobody reads another's.
        let conversation = hash(&format!("{key}/{agent}"));
        let language = speaker.profile.as_ref().and_then(|profile| profile.more.get("locale"));
        let language = language.and_then(|locale| forecourt_core::Language::parse(locale.as_str()?));
        let letter = desk.letter(agent.clone(), speaker, language, Some(conversation), address);
        if let Addressee::Nobody(name) = &addressee {
            self.adopt(&letter).await?;
            desk.tell(&self.nobody_called(connector, name), &letter).await?;
            self.supersede(&letter).await?;
            threads.take(question.name.as_bytes()).await?;
            return Ok(EventOutcome::Taken);
        }
        threads.remember(&key, agent, &reader, &letter.conversation).await?;
        self.ask(connector, desk, &question, letter).await?;
        if in_hand.done() {
            self.forget(connector, &message.place, &message.message).await?;
        }
        Ok(EventOutcome::Taken)
    }

    /// Puts the question to its agent, once.
    async fn ask(
        &self,
        connector: &Connector<P>,
        desk: &Arc<Desk<ChatAddress<P>>>,
        question: &Question<'_>,
        letter: Letter<ChatAddress<P>>,
    ) -> Result<(), Error> {
        let message = question.message;
        let parts = self.parts(connector, message).await;
        let task = Arc::new(TaskName { key: format!("{}\0{}", P::KIND, question.name).into(), said: Vec::new() });
        let asked = AskedQuestion {
            task: question.name.clone(),
            letter: letter.token.clone(),
            said: hash(&message.text),
            sender: letter.sender.clone(),
        };
        let known = self.host.named_task(&task, TaskAccess::As(&letter.sender)).await?;
        if known.is_none() {
            self.adopt(&letter).await?;
            let place = json!({"channel": message.place.channel, "thread": message.place.thread});
            let metadata = Map::from_iter([(P::KIND.to_owned(), place)]);
            let message = forecourt_core::Message { metadata, ..desk.message(None, &letter, parts) };
            match desk.ask(message, &letter, Some(task.clone())).await {
                Ok(Acceptance::Taken) => {}
                Ok(Acceptance::Later(part) | Acceptance::Untold(part)) => desk.tell(&part, &letter).await?,
                Err(error) => desk.tell(&told(error)?, &letter).await?,
            }
            let records = Records::of(&self.host, P::KIND);
            records
                .keep_question(&message_name(connector, &letter.address.place, &letter.address.message), &asked)
                .await?;
        }
        self.supersede(&letter).await?;
        desk.threads().take(question.name.as_bytes()).await?;
        if connector.settings.live && known.is_none() {
            let permit = self.host.named_task(&task, TaskAccess::As(&letter.sender)).await?;
            let speaking = (Arc::clone(&self.connectors), Arc::clone(&self.egress));
            permit
                .into_iter()
                .for_each(|permit| self.live.follow(&self.host, speaking.clone(), permit, letter.clone()));
        }
        Ok(())
    }

    async fn speaker(
        &self,
        connector: &Connector<P>,
        question: &Question<'_>,
        agent: &Handle,
    ) -> (Sender, ChatAddress<P>) {
        let message = question.message;
        let profile = match &message.profile {
            Some(profile) => Some(profile.clone()),
            None => connector.platform.profile(&self.egress, &message.user).await,
        };
        let site = self.host.site();
        let speaker = sender(&connector.platform, message, profile, &site.address(agent), self.host.clock().now());
        let address = ChatAddress {
            connector: connector.name.clone(),
            place: message.place.clone(),
            message: message.message.clone(),
            user: message.user.clone(),
            replaces: question.replaces.clone(),
            too_large: too_large(message),
            of: PhantomData,
        };
        (speaker, address)
    }

    /// What is told to who mentions somebody who is not here.
    fn nobody_called(&self, connector: &Connector<P>, name: &Handle) -> PolicyPart {
        let all = self.host.directory().iter().map(|agent| agent.card.handle());
        let known: Vec<String> =
            all.filter(|agent| connector.settings.allows(agent)).map(|it| format!("@{it}")).collect();
        let words = format!("Nobody here is called @{name}. You can ask: {}.", known.join(", "));
        PolicyPart::new(RefusalKind::Forbidden, words)
    }

    async fn parts(&self, connector: &Connector<P>, message: &ChatMessage) -> Vec<Part> {
        let mut text = message.text.clone();
        if text.len() > TEXT_BYTES_MAX {
            let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
        }
        let mut parts: Vec<Part> =
            Some(text).filter(|text| !text.trim().is_empty()).map(Part::text).into_iter().collect();
        for (at, file) in message.files.iter().enumerate() {
            let fits = at < FILES_MAX && file.size_bytes <= FILE_BYTES_MAX;
            let bytes = if fits { self.bytes(connector, file).await } else { None };
            parts.push(match bytes {
                Some(bytes) => Part::File(File::inline(file.mime.clone(), Some(file.name.clone()), bytes)),
                None if file.size_bytes > FILE_BYTES_MAX => {
                    let max = bytes_said(FILE_BYTES_MAX);
                    Part::text(format!("(The file {} could not be handed on: it has more than {max}.)", file.name))
                }
                None => Part::text(format!("(The file {} could not be handed on.)", file.name)),
            });
        }
        if parts.is_empty() {
            parts.push(Part::text(""));
        }
        parts
    }

    async fn bytes(&self, connector: &Connector<P>, file: &ChatFile) -> Option<Bytes> {
        match connector.platform.download(&self.egress, file).await {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                tracing::info!(%error, "a file of a message was not fetched");
                None
            }
        }
    }
}

/// Names a message among those of all connectors.
pub(crate) fn message_name<P>(connector: &Connector<P>, place: &Place, message: &str) -> String {
    format!("{}/{}/{message}", connector.name, place.channel)
}

/// What is told of a failure that lies in the message. Fails with those that pass: the event is to be sent again.
fn told(error: Error) -> Result<PolicyPart, Error> {
    match error {
        Error::NotFound { .. } | Error::Gone { .. } | Error::Invalid { .. } | Error::Full { .. } => {
            Ok(PolicyPart::new(RefusalKind::Forbidden, error.to_string()))
        }
        Error::Unavailable { .. } | Error::Conflict { .. } | Error::Internal(_) => Err(error),
    }
}
