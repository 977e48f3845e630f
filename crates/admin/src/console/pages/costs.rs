//! What it costs.

use std::collections::BTreeMap;

use forecourt_core::Timestamp;
use jiff::tz::TimeZone;

use crate::api_error::ApiError;
use crate::console::view::{Cell, Page, Section, Tone, number};
use crate::desk::Ask;
use crate::nouns::costs::{self, AgentMoney, BudgetUse, CallerMoney, Costs, ModelMoney};

/// Parts of a budget, in percent, above which it is something to look at.
const TIGHT_PERCENT: u64 = 80;

pub(super) async fn costs_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let Costs { budgets, agents, models, callers, callers_of_answers } = costs::list(ask).await?;
    let budgets = Section::table(
        "Budgets",
        vec!["Agent", "Budget", "Spent", "", "Left", "Whole again", "Forecast"],
        budgets.iter().map(|one| budget_row(one, now)).collect(),
        "No agent has one. `[budget]` in an agent's file bounds what its models may use.",
    )
    .lead(
        "What is set aside for answers under way counts. The pale part of a bar is what will be used by the end at the \
           pace of the last seven days, of a daily budget at that of the last day.",
    );
    let in_and_out = Section::table(
        "In and out, by agent",
        vec!["Agent", "Models cost", "Tokens", "Callers paid", "Credit given back"],
        agents.iter().map(agent_row).collect(),
        "No model was asked and nothing was paid.",
    );
    let models = Section::table(
        "By model",
        vec!["Model", "Cost", "Tokens"],
        models.iter().map(model_row).collect(),
        "No model was asked.",
    );
    let callers = Section::table(
        "Callers that cost most",
        vec!["Caller", "Answers", "Cost", "Tokens"],
        callers.iter().map(caller_row).collect(),
        "No model was asked for anybody.",
    )
    .lead(format!("In the last {callers_of_answers} answers of models."));
    Ok(Page {
        lead: Some("Of every node, in the last 30 days. Costs are in the unit of the prices of models.".to_owned()),
        sections: vec![budgets, in_and_out, models, callers],
        ..Page::new("/console/costs", "Costs")
    })
}

fn budget_row(budget: &BudgetUse, now: Timestamp) -> Vec<Cell> {
    let unit = if budget.unit == "tokens" { "count" } else { "money" };
    let told = |amount: f64| number(amount, unit);
    let spent = budget.used.map_or_else(
        || Cell::text(format!("{} for each caller", told(budget.most))),
        |used| Cell::text(format!("{} of {}", told(used), told(budget.most))),
    );
    let bar = budget.used.map_or(Cell::Nothing, |used| {
        let (spent, coming) = (percent(used, budget.most), percent(budget.at_the_end.unwrap_or(used), budget.most));
        let tone = match (budget.used_up_at.is_some(), spent >= TIGHT_PERCENT) {
            (true, _) => Tone::Bad,
            (false, true) => Tone::Warn,
            (false, false) => Tone::Good,
        };
        Cell::Bar { spent, coming: coming.max(spent), tone }
    });
    vec![
        Cell::agent(&budget.agent),
        Cell::Code(budget.budget.clone()),
        spent,
        bar,
        budget.left.map_or(Cell::Nothing, |left| Cell::text(told(left))),
        Cell::time(budget.ends_at, now),
        forecast(budget, now),
    ]
}

fn forecast(budget: &BudgetUse, now: Timestamp) -> Cell {
    let (Some(used), Some(at_the_end)) = (budget.used, budget.at_the_end) else { return Cell::Nothing };
    match budget.used_up_at {
        Some(_) if used >= budget.most => Cell::Badge { tone: Tone::Bad, text: "used up".to_owned() },
        Some(at) => Cell::text(format!("at this pace used up {}", day(at, now))),
        None => Cell::text(format!("at this pace {} % at the end", percent(at_the_end, budget.most))),
    }
}

/// `on 4 December`, and on the same day `at 14:20 UTC`.
fn day(at: Timestamp, now: Timestamp) -> String {
    let (at, now) = (at.to_zoned(TimeZone::UTC), now.to_zoned(TimeZone::UTC));
    let format = if at.date() == now.date() { "at %H:%M UTC" } else { "on %-d %B" };
    at.strftime(format).to_string()
}

/// A part in whole percent, 999 at most.
fn percent(part: f64, whole: f64) -> u64 {
    if whole <= 0.0 {
        return if part > 0.0 { 999 } else { 0 };
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 999")]
    let percent = (part / whole * 100.0).clamp(0.0, 999.0) as u64;
    percent
}

fn amounts(of: &BTreeMap<String, f64>) -> Cell {
    let told: Vec<String> =
        of.iter().map(|(currency, amount)| format!("{} {currency}", number(*amount, "money"))).collect();
    Cell::text(told.join(", "))
}

fn money(cost: f64) -> Cell {
    Cell::text(number(cost, "money"))
}

fn agent_row(one: &AgentMoney) -> Vec<Cell> {
    vec![
        Cell::agent(&one.agent),
        money(one.cost),
        Cell::Number(one.tokens),
        amounts(&one.paid),
        amounts(&one.given_back),
    ]
}

fn model_row(one: &ModelMoney) -> Vec<Cell> {
    vec![Cell::text(&one.model), money(one.cost), Cell::Number(one.tokens)]
}

fn caller_row(one: &CallerMoney) -> Vec<Cell> {
    let who = if one.who.is_empty() { "nobody is known" } else { one.who.as_str() };
    vec![Cell::text(who), Cell::Number(one.answers), money(one.cost), Cell::Number(one.tokens)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_says_the_day_and_today_the_time() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-11-30T12:00:00Z");
        assert_eq!(day(at("2026-12-04T03:00:00Z"), now), "on 4 December");
        assert_eq!(day(at("2026-11-30T14:20:00Z"), now), "at 14:20 UTC");
        assert_eq!([percent(1.0, 3.0), percent(7.0, 0.0), percent(0.0, 0.0), percent(1e9, 1.0)], [33, 999, 0, 999]);
    }
}
