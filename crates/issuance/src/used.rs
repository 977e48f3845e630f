//! This module uses up what meets a message's requirements, before its agent is called. PolicyPart 5.5.

use std::sync::Arc;

use forecourt_core::policy::{Confirmation, Demand, PolicyResolution, Requirement};
use forecourt_core::{Error, Language, Message, Part};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::IssuanceStatus;
use crate::deduction::Deduction;
use crate::digest::canonical_hash;
use crate::limits::TRIES_MAX;
use crate::record::{IssuanceRecord, IssuanceUse};
use crate::streams::{Issuances, StateHash};
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// What meets one requirement of a message: an issuance, a grant or a deduction from credit.
pub struct RequirementUse(pub(crate) MetBy);

/// The kinds of [`RequirementUse`].
pub(crate) enum MetBy {
    /// Something that was done, good for one use.
    Issuance { hash: StateHash, number: u64, record: Box<IssuanceRecord> },
    /// A consent or a paid period that holds for a time, and is not used up.
    Granted,
    /// A deduction from credit.
    Credit(Box<Deduction>),
}

impl RequirementUse {
    /// What was said before it was asked for something, where it is good for one use.
    pub fn asked(&self) -> Option<&[Part]> {
        self.issuance().map(|record| record.asked.as_slice())
    }

    /// The language that its caller asked for then.
    pub fn language(&self) -> Option<&Language> {
        self.issuance().and_then(|record| record.language.as_ref())
    }

    fn issuance(&self) -> Option<&IssuanceRecord> {
        match &self.0 {
            MetBy::Issuance { record, .. } => Some(record),
            MetBy::Granted | MetBy::Credit(_) => None,
        }
    }

    /// What it meets, where that was asked for by itself.
    pub fn requirement(&self) -> Option<&Requirement> {
        match &self.0 {
            MetBy::Issuance { record, .. } => Some(&record.requirement),
            MetBy::Credit(deduction) => Some(&deduction.requirement),
            MetBy::Granted => None,
        }
    }

    fn is_payment(&self) -> bool {
        let resolution = self.issuance().and_then(|record| record.resolution.as_ref());
        resolution.is_some_and(|resolution| matches!(resolution.confirmation, Confirmation::PaymentRequired(_)))
    }
}

/// What was used up for one answer.
pub struct UsedUp {
    /// What the agent is told was done.
    pub resolution: Option<Box<PolicyResolution>>,
    /// The receipt of what was paid.
    pub receipt: Option<Box<Map<String, Value>>>,
    /// Follows the answer to its end.
    pub mark: AnswerMark,
}

/// Follows an answer to its end, so that what it was let through by is known to be answered: after that there is
/// nothing left to use. What never reached its agent is given back; what a crash cuts off, the next run finds.
pub struct AnswerMark {
    /// What was used; taken out once it is settled.
    used: Option<UsedThings>,
    has_begun: bool,
}

/// What one answer used. Nothing happens when it is dropped.
struct UsedThings {
    issuances: Arc<Issuances>,
    states: Vec<(StateHash, u64, IssuanceRecord)>,
    deductions: Vec<Deduction>,
}

impl Issuances {
    /// Uses up everything that lets a message through, each once, whoever else tries at the same time. `None` when
    /// somebody else was first: then nothing is used.
    pub fn use_up<'a>(
        self: &'a Arc<Self>,
        uses: Vec<RequirementUse>,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Option<UsedUp>, Error>> {
        Box::pin(self.use_all(uses, message))
    }

    async fn use_all(
        self: &Arc<Self>,
        mut uses: Vec<RequirementUse>,
        message: &Message,
    ) -> Result<Option<UsedUp>, Error> {
        // What was paid goes first: it is what the agent is told of, and what is contested.
        uses.sort_by_key(|one| !one.is_payment());
        let submitted = message.submission.as_ref().and_then(|submission| submission.state.as_ref());
        let told = uses.iter().filter_map(|one| one.issuance()?.resolution.as_ref());
        let resolution = told
            .clone()
            .find(|resolution| Some(&resolution.in_reply_to_state) == submitted)
            .or_else(|| told.clone().next())
            .cloned()
            .map(Box::new);
        let receipt = uses.iter().find_map(|one| one.issuance()?.receipt.clone()).map(Box::new);
        let used = UsedThings { issuances: self.clone(), states: Vec::new(), deductions: Vec::new() };
        // From here on, what fails in the middle is given back.
        let mut mark = AnswerMark { used: Some(used), has_begun: false };
        let origin = RequestOrigin::of(message);
        // One after another, so that what was used before one fails is known and can be given back.
        for one in uses {
            if !self.use_one(one, &mut mark, &origin).await? {
                mark.give_back().await;
                return Ok(None);
            }
        }
        Ok(Some(UsedUp { resolution, receipt, mark }))
    }

    /// Uses up one thing; `false` when somebody else was first.
    async fn use_one(&self, one: RequirementUse, mark: &mut AnswerMark, origin: &RequestOrigin) -> Result<bool, Error> {
        let Some(used) = &mut mark.used else { return Ok(false) };
        match one.0 {
            MetBy::Granted => Ok(true),
            MetBy::Issuance { hash, number, record } => {
                let consumed =
                    self.consume(&hash, number, IssuanceRecord { origin: origin.clone(), ..*record }).await?;
                let is_ours = consumed.is_some();
                used.states.extend(consumed);
                Ok(is_ours)
            }
            MetBy::Credit(deduction) => {
                let deducted = self.deduct(*deduction).await?;
                let is_ours = deducted.is_some();
                used.deductions.extend(deducted);
                Ok(is_ours)
            }
        }
    }

    /// Uses up what was done, if it still is what it was. The offer that was confirmed is compared once more with
    /// the one that was made. PolicyPart 5.5, steps 1 to 3.
    async fn consume(
        &self,
        hash: &StateHash,
        number: u64,
        record: IssuanceRecord,
    ) -> Result<Option<(StateHash, u64, IssuanceRecord)>, Error> {
        if !is_what_was_offered(&record)? {
            tracing::error!(agent = %record.agent, "a confirmation is of another offer than was made");
            return Ok(None);
        }
        let now = self.clock.now();
        let used = IssuanceUse { run: self.run.name().to_string(), at: now, is_answered: false };
        let step = record.step(IssuanceStatus::Consumed, now, std::time::Duration::ZERO);
        let consumed = IssuanceRecord { used: Some(used), ..step };
        // Compared and written before the agent hears of it: of all who use a state one does. PolicyPart 5.5, steps 1
        // and 2.
        let Some(number) = self.write(hash, &consumed, number).await? else { return Ok(None) };
        self.note(hash, &consumed, AuditOutcome::Resumed);
        Ok(Some((hash.clone(), number, consumed)))
    }

    /// Writes down that an answer came to its end, or, when it never began, that what it used can be used.
    async fn settle_use(
        &self,
        (hash, number, record): &(StateHash, u64, IssuanceRecord),
        is_answered: bool,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let step = match is_answered {
            true => {
                let used = record.used.clone().map(|used| IssuanceUse { is_answered: true, ..used });
                let step = record.step(IssuanceStatus::Consumed, now, std::time::Duration::ZERO);
                // Nobody needs what was said once it is answered.
                IssuanceRecord { used, asked: Vec::new(), ..step }
            }
            false => {
                let step = record.step(IssuanceStatus::Verified, now, std::time::Duration::ZERO);
                IssuanceRecord { used: None, ..step }
            }
        };
        for _ in 0..TRIES_MAX {
            match self.write(hash, &step, *number).await {
                // Tried again: left unwritten, what was answered could be used once more when this run is over, and
                // what was not answered could not be used until then.
                Err(Error::Unavailable { .. }) => {}
                written => return written.map(|_| ()),
            }
        }
        Err(Error::unavailable())
    }
}

/// Whether what was confirmed is what was offered. PolicyPart 5.5, step 3.
fn is_what_was_offered(record: &IssuanceRecord) -> Result<bool, Error> {
    let Some(resolution) = &record.resolution else { return Ok(false) };
    Ok(match (&resolution.confirmation, &record.requirement.demand) {
        (Confirmation::PaymentRequired(paid), Demand::Payment(terms)) => {
            let original = canonical_hash(&paid.original_payload)?;
            let mut offers = terms.accepted.iter().filter(|offer| offer.scheme == paid.scheme);
            offers.any(|offer| canonical_hash(&offer.payload).is_ok_and(|offered| offered == original))
        }
        (Confirmation::ConsentRequired(given), Demand::Consent(terms)) => {
            given.scope_hash == canonical_hash(&terms.scope)?
        }
        _ => false,
    })
}

impl AnswerMark {
    /// The agent has heard of it: from here on, it is used.
    pub fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Whether something was used that is good for one answer. A consent or a period that holds for a time is not.
    pub fn is_for_one_answer(&self) -> bool {
        self.used.as_ref().is_some_and(|used| !used.states.is_empty() || !used.deductions.is_empty())
    }

    /// Whoever heard of it turned it away and did nothing: it counts as not begun.
    pub fn take_back(&mut self) {
        self.has_begun = false;
    }

    /// The answer has come to its end. What was used for one that never began is given back.
    pub fn ended(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(used) = self.used.take() {
                used.settle(self.has_begun).await;
            }
        })
    }

    async fn give_back(mut self) {
        if let Some(used) = self.used.take() {
            used.settle(false).await;
        }
    }
}

impl UsedThings {
    async fn settle(self, is_answered: bool) {
        for state in &self.states {
            if let Err(error) = self.issuances.settle_use(state, is_answered).await {
                tracing::warn!(%error, "the use of a consent or payment was not written to its end");
            }
        }
        for deduction in &self.deductions {
            if let Err(error) = self.issuances.settle_deduction(deduction, is_answered).await {
                tracing::warn!(%error, "a deduction was not written to its end");
            }
        }
    }
}

/// An answer that its caller left counts as answered, and one that never began as nothing. What ends with the host
/// is left as it is, for the next run to find.
impl Drop for AnswerMark {
    fn drop(&mut self) {
        let Some(used) = self.used.take() else { return };
        let has_begun = self.has_begun;
        // The answer was cut off by the stop: left open, so that it may be used again once this run is over.
        if has_begun && used.issuances.run.is_draining() {
            return;
        }
        // Where nobody is left to write it, it is as after a crash.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(used.settle(has_begun));
        }
    }
}
