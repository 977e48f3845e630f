//! The page of a payment sends its payer to a checkout, where that is offered.

use forecourt_audit::RequestOrigin;
use forecourt_core::policy::CheckoutOptions;
use forecourt_issuance::{CheckoutOutcome, Issuance};
use forecourt_pages::CardPanel;

use super::super::answer::Outcome;
use super::super::media::Media;
use super::super::transport::Rest;
use super::OpenDecision;

/// What may be paid by card on a page.
pub(super) struct CardOptions {
    origin: String,
    amounts: Vec<(u32, String)>,
}

impl CardOptions {
    pub(super) fn panel(&self, issuance: &Issuance) -> CardPanel<'_> {
        CardPanel { origin: &self.origin, amounts: &self.amounts, is_begun: issuance.is_at_checkout }
    }
}

impl OpenDecision<'_> {
    /// What may be paid by card; `None` where that is not offered.
    pub(super) fn card_options(&self) -> Option<CardOptions> {
        let CheckoutOptions { origin, amounts } = self.rest.host.checkout_options(&self.issuance)?;
        let amounts = amounts.into_iter().map(|amount| (amount.times, amount.words)).collect();
        Some(CardOptions { origin, amounts })
    }
}

/// Opens a checkout for `times` the price, and leads there.
pub(super) async fn begin(
    rest: &Rest,
    decision: &OpenDecision<'_>,
    media: Media,
    times: u32,
    origin: &RequestOrigin,
) -> Outcome {
    match rest.host.check_out(&decision.state, times, origin).await? {
        CheckoutOutcome::Open(url) => Ok(decision.responder.see_other_url(&url)),
        CheckoutOutcome::Closed(outcome) => decision.decided(media, outcome, false, false),
        CheckoutOutcome::Refused(error) => Ok(decision.payment_wanted(media, Some(&error))),
    }
}
