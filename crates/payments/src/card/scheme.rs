//! [`PaymentScheme`] for cards: a checkout is opened, what was authorised there is captured, cancelled or refunded.
//! What a payment says is never believed: the provider is asked, and must say what this host asked for.

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_core::clock::Clock;
use forecourt_core::policy::{
    AcceptedPayment, Checkout, CheckoutFinding, CheckoutOptions, CheckoutOrder, GivenBack, PaymentAuthorization,
    PaymentConfirmation, PaymentError, PaymentNotice, PaymentScheme, PaymentSubmission, Receipt, Settlement,
};
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::FAMILY;
use super::client::{ApiError, Client};
use super::offer::CardOffer;
use super::settings::CardSettings;
use super::webhook::{self, SIGNATURE};
use super::wire::{Intent, IntentStatus, Refund, Session, is_id};
use crate::limits::{AUTHORIZATION_SECONDS, PRODUCT_CHARS_MAX};
use crate::settings_error::SettingsError;

/// Card payments by one provider.
pub struct Card {
    client: Client,
    settings: CardSettings,
    clock: Arc<dyn Clock>,
}

/// A payment that was found at a checkout, as the ledger keeps it. No data of a card is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CardPayment {
    session: String,
    intent: String,
    /// What it pays for.
    reference: String,
    amount: u64,
    currency: String,
    /// The second of Unix time from which it may not be capturable any more.
    good_until: i64,
}

/// Money that was taken. Made of what the provider says that it received, and of nothing else: so no refund is of more.
struct TakenMoney<'a> {
    intent: &'a Intent,
    amount: u64,
}

impl<'a> TakenMoney<'a> {
    fn of(intent: &'a Intent) -> Option<Self> {
        (intent.status == IntentStatus::Succeeded).then_some(Self { intent, amount: intent.amount_received })
    }
}

impl Card {
    /// The scheme as `settings` say.
    ///
    /// # Errors
    /// When there is no key, or the section can't work.
    pub fn new(settings: &CardSettings, egress: Egress, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        settings.check()?;
        let missing = || SettingsError::new("cards need a provider", "set `secret_key` in [payments.card]");
        let client = Client::new(settings, egress).ok_or_else(missing)?;
        Ok(Self { client, settings: settings.clone(), clock })
    }

    async fn open(&self, order: &CheckoutOrder) -> Result<Checkout, PaymentError> {
        let unusable = || fault("unsupported_scheme", "This can't be paid by card.", false);
        let (offer, currency) = CardOffer::read(&order.offer).ok_or_else(unusable)?;
        let amount = order.amount.parse().ok().filter(|amount| offer.amounts.contains(amount)).ok_or_else(unusable)?;
        let key = format!("checkout-{}-{}", order.reference, order.attempt);
        let fields = session_fields(order, amount, currency.code);
        let opened = self.client.post::<Session>("checkout/sessions", &key, &fields).await;
        let session = opened.map_err(|error| match error {
            ApiError::Refused(code) => {
                fault(&code, "The card payment could not be started. Pay in another way.", false)
            }
            ApiError::NotAsked(_) | ApiError::NoAnswer(_) => away(),
        })?;
        let url = session.url.filter(|url| self.settings.is_checkout(url));
        let is_ours = is_id(&session.id) && session.client_reference_id.as_deref() == Some(&order.reference);
        match url.filter(|_| is_ours) {
            Some(url) => Ok(Checkout { id: session.id, reference: order.reference.clone(), url }),
            None => {
                tracing::error!("a checkout is not where [payments.card] `checkout_origin` says, or of somebody else");
                // For good: nobody is sent there, so nobody can pay there, and the state is open for other ways.
                Err(fault("unsupported_scheme", "The card payment could not be started. Pay in another way.", false))
            }
        }
    }

    async fn find(&self, checkout: &Checkout) -> CheckoutFinding {
        match self.session(&checkout.id).await {
            Ok(session) => found(session, checkout),
            Err(error) => CheckoutFinding::Unknown(error.reason().to_owned()),
        }
    }

    async fn close(&self, checkout: &Checkout) -> CheckoutFinding {
        let (path, key) = (format!("checkout/sessions/{}/expire", checkout.id), format!("expire-{}", checkout.id));
        match self.client.post::<Session>(&path, &key, &[]).await {
            Ok(session) => found(session, checkout),
            // It can't be closed when it was paid or has ended by itself.
            Err(_) => self.find(checkout).await,
        }
    }

    async fn session(&self, id: &str) -> Result<Session, ApiError> {
        if !is_id(id) {
            return Err(ApiError::NotAsked("a checkout without a name".to_owned()));
        }
        self.client.get(&format!("checkout/sessions/{id}")).await
    }

    /// The intent of a payment, if it is what was asked for: the one with this name, for this reference, of this amount.
    async fn intent(&self, payment: &CardPayment) -> Result<Result<Intent, PaymentError>, ApiError> {
        let intent: Intent = self.client.get(&format!("payment_intents/{}", payment.intent)).await?;
        Ok(payment.check(&intent).map(|()| intent))
    }

    async fn verify_payment(&self, payment: &CardPayment) -> Result<(), PaymentError> {
        let session = self.session(&payment.session).await.map_err(|_| away())?;
        let is_of_session = session.id == payment.session
            && session.client_reference_id.as_deref() == Some(&payment.reference)
            && session.payment_intent.as_deref() == Some(&payment.intent)
            && session.amount_total == Some(payment.amount)
            && session.currency.as_deref().is_some_and(|code| code.eq_ignore_ascii_case(&payment.currency));
        if !is_of_session || session.status.as_deref() != Some("complete") {
            return Err(fault("other_payment", "The checkout says something else of this payment.", false));
        }
        let intent = self.intent(payment).await.map_err(|_| away())??;
        match intent.status {
            IntentStatus::RequiresCapture if intent.amount_capturable == payment.amount => Ok(()),
            IntentStatus::Processing => Err(away()),
            _ => Err(fault("not_authorized", "The card did not authorise this payment.", false)),
        }
    }

    /// Captures what was authorised, unless that was done. `is_repeated`: whether it was asked for before, so that a
    /// provider that can't be reached leaves it open.
    async fn take(&self, offer: &AcceptedPayment, payment: &CardPayment, is_repeated: bool) -> Settlement {
        let not_asked = |error: ApiError| match error {
            ApiError::NotAsked(_) if !is_repeated => Settlement::Refused(away()),
            error => Settlement::Unknown(error.reason().to_owned()),
        };
        let intent = match self.intent(payment).await {
            Ok(Ok(intent)) => intent,
            Ok(Err(fault)) => return Settlement::Refused(fault),
            // Nothing was captured by a question.
            Err(_) if !is_repeated => return Settlement::Refused(away()),
            Err(error) => return not_asked(error),
        };
        match intent.status {
            IntentStatus::Succeeded => payment.settled(offer, &intent),
            IntentStatus::RequiresCapture => {
                let (path, key) = (format!("payment_intents/{}/capture", intent.id), format!("capture-{}", intent.id));
                let fields = [("amount_to_capture", payment.amount.to_string())];
                match self.client.post::<Intent>(&path, &key, &fields).await {
                    Ok(intent) => payment.settled(offer, &intent),
                    Err(ApiError::Refused(code)) => self.refused_capture(offer, payment, &code).await,
                    Err(error) => not_asked(error),
                }
            }
            IntentStatus::Processing => Settlement::Unknown("it is being processed".to_owned()),
            IntentStatus::Canceled | IntentStatus::Unpaid => {
                Settlement::Refused(fault("canceled", "The card payment was cancelled, and nothing was taken.", false))
            }
        }
    }

    /// What became of a capture that was refused: another request may have made it just before.
    async fn refused_capture(&self, offer: &AcceptedPayment, payment: &CardPayment, code: &str) -> Settlement {
        match self.intent(payment).await {
            Ok(Ok(intent)) if intent.status == IntentStatus::Succeeded => payment.settled(offer, &intent),
            Ok(_) => Settlement::Refused(fault(code, "The card payment could not be taken.", false)),
            Err(error) => Settlement::Unknown(error.reason().to_owned()),
        }
    }

    async fn give_all_back(&self, payment: &CardPayment) -> GivenBack {
        let unknown = |error: &ApiError| GivenBack::Unknown(error.reason().to_owned());
        // Not compared with what was asked for: what is something else is given back all the more, as long as it is
        // this host's.
        let intent: Intent = match self.client.get(&format!("payment_intents/{}", payment.intent)).await {
            Ok(intent) => intent,
            Err(error) => return unknown(&error),
        };
        if intent.id != payment.intent || intent.reference() != Some(&payment.reference) {
            return GivenBack::Unknown("the payment is of something else".to_owned());
        }
        if let Some(taken) = TakenMoney::of(&intent) {
            return self.refund(&taken).await;
        }
        match intent.status {
            IntentStatus::Canceled => GivenBack::NotTaken,
            IntentStatus::Processing => GivenBack::Unknown("it is being processed".to_owned()),
            _ => {
                let (path, key) = (format!("payment_intents/{}/cancel", intent.id), format!("cancel-{}", intent.id));
                match self.client.post::<Intent>(&path, &key, &[]).await {
                    Ok(intent) if intent.status == IntentStatus::Canceled => GivenBack::NotTaken,
                    Ok(_) => GivenBack::Unknown("it was not cancelled".to_owned()),
                    Err(error) => unknown(&error),
                }
            }
        }
    }

    async fn refund(&self, taken: &TakenMoney<'_>) -> GivenBack {
        let TakenMoney { intent, amount } = taken;
        let fields = [("payment_intent", intent.id.clone()), ("amount", amount.to_string())];
        match self.client.post::<Refund>("refunds", &format!("refund-{}", intent.id), &fields).await {
            Ok(refund) if refund.status.as_deref().is_some_and(|status| ["failed", "canceled"].contains(&status)) => {
                GivenBack::Unknown(format!("the refund {} failed: make it at the provider", refund.id))
            }
            Ok(refund) => GivenBack::Refunded(self.refunded(intent, refund.amount, Some(refund.id))),
            // By the operator at the provider, or by a request whose answer was lost longer ago than keys are kept.
            Err(ApiError::Refused(code)) if code == "charge_already_refunded" => {
                GivenBack::Refunded(self.refunded(intent, *amount, None))
            }
            Err(error) => GivenBack::Unknown(error.reason().to_owned()),
        }
    }

    fn refunded(&self, intent: &Intent, amount: u64, refund: Option<String>) -> Map<String, Value> {
        let receipt = json!({
            "provider": "card", "status": "refunded", "payment_intent": intent.id, "refund": refund,
            "amount": amount, "currency": intent.currency, "at": self.clock.now().to_string(),
        });
        object(receipt)
    }
}

impl CardPayment {
    fn read(payment: &PaymentSubmission) -> Result<Self, PaymentError> {
        let unreadable = || fault("invalid_payload", "This is not a card payment that was found at a checkout.", false);
        let read: Self = serde_json::from_value(Value::Object(payment.payload.clone())).map_err(|_| unreadable())?;
        let is_named = is_id(&read.intent) && is_id(&read.session);
        if is_named { Ok(read) } else { Err(unreadable()) }
    }

    /// Whether what the provider says of an intent is what this payment says.
    fn check(&self, intent: &Intent) -> Result<(), PaymentError> {
        let checks = [
            (intent.id == self.intent, "of another name"),
            (intent.reference() == Some(&self.reference), "for something else"),
            (intent.amount == self.amount, "of another amount"),
            (intent.currency.eq_ignore_ascii_case(&self.currency), "in another currency"),
        ];
        match checks.into_iter().find(|(is_fine, _)| !is_fine) {
            None => Ok(()),
            Some((_, what)) => Err(fault("other_payment", format!("The card payment is {what}."), false)),
        }
    }

    fn settled(&self, offer: &AcceptedPayment, intent: &Intent) -> Settlement {
        if let Err(error) = self.check(intent) {
            return Settlement::Unknown(error.message);
        }
        let Some(taken) = TakenMoney::of(intent).filter(|taken| taken.amount == self.amount) else {
            return Settlement::Unknown(format!("{} of {} were captured", intent.amount_received, self.amount));
        };
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: Some(intent.id.clone()),
            payer: None,
            network: None,
        };
        let details = json!({
            "provider": "card", "status": "succeeded", "payment_intent": intent.id, "amount": taken.amount,
            "currency": intent.currency,
        });
        let receipt = Receipt { confirmation, amount: taken.amount.to_string(), details: object(details) };
        Settlement::Settled(Box::new(receipt))
    }
}

/// What a session says of a checkout.
fn found(session: Session, checkout: &Checkout) -> CheckoutFinding {
    // Somebody else's is no word about this one.
    if session.id != checkout.id || session.client_reference_id.as_deref() != Some(&checkout.reference) {
        return CheckoutFinding::Unknown("the provider answers for another checkout".to_owned());
    }
    match session.status.as_deref() {
        Some("open") => CheckoutFinding::Open,
        Some("expired") => CheckoutFinding::Ended,
        Some("complete") => match (session.payment_intent, session.amount_total, session.currency) {
            (Some(intent), Some(amount), Some(currency)) => {
                let payment = CardPayment {
                    session: session.id,
                    intent,
                    reference: checkout.reference.clone(),
                    amount,
                    currency: currency.to_lowercase(),
                    good_until: session.created.saturating_add(AUTHORIZATION_SECONDS),
                };
                let payload = serde_json::to_value(payment).map(object);
                payload.map_or_else(|error| CheckoutFinding::Unknown(error.to_string()), CheckoutFinding::Paid)
            }
            _ => CheckoutFinding::Unknown("a checkout that is complete names no payment".to_owned()),
        },
        other => CheckoutFinding::Unknown(format!("a checkout is `{}`", other.unwrap_or_default())),
    }
}

/// What a checkout is opened with. The same for the same order, since its key is.
fn session_fields(order: &CheckoutOrder, amount: u64, currency: &str) -> Vec<(&'static str, String)> {
    let name: String = order.title.chars().filter(|c| !c.is_control()).take(PRODUCT_CHARS_MAX).collect();
    let code = order.language.as_ref().map(|language| language.as_str().to_lowercase()).unwrap_or_default();
    // The languages of this host's own pages; others are the browser's to say.
    let locale = ["de", "en", "es", "fr"].into_iter().find(|known| code.split('-').next() == Some(known));
    vec![
        ("mode", "payment".to_owned()),
        ("client_reference_id", order.reference.clone()),
        ("metadata[reference]", order.reference.clone()),
        ("payment_intent_data[metadata][reference]", order.reference.clone()),
        ("payment_intent_data[capture_method]", "manual".to_owned()),
        ("payment_method_types[0]", "card".to_owned()),
        ("line_items[0][quantity]", "1".to_owned()),
        ("line_items[0][price_data][currency]", currency.to_lowercase()),
        ("line_items[0][price_data][unit_amount]", amount.to_string()),
        ("line_items[0][price_data][product_data][name]", name),
        ("success_url", order.return_to.clone()),
        ("cancel_url", order.cancel_to.clone()),
        ("expires_at", order.until.as_second().to_string()),
        ("locale", locale.unwrap_or("auto").to_owned()),
    ]
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn fault(code: &str, message: impl Into<String>, is_passing: bool) -> PaymentError {
    PaymentError { code: code.to_owned(), message: message.into(), is_passing }
}

/// Nothing is known for now.
fn away() -> PaymentError {
    fault("provider_unavailable", "Card payments can't be made or checked at the moment. Try again in a minute.", true)
}

impl PaymentScheme for Card {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let paid = CardPayment::read(payment)?;
        let is_meant = |offer: &AcceptedPayment| {
            let read = CardOffer::read(offer);
            read.is_some_and(|(offer, currency)| {
                currency.code.eq_ignore_ascii_case(&paid.currency) && offer.amounts.contains(&paid.amount)
            })
        };
        let other = || fault("other_payment", "The card payment is not what was asked for.", false);
        offers.iter().position(is_meant).ok_or_else(other)
    }

    /// The provider's name for it, which it gives once.
    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        Ok(CardPayment::read(payment)?.intent)
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let paid = CardPayment::read(payment)?;
        let good_until = Timestamp::from_second(paid.good_until).ok();
        Ok(PaymentAuthorization { payer: None, network: None, good_until, reference: Some(paid.reference) })
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move { self.verify_payment(&CardPayment::read(payment)?).await })
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match CardPayment::read(payment) {
                Ok(payment) => self.take(offer, &payment, false).await,
                Err(fault) => Settlement::Refused(fault),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match CardPayment::read(payment) {
                Ok(payment) => self.take(offer, &payment, true).await,
                Err(fault) => Settlement::Refused(fault),
            }
        })
    }

    fn gives_back(&self, _: &AcceptedPayment) -> bool {
        true
    }

    fn give_back<'a>(&'a self, _: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, GivenBack> {
        Box::pin(async move {
            match CardPayment::read(payment) {
                Ok(payment) => self.give_all_back(&payment).await,
                Err(fault) => GivenBack::Unknown(fault.message),
            }
        })
    }

    fn checkout_options(&self, offers: &[AcceptedPayment]) -> Option<CheckoutOptions> {
        let amounts = |(at, offer): (usize, &AcceptedPayment)| {
            let (offer, currency) = CardOffer::read(offer)?;
            Some(offer.checkout_amounts(currency, at)).filter(|amounts| !amounts.is_empty())
        };
        let amounts = offers.iter().enumerate().find_map(amounts)?;
        Some(CheckoutOptions { origin: self.settings.checkout_origin.clone(), amounts })
    }

    fn open_checkout<'a>(&'a self, order: &'a CheckoutOrder) -> BoxFuture<'a, Result<Checkout, PaymentError>> {
        Box::pin(self.open(order))
    }

    fn look_up_checkout<'a>(&'a self, checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(self.find(checkout))
    }

    fn close_checkout<'a>(&'a self, checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(self.close(checkout))
    }

    fn read_notice(&self, field: &dyn Fn(&str) -> Option<String>, body: &[u8]) -> Result<PaymentNotice, PaymentError> {
        let signature = field(SIGNATURE);
        webhook::read(&self.settings.webhook_secrets, self.clock.now(), signature.as_deref(), body)
    }
}
