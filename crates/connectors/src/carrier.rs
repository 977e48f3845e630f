//! An answer or a refusal that is due, in messages of the platform.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::part::FileSource;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{CollectedReply, Ending, Error, File, PolicyPart};
use forecourt_correspondence::{Carrier, Content, Letter, Outgoing, answer_in_words};
use forecourt_egress::Egress;
use forecourt_host::{CarryOutcome, TaskAccess};
use futures::future::BoxFuture;

use crate::address::{ChatAddress, say};
use crate::answer::texts;
use crate::chat::Place;
use crate::connector::{Connectors, Speaking};
use crate::left_out::{about_files, sent_as_files};
use crate::live::{LiveAnswers, bounded, edit};
use crate::message_style::MessageStyle;
use crate::platform::{Platform, PlatformError, Post, PostButton};
use crate::records::{Records, SentItem, hash, keep_message, messages_of, remember_speaker};

/// Sends what is due over the connectors of one kind.
pub(crate) struct ChatCarrier<P: Platform> {
    pub(crate) connectors: Arc<Connectors<P>>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) live: Arc<LiveAnswers>,
}

/// Why something was not sent.
enum SendError {
    Platform(PlatformError),
    Host(Error),
}

impl From<PlatformError> for SendError {
    fn from(error: PlatformError) -> Self {
        Self::Platform(error)
    }
}

impl From<Error> for SendError {
    fn from(error: Error) -> Self {
        Self::Host(error)
    }
}

impl<P: Platform> Carrier<ChatAddress<P>> for ChatCarrier<P> {
    fn send<'a>(&'a self, outgoing: Outgoing<'a, ChatAddress<P>>) -> BoxFuture<'a, CarryOutcome> {
        Box::pin(async move {
            let Some(connector) = self.connectors.get(&outgoing.letter.address.connector) else {
                tracing::warn!("an answer was given up: its connector is not there any more");
                return CarryOutcome::Never;
            };
            if let Some(wait) = connector.pause.place(P::EDIT_EVERY) {
                return CarryOutcome::Wait(wait);
            }
            self.live.stop(&outgoing.letter.token).await;
            let speaking = Speaking { connector, egress: &self.egress };
            match send(speaking, &outgoing).await {
                Ok(()) => CarryOutcome::Delivered,
                Err(SendError::Platform(PlatformError::Later(wait))) => {
                    connector.pause.begin(bounded(wait));
                    CarryOutcome::Wait(bounded(wait))
                }
                Err(SendError::Platform(PlatformError::Refused(reason))) => {
                    tracing::warn!(reason, "the platform refused an answer");
                    CarryOutcome::Never
                }
                Err(SendError::Platform(PlatformError::TakenDown)) => {
                    tracing::info!("an answer is not shown: somebody took down what there was of it");
                    CarryOutcome::Delivered
                }
                Err(SendError::Platform(PlatformError::Failed(reason))) => {
                    tracing::warn!(reason, "an answer was not sent");
                    CarryOutcome::Later
                }
                Err(SendError::Host(error)) => {
                    tracing::warn!(%error, "an answer was not sent");
                    CarryOutcome::Later
                }
            }
        })
    }
}

async fn send<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
) -> Result<(), SendError> {
    // A task that is done can't be cancelled, and its answer may have waited for the platform.
    if withdrawn(speaking, outgoing).await? {
        return Ok(());
    }
    match (outgoing.content.refusal(), sign_in_words(outgoing.content)) {
        (Some(part), _) => refuse(speaking, outgoing, part).await,
        (None, Some(words)) => tell_alone(speaking, outgoing, &words, None).await,
        (None, None) => answer(speaking, outgoing).await,
    }?;
    // The question may have been deleted while this was sent.
    withdrawn(speaking, outgoing).await.map(drop)
}

/// Whether a question is not there any more, or not as it was; what was sent for one that was deleted is deleted, too.
async fn withdrawn<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
) -> Result<bool, SendError> {
    let sent = Records::of(outgoing.desk.host(), P::KIND).sent(outgoing.letter.origin()).await?;
    let is_taken_back = sent.contains(&SentItem::TakenBack);
    // Of one that was edited, the answer to what it says now has the place: nothing of this one is put there again.
    let is_superseded = sent.contains(&SentItem::Superseded);
    let place = place_of(outgoing);
    for id in messages_of(&sent).iter().filter(|_| is_taken_back) {
        speaking.connector.platform.delete(speaking.egress, &place, id).await?;
    }
    Ok(is_taken_back || is_superseded)
}

/// Sends a refusal: its words, and a button that opens the page where a person does what it wants.
async fn refuse<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    part: &PolicyPart,
) -> Result<(), SendError> {
    let (_, words) = part.in_language(outgoing.letter.language.as_ref());
    let label = label(&part.kind, outgoing.letter);
    let button = part.url.as_ref().map(|url| PostButton { label, url: url.clone() });
    tell_alone(speaking, outgoing, words, button).await
}

/// What an agent says that wants a sign-in: the link in it may be that of who asked, like the one of a refusal.
fn sign_in_words(content: Content<'_>) -> Option<String> {
    match content {
        Content::Reply(reply) if matches!(reply.ending, Ending::SignIn(_)) => answer_in_words(reply),
        _ => None,
    }
}

/// Where what is sent goes, as far as that is still so.
fn place_of<P: Platform>(outgoing: &Outgoing<'_, ChatAddress<P>>) -> Place {
    outgoing.letter.address.place.at(outgoing.desk.host().clock().now())
}

/// Sends words only to who asked, where the platform can do that: a link in them opens what is that person's alone.
async fn tell_alone<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    words: &str,
    button: Option<PostButton>,
) -> Result<(), SendError> {
    let (letter, platform, place) = (outgoing.letter, &speaking.connector.platform, &place_of(outgoing));
    let text = MessageStyle::of(platform).messages(words).into_iter().next().unwrap_or_else(|| words.to_owned());
    let url = button.as_ref().map_or("", |button| button.url.as_str());
    let post = Post {
        key: format!("{}/alone/{}", letter.token, hash(&format!("{text}\n{url}"))),
        only_for: Some(letter.address.user.clone()),
        in_public: say(letter).chat_told_directly(),
        reply_to: Some(letter.address.message.clone()),
        text,
        button,
    };
    platform.post(speaking.egress, place, &post).await?;
    // What was shown of an answer before is none.
    let records = Records::of(outgoing.desk.host(), P::KIND);
    for id in messages_of(&records.sent(letter.origin()).await?) {
        platform.delete(speaking.egress, place, &id).await?;
        records.keep_sent(letter.sender.account(), letter.origin(), &SentItem::Gone(id)).await?;
    }
    Ok(())
}

/// What the button of a refusal says.
fn label<P: Platform>(kind: &RefusalKind, letter: &Letter<ChatAddress<P>>) -> String {
    let say = say(letter);
    match kind {
        RefusalKind::ConsentRequired { .. } => say.decision_open_consent(),
        RefusalKind::PaymentRequired { .. } => say.decision_open_payment(),
        RefusalKind::Unauthorized { .. } => say.decision_open_sign_in(),
        _ => say.decision_the_terms(),
    }
}

/// Sends an answer: its messages, then its files. What the platform does not take of these is told again, with links.
async fn answer<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
) -> Result<(), SendError> {
    let Content::Reply(reply) = outgoing.content else { return Ok(()) };
    tell_answer(speaking, outgoing, reply).await?;
    match upload_files(speaking, outgoing, reply).await? {
        0 => Ok(()),
        _ => tell_answer(speaking, outgoing, reply).await,
    }
}

/// Sends the messages of an answer. Each is written down once it is sent: what goes on after a failure or a crash edits
/// those that are there, and sends the others.
async fn tell_answer<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    reply: &CollectedReply,
) -> Result<(), SendError> {
    let (letter, platform) = (outgoing.letter, &speaking.connector.platform);
    let (place, account) = (&place_of(outgoing), letter.sender.account());
    let records = Records::of(outgoing.desk.host(), P::KIND);
    let sent = records.sent(letter.origin()).await?;
    let there = messages_of(&sent);
    let texts = texts(reply, &about_files(outgoing, reply, &sent).await?, MessageStyle::of(platform));
    for (at, text) in texts.iter().enumerate() {
        let edited = match there.get(at) {
            Some(id) => platform.edit(speaking.egress, place, id, &edit(&letter.token, at, text)).await.map(|()| true),
            None => Ok(false),
        };
        let key = format!("{}/{at}{}", letter.token, if edited.is_err() { "/again" } else { "" });
        match edited {
            // It may have been another agent's, before an edit of its question.
            Ok(true) => {
                if let Some(id) = there.get(at) {
                    remember_speaker(outgoing.desk.host(), letter, id).await?;
                }
            }
            Err(error @ (PlatformError::Later(_) | PlatformError::Failed(_) | PlatformError::TakenDown)) => {
                return Err(error.into());
            }
            // Somebody may have deleted it: the answer is sent as if it had not been there.
            Ok(false) | Err(PlatformError::Refused(_)) => {
                let reply_to = Some(letter.address.message.clone()).filter(|_| at == 0);
                let post = Post { text: text.clone(), reply_to, key, ..Post::default() };
                if let Some(id) = platform.post(speaking.egress, place, &post).await? {
                    keep_message(outgoing.desk.host(), letter, &id).await?;
                }
                if let Some(gone) = there.get(at) {
                    records.keep_sent(account.clone(), letter.origin(), &SentItem::Gone(gone.clone())).await?;
                }
            }
        }
    }
    for id in there.iter().skip(texts.len()) {
        platform.delete(speaking.egress, place, id).await?;
        records.keep_sent(account.clone(), letter.origin(), &SentItem::Gone(id.clone())).await?;
    }
    Ok(())
}

/// Sends the files of an answer that are not sent yet; how many of them the platform did not take.
async fn upload_files<P: Platform>(
    speaking: Speaking<'_, P>,
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    reply: &CollectedReply,
) -> Result<usize, SendError> {
    let (letter, place) = (outgoing.letter, &place_of(outgoing));
    let records = Records::of(outgoing.desk.host(), P::KIND);
    let sent = records.sent(letter.origin()).await?;
    let mut refused = 0;
    for (number, file) in sent_as_files(reply, &sent) {
        if sent.contains(&SentItem::File(number)) {
            continue;
        }
        let mut done = SentItem::File(number);
        if let Some(bytes) = bytes(outgoing, file).await? {
            // Named among all files, and not among those of its task alone.
            let file = File { id: Some(format!("{}/file/{number}", letter.token)), ..file.clone() };
            match speaking.connector.platform.upload(speaking.egress, place, &file, bytes).await {
                // Such as one that is larger than a server takes.
                Err(PlatformError::Refused(reason)) => {
                    tracing::info!(reason, "a file goes by a link, since the platform refused it");
                    (done, refused) = (SentItem::Refused(number), refused + 1);
                }
                other => other?,
            }
        }
        records.keep_sent(letter.sender.account(), letter.origin(), &done).await?;
    }
    Ok(refused)
}

/// The bytes of a file of an answer. `None` for one that is named by its address, or is not kept any more.
async fn bytes<P: Platform>(outgoing: &Outgoing<'_, ChatAddress<P>>, file: &File) -> Result<Option<Bytes>, Error> {
    match (&file.source, &file.id, outgoing.task) {
        (FileSource::Inline(bytes), ..) => Ok(Some(bytes.clone())),
        (FileSource::Kept, Some(id), Some(task)) => {
            let access = TaskAccess::As(&outgoing.letter.sender);
            let permit = outgoing.desk.host().task(&task.id, access).await?;
            match permit.artifact(id).await {
                Ok(artifact) => Ok(Some(artifact.bytes)),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        }
        _ => Ok(None),
    }
}
