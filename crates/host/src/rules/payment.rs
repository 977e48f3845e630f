//! Somebody must pay first. PolicyPart 3.3.3, F-7.

use forecourt_core::policy::{
    AcceptedPayment, ChargeAt, CreditTerms, DeductionCaps, DeductionPeriod, Demand, Objection, OfferContext, PaidFor,
    PaymentTerms, Requirement, sanitize_map,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits::OFFERS_MAX;
use super::span::Span;
use super::{BuiltRule, RuleContext, RuleProblem, RuleWords, requirement_unless_wrong, rule};

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
    /// When the money is taken: `before` the agent is asked, or `after` it has answered.
    #[serde(default)]
    #[schemars(with = "ChargeSettings")]
    pub charge: ChargeAt,
    /// How it may be paid, the preferred way first: `{ scheme, payload }` as it stands on the wire, or one key
    /// with a table that a payment scheme turns into such. At most 16.
    #[schemars(with = "Vec<OfferSettings>")]
    pub offers: Vec<Map<String, Value>>,
    /// With `per = "credit"`, which needs it: how credit is counted.
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
    Period(Span),
}

/// When the money is taken, for the generated reference.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ChargeSettings {
    /// Before the agent is asked.
    Before,
    /// Once it has answered.
    After,
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

/// How credit is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditSettings {
    /// What is counted, such as `USDC`: credit of one unit pays nothing in another.
    pub unit: String,
    /// What one message costs, in the smallest unit, as a decimal such as `50000`.
    pub per_turn: String,
}

/// How much may be deducted from credit without asking. Amounts are in the smallest unit. PolicyPart F-7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoDeduct {
    /// Most for one message.
    pub per_turn_max: String,
    /// Most within one period.
    pub period_max: String,
    /// The period, by the calendar in UTC: `daily` or `monthly`.
    #[schemars(with = "PeriodSettings")]
    pub period: DeductionPeriod,
    /// What a person reads before agreeing.
    pub message: Option<String>,
    /// How long the consent holds. For good when absent.
    pub lifetime: Option<Span>,
}

/// After what deductions are counted anew, for the generated reference.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum PeriodSettings {
    /// A day.
    Daily,
    /// A month.
    Monthly,
}

impl PaymentRule {
    pub(super) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let covers = match self.per {
            PerSettings::Turn => PaidFor::Turn,
            PerSettings::Credit => PaidFor::Credit,
            PerSettings::Period(span) => PaidFor::Period { seconds: span.seconds() },
        };
        if self.price.trim().is_empty() {
            return Err(RuleProblem::of("price", "must say what it costs"));
        }
        let (accepted, credit) = (self.accepted(context)?, self.credit(covers)?);
        let terms = PaymentTerms { accepted, price: self.price.clone(), covers, charge: self.charge, credit };
        let payment = Requirement {
            rule: words.name.clone().unwrap_or_else(|| "require_payment".to_owned()),
            title: words.title.clone(),
            message: words.message(&format!("An answer of this agent costs {}.", self.price)),
            message_translations: words.translations(),
            demand: Demand::Payment(terms),
        };
        requirement_unless_wrong(&payment, words)?;
        Ok(rule(move |_, _| Err(Objection::from(payment.clone()))))
    }

    fn accepted(&self, context: &RuleContext<'_>) -> Result<Vec<AcceptedPayment>, RuleProblem> {
        let mut accepted = Vec::new();
        for offer in &self.offers {
            accepted.extend(read_offer(offer, &self.price, context).map_err(|text| RuleProblem::of("offers", text))?);
        }
        match accepted.len() {
            0 => Err(RuleProblem::of("offers", "must hold one way to pay at least")),
            1..=OFFERS_MAX => Ok(accepted),
            _ => Err(RuleProblem::of("offers", format!("must hold {OFFERS_MAX} ways to pay at most"))),
        }
    }

    /// How credit is counted: with `per = "credit"`, and with nothing else.
    fn credit(&self, covers: PaidFor) -> Result<Option<Box<CreditTerms>>, RuleProblem> {
        if covers != PaidFor::Credit {
            return match (&self.credit, &self.auto_deduct) {
                (None, None) => Ok(None),
                (Some(_), _) => Err(RuleProblem::of("credit", "needs `per = \"credit\"`")),
                (None, Some(_)) => Err(RuleProblem::of("auto_deduct", "needs `per = \"credit\"`")),
            };
        }
        let Some(CreditSettings { unit, per_turn }) = &self.credit else {
            return Err(RuleProblem::of("per", "`per = \"credit\"` needs `credit` beside it"));
        };
        if unit.trim().is_empty() || !is_amount(per_turn) {
            return Err(RuleProblem::of("credit", NOT_AN_AMOUNT));
        }
        let caps = self.auto_deduct.as_ref().map(|caps| caps.caps(unit)).transpose()?;
        Ok(Some(Box::new(CreditTerms { unit: unit.clone(), per_turn: per_turn.clone(), caps })))
    }
}

/// The ways to pay that one offer stands for: itself, or what the scheme of its only key makes of it.
fn read_offer(
    offer: &Map<String, Value>,
    price: &str,
    context: &RuleContext<'_>,
) -> Result<Vec<AcceptedPayment>, String> {
    if offer.contains_key("scheme") {
        let mut whole: AcceptedPayment = serde_json::from_value(Value::Object(offer.clone()))
            .map_err(|error| format!("a way to pay has `scheme` and `payload`: {error}"))?;
        if let Some(key) = offer.keys().find(|key| !["scheme", "payload"].contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` beside `scheme` and `payload`"));
        }
        sanitize_map(&mut whole.payload);
        return Ok(vec![whole]);
    }
    let known = || context.offers.iter().map(|builder| format!("`{}`", builder.key())).collect::<Vec<_>>().join(", ");
    let Some((key, Value::Object(settings))) = offer.iter().next().filter(|_| offer.len() == 1) else {
        return Err(format!("a way to pay is `scheme` with `payload`, or one table of: {}", known()));
    };
    let builder = context.offers.iter().find(|builder| builder.key() == key);
    let builder = builder.ok_or_else(|| format!("there is no payment scheme `{key}` (known: {})", known()))?;
    let of = OfferContext { agent: context.agent, origin: &context.site.origin, price };
    builder.offers(settings, &of).map_err(|reason| format!("{key}: {reason}"))
}

const NOT_AN_AMOUNT: &str = "needs a unit, and amounts that are whole numbers of its smallest part, such as \"50000\"";

impl AutoDeduct {
    fn caps(&self, unit: &str) -> Result<DeductionCaps, RuleProblem> {
        let Self { per_turn_max, period_max, period, message, lifetime } = self;
        if !is_amount(per_turn_max) || !is_amount(period_max) {
            return Err(RuleProblem::of("auto_deduct", NOT_AN_AMOUNT));
        }
        let each = match period {
            DeductionPeriod::Daily => "a day",
            DeductionPeriod::Monthly => "a month",
        };
        let own = format!(
            "May this agent take what its answers cost from your credit, at most {per_turn_max} of {unit} for one and \
             {period_max} {each}?"
        );
        Ok(DeductionCaps {
            per_turn_max: per_turn_max.clone(),
            period_max: period_max.clone(),
            period: *period,
            message: message.clone().unwrap_or(own),
            lifetime_seconds: lifetime.map(Span::seconds),
        })
    }
}

/// Digits alone, and more than nothing. 38 of them are less than any counter holds.
fn is_amount(text: &str) -> bool {
    (1..=38).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && text.bytes().any(|b| b != b'0')
}
