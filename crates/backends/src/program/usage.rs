//! What a program says that models used for its answers: recorded, counted and bounded as what this host asks models
//! itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forecourt_agents::backend::Context;
use forecourt_agents::usage::{ModelCall, UsageRecorder};
use forecourt_completions::budget::{Budget, Spending};
use forecourt_core::{Admitted, Ending, Handle, Message, ModelUsage, UsageMeter};
use serde::Deserialize;
use tokio::time::Instant;

use super::spending::{AnswerSpending, BudgetWatch};
use crate::answer::plain;
use crate::limits::PROGRAM_MODELS_MAX;

/// What stands for the models that found no place of their own.
const OTHER: &str = "other";
/// Characters of the name of a model or provider.
const NAME_CHARS_MAX: usize = 128;

/// What one agent's program may use of models, and who hears of it.
pub(crate) struct ProgramUsage {
    agent: Handle,
    recorder: Arc<dyn UsageRecorder>,
    budget: Option<Arc<Budget>>,
    counts_costs: bool,
    /// The models that were named so far: each becomes a label of the metrics.
    models: Mutex<BTreeSet<(String, String)>>,
    /// Whether the operator was told that a cost is missing.
    has_warned: AtomicBool,
}

/// The usage of one answer so far.
pub(crate) struct AnswerUsage {
    program: Arc<ProgramUsage>,
    meter: UsageMeter,
    spending: Option<Arc<AnswerSpending>>,
    /// When the answer began, or the last usage was told.
    since: Instant,
}

/// A `usage` line.
#[derive(Debug, Deserialize)]
pub(super) struct UsageLine {
    model: String,
    provider: Option<String>,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    /// In the unit of money of `[budget]`.
    cost: Option<f64>,
}

impl ProgramUsage {
    pub(super) fn new(context: &Context) -> Self {
        let host = context.siblings.host().clone();
        let budget = Budget::new(&context.budget, context.handle.clone(), host, context.clock.clone());
        Self {
            agent: context.handle.clone(),
            recorder: context.usage.clone(),
            budget: budget.map(Arc::new),
            counts_costs: context.budget.counts_costs(),
            models: Mutex::default(),
            has_warned: AtomicBool::new(false),
        }
    }

    /// The names of a model and its provider as metrics may have them.
    fn named(&self, provider: &str, model: &str) -> (String, String) {
        let named = (plain(provider, NAME_CHARS_MAX), plain(model, NAME_CHARS_MAX));
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.contains(&named) || models.len() < PROGRAM_MODELS_MAX {
            models.insert(named.clone());
            return named;
        }
        (OTHER.to_owned(), OTHER.to_owned())
    }

    /// Records that a budget kept a model from being asked, or from being asked further.
    fn record_refused(&self) {
        self.record((OTHER, OTHER), "budget", None, Duration::ZERO);
    }

    fn record(
        &self,
        (provider, model): (&str, &str),
        outcome: &'static str,
        line: Option<&UsageLine>,
        elapsed: Duration,
    ) {
        let micros = line.and_then(UsageLine::micros).unwrap_or_default();
        self.recorder.record(&ModelCall {
            agent: self.agent.as_str(),
            provider,
            service: provider,
            server: None,
            model,
            outcome,
            input_tokens: line.map_or(0, |line| line.input_tokens),
            output_tokens: line.map_or(0, |line| line.output_tokens),
            cached_tokens: line.map_or(0, |line| line.cached_input_tokens),
            is_estimated: false,
            cost_micros: micros,
            elapsed,
        });
    }
}

impl AnswerUsage {
    pub(super) fn new(program: Arc<ProgramUsage>, message: &Message) -> Self {
        Self { program, meter: message.usage.clone(), spending: None, since: Instant::now() }
    }

    /// Asks whether the agent may use anything of models for a message.
    ///
    /// # Errors
    /// A budget is used up, or nobody knows whether it is.
    pub(super) async fn admit(&mut self, admitted: Arc<Admitted>) -> Result<(), Ending> {
        let Some(budget) = self.program.budget.clone() else { return Ok(()) };
        let program = self.program.clone();
        let on_used_up = Box::new(move || program.record_refused());
        match AnswerSpending::begin(budget, admitted, on_used_up).await {
            Ok(spending) => {
                self.spending = Some(spending);
                Ok(())
            }
            Err(error) => {
                self.program.record_refused();
                Err(error.into_ending())
            }
        }
    }

    /// Tells when more was used than there is. Of an answer that was admitted.
    pub(super) fn watch(&self) -> BudgetWatch {
        BudgetWatch(self.spending.clone())
    }

    /// Has what was added be written into the totals of budgets.
    pub(super) fn count(&self) {
        if let Some(spending) = &self.spending {
            spending.write();
        }
    }

    /// Adds what a line tells.
    pub(super) fn add(&mut self, line: UsageLine) {
        let (provider, model) = self.program.named(line.provider.as_deref().unwrap_or(OTHER), &line.model);
        let elapsed = std::mem::replace(&mut self.since, Instant::now()).elapsed();
        self.program.record((&provider, &model), "answered", Some(&line), elapsed);
        if line.cost.is_none() && self.program.counts_costs && !self.program.has_warned.swap(true, Ordering::Relaxed) {
            let agent = &self.program.agent;
            tracing::warn!(%agent, "`[budget]` bounds what this agent costs, and its program tells `usage` without `cost`");
        }
        let micros = line.micros();
        if let Some(spending) = &self.spending {
            let tokens = line.input_tokens.saturating_add(line.output_tokens);
            spending.add(Spending { tokens, micros: micros.unwrap_or_default() });
        }
        self.meter.add(ModelUsage {
            model: line.model,
            requests: 1,
            input_tokens: line.input_tokens,
            cached_tokens: line.cached_input_tokens,
            output_tokens: line.output_tokens,
            cost_micros: micros,
            is_estimated: false,
        });
    }
}

/// What was told counts, however the answer ended.
impl Drop for AnswerUsage {
    fn drop(&mut self) {
        if let Some(spending) = &self.spending {
            spending.finish();
        }
    }
}

impl UsageLine {
    /// The cost in millionths.
    fn micros(&self) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
        self.cost.map(|cost| (cost.max(0.0) * 1_000_000.0).round() as u64)
    }
}
