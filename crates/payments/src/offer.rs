//! A price as a person writes it, into offers as payers read them.

use forecourt_core::policy::{AcceptedPayment, OfferBuilder, OfferContext};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::hex::Address;
use crate::settings::{AssetSettings, Network, PaymentsSettings};
use crate::settings_error::SettingsError;
use crate::units::Units;
use crate::x402::{FAMILY, RequirementsV1, RequirementsV2, SCHEME};

/// Makes offers of x402 out of what rules say: `offers = [{ x402 = { network = "base-sepolia" } }]`.
#[derive(Debug)]
pub struct X402Offers {
    settings: PaymentsSettings,
    /// Every offer that was built, for the check against `/supported` at the start. Bounded by the number of rules.
    made: Mutex<Vec<AcceptedPayment>>,
}

/// The table under `x402` in an offer of a rule.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OfferSettings {
    /// The network by its name in `[payments.networks]` or in CAIP-2.
    network: Option<String>,
    /// Who is paid, when it is not who `[payments]` says.
    pay_to: Option<Address>,
    /// What is paid for, for people.
    description: Option<String>,
}

impl X402Offers {
    /// Offers under these settings.
    pub fn new(settings: PaymentsSettings) -> Self {
        Self { settings, made: Mutex::default() }
    }

    /// Every offer that was built so far, in the order of the rules that asked for them.
    pub fn made(&self) -> Vec<AcceptedPayment> {
        self.made.lock().clone()
    }
}

impl OfferBuilder for X402Offers {
    fn key(&self) -> &'static str {
        FAMILY
    }

    fn offers(
        &self,
        settings: &Map<String, Value>,
        context: &OfferContext<'_>,
    ) -> Result<Vec<AcceptedPayment>, String> {
        let rule = OfferSettings::deserialize(settings).map_err(|error| error.to_string())?;
        let price = Price { price: context.price, network: rule.network.as_deref(), pay_to: rule.pay_to };
        let resource = format!("{}/~{}", context.base, context.agent);
        let description = rule.description.unwrap_or_else(|| format!("An answer of @{}", context.agent));
        let made = offers(&self.settings, price, &resource, &description)
            .map_err(|error| format!("{}; {}", error.message, error.hint))?;
        if let Some(credit) = context.credit {
            let network = network(&self.settings, rule.network.as_deref()).map_err(|error| error.message)?;
            let (_, asset) = price_of(context.price, &network).map_err(|error| error.message)?;
            // A token of six decimals that is counted in cents would be worth ten thousand times what was paid.
            if credit.decimals != Some(asset.decimals) {
                return Err(format!(
                    "credit is counted in other units than this token, which has {} decimals: set `decimals = {0}` in \
                     `credit`, and offer what is counted otherwise in a rule of its own",
                    asset.decimals
                ));
            }
        }
        self.made.lock().extend(made.iter().cloned());
        Ok(made)
    }
}

/// The price that a rule of the operator asks for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price<'a> {
    /// The price and its token, such as `0.05 USDC` or `$0.05`.
    pub price: &'a str,
    /// The network by its name in `[payments.networks]` or in CAIP-2; may be left out when exactly one is set.
    pub network: Option<&'a str>,
    /// Who is paid, when it is not who `[payments]` says.
    pub pay_to: Option<Address>,
}

/// The offers for a price: one of version 1 and one of version 2, the same money. `resource` is what is paid
/// for, the REST address of the agent, and `description` says it to people. PolicyPart 3.3.3, facts sheet 9.2.
///
/// # Errors
/// A price that is none or finer than its token, a token or a network that is not known, nobody to pay, or no
/// facilitator; each says what to do.
pub fn offers(
    settings: &PaymentsSettings,
    price: Price<'_>,
    resource: &str,
    description: &str,
) -> Result<Vec<AcceptedPayment>, SettingsError> {
    // A setup error, not a refusal: an offer that nobody can settle would make people sign payments in vain.
    if settings.facilitator.is_none() {
        let hint = "set `facilitator` in [payments]: it is trusted with every payment, so there is no default";
        return Err(SettingsError::new("payments need a facilitator", hint));
    }
    let network = network(settings, price.network)?;
    let (units, asset) = price_of(price.price, &network)?;
    let pay_to = price.pay_to.or(network.pay_to).or(settings.pay_to).ok_or_else(|| {
        SettingsError::new("nobody is named to be paid", "set `pay_to` in [payments], of the network or of the rule")
    })?;
    let extra = [("name", &asset.name), ("version", &asset.version)];
    let extra: Map<_, _> = extra.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let one = RequirementsV1 {
        scheme: "exact".to_owned(),
        network: network.name.clone(),
        max_amount_required: units,
        resource: resource.to_owned(),
        description: description.to_owned(),
        mime_type: String::new(),
        pay_to,
        max_timeout_seconds: settings.timeout_seconds,
        asset: asset.address,
        extra: Some(extra.clone()),
        more: Map::new(),
    };
    let two = RequirementsV2 {
        scheme: "exact".to_owned(),
        network: network.caip2(),
        amount: units,
        asset: asset.address,
        pay_to,
        max_timeout_seconds: settings.timeout_seconds,
        extra: Some(extra),
        more: Map::new(),
    };
    // Version 1 requires a reason; its readers show it. Facts sheet 9, C17.
    let first = json!({"x402Version": 1, "error": "Payment required", "accepts": [one]});
    let about = json!({"url": resource, "description": description});
    let second = json!({"x402Version": 2, "error": "Payment required", "resource": about, "accepts": [two]});
    Ok([first, second].into_iter().filter_map(accepted).collect())
}

/// What a price is in units of its token, and that token.
pub(crate) fn asset_of(settings: &PaymentsSettings, price: Price<'_>) -> Result<(Units, AssetSettings), SettingsError> {
    let network = network(settings, price.network)?;
    price_of(price.price, &network).map(|(units, asset)| (units, asset.clone()))
}

fn accepted(envelope: Value) -> Option<AcceptedPayment> {
    let Value::Object(payload) = envelope else { return None };
    Some(AcceptedPayment { scheme: SCHEME.to_owned(), payload })
}

fn network(settings: &PaymentsSettings, name: Option<&str>) -> Result<Network, SettingsError> {
    let all = settings.networks()?;
    let list = || all.iter().map(|network| network.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = match name {
        Some(name) => all.iter().find(|network| network.name == name || network.caip2() == name),
        // Networks that are set, not those that are known: `base` and `base-sepolia` are always known, and money would
        // go to the wrong one by default.
        None => match settings.networks.keys().collect::<Vec<_>>()[..] {
            [only] => all.iter().find(|network| network.name == *only),
            _ => return Err(SettingsError::new("the rule names no `network`", format!("name one of: {}", list()))),
        },
    };
    found.cloned().ok_or_else(|| {
        let message = format!("unknown network `{}` (known: {})", name.unwrap_or_default(), list());
        SettingsError::new(message, "add it to [payments.networks]")
    })
}

/// Amount and token of a price.
fn price_of<'a>(price: &str, network: &'a Network) -> Result<(Units, &'a AssetSettings), SettingsError> {
    let example = "write it as `0.05 USDC` or `$0.05`";
    let price = price.trim();
    let (amount, symbol) = match price.strip_prefix('$') {
        Some(amount) => (amount.trim(), None),
        None => match price.split_once(char::is_whitespace) {
            Some((amount, symbol)) => (amount, Some(symbol.trim())),
            None => return Err(SettingsError::new(format!("the price `{price}` names no token"), example)),
        },
    };
    let found = match symbol {
        Some(symbol) => network.assets.get(symbol),
        // `$` means the one token that the operator calls a dollar; no rate is ever asked for.
        None => network.assets.values().find(|asset| asset.dollar),
    };
    let asset = found.ok_or_else(|| {
        let known: Vec<&str> = network.assets.keys().map(String::as_str).collect();
        let what = symbol.map_or("no token with `dollar = true`".to_owned(), |symbol| format!("no token `{symbol}`"));
        let message = format!("the network `{}` has {what} (known: {})", network.name, known.join(", "));
        SettingsError::new(message, format!("add it to [payments.networks.{}.assets]", network.name))
    })?;
    let units = Units::from_price(amount, asset.decimals)
        .map_err(|error| SettingsError::new(format!("the price `{price}`: {error}"), example))?;
    if units.0 == 0 {
        return Err(SettingsError::new(
            format!("the price `{price}` is nothing"),
            "leave out the rule for what is free",
        ));
    }
    Ok((units, asset))
}
