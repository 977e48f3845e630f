//! What an offer asks of a payer, as a person reads it, and whether it is within a bound.

use forecourt_core::policy::AcceptedPayment;
use serde_json::{Map, Value};

use crate::limits::WORD_CHARS_MAX;
use crate::networks::{chain_by_caip2, chain_by_name, known_by_chain};
use crate::settings::{Network, PaymentsSettings};
use crate::units::Units;
use crate::x402::{PaymentRequired, Requirements, envelopes};

/// One way to pay out of a stranger's offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The requirement as JSON, word for word: version 2 sends it back as `accepted`.
    pub raw: Value,
    /// The requirement, decoded.
    pub wanted: Requirements,
    /// The `resource` of a version 2 envelope, which the payment repeats.
    pub resource: Option<Value>,
    /// Symbol and decimals of the token. Only of tokens that are known here: what a stranger calls its token says
    /// nothing.
    token: Option<(String, u8)>,
}

impl Quote {
    /// The ways of x402 `exact` among `accepted`, in their order.
    pub fn all(accepted: &[AcceptedPayment]) -> Vec<Self> {
        // The built-in networks alone: the payer decides by this text, and a payee's settings could give its own token
        // the symbol USDC.
        let known = PaymentsSettings::default().networks().unwrap_or_default();
        let quotes = |payload: &Map<String, Value>| {
            let resource = payload.get("resource").cloned();
            let ways = PaymentRequired::read(payload).map(|envelope| envelope.accepts).unwrap_or_default();
            let exact = ways.into_iter().filter(|(_, wanted)| wanted.scheme() == "exact");
            let quote = |(raw, wanted)| Self { token: token(&known, &wanted), raw, wanted, resource: resource.clone() };
            exact.map(quote).collect::<Vec<_>>()
        };
        envelopes(accepted).flat_map(quotes).collect()
    }

    /// What is paid, such as `0.05 USDC`; of a token that is not known, its units and its address.
    pub fn price(&self) -> String {
        match &self.token {
            Some((symbol, decimals)) => format!("{} {symbol}", self.wanted.amount().to_price(*decimals)),
            None => format!("{} units of the token {}", self.wanted.amount(), self.wanted.asset()),
        }
    }

    /// The same with its network, such as `0.05 USDC on Base`.
    pub fn in_words(&self) -> String {
        let network = self.wanted.network();
        let title = chain_by_caip2(network).or_else(|| chain_by_name(network)).and_then(known_by_chain);
        let title = title.map_or_else(
            || network.chars().filter(|c| !c.is_control()).take(WORD_CHARS_MAX).collect(),
            |known| known.title.to_owned(),
        );
        format!("{} on {title}", self.price())
    }

    /// Whether it is at most `bound`: `0.10 USDC` or `$0.10` for a token that is known, `50000 units` for any.
    /// `None` when the bound says nothing of this token, or can't be read.
    pub fn is_within(&self, bound: &str) -> Option<bool> {
        let bound = bound.trim();
        // Units bound any token, known or not; a price bounds only a token whose decimals are known.
        if let Some(units) = bound.strip_suffix("units") {
            return units.trim().parse::<Units>().ok().map(|most| self.wanted.amount() <= most);
        }
        let (symbol, decimals) = self.token.as_ref()?;
        let amount = match bound.strip_prefix('$') {
            // Every token that is known here is a dollar.
            Some(amount) => amount,
            None => bound.strip_suffix(symbol.as_str())?,
        };
        Units::from_price(amount.trim(), *decimals).ok().map(|most| self.wanted.amount() <= most)
    }
}

fn token(known: &[Network], wanted: &Requirements) -> Option<(String, u8)> {
    let named = |network: &&Network| network.name == wanted.network() || network.caip2() == wanted.network();
    let network = known.iter().find(named)?;
    let (symbol, asset) = network.assets.iter().find(|(_, asset)| asset.address == wanted.asset())?;
    Some((symbol.clone(), asset.decimals))
}
