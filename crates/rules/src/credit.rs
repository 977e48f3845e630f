//! Credit: how it is counted, and how much of it may be taken without asking. PolicyPart F-7.

use forecourt_core::policy::{self, ConsentTerms, CreditTerms, DeductionCaps, Demand, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::RuleProblem;

/// Decimals that an asset has at most.
const DECIMALS_MAX: u8 = 18;

/// How credit is counted. What is paid over the price of one message is kept, and later messages are paid from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditSettings {
    /// What one message costs, as a decimal such as `0.05`.
    pub per_turn: String,
    /// What is counted, such as `USDC`: the asset of all offers. Credit of one unit pays nothing in another.
    pub unit: String,
    /// Decimals of that asset: 6 for USDC. At most 18.
    pub decimals: u8,
}

impl CreditSettings {
    /// The terms, with the caps and the consent to them where there are some.
    pub(crate) fn terms(&self, caps: Option<(&AutoDeduct, &Requirement)>) -> Result<CreditTerms, RuleProblem> {
        let units = |text: &str, key| {
            let problem = || RuleProblem::of(key, format!("`{text}` is no amount of an asset with so many decimals"));
            units(text, self.decimals).ok_or_else(problem)
        };
        let caps = match caps {
            None => None,
            Some((caps, consent)) => Some(DeductionCaps {
                consent: Box::new(consent.clone()),
                per_turn_max: units(&caps.per_turn_max_usd, "auto_deduct")?,
                period_max: units(&caps.period_max_usd, "auto_deduct")?,
                period: caps.period.into(),
            }),
        };
        let per_turn = units(&self.per_turn, "credit")?;
        Ok(CreditTerms { unit: self.unit.clone(), per_turn, decimals: Some(self.decimals), caps })
    }
}

/// A decimal in whole units of an asset, as a decimal string: nothing is rounded.
fn units(text: &str, decimals: u8) -> Option<String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if decimals > DECIMALS_MAX || !is_amount(text) {
        return None;
    }
    let part = part.trim_end_matches('0');
    // More decimals than the asset has would have to be rounded: that is refused.
    let missing = usize::from(decimals).checked_sub(part.len())?;
    let digits = format!("{whole}{part}{}", "0".repeat(missing));
    let amount: u128 = digits.parse().ok()?;
    Some(amount.to_string())
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

impl AutoDeduct {
    /// The first cap that is below what one message costs.
    pub(crate) fn first_below(&self, credit: &CreditSettings) -> Option<&str> {
        let amount = |text: &str| units(text, credit.decimals)?.parse::<u128>().ok();
        let cost = amount(&credit.per_turn)?;
        let caps = [&self.per_turn_max_usd, &self.period_max_usd];
        caps.into_iter().find(|cap| amount(cap).is_some_and(|cap| cap < cost)).map(String::as_str)
    }

    pub(crate) fn requirement(&self, rule: String) -> Result<Requirement, RuleProblem> {
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
    // At most 18 digits on each side of the dot, so that all of them fit 128 bits.
    let digits = |part: &str| (1..=18).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && text.bytes().any(|b| (b'1'..=b'9').contains(&b))
}

impl From<DeductionPeriod> for policy::DeductionPeriod {
    fn from(period: DeductionPeriod) -> Self {
        match period {
            DeductionPeriod::Daily => Self::Daily,
            DeductionPeriod::Weekly => Self::Weekly,
            DeductionPeriod::Monthly => Self::Monthly,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::units;

    #[test]
    fn amounts_are_whole_units_and_nothing_is_rounded() {
        for (text, decimals, whole) in [
            ("0.05", 6, Some("50000")),
            ("10.00", 6, Some("10000000")),
            ("1", 0, Some("1")),
            ("0.000001", 6, Some("1")),
            ("0.0000001", 6, None),
            ("-1", 6, None),
            ("1e3", 6, None),
            ("1", 19, None),
        ] {
            assert_eq!(units(text, decimals).as_deref(), whole, "{text}");
        }
    }
}
