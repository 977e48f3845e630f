//! Messages that are changed or deleted after they were asked.

use forecourt_core::Error;
use forecourt_correspondence::Letter;
use forecourt_host::{EventOutcome, TaskAccess, TaskName};

use super::{Intake, Question, message_name};
use crate::address::ChatAddress;
use crate::chat::{ChatMessage, Place};
use crate::connector::Connector;
use crate::platform::Platform;
use crate::records::{AskedQuestion, Records, SentItem, hash, messages_of};

impl<P: Platform> Intake<P> {
    /// An edited message is asked anew where it says something else, and its answer takes the place of the one before.
    pub(crate) async fn hear_again(
        &self,
        connector: &Connector<P>,
        message: &ChatMessage,
    ) -> Result<EventOutcome, Error> {
        let records = Records::of(&self.host, P::KIND);
        let first = message_name(connector, &message.place, &message.message);
        let said = hash(&message.text);
        let before = records.question(&first).await?;
        if before.as_ref().is_some_and(|before| before.said == said) {
            return Ok(EventOutcome::Repeated);
        }
        if let Some(before) = &before {
            self.cancel(before).await?;
        }
        // With the letter before it: who goes back to words that stood there once asks them again.
        let name = match &before {
            Some(before) => format!("{first}/{said}/{}", before.letter),
            None => first,
        };
        self.hear(connector, Question { message, name, replaces: before.map(|before| before.letter) }).await
    }

    /// A question that was taken back is not answered, and an answer to it goes, too.
    pub(crate) async fn forget(
        &self,
        connector: &Connector<P>,
        place: &Place,
        message: &str,
    ) -> Result<EventOutcome, Error> {
        let name = message_name(connector, place, message);
        let records = Records::of(&self.host, P::KIND);
        let mut asked = records.question(&name).await?;
        // It may be in hand at this moment: whoever has it takes it back once it is asked, this edit of it or the first.
        let is_in_hand = self.in_hand.take_back(&name);
        if asked.is_none() && !is_in_hand {
            // Or it was, a moment ago.
            asked = records.question(&name).await?;
        }
        match asked {
            Some(asked) => self.take_back(connector, place, &asked).await.map(|()| EventOutcome::Taken),
            None if is_in_hand => Ok(EventOutcome::Taken),
            None => Ok(EventOutcome::Ignored),
        }
    }

    /// What a question was answered with as it was before an edit is from now on that of `letter`: its answer takes that
    /// place, or a deletion that comes first finds it.
    pub(super) async fn adopt(&self, letter: &Letter<ChatAddress<P>>) -> Result<(), Error> {
        let Some(before) = &letter.address.replaces else { return Ok(()) };
        let records = Records::of(&self.host, P::KIND);
        for id in messages_of(&records.sent(before).await?) {
            records.keep_sent(letter.sender.account(), letter.origin(), &SentItem::Message(id)).await?;
        }
        Ok(())
    }

    /// Nothing more is sent for the question as it was before an edit, though its answer may still be due. Done once
    /// the edit is asked: an answer is there either way.
    pub(super) async fn supersede(&self, letter: &Letter<ChatAddress<P>>) -> Result<(), Error> {
        let Some(before) = &letter.address.replaces else { return Ok(()) };
        let records = Records::of(&self.host, P::KIND);
        records.keep_sent(letter.sender.account(), before, &SentItem::Superseded).await
    }

    /// Ends what works on a question, and deletes what was sent for it.
    async fn take_back(&self, connector: &Connector<P>, place: &Place, asked: &AskedQuestion) -> Result<(), Error> {
        let records = Records::of(&self.host, P::KIND);
        // First, since an answer may be due at any moment.
        records.keep_sent(asked.sender.account(), &asked.letter, &SentItem::TakenBack).await?;
        self.cancel(asked).await?;
        self.live.stop(&asked.letter).await;
        for id in messages_of(&records.sent(&asked.letter).await?) {
            if let Err(error) = connector.platform.delete(&self.egress, place, &id).await {
                tracing::info!(%error, "an answer whose question was deleted is still there");
            }
        }
        Ok(())
    }

    async fn cancel(&self, asked: &AskedQuestion) -> Result<(), Error> {
        let name = TaskName { key: format!("{}\0{}", P::KIND, asked.task).into(), said: Vec::new() };
        let Some(permit) = self.host.named_task(&name, TaskAccess::As(&asked.sender)).await? else { return Ok(()) };
        match permit.cancel().await {
            Err(Error::Conflict { .. } | Error::NotFound { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
