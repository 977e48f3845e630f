//! A person decides on the page of a consent, or says no to a payment. PolicyPart 3.3.4.

use forecourt_core::clock::after;
use forecourt_core::policy::{Confirmation, ConsentConfirmation, ConsentTerms, Demand, PolicyResolution};
use forecourt_core::{ConsentToken, Error, StateToken, Timestamp};
use futures::future::BoxFuture;

use crate::checkout::{CheckoutEnd, at_checkout};
use crate::digest::canonical_hash;
use crate::limits::{EXPIRED_KEPT, TRIES_MAX, VERIFIED_KEPT};
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// Who this host says has verified something. PolicyPart 5.2.
pub(crate) const VERIFIED_BY: &str = "self";

impl Issuances {
    /// A person agrees to a consent, with the request `origin`; a `browser` without an account keeps it.
    /// [`IssuanceOutcome::Late`] when it can't be done any more, also for what is no consent or none of ours; [`IssuanceOutcome::NotTheirs`] for another person than was
    /// asked.
    pub fn accept<'a>(
        &'a self,
        state: &'a StateToken,
        browser: Option<&'a ConsentToken>,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        Box::pin(async move { Ok(self.accept_once(state, browser, origin).await?.unwrap_or(IssuanceOutcome::UNKNOWN)) })
    }

    async fn accept_once(
        &self,
        state: &StateToken,
        browser: Option<&ConsentToken>,
        origin: &RequestOrigin,
    ) -> Result<Option<IssuanceOutcome>, Error> {
        let hash = StateHash::of(state);
        for _ in 0..TRIES_MAX {
            let Some((number, record)) = self.last(&hash).await? else { return Ok(None) };
            let status = self.status(&record);
            let Demand::Consent(terms) = &record.requirement.demand else {
                return Ok(Some(IssuanceOutcome::Late(status)));
            };
            match status {
                IssuanceStatus::Issued => {}
                // Whoever sends the page's form twice has agreed once.
                IssuanceStatus::Verified => {
                    // The second answer is the one whose cookie the browser keeps.
                    if browser.is_some() {
                        self.grant_consent(&hash, &record, browser).await?;
                    }
                    return Ok(Some(IssuanceOutcome::Verified(None)));
                }
                status => return Ok(Some(IssuanceOutcome::Late(status))),
            }
            if !self.may_decide(&record, origin) {
                return Ok(Some(IssuanceOutcome::NotTheirs));
            }
            let verified = IssuanceRecord { origin: origin.clone(), ..self.agreed(state, &record, terms)? };
            if self.write(&hash, &verified, number).await?.is_some() {
                futures::try_join!(self.mark(&hash, &verified), self.grant_consent(&hash, &verified, browser))?;
                self.note(&hash, &verified, AuditOutcome::Verified);
                return Ok(Some(IssuanceOutcome::Verified(None)));
            }
        }
        Err(Error::unavailable())
    }

    fn agreed(
        &self,
        state: &StateToken,
        record: &IssuanceRecord,
        terms: &ConsentTerms,
    ) -> Result<IssuanceRecord, Error> {
        let now = self.clock.now();
        let expires_at = consent_end(terms, now);
        let scope_hash = canonical_hash(&terms.scope)?;
        let confirmation = Confirmation::ConsentRequired(ConsentConfirmation { scope_hash, expires_at });
        Ok(self.verified(state, record, confirmation, now))
    }

    /// The step that says that it was done, and by what.
    pub(crate) fn verified(
        &self,
        state: &StateToken,
        record: &IssuanceRecord,
        confirmation: Confirmation,
        now: Timestamp,
    ) -> IssuanceRecord {
        let resolution =
            PolicyResolution { in_reply_to_state: state.clone(), confirmation, verified_by: VERIFIED_BY.to_owned() };
        // Kept longer than it may be used, so that whoever comes too late is told so.
        let step = record.step(IssuanceStatus::Verified, now, VERIFIED_KEPT + EXPIRED_KEPT);
        IssuanceRecord { expires_at: after(now, VERIFIED_KEPT), resolution: Some(resolution), settling: None, ..step }
    }

    /// Whether a person who was asked may decide with the request `origin`. Who can sign in here decides alone what
    /// they were asked. No other subject can show itself to a page: an agent, a key or a token hands the address, which
    /// nobody else was told, to whoever decides for it. What is to be paid anybody may pay.
    fn may_decide(&self, record: &IssuanceRecord, origin: &RequestOrigin) -> bool {
        let is_consent = matches!(record.requirement.demand, Demand::Consent(_));
        let Some(asked) = self.person_asked(record.subject.as_deref()).filter(|_| is_consent) else { return true };
        origin.decider.as_ref().and_then(|decider| decider.subject.as_deref()) == Some(asked)
    }

    /// `subject`, where that is a person who can sign in on this host's pages: then nobody else decides.
    pub fn person_asked<'a>(&self, subject: Option<&'a str>) -> Option<&'a str> {
        subject.filter(|subject| self.people.as_deref().is_some_and(|people| subject.starts_with(people)))
    }

    /// A person says no; as [`Self::accept`].
    pub fn decline<'a>(
        &'a self,
        state: &'a StateToken,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        Box::pin(async move { Ok(self.decline_once(state, origin).await?.unwrap_or(IssuanceOutcome::UNKNOWN)) })
    }

    async fn decline_once(&self, state: &StateToken, origin: &RequestOrigin) -> Result<Option<IssuanceOutcome>, Error> {
        let hash = StateHash::of(state);
        for _ in 0..TRIES_MAX {
            let Some((number, record)) = self.last(&hash).await? else { return Ok(None) };
            match self.status(&record) {
                IssuanceStatus::Issued => {}
                IssuanceStatus::Declined => return Ok(Some(IssuanceOutcome::Declined)),
                status => return Ok(Some(IssuanceOutcome::Late(status))),
            }
            if !self.may_decide(&record, origin) {
                return Ok(Some(IssuanceOutcome::NotTheirs));
            }
            // What could still be paid is not declined.
            if record.checkout.is_some() {
                match self.end_checkout(&hash).await? {
                    CheckoutEnd::Ended(..) => continue,
                    CheckoutEnd::Late(status) => return Ok(Some(IssuanceOutcome::Late(status))),
                    CheckoutEnd::Open => return Ok(Some(IssuanceOutcome::Refused(at_checkout()))),
                }
            }
            let step = record.step(IssuanceStatus::Declined, self.clock.now(), EXPIRED_KEPT);
            let declined = IssuanceRecord { origin: origin.clone(), ..step };
            if self.write(&hash, &declined, number).await?.is_some() {
                self.note(&hash, &declined, AuditOutcome::Declined);
                return Ok(Some(IssuanceOutcome::Declined));
            }
        }
        Err(Error::unavailable())
    }
}

/// When a consent that is given `now` stops holding; `None`: never.
pub(crate) fn consent_end(terms: &ConsentTerms, now: Timestamp) -> Option<Timestamp> {
    terms.lifetime_seconds.map(|seconds| after(now, std::time::Duration::from_secs(seconds)))
}
