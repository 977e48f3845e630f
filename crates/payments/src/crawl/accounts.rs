//! This module has what verified crawlers owe: a debt for each, which grows with every answer up to a cap, until the
//! operator bills it.

use std::sync::Arc;

use forecourt_core::policy::{
    AcceptedPayment, OfferBuilder, OfferContext, PaymentAuthorization, PaymentConfirmation, PaymentError,
    PaymentScheme, PaymentSubmission, Receipt, Settlement,
};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Bot, Clock, Sender, Store, StoreError, Timestamp, clock};
use futures::future::BoxFuture;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::fields::{AMOUNT, Agreement, AgreementError, Dollars, decimal, price_of};
use super::{ACCOUNT, FAMILY};
use crate::limits::{DEBT_KEPT, DEBT_TRIES_MAX, DEBTORS_MAX, DEBTS_LOOKED_AT_MAX};

/// The member of an offer that has the most that one crawler may owe.
const OWED_MAX: &str = "owed_max";
/// The stream with the name of everybody who ever owed.
const DEBTORS: &str = "of:crawlers:debtors";

/// What a crawler owes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    /// In millionths of a dollar.
    pub owed: u64,
    /// What was billed so far, in millionths of a dollar.
    #[serde(default)]
    pub billed: u64,
    /// Answers that it was charged for.
    #[serde(default)]
    pub answers: u64,
    /// When its name was written into the list of those who owe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listed_at: Option<Timestamp>,
    /// The payment by which it last grew, to know it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payment: Option<String>,
}

/// Why a debt can't be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DebtError {
    /// Nobody of this name owes anything.
    #[error("no crawler `{0}` owes anything")]
    Unknown(String),
    /// More than is owed.
    #[error("{0} USD is more than the {1} USD that are owed")]
    TooMuch(String, String),
    /// The store can't be asked, or others write there all the time.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Debts in a store.
#[derive(Clone)]
pub struct DebtLedger {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    // Held across a step: of those that come at once on one node, each finds the one before it written.
    turn: Arc<Mutex<()>>,
}

/// What came of adding to a debt.
enum DebtStep {
    /// It is there, and was perhaps before.
    Owed,
    /// It would be more than the cap.
    OverCap,
}

impl DebtLedger {
    /// The debts in `store`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, turn: Arc::default() }
    }

    /// What everybody owes who owed within [`DEBT_KEPT`], by the name of their signature agent.
    pub fn all(&self) -> BoxFuture<'_, Result<Vec<(String, Debt)>, DebtError>> {
        Box::pin(async move {
            let mut all: Vec<(String, Debt)> = Vec::new();
            let (span, now) = (Span::After(0), self.clock.now());
            for (_, entry) in self.store.entries(DEBTORS, span, DEBTORS_MAX, now).await? {
                let Some(name) = entry.body.as_str().map(str::to_owned) else { continue };
                if all.iter().any(|(known, _)| *known == name) {
                    continue;
                }
                let (_, debt) = self.last(&name).await?;
                all.push((name, debt));
            }
            Ok(all)
        })
    }

    /// What a crawler owes; nothing where it never owed.
    pub fn of<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Debt, DebtError>> {
        Box::pin(async move { Ok(self.last(name).await?.1) })
    }

    /// Takes `amount` off what a crawler owes, everything where it is `None`: it was billed.
    pub fn bill<'a>(&'a self, name: &'a str, amount: Option<Dollars>) -> BoxFuture<'a, Result<Debt, DebtError>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            for _ in 0..DEBT_TRIES_MAX {
                let (number, debt) = self.last(name).await?;
                if number == 0 {
                    return Err(DebtError::Unknown(name.to_owned()));
                }
                let amount = amount.map_or(debt.owed, Dollars::millionths);
                let Some(owed) = debt.owed.checked_sub(amount) else {
                    return Err(DebtError::TooMuch(decimal(amount), decimal(debt.owed)));
                };
                let billed = Debt { owed, billed: debt.billed.saturating_add(amount), payment: None, ..debt };
                if self.write(name, &billed, number).await? {
                    return Ok(billed);
                }
            }
            Err(StoreError::Unavailable("a debt that others write".to_owned()).into())
        })
    }

    /// Adds to a debt, once for each payment.
    async fn add(&self, name: &str, price: Dollars, cap: Dollars, payment: &str) -> Result<DebtStep, DebtError> {
        let _turn = self.turn.lock().await;
        for _ in 0..DEBT_TRIES_MAX {
            if self.has(name, payment).await? {
                return Ok(DebtStep::Owed);
            }
            let (number, debt) = self.last(name).await?;
            let owed = debt.owed.saturating_add(price.millionths());
            if owed > cap.millionths() {
                return Ok(DebtStep::OverCap);
            }
            let Some(listed_at) = self.list(name, debt.listed_at).await? else { return Ok(DebtStep::OverCap) };
            let answers = debt.answers.saturating_add(1);
            let debt = Debt { listed_at: Some(listed_at), ..debt };
            if self.write(name, &Debt { owed, answers, payment: Some(payment.to_owned()), ..debt }, number).await? {
                return Ok(DebtStep::Owed);
            }
        }
        Err(StoreError::Unavailable("a debt that others write".to_owned()).into())
    }

    /// Writes a name into the list before it owes anything, and again long before that ends: the list outlives what it
    /// leads to. Gives when that was; `None` where there are too many.
    async fn list(&self, name: &str, listed_at: Option<Timestamp>) -> Result<Option<Timestamp>, DebtError> {
        let now = self.clock.now();
        if listed_at.is_some_and(|at| now < clock::after(at, DEBT_KEPT / 2)) {
            return Ok(listed_at);
        }
        let first = self.store.entries(DEBTORS, Span::After(0), 1, now).await?;
        let last = self.store.entries(DEBTORS, Span::Before(u64::MAX), 1, now).await?;
        // They expire in the order in which they came, so that the two tell how many there are.
        if let (Some((first, _)), Some((last, _))) = (first.first(), last.first())
            && last.saturating_sub(*first) + 1 >= DEBTORS_MAX as u64
        {
            // Who is listed stays so: the list has it for as long again, and so outlives this step of its debt.
            return Ok(listed_at.filter(|at| now < clock::after(*at, DEBT_KEPT)));
        }
        let entry = LedgerEntry::new(name.into(), now).until(clock::after(now, DEBT_KEPT * 2));
        Ok(self.store.append_entry(DEBTORS, entry, None).await?.map(|_| now))
    }

    /// Whether a payment is among the last that a debt grew by.
    async fn has(&self, name: &str, payment: &str) -> Result<bool, DebtError> {
        let (span, now) = (Span::Before(u64::MAX), self.clock.now());
        let entries = self.store.entries(&stream(name), span, DEBTS_LOOKED_AT_MAX, now).await?;
        Ok(entries.iter().any(|(_, entry)| entry.body.get("payment").and_then(Value::as_str) == Some(payment)))
    }

    async fn last(&self, name: &str) -> Result<(u64, Debt), DebtError> {
        let newest = self.store.entries(&stream(name), Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok((0, Debt::default())) };
        let debt = serde_json::from_value(entry.body).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        Ok((number, debt))
    }

    async fn write(&self, name: &str, debt: &Debt, last: u64) -> Result<bool, DebtError> {
        let now = self.clock.now();
        let entry = LedgerEntry::new(json!(debt), now).until(clock::after(now, DEBT_KEPT));
        Ok(self.store.append_entry(&stream(name), entry, Some(last)).await?.is_some())
    }
}

fn stream(name: &str) -> String {
    format!("of:crawlers:debt:{name}")
}

/// What a request of `sender` pays by its account, where it may have one and agrees to a price: a verified crawler that
/// is known, whose signature is good for this one request. Anybody else's fields mean nothing.
pub fn submission(headers: &HeaderMap, sender: &Sender) -> Result<Option<PaymentSubmission>, AgreementError> {
    // One that nobody knows is a host name and no more: those cost nothing, and each would have a cap of its own.
    let Some(Bot { name, product: Some(_), is_verified: true, .. }) = sender.bot.as_deref() else { return Ok(None) };
    let Some(agreement) = Agreement::of(headers)? else { return Ok(None) };
    // Without a nonce a copy of the request would be charged as well.
    let nonce =
        sender.identities.iter().find_map(|evidence| evidence.id.as_deref().filter(|_| evidence.issuer == *name));
    let Some(nonce) = nonce else { return Ok(None) };
    let (key, amount) = match agreement {
        Agreement::Max(max) => ("max", max),
        Agreement::Exact(exact) => ("exact", exact),
    };
    let Value::Object(payload) = json!({"bot": name, "nonce": nonce, key: amount.decimal()}) else { return Ok(None) };
    Ok(Some(PaymentSubmission { family: FAMILY, payload }))
}

/// Accounts of verified crawlers, as a way to pay: what an answer costs is added to what they owe.
pub struct CrawlerAccounts(Option<DebtLedger>);

/// The table under `crawler` in an offer of a rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountSettings {
    /// The most that one crawler may owe, in US dollars. `None`: nothing can be owed, and the price is only told.
    owed_max: Option<String>,
}

/// A payment as [`submission`] made it.
struct AccountPayment<'a> {
    bot: &'a str,
    nonce: &'a str,
    agreement: Agreement,
}

impl CrawlerAccounts {
    /// To make offers of, before there is a store.
    pub fn offered() -> Self {
        Self(None)
    }

    /// With what is owed in `debts`.
    pub fn new(debts: DebtLedger) -> Self {
        Self(Some(debts))
    }
}

impl OfferBuilder for CrawlerAccounts {
    fn key(&self) -> &'static str {
        FAMILY
    }

    fn offers(
        &self,
        settings: &Map<String, Value>,
        context: &OfferContext<'_>,
    ) -> Result<Vec<AcceptedPayment>, String> {
        let AccountSettings { owed_max } =
            AccountSettings::deserialize(Value::Object(settings.clone())).map_err(|error| error.to_string())?;
        let price = Dollars::of_price(context.price)
            .ok_or_else(|| format!("the price is `{}`; crawlers pay in dollars, such as `$0.01`", context.price))?;
        let Some(owed_max) = owed_max else { return Ok(vec![price.offer()]) };
        let cap = Dollars::parse(&owed_max)
            .ok_or_else(|| format!("`owed_max` is `{owed_max}`; write an amount of dollars, such as \"25.00\""))?;
        if cap < price {
            return Err(format!("`owed_max` is below the price: nobody could ever owe {price}"));
        }
        let mut payload = price.payload();
        payload.insert(OWED_MAX.to_owned(), cap.decimal().into());
        Ok(vec![AcceptedPayment { scheme: ACCOUNT.to_owned(), payload }])
    }
}

impl PaymentScheme for CrawlerAccounts {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let payment = AccountPayment::read(payment)?;
        let accounts = || offers.iter().enumerate().filter(|(_, offer)| offer.scheme == ACCOUNT);
        let covered = |offer: &AcceptedPayment| price_of(offer).is_some_and(|price| payment.agreement.covers(price));
        match accounts().find(|(_, offer)| covered(offer)) {
            Some((index, _)) => Ok(index),
            None if accounts().next().is_some() => {
                Err(fault("price_not_agreed", "The price is not one that the request agrees to."))
            }
            None => Err(fault("unsupported_scheme", "This is not charged to accounts of crawlers.")),
        }
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        AccountPayment::read(payment).map(|payment| payment.fingerprint())
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let payer = AccountPayment::read(payment)?.bot.to_owned();
        Ok(PaymentAuthorization { payer: Some(payer), network: None, good_until: None, reference: None })
    }

    fn verify<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move {
            let payment = AccountPayment::read(payment)?;
            let (price, cap) = terms(offer)?;
            let debts = self.0.as_ref().ok_or_else(closed)?;
            let debt = debts.of(payment.bot).await.map_err(|_| away())?;
            // Looked at once more when it is charged; here so that nothing is made in vain.
            match debt.owed.saturating_add(price.millionths()) > cap.millionths() {
                true => Err(over_cap()),
                false => Ok(()),
            }
        })
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let read = AccountPayment::read(payment).and_then(|payment| Ok((payment, terms(offer)?)));
            let (payment, (price, cap)) = match read {
                Ok(read) => read,
                Err(fault) => return Settlement::Refused(fault),
            };
            let Some(debts) = &self.0 else { return Settlement::Refused(closed()) };
            match debts.add(payment.bot, price, cap, &payment.fingerprint()).await {
                Ok(DebtStep::Owed) => Settlement::Settled(Box::new(receipt(offer, payment.bot, price))),
                Ok(DebtStep::OverCap) => Settlement::Refused(over_cap()),
                Err(error) => Settlement::Unknown(error.to_string()),
            }
        })
    }

    /// The same once more: a payment is added once.
    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        self.settle(offer, payment)
    }
}

impl<'a> AccountPayment<'a> {
    fn read(payment: &'a PaymentSubmission) -> Result<Self, PaymentError> {
        let text = |name: &str| payment.payload.get(name).and_then(Value::as_str);
        let amount = |name: &str| text(name).and_then(Dollars::parse);
        let agreement = amount("max").map(Agreement::Max).or_else(|| amount("exact").map(Agreement::Exact));
        match (text("bot"), text("nonce"), agreement) {
            (Some(bot), Some(nonce), Some(agreement)) => Ok(Self { bot, nonce, agreement }),
            _ => Err(fault("invalid_payload", "This is no payment of a crawler's account.")),
        }
    }

    fn fingerprint(&self) -> String {
        format!("{} {}", self.bot, self.nonce)
    }
}

fn terms(offer: &AcceptedPayment) -> Result<(Dollars, Dollars), PaymentError> {
    let cap = offer.payload.get(OWED_MAX).and_then(Value::as_str).and_then(Dollars::parse);
    price_of(offer).zip(cap).ok_or_else(|| fault("unsupported_scheme", "This is not charged to accounts of crawlers."))
}

fn receipt(offer: &AcceptedPayment, bot: &str, price: Dollars) -> Receipt {
    let mut details = price.payload();
    details.insert("scheme".to_owned(), ACCOUNT.into());
    details.insert(AMOUNT.to_owned(), price.decimal().into());
    Receipt {
        confirmation: PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: None,
            payer: Some(bot.to_owned()),
            network: None,
        },
        amount: price.millionths().to_string(),
        details,
    }
}

fn over_cap() -> PaymentError {
    fault(
        "owed_max_reached",
        "This crawler owes as much as it may. Pay what is billed, or pay for this in another way.",
    )
}

fn closed() -> PaymentError {
    fault("unsupported_scheme", "This host has no accounts of crawlers.")
}

fn away() -> PaymentError {
    PaymentError {
        is_passing: true,
        ..fault("unavailable", "What this crawler owes can't be looked up at the moment.")
    }
}

fn fault(code: &str, message: &str) -> PaymentError {
    PaymentError { code: code.to_owned(), message: message.to_owned(), is_passing: false }
}
