//! Answers and refusals that are due by mail, handed to the submission server.

use std::sync::Arc;

use forecourt_correspondence::{Carrier, Outgoing};
use forecourt_host::CarryOutcome;
use futures::future::BoxFuture;

use crate::address::MailAddress;
use crate::compose::{Style, compose};
use crate::signer::Signature;
use crate::submission::Submission;

/// Sends answers of this protocol.
pub(crate) struct MailCarrier {
    pub(crate) submission: Submission,
    pub(crate) signature: Option<Arc<Signature>>,
    pub(crate) html: bool,
}

impl Carrier<MailAddress> for MailCarrier {
    fn send<'a>(&'a self, outgoing: Outgoing<'a, MailAddress>) -> BoxFuture<'a, CarryOutcome> {
        Box::pin(async move {
            let Outgoing { desk, letter, content, .. } = outgoing;
            let domain = desk.host().site().domain.as_str();
            let now = desk.host().clock().now().as_second();
            let style = Style { domain, html: self.html, is_signed: self.signature.is_some(), now };
            // A task that was cancelled has nothing to tell.
            let Some(message) = compose(&content, letter, &style) else { return CarryOutcome::Delivered };
            let message = match &self.signature {
                None => message,
                Some(signature) => match signature.sign(&message) {
                    Some(signed) => signed,
                    None => return CarryOutcome::Never,
                },
            };
            let from = format!("{}@{domain}", letter.agent);
            self.submission.send(&from, &letter.address.to.to_string(), &message).await
        })
    }

    /// Without a signature a refusal holds no link. PolicyPart 4.4.
    fn tells_links(&self) -> bool {
        self.signature.is_some()
    }
}
