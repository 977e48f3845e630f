//! A notice of a provider's: it says that something happened, and the provider is asked what.

use std::sync::Arc;

use forecourt_core::Error;
use forecourt_core::clock::after;
use forecourt_core::policy::PaymentError;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_telemetry::going_on;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::limits::NOTICE_KEPT;
use crate::streams::{Issuances, StateHash};

/// What became of a notice.
#[derive(Debug, Clone, PartialEq)]
pub enum NoticeOutcome {
    /// It was looked up, came before, or means nothing here.
    Taken,
    /// It is not from the provider, and why.
    Refused(PaymentError),
    /// No scheme of this family is taken here.
    NoScheme,
}

impl Issuances {
    /// Takes a notice for a family of schemes: `field` gives a field of its request, `body` is its bytes as they came.
    pub fn take_notice<'a>(
        self: &'a Arc<Self>,
        family: &'a str,
        field: &'a (dyn Fn(&str) -> Option<String> + Sync),
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<NoticeOutcome, Error>> {
        let Some(scheme) = self.scheme(family) else {
            return Box::pin(std::future::ready(Ok(NoticeOutcome::NoScheme)));
        };
        let notice = match scheme.read_notice(field, body) {
            Ok(notice) => notice,
            Err(fault) => return Box::pin(std::future::ready(Ok(NoticeOutcome::Refused(fault)))),
        };
        Box::pin(async move {
            let (stream, now) = (format!("payment-notice:{family}:{}", notice.id), self.clock.now());
            if !self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?.is_empty() {
                return Ok(NoticeOutcome::Taken);
            }
            if let Some(hash) = notice.reference.as_deref().and_then(StateHash::parse) {
                let issuances = self.clone();
                // Whoever sent it may not wait; money that is on its way is followed to its end all the same.
                let asking = tokio::spawn(going_on(async move { issuances.look_up_notified(&hash).await }));
                asking.await.map_err(Error::internal)??;
            }
            // Once it was looked up, so that a notice that could not be is good for another time.
            let entry = LedgerEntry::new(Value::Null, now).until(after(now, NOTICE_KEPT));
            self.store.append_entry(&stream, entry, Some(0)).await?;
            Ok(NoticeOutcome::Taken)
        })
    }
}
