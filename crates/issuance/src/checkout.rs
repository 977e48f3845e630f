//! A checkout: a page of a provider's on which a state is paid. Written down before it is opened, then followed until
//! it was paid or can't be any more. While it is open nothing else pays for its state.

use std::sync::Arc;

use forecourt_core::clock::after;
use forecourt_core::policy::{
    Checkout, CheckoutAmount, CheckoutFinding, CheckoutOptions, CheckoutOrder, Demand, PaymentError, PaymentScheme,
    PaymentSubmission,
};
use forecourt_core::{Error, StateToken};
use forecourt_telemetry::going_on;
use futures::future::BoxFuture;

use crate::claims::is_used_before;
use crate::issue::fault;
use crate::limits::{
    CHECKOUT_GRACE, CHECKOUT_TIME, CHECKOUTS_MAX, EXPIRED_KEPT, INDETERMINATE_KEPT, TRIES_MAX, VERIFY_TIME_MAX,
};
use crate::record::{CheckoutStep, IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use crate::{Issuance, IssuanceOutcome, IssuanceStatus};
use forecourt_audit::RequestOrigin;

/// What comes of asking for a checkout.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckoutOutcome {
    /// It is open at this address.
    Open(String),
    /// There is none to be opened: it was paid meanwhile, or can't be any more.
    Closed(IssuanceOutcome),
    /// There is none, and why.
    Refused(PaymentError),
}

/// What comes of closing a checkout.
pub(crate) enum CheckoutEnd {
    /// It is closed, and nothing was paid at it: the number of that step, and the step.
    Ended(u64, Box<IssuanceRecord>),
    /// Its state was moved on, by what was paid at it or by somebody else.
    Late(IssuanceStatus),
    /// It may still be paid.
    Open,
}

/// Who hands a payment in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaidBy {
    /// Its payer.
    Payer,
    /// The host itself, which has found it at the checkout that is open.
    Checkout,
}

/// What a checkout was found to be.
enum CheckoutState {
    Open(String),
    Ended,
    Paid(IssuanceOutcome),
    Refused(PaymentError),
    Unknown,
}

/// What is asked of a checkout's provider.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    LookUp,
    Close,
}

/// Why something else is not done meanwhile.
pub(crate) fn at_checkout() -> PaymentError {
    let message = "It is being paid by card at the moment. Go back there, or try again in a minute.";
    fault("paid_at_checkout", message, true)
}

impl Issuances {
    /// What may be paid for an issuance at a checkout; `None` where there is none.
    pub fn checkout_options(&self, issuance: &Issuance) -> Option<CheckoutOptions> {
        self.options(&issuance.requirement.demand).map(|(_, options)| options)
    }

    fn options(&self, demand: &Demand) -> Option<(Arc<dyn PaymentScheme>, CheckoutOptions)> {
        let Demand::Payment(terms) = demand else { return None };
        self.schemes.iter().find_map(|scheme| Some((scheme.clone(), scheme.checkout_options(&terms.accepted)?)))
    }

    /// Opens a checkout for `times` the price of a state, with the request `origin`; the one that is open already, where
    /// that is for the same.
    pub fn check_out<'a>(
        self: &'a Arc<Self>,
        state: &'a StateToken,
        times: u32,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<CheckoutOutcome, Error>> {
        Box::pin(async move {
            let (issuances, state, origin) = (self.clone(), state.clone(), origin.clone());
            // Whoever asked may go away in the middle; what was opened is written down all the same.
            let opening = tokio::spawn(going_on(async move { issuances.open_one(&state, times, &origin).await }));
            opening.await.map_err(Error::internal)?
        })
    }

    async fn open_one(&self, state: &StateToken, times: u32, origin: &RequestOrigin) -> Result<CheckoutOutcome, Error> {
        let hash = StateHash::of(state);
        for _ in 0..TRIES_MAX {
            let Some((number, record)) = self.last(&hash).await? else {
                return Ok(CheckoutOutcome::Closed(IssuanceOutcome::UNKNOWN));
            };
            let status = self.status(&record);
            if status != IssuanceStatus::Issued {
                return Ok(CheckoutOutcome::Closed(IssuanceOutcome::Late(status)));
            }
            let chosen = self.options(&record.requirement.demand).and_then(|(scheme, options)| {
                Some((scheme, options.amounts.into_iter().find(|amount| amount.times == times)?))
            });
            let Some((scheme, chosen)) = chosen else {
                let message = "This can't be paid by card, or not this amount.";
                return Ok(CheckoutOutcome::Refused(fault("unsupported_amount", message, false)));
            };
            if let Some(open) = &record.checkout {
                let is_same = (open.offer, &open.amount) == (chosen.offer, &chosen.amount);
                let wish = if is_same { Wish::LookUp } else { Wish::Close };
                match self.follow(&hash, wish).await? {
                    CheckoutState::Open(url) if is_same => return Ok(CheckoutOutcome::Open(url)),
                    CheckoutState::Ended => continue,
                    CheckoutState::Paid(outcome) => return Ok(CheckoutOutcome::Closed(outcome)),
                    CheckoutState::Refused(fault) => return Ok(CheckoutOutcome::Refused(fault)),
                    CheckoutState::Open(_) | CheckoutState::Unknown => {
                        return Ok(CheckoutOutcome::Refused(at_checkout()));
                    }
                }
            }
            if record.checkouts >= CHECKOUTS_MAX {
                let message =
                    format!("This was started {CHECKOUTS_MAX} times as a card payment. Ask again to continue.");
                return Ok(CheckoutOutcome::Refused(fault("too_many_checkouts", message, false)));
            }
            self.list_indeterminate(&hash).await?;
            let begun = self.begun(state, &record, scheme.family(), chosen, origin);
            // Once it is written, it is followed, which opens it.
            if self.write(&hash, &begun, number).await?.is_some() {
                self.watch_checkout(&hash);
            }
        }
        Err(Error::unavailable())
    }

    /// The step before a checkout is opened. Its state lasts as long as it.
    fn begun(
        &self,
        state: &StateToken,
        record: &IssuanceRecord,
        family: &str,
        chosen: CheckoutAmount,
        origin: &RequestOrigin,
    ) -> IssuanceRecord {
        let now = self.clock.now();
        let until = after(now, CHECKOUT_TIME);
        let checkout = CheckoutStep {
            state: state.clone(),
            family: family.to_owned(),
            offer: chosen.offer,
            amount: chosen.amount,
            until,
            opened: None,
        };
        IssuanceRecord {
            checkout: Some(checkout),
            checkouts: record.checkouts + 1,
            expires_at: record.expires_at.max(after(until, CHECKOUT_GRACE)),
            origin: origin.clone(),
            ..record.step(IssuanceStatus::Issued, now, INDETERMINATE_KEPT)
        }
    }

    /// Looks what came of the checkout of a state, and takes what was paid at it. Whether that is known; true where none
    /// is open.
    pub fn look_again<'a>(self: &'a Arc<Self>, state: &'a StateToken) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let (issuances, hash) = (self.clone(), StateHash::of(state));
            // Money that is on its way is followed to its end, whoever looks.
            let following = tokio::spawn(going_on(async move { issuances.follow(&hash, Wish::LookUp).await }));
            Ok(!matches!(following.await.map_err(Error::internal)??, CheckoutState::Unknown))
        })
    }

    /// Asks what came of a checkout; whether there is nothing left to ask about it.
    pub(crate) async fn follow_checkout(&self, hash: &StateHash) -> Result<bool, Error> {
        let is_over = |record: &IssuanceRecord| self.status(record) != IssuanceStatus::Issued;
        let late = self.last(hash).await?.is_some_and(|(_, record)| is_over(&record));
        // Nobody is waited for whose time is over, whatever its provider's clock says.
        self.follow(hash, if late { Wish::Close } else { Wish::LookUp }).await?;
        // What was paid is watched by whoever took it.
        Ok(self.last(hash).await?.is_none_or(|(_, record)| record.checkout.is_none()))
    }

    /// Looks a checkout up once; an error where nobody knows what came of it.
    pub(crate) async fn look_up_checkout(&self, hash: &StateHash) -> Result<(), Error> {
        match self.follow(hash, Wish::LookUp).await? {
            CheckoutState::Unknown => Err(Error::unavailable()),
            _ => Ok(()),
        }
    }

    /// Closes the checkout of a state, so that something else may be done about it. This alone decides between two ways
    /// to pay: what was paid at the checkout counts, and else it is surely closed before the other one goes on.
    pub(crate) async fn end_checkout(&self, hash: &StateHash) -> Result<CheckoutEnd, Error> {
        match self.follow(hash, Wish::Close).await? {
            CheckoutState::Open(_) | CheckoutState::Unknown => return Ok(CheckoutEnd::Open),
            CheckoutState::Ended | CheckoutState::Refused(_) | CheckoutState::Paid(_) => {}
        }
        let Some((number, record)) = self.last(hash).await? else {
            return Ok(CheckoutEnd::Late(IssuanceStatus::Expired));
        };
        match self.status(&record) {
            IssuanceStatus::Issued if record.checkout.is_none() => Ok(CheckoutEnd::Ended(number, Box::new(record))),
            // Another one was opened meanwhile.
            IssuanceStatus::Issued => Ok(CheckoutEnd::Open),
            status => Ok(CheckoutEnd::Late(status)),
        }
    }

    /// Boxed, since what it finds is paid with, and that may end another checkout.
    fn follow<'a>(&'a self, hash: &'a StateHash, wish: Wish) -> BoxFuture<'a, Result<CheckoutState, Error>> {
        Box::pin(self.follow_once(hash, wish))
    }

    async fn follow_once(&self, hash: &StateHash, wish: Wish) -> Result<CheckoutState, Error> {
        let Some((number, record)) = self.last(hash).await? else { return Ok(CheckoutState::Ended) };
        let Some(step) = record.checkout.clone() else { return Ok(CheckoutState::Ended) };
        // A scheme that the operator took out may come back: until then nobody knows.
        let Some(scheme) = self.scheme_now(&step.family) else { return Ok(CheckoutState::Unknown) };
        let (number, checkout) = match self.opened(hash, number, &record, &*scheme).await? {
            Ok(opened) => opened,
            Err(fault) if fault.is_passing => return Ok(CheckoutState::Unknown),
            Err(fault) => {
                self.write(hash, &without_checkout(&record), number).await?;
                return Ok(CheckoutState::Refused(fault));
            }
        };
        let asked = match wish {
            Wish::LookUp => scheme.look_up_checkout(&checkout),
            Wish::Close => scheme.close_checkout(&checkout),
        };
        let found = tokio::time::timeout(VERIFY_TIME_MAX, asked).await;
        match found.unwrap_or_else(|_| CheckoutFinding::Unknown("it took too long".to_owned())) {
            CheckoutFinding::Open => Ok(CheckoutState::Open(checkout.url)),
            CheckoutFinding::Ended => {
                self.write(hash, &without_checkout(&record), number).await?;
                Ok(CheckoutState::Ended)
            }
            CheckoutFinding::Unknown(reason) => {
                tracing::warn!(reason, agent = %record.agent, "nobody knows what came of a checkout");
                Ok(CheckoutState::Unknown)
            }
            CheckoutFinding::Paid(payload) => {
                let payment = PaymentSubmission { family: scheme.family(), payload };
                self.take_in(hash, record, number, &payment).await
            }
        }
    }

    /// The checkout of a step; opened now where that may not have been done.
    async fn opened(
        &self,
        hash: &StateHash,
        number: u64,
        record: &IssuanceRecord,
        scheme: &dyn PaymentScheme,
    ) -> Result<Result<(u64, Checkout), PaymentError>, Error> {
        let Some(step) = &record.checkout else { return Err(Error::unavailable()) };
        if let Some((id, url)) = step.opened.clone() {
            return Ok(Ok((number, Checkout { id, url, reference: hash.as_str().to_owned() })));
        }
        let Some(order) = self.order(hash, record, step) else { return Err(Error::unavailable()) };
        let opened = tokio::time::timeout(VERIFY_TIME_MAX, scheme.open_checkout(&order)).await;
        let opened = opened.unwrap_or_else(|_| Err(at_checkout()));
        let checkout = match opened {
            Ok(checkout) => checkout,
            Err(fault) => return Ok(Err(fault)),
        };
        let step = CheckoutStep { opened: Some((checkout.id.clone(), checkout.url.clone())), ..step.clone() };
        let opened = IssuanceRecord { checkout: Some(step), ..record.clone() };
        // Whoever else opened it has opened the same.
        let number = self.write(hash, &opened, number).await?.unwrap_or(number);
        Ok(Ok((number, checkout)))
    }

    /// What a checkout is opened for: made of what is written down, so that it is the same each time.
    fn order(&self, hash: &StateHash, record: &IssuanceRecord, step: &CheckoutStep) -> Option<CheckoutOrder> {
        let Demand::Payment(terms) = &record.requirement.demand else { return None };
        let page = self.site.url(&format!("/pay/{}", step.state.expose()));
        let title = record.requirement.title.clone();
        Some(CheckoutOrder {
            offer: terms.accepted.get(step.offer)?.clone(),
            amount: step.amount.clone(),
            reference: hash.as_str().to_owned(),
            attempt: record.checkouts,
            title: title.unwrap_or_else(|| format!("@{}@{}", record.agent, self.site.domain)),
            return_to: page.clone(),
            cancel_to: page,
            language: record.language.clone(),
            until: step.until,
        })
    }

    /// Takes a payment that was made at the checkout of `record`: reserved or settled as any other one, or given back
    /// where it comes too late or is not what was asked for.
    async fn take_in(
        &self,
        hash: &StateHash,
        record: IssuanceRecord,
        number: u64,
        payment: &PaymentSubmission,
    ) -> Result<CheckoutState, Error> {
        let Some(step) = record.checkout.clone() else { return Err(Error::unavailable()) };
        let outcome = match self.status(&record) {
            IssuanceStatus::Issued => {
                self.pay_with(&step.state, record.clone(), number, payment, PaidBy::Checkout).await?
            }
            status => IssuanceOutcome::Late(status),
        };
        match &outcome {
            IssuanceOutcome::Refused(fault) if fault.is_passing => return Ok(CheckoutState::Unknown),
            IssuanceOutcome::Refused(fault) if is_used_before(fault) => {
                self.write(hash, &without_checkout(&record), number).await?;
                return Ok(CheckoutState::Ended);
            }
            IssuanceOutcome::Refused(_) | IssuanceOutcome::Late(IssuanceStatus::Expired) => {}
            _ => return Ok(CheckoutState::Paid(outcome)),
        }
        let Some((number, last)) = self.last(hash).await?.filter(|(_, last)| {
            // Another one may have been opened since: nobody gives back what is paid there.
            last.checkout.is_some() && last.checkouts == record.checkouts
        }) else {
            return Ok(CheckoutState::Paid(outcome));
        };
        let fingerprint = match self.scheme_now(payment.family).map(|scheme| scheme.fingerprint(payment)) {
            Some(Ok(fingerprint)) => fingerprint,
            Some(Err(_)) | None => return Ok(CheckoutState::Unknown),
        };
        let settling = Settling {
            state: step.state.clone(),
            family: payment.family.to_owned(),
            payload: payment.payload.clone(),
            offer: step.offer,
            fingerprint,
            claimed_as: None,
        };
        let refused = IssuanceRecord { settling: Some(settling), ..without_checkout(&last) };
        self.give_back_payment(hash, &refused, number).await?;
        Ok(CheckoutState::Paid(outcome))
    }

    /// The scheme of a family in the house that answers now.
    pub(crate) fn scheme_now(&self, family: &str) -> Option<Arc<dyn PaymentScheme>> {
        let now = self.desk.schemes.load();
        now.iter().find(|scheme| scheme.family() == family).cloned().or_else(|| self.scheme(family))
    }
}

/// The step of a state whose checkout is closed: open for whatever else pays for it.
fn without_checkout(record: &IssuanceRecord) -> IssuanceRecord {
    let kept_until = record.kept_until.max(after(record.expires_at, EXPIRED_KEPT));
    IssuanceRecord { checkout: None, kept_until, is_cut_off: false, ..record.clone() }
}
