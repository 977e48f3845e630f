//! What it costs: budgets and how far they will last, what models cost by agent, model and caller, and what came in.

mod forecast;

use std::collections::BTreeMap;
use std::time::Duration;

use forecourt_completions::budget::{AgentBudgets, UsedBudget, used};
use forecourt_core::{Handle, Timestamp};
use forecourt_store::trends::{Metric, Resolution, Slice, read};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::usage::{self, Usages};
use crate::api_error::ApiError;
use crate::desk::Ask;
use forecast::{Forecast, Pace};

/// How far back sums go.
const SUMMED: Duration = Duration::from_secs(30 * 24 * 3_600);
/// Callers that are told, those who cost most.
const CALLERS_MAX: usize = 20;
/// Answers of models whose callers are looked at, the last ones.
const ANSWERS_LOOKED_AT_MAX: usize = 1_000;
/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// What is told of agents.
const OF_MONEY: [Metric; 5] =
    [Metric::Cost, Metric::TokensRead, Metric::TokensWritten, Metric::Paid, Metric::GivenBack];

/// What it costs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Costs {
    /// The budgets that agents' files set, with how far they will last.
    pub budgets: Vec<BudgetUse>,
    /// What each agent's models cost and what it was paid, in the last 30 days.
    pub agents: Vec<AgentMoney>,
    /// What each model cost in the last 30 days.
    pub models: Vec<ModelMoney>,
    /// The callers that cost most, in the last answers of models.
    pub callers: Vec<CallerMoney>,
    /// How many answers that is of; at most some 1000.
    pub callers_of_answers: u64,
}

/// A budget.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BudgetUse {
    /// Whose.
    pub agent: String,
    /// Its key in the agent's file.
    pub budget: String,
    /// `tokens`, or `money` in the unit of the prices of models.
    pub unit: String,
    /// What may be used in the period.
    pub most: f64,
    /// What was used; none for a bound of each caller.
    pub used: Option<f64>,
    /// What is left.
    pub left: Option<f64>,
    /// When its period ends, and it is whole again.
    #[schemars(with = "String")]
    pub ends_at: Timestamp,
    /// What will have been used by then, at the pace of the last seven days, of a daily budget of the last day.
    pub at_the_end: Option<f64>,
    /// When it is used up at this pace; none where it lasts.
    #[schemars(with = "Option<String>")]
    pub used_up_at: Option<Timestamp>,
}

/// Money of an agent, in and out.
#[derive(Debug, Default, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentMoney {
    /// Which agent.
    pub agent: String,
    /// What its models cost, in the unit of their prices.
    pub cost: f64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// What callers paid, by currency.
    pub paid: BTreeMap<String, f64>,
    /// Credit that was given back, by currency.
    pub given_back: BTreeMap<String, f64>,
}

/// What a model cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelMoney {
    /// Which model.
    pub model: String,
    /// What it cost.
    pub cost: f64,
    /// Tokens, read and written.
    pub tokens: u64,
}

/// What a caller cost.
#[derive(Debug, Default, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallerMoney {
    /// Who: the proven subject, else the network, else empty.
    pub who: String,
    /// Answers for which models were asked.
    pub answers: u64,
    /// What they cost.
    pub cost: f64,
    /// Tokens, read and written.
    pub tokens: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<Costs, ApiError> {
    let now = ask.now();
    let since = now.checked_sub(SUMMED).unwrap_or(Timestamp::MIN);
    let slices = read(&*ask.desk.reads, Resolution::Hour, since, now).await?;
    let (callers, callers_of_answers) = callers(&ask).await?;
    Ok(Costs {
        budgets: budgets(&ask, &slices, now).await?,
        agents: agents(&slices),
        models: models(&slices),
        callers,
        callers_of_answers,
    })
}

async fn budgets(ask: &Ask, slices: &[Slice], now: Timestamp) -> Result<Vec<BudgetUse>, ApiError> {
    let mut all = Vec::new();
    let budgets = ask.house.services.get::<AgentBudgets>();
    for (agent, settings) in budgets.iter().flat_map(|budgets| &budgets.0) {
        let bounds = used(settings, agent, &*ask.desk.reads, now).await?;
        all.extend(bounds.into_iter().map(|bound| budget(agent, bound, slices, now)));
    }
    Ok(all)
}

fn budget(agent: &Handle, bound: UsedBudget, slices: &[Slice], now: Timestamp) -> BudgetUse {
    let UsedBudget { key, is_money, used, most, ends_at } = bound;
    let metrics: &[Metric] = if is_money { &[Metric::Cost] } else { &[Metric::TokensRead, Metric::TokensWritten] };
    let by_day = key.ends_with("_per_day");
    let forecast = used.map(|used| {
        let pace = Pace::of(slices, agent.as_str(), metrics, by_day, now);
        Forecast::new((float(used), float(most)), pace, now, ends_at)
    });
    let unit = |amount: f64| if is_money { round(amount / MICROS) } else { amount.round() };
    BudgetUse {
        agent: agent.to_string(),
        budget: key.to_owned(),
        unit: if is_money { "money" } else { "tokens" }.to_owned(),
        most: unit(float(most)),
        used: used.map(|used| unit(float(used))),
        left: used.map(|used| unit(float(most.saturating_sub(used)))),
        ends_at,
        at_the_end: forecast.as_ref().map(|forecast| unit(forecast.at_the_end)),
        used_up_at: forecast.and_then(|forecast| forecast.used_up_at),
    }
}

fn agents(slices: &[Slice]) -> Vec<AgentMoney> {
    let mut all: BTreeMap<String, AgentMoney> = BTreeMap::new();
    for slice in slices {
        for (series, count) in slice.all().iter() {
            let [agent, currency] = &series.labels;
            if !OF_MONEY.contains(&series.metric) {
                continue;
            }
            let own = all.entry(agent.clone()).or_default();
            own.agent.clone_from(agent);
            let money = float(count) / MICROS;
            match series.metric {
                Metric::Cost => own.cost += money,
                Metric::Paid => *own.paid.entry(currency.clone()).or_default() += money,
                Metric::GivenBack => *own.given_back.entry(currency.clone()).or_default() += money,
                _ => own.tokens += count,
            }
        }
    }
    let mut all: Vec<AgentMoney> = all.into_values().collect();
    for one in &mut all {
        one.cost = round(one.cost);
        one.paid.values_mut().chain(one.given_back.values_mut()).for_each(|amount| *amount = round(*amount));
    }
    all.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(b.tokens.cmp(&a.tokens)));
    all
}

fn models(slices: &[Slice]) -> Vec<ModelMoney> {
    let mut all: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for slice in slices {
        for (series, count) in slice.all().iter() {
            let model = &series.labels[1];
            match series.metric {
                Metric::Cost => all.entry(model.clone()).or_default().0 += float(count) / MICROS,
                Metric::TokensRead | Metric::TokensWritten => all.entry(model.clone()).or_default().1 += count,
                _ => {}
            }
        }
    }
    let one = |(model, (cost, tokens))| ModelMoney { model, cost: round(cost), tokens };
    let mut all: Vec<ModelMoney> = all.into_iter().map(one).collect();
    all.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(b.tokens.cmp(&a.tokens)));
    all
}

/// The callers of the last answers that models were asked for, and of how many.
async fn callers(ask: &Ask) -> Result<(Vec<CallerMoney>, u64), ApiError> {
    let (mut all, mut answers, mut before): (BTreeMap<String, CallerMoney>, usize, _) = (BTreeMap::new(), 0, None);
    let since = ask.now().checked_sub(SUMMED).unwrap_or(Timestamp::MIN);
    // Each page looks at a bounded part of the audit, so that this ends, too.
    for _ in 0..ANSWERS_LOOKED_AT_MAX / crate::limits::PAGE_MAX {
        let Usages { answers: page, next } = usage::list(of_answers(ask, before)).await?;
        // A page may have none: only a part of the audit is looked at for it.
        let is_over = page.last().is_some_and(|last| last.at < since);
        for answer in page.into_iter().filter(|answer| answer.at >= since) {
            answers += 1;
            let own = all.entry(answer.who.clone()).or_default();
            own.who = answer.who;
            own.answers += 1;
            own.cost += answer.cost.unwrap_or_default();
            own.tokens += answer.models.iter().map(|used| used.input_tokens + used.output_tokens).sum::<u64>();
        }
        before = next;
        if before.is_none() || is_over {
            break;
        }
    }
    let mut all: Vec<CallerMoney> = all.into_values().map(|one| CallerMoney { cost: round(one.cost), ..one }).collect();
    all.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(b.tokens.cmp(&a.tokens)).then(a.who.cmp(&b.who)));
    all.truncate(CALLERS_MAX);
    Ok((all, answers as u64))
}

/// The call for a page of answers.
fn of_answers(ask: &Ask, before: Option<u64>) -> Ask {
    let limit = ("limit".to_owned(), crate::limits::PAGE_MAX.to_string());
    let before = before.map(|before| ("before".to_owned(), before.to_string()));
    Ask {
        desk: ask.desk.clone(),
        house: ask.house.clone(),
        actor: ask.actor.clone(),
        path: BTreeMap::new(),
        query: std::iter::once(limit).chain(before).collect(),
        body: Value::Null,
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^52 millionths are enough")]
fn float(count: u64) -> f64 {
    count as f64
}

/// To millionths.
fn round(amount: f64) -> f64 {
    (amount * MICROS).round() / MICROS
}
