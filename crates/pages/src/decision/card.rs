//! What a page says to whoever pays by card: that is done elsewhere, and nothing of a card is ever written here.

use forecourt_sentences::Sentences;

use crate::clean;

/// How a page is paid by card: what, and where its payer is sent.
pub struct CardPanel<'a> {
    /// The origin of the checkout.
    pub origin: &'a str,
    /// What may be paid: how many times the price, and what that comes to. One at least.
    pub amounts: &'a [(u32, String)],
    /// Whether a checkout is open already.
    pub is_begun: bool,
}

/// A [`CardPanel`] in a template.
pub(crate) struct CardView {
    /// What may be chosen; empty where there is one amount alone.
    pub(crate) amounts: Vec<CardAmount>,
    /// How many times the price is paid, where there is no choice.
    pub(crate) times: u32,
    /// The words of the button.
    pub(crate) button: String,
    pub(crate) is_begun: bool,
}

pub(crate) struct CardAmount {
    pub(crate) times: u32,
    pub(crate) words: String,
}

impl CardPanel<'_> {
    /// `policy` with a form that may lead to the checkout: browsers hold what a form is answered with against it, too.
    pub(crate) fn policy(&self, policy: &str) -> String {
        policy.replace("form-action 'self'", &format!("form-action 'self' {}", self.origin))
    }
}

impl CardView {
    pub(crate) fn new(panel: &CardPanel<'_>, say: Sentences) -> Self {
        let amount = |(times, price): &(u32, String)| CardAmount {
            times: *times,
            words: super::wallet::amount(*times, &clean::line(price), say),
        };
        let (times, button) = match panel.amounts {
            [(times, price)] => (*times, say.pay_by_card(&clean::line(price))),
            _ => (1, say.pay_with_card()),
        };
        let amounts = if panel.amounts.len() > 1 { panel.amounts.iter().map(amount).collect() } else { Vec::new() };
        let button = if panel.is_begun { say.pay_card_on() } else { button };
        Self { amounts, times, button, is_begun: panel.is_begun }
    }
}
