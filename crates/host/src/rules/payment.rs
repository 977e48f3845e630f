//! Somebody must pay first. PolicyPart 3.3.3, F-7.

use forecourt_core::policy::{
    AcceptedPayment, ChargeAt, ConsentTerms, Demand, Objection, OfferContext, PaidFor, PaymentTerms, Requirement,
    sanitize_map,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

/// How much may be deducted from credit without asking. PolicyPart F-7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoDeduct {
    /// Most for one message, in US dollars, as a decimal such as `0.05`.
    pub per_turn_max_usd: String,
    /// Most within one period, in US dollars.
    pub period_max_usd: String,
    /// The period: `daily`, `weekly` or `monthly`.
    pub period: DeductionPeriod,
}

/// The period of a cap on deductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeductionPeriod {
    /// A day.
    Daily,
    /// A week.
    Weekly,
    /// A month.
    Monthly,
}

impl PaymentRule {
    /// The rule, and before it the one that asks for consent to deductions.
    pub(super) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<Vec<BuiltRule>, RuleProblem> {
        let name = words.name.clone().unwrap_or_else(|| "require_payment".to_owned());
        let covers = match self.per {
            PerSettings::Turn => PaidFor::Turn,
            PerSettings::Credit => PaidFor::Credit,
            PerSettings::Period(span) => PaidFor::Period { seconds: span.seconds() },
        };
        if self.price.trim().is_empty() {
            return Err(RuleProblem::of("price", "must say what it costs"));
        }
        let accepted = self.accepted(context)?;
        let payment = Requirement {
            rule: name.clone(),
            title: words.title.clone(),
            message: words.message(&format!("An answer of this agent costs {}.", self.price)),
            message_translations: words.translations(),
            demand: Demand::Payment(PaymentTerms {
                accepted,
                price: self.price.clone(),
                covers,
                charge: self.charge,
                credit: None,
            }),
        };
        requirement_unless_wrong(&payment, words, context)?;
        let mut rules = Vec::new();
        if let Some(caps) = &self.auto_deduct {
            if covers != PaidFor::Credit {
                return Err(RuleProblem::of("auto_deduct", "needs `per = \"credit\"`"));
            }
            let consent = caps.requirement(name)?;
            rules.push(rule(move |_, _| Err(Objection::from(consent.clone()))));
        }
        rules.push(rule(move |_, _| Err(Objection::from(payment.clone()))));
        Ok(rules)
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

impl AutoDeduct {
    fn requirement(&self, rule: String) -> Result<Requirement, RuleProblem> {
        let amounts = [&self.per_turn_max_usd, &self.period_max_usd];
        if let Some(wrong) = amounts.into_iter().find(|amount| !is_amount(amount)) {
            let text = format!("`{wrong}` is not an amount: write a decimal such as \"0.05\"");
            return Err(RuleProblem::of("auto_deduct", text));
        }
        let Value::Object(scope) = json!({
            "auto_deduct": true,
            "per_turn_max_usd": self.per_turn_max_usd,
            "period_max_usd": self.period_max_usd,
            "period": self.period,
        }) else {
            return Err(RuleProblem::of("auto_deduct", "must be a table"));
        };
        let Self { per_turn_max_usd, period_max_usd, period } = self;
        let period = match period {
            DeductionPeriod::Daily => "a day",
            DeductionPeriod::Weekly => "a week",
            DeductionPeriod::Monthly => "a month",
        };
        Ok(Requirement {
            rule,
            title: Some("Pay from credit".to_owned()),
            message: format!(
                "May this agent take what its answers cost from your credit, at most {per_turn_max_usd} USD for one and \
                 {period_max_usd} USD {period}?"
            ),
            message_translations: Default::default(),
            demand: Demand::Consent(ConsentTerms { scope, lifetime_seconds: None }),
        })
    }
}

/// Digits, with at most one dot between them, and more than nothing.
fn is_amount(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| (1..=18).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && text.bytes().any(|b| (b'1'..=b'9').contains(&b))
}
