//! The rule `require_payment` wants a payment first. PolicyPart 3.3.3, F-7. Whether it was paid is for the host to
//! know.

use std::sync::Arc;

use forecourt_core::policy::{
    AcceptedPayment, Charge, CreditTerms, Demand, OfferContext, PaidFor, PaymentTerms, Requirement, sanitize_map,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::credit::{AutoDeduct, CreditSettings};
use crate::limits::OFFERS_MAX;
use crate::span::Span;
use crate::{BuiltRule, FixedPayment, RuleContext, RuleProblem, RuleWords, requirement_unless_wrong};

/// The shorthand of the ways to pay that are for crawlers.
const CRAWLER: &str = "crawler";

/// What it costs, and for how long that is enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentRule {
    /// What it costs, as a person reads it, such as `0.05 USDC`.
    pub price: String,
    /// What one payment pays for: `turn` for one message, `{ period = "30d" }` for every message of so long, or
    /// `credit` for messages until what was paid is used up.
    #[serde(default)]
    pub per: PerSettings,
    /// When the money for a message is taken: `after` its answer is complete (the default, for which it is only reserved
    /// until then), or `before` the agent is asked. A period and credit are bought, so they are always paid before.
    pub charge: Option<ChargeSettings>,
    /// How it may be paid, the preferred way first: `{ scheme, payload }` as it stands on the wire, or one key
    /// with a table that a payment scheme turns into such. At most 16. `crawler = { owed_max = "25.00" }`: a verified
    /// crawler that is known by its host may owe it, up to so many dollars, until it is billed.
    #[schemars(with = "Vec<OfferSettings>")]
    pub offers: Vec<Map<String, Value>>,
    /// With `per = "credit"`, and needed there: how credit is counted.
    pub credit: Option<CreditSettings>,
    /// With `per = "credit"`: what a person agrees to before the first deduction.
    pub auto_deduct: Option<AutoDeduct>,
}

/// What one payment pays for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PerSettings {
    /// One message.
    #[default]
    Turn,
    /// Messages until it is used up.
    Credit,
    /// Every message for so long.
    Period(
        /// Seconds, or a number with a unit such as `30d`.
        Span,
    ),
}

/// When the money for a message is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChargeSettings {
    /// Once the answer is complete: of one that fails nothing is taken.
    After,
    /// Before the agent is asked.
    Before,
}

/// A way to pay, for the generated reference.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OfferSettings {
    /// Which payment protocol the payload belongs to, such as `x402.exact`.
    scheme: Option<String>,
    /// The offer, in that protocol's words.
    payload: Option<Map<String, Value>>,
}

impl PaymentRule {
    /// What it costs.
    pub(crate) fn summary(&self) -> String {
        self.price.clone()
    }

    /// The same for crawlers, with its price in the words that they read, where it is in dollars.
    pub(crate) fn for_crawlers(&self) -> Self {
        let price = self.price.trim();
        let is_dollars = price.starts_with('$') || price.starts_with("USD ") || price.ends_with(" USD");
        let mut rule = self.clone();
        if is_dollars && !self.offered_families().iter().any(|family| family == CRAWLER) {
            rule.offers.push(Map::from_iter([(CRAWLER.to_owned(), Value::Object(Map::new()))]));
        }
        rule
    }

    /// The families that its ways to pay belong to: what stands before the first dot of a scheme, or the key of a
    /// shorthand.
    pub(crate) fn offered_families(&self) -> Vec<String> {
        let family = |offer: &Map<String, Value>| match offer.get("scheme") {
            Some(scheme) => scheme.as_str()?.split('.').next().map(str::to_owned),
            None => offer.keys().next().cloned(),
        };
        self.offers.iter().filter_map(family).collect()
    }

    /// Caps that are lower than what one message costs.
    pub(crate) fn caps_that_never_suffice(&self) -> Option<RuleProblem> {
        let (credit, caps) = self.credit.as_ref().zip(self.auto_deduct.as_ref())?;
        let low = caps.first_below(credit)?;
        let text = format!("nothing can ever be deducted: `{low}` is below the {} of one message", credit.per_turn);
        Some(RuleProblem::of("auto_deduct", text))
    }

    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let name = words.name.clone().unwrap_or_else(|| "require_payment".to_owned());
        let covers = match self.per {
            PerSettings::Turn => PaidFor::Turn,
            PerSettings::Credit => PaidFor::Credit,
            PerSettings::Period(span) => PaidFor::Period { seconds: span.seconds() },
        };
        if self.price.trim().is_empty() {
            return Err(RuleProblem::of("price", "must say what it costs"));
        }
        let consent = match &self.auto_deduct {
            None => None,
            Some(_) if covers != PaidFor::Credit => {
                return Err(RuleProblem::of("auto_deduct", "needs `per = \"credit\"`"));
            }
            Some(caps) => Some(caps.requirement(name.clone())?),
        };
        let credit = match &self.credit {
            Some(credit) if covers == PaidFor::Credit => {
                Some(Box::new(credit.terms(self.auto_deduct.as_ref().zip(consent.as_ref()))?))
            }
            Some(_) => return Err(RuleProblem::of("credit", "needs `per = \"credit\"`")),
            None if covers == PaidFor::Credit => {
                return Err(RuleProblem::of("credit", "is needed with `per = \"credit\"`"));
            }
            None => None,
        };
        let accepted = self.accepted(context, credit.as_deref())?;
        let price = self.price.clone();
        let payment = Requirement {
            rule: name,
            title: words.title.clone(),
            message: words.message(&format!("An answer of this agent costs {}.", self.price)),
            message_translations: words.translations(),
            demand: Demand::Payment(PaymentTerms { accepted, price, covers, credit, charge: self.charge(covers)? }),
        };
        requirement_unless_wrong(&payment, words)?;
        Ok(Arc::new(FixedPayment(payment)))
    }

    /// When it is charged.
    fn charge(&self, covers: PaidFor) -> Result<Charge, RuleProblem> {
        match (self.charge, covers) {
            (None | Some(ChargeSettings::After), PaidFor::Turn) => Ok(Charge::After),
            (None | Some(ChargeSettings::Before), _) => Ok(Charge::Before),
            (Some(ChargeSettings::After), _) => {
                Err(RuleProblem::of("charge", "must be \"before\" with this `per`: a period and credit are bought"))
            }
        }
    }

    fn accepted(
        &self,
        context: &RuleContext<'_>,
        credit: Option<&CreditTerms>,
    ) -> Result<Vec<AcceptedPayment>, RuleProblem> {
        let mut accepted = Vec::new();
        let of = OfferContext { agent: context.agent, base: &context.site.base, price: &self.price, credit };
        for offer in &self.offers {
            accepted.extend(read_offer(offer, &of, context).map_err(|text| RuleProblem::of("offers", text))?);
        }
        match accepted.len() {
            0 => Err(RuleProblem::of("offers", "must hold one way to pay at least")),
            1..=OFFERS_MAX => Ok(accepted),
            _ => Err(RuleProblem::of("offers", format!("must hold {OFFERS_MAX} ways to pay at most"))),
        }
    }
}

/// The ways to pay that one offer stands for: itself, or what the scheme of its only key makes of it.
fn read_offer(
    offer: &Map<String, Value>,
    of: &OfferContext<'_>,
    context: &RuleContext<'_>,
) -> Result<Vec<AcceptedPayment>, String> {
    if offer.contains_key("scheme") {
        let mut whole: AcceptedPayment = serde_json::from_value(Value::Object(offer.clone()))
            .map_err(|error| format!("a way to pay has `scheme` and `payload`: {error}"))?;
        if let Some(key) = offer.keys().find(|key| !["scheme", "payload"].contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` beside `scheme` and `payload`"));
        }
        // Keys such as `__proto__` are taken out before clients parse them. PolicyPart 3.6.
        sanitize_map(&mut whole.payload);
        return Ok(vec![whole]);
    }
    let known = || context.offers.iter().map(|builder| format!("`{}`", builder.key())).collect::<Vec<_>>().join(", ");
    let Some((key, Value::Object(settings))) = offer.iter().next().filter(|_| offer.len() == 1) else {
        return Err(format!("a way to pay is `scheme` with `payload`, or one table of: {}", known()));
    };
    let builder = context.offers.iter().find(|builder| builder.key() == key);
    let builder = builder.ok_or_else(|| format!("there is no payment scheme `{key}` (known: {})", known()))?;
    builder.offers(settings, of).map_err(|reason| format!("{key}: {reason}"))
}
