//! `[budget]` of an agent, as its file has it: what it may use of models. Who asks models keeps to it.

use schemars::JsonSchema;
use serde::Deserialize;

/// `[budget]` of an agent: what it may use of models. Days and months are those of UTC.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    /// Tokens that it may use in a day, read and written.
    pub tokens_per_day: Option<u64>,
    /// Tokens in a month.
    pub tokens_per_month: Option<u64>,
    /// What a day may cost, in the unit of money of `price`.
    pub cost_per_day: Option<f64>,
    /// What a month may cost.
    pub cost_per_month: Option<f64>,
    /// Tokens in a day for one caller: a verified subject, else a network address; an IPv6 /64 is one.
    pub caller_tokens_per_day: Option<u64>,
    /// Tokens in a month for one caller.
    pub caller_tokens_per_month: Option<u64>,
    /// What a day may cost for one caller.
    pub caller_cost_per_day: Option<f64>,
    /// What a month may cost for one caller.
    pub caller_cost_per_month: Option<f64>,
}

impl BudgetSettings {
    /// Whether costs are bounded, so that every model needs a price.
    pub fn counts_costs(&self) -> bool {
        let costs = [self.cost_per_day, self.cost_per_month, self.caller_cost_per_day, self.caller_cost_per_month];
        costs.iter().any(Option::is_some)
    }

    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
