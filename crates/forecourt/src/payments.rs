//! Payments of a deployment: what rules offer by `[payments]`, and the schemes that check and take the money.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_core::SystemClock;
use forecourt_core::policy::{OfferBuilder, PaymentScheme};
use forecourt_egress::Egress;
use forecourt_identity::HostKeys;
use forecourt_payments::ap2::{Ap2, Ap2Offers};
use forecourt_payments::card::{Card, CardOffers};
use forecourt_payments::crawl::{self, CrawlerAccounts, DebtLedger};
use forecourt_payments::{PaymentsSettings, SettingsError, X402, X402Offers};
use forecourt_settings::{Problem, Problems, Section};

/// How agents of one house are paid.
pub(crate) struct Payments {
    offers: Arc<X402Offers>,
    scheme: Option<Arc<X402>>,
    card_offers: Arc<CardOffers>,
    card: Option<Arc<Card>>,
    ap2_offers: Arc<Ap2Offers>,
    ap2: Option<Arc<Ap2>>,
}

/// Reads `[payments]`. Fails when it can't work.
pub(crate) fn read_payments(section: &Section) -> Result<PaymentsSettings, Problems> {
    let mut settings: PaymentsSettings = section.read()?;
    settings.ap2.resolve_files(|file| section.resolve_path(file));
    settings.check().map_err(|error| problem(section, error))?;
    Ok(settings)
}

fn problem(section: &Section, SettingsError { message, hint }: SettingsError) -> Problem {
    section.problem(None, format!("[payments] {message}")).hint(hint)
}

impl Payments {
    /// As `settings` say; without a facilitator no tokens are taken, and without a provider no cards.
    pub(crate) fn new(settings: &PaymentsSettings, egress: &Egress, root: &Section) -> Result<Self, Problems> {
        let facilitator = settings.facilitator.as_ref();
        let scheme = facilitator.map(|_| X402::new(settings, egress.clone(), Arc::new(SystemClock)));
        let scheme = scheme.transpose().map_err(|error| problem(root, error))?.map(Arc::new);
        let card = settings.card.is_on().then(|| Card::new(&settings.card, egress.clone(), Arc::new(SystemClock)));
        let card = card.transpose().map_err(|error| problem(root, error))?.map(Arc::new);
        let card_offers = Arc::new(CardOffers::new(settings.card.clone()));
        let ap2_offers = Arc::new(Ap2Offers::new(settings.clone()));
        let ap2 = || Ap2::new(settings, scheme.clone(), egress, Arc::new(SystemClock));
        let ap2 = settings.ap2.is_on().then(ap2).transpose().map_err(|error| problem(root, error))?.map(Arc::new);
        Ok(Self { offers: Arc::new(X402Offers::new(settings.clone())), scheme, card_offers, card, ap2_offers, ap2 })
    }

    /// The builders that turn shorthands of offers, such as `x402 = { … }` and `card = { … }`, into ways to pay.
    pub(crate) fn offer_builders(&self) -> Vec<Arc<dyn OfferBuilder>> {
        let crawlers = Arc::new(CrawlerAccounts::offered());
        vec![self.offers.clone(), self.card_offers.clone(), self.ap2_offers.clone(), crawlers]
    }

    /// The payment schemes that verify and settle payments: x402 where there is a facilitator, cards where there is a
    /// provider, mandates where something settles them, whose carts are signed with `keys`, and accounts of crawlers,
    /// which are kept in `debts`.
    pub(crate) fn schemes(&self, debts: &DebtLedger, keys: &Arc<ArcSwap<HostKeys>>) -> Vec<Arc<dyn PaymentScheme>> {
        if let Some(ap2) = &self.ap2 {
            let keys = keys.clone();
            ap2.sign_with(Arc::new(move || keys.load().current().clone()));
        }
        let accounts: Arc<dyn PaymentScheme> = Arc::new(CrawlerAccounts::new(debts.clone()));
        self.of_providers().chain([accounts]).collect()
    }

    /// The families of payments that are taken.
    pub(crate) fn families(&self) -> Vec<String> {
        self.of_providers().map(|scheme| scheme.family().to_owned()).chain([crawl::FAMILY.to_owned()]).collect()
    }

    /// The schemes of which somebody else moves the money.
    fn of_providers(&self) -> impl Iterator<Item = Arc<dyn PaymentScheme>> {
        let x402 = self.scheme.iter().map(|scheme| scheme.clone() as Arc<dyn PaymentScheme>);
        let cards = self.card.iter().map(|card| card.clone() as Arc<dyn PaymentScheme>);
        x402.chain(cards).chain(self.ap2.iter().map(|ap2| ap2.clone() as Arc<dyn PaymentScheme>))
    }

    /// Warns of offers that the facilitator can't settle, or that it can't be asked. Refuses nothing.
    pub(crate) async fn check_facilitator(scheme: Arc<X402>, offers: Arc<X402Offers>) {
        match scheme.unsupported(&offers.made()).await {
            Ok(missing) => {
                for kind in missing {
                    tracing::warn!("the facilitator of [payments] does not settle {kind}, which is offered");
                }
            }
            Err(error) => tracing::warn!("[payments] {error}"),
        }
    }

    /// The same, beside everything else, if something is offered.
    pub(crate) fn begin_check(&self) {
        if let Some(scheme) = self.scheme.clone().filter(|_| !self.offers.made().is_empty()) {
            // Not waited for: a facilitator that is away must not keep the host from starting.
            tokio::spawn(Self::check_facilitator(scheme, self.offers.clone()));
        }
    }
}
