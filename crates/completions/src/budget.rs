//! How much of models an agent may use: tokens and money, by day and month, in all and for each caller.
//!
//! What is used is kept in the store, as totals at the end of a stream for each scope and period, so that it outlives
//! a restart and is one for all nodes. Before a model is asked, what it may come to is added, if it fits; afterwards,
//! the difference to what it came to. Two who add at once are told apart by the store, which takes one.
//!
//! So the totals are never behind by more than what providers count above the estimates of the answers under way, and
//! what a process had under way that died stays counted to the end of the period at most.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::declined::unavailable;
use forecourt_contract::HostHandle;
use forecourt_core::policy::RefusalKind;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Ending, Handle, Message, PolicyPart, Store, StoreError, Timestamp};
use futures::future::BoxFuture;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;
use tokio::sync::Mutex;

/// How often adding to a total is tried while others add to it too.
const TRIES_MAX: usize = 50;
/// How long what was set aside for an answer counts if nobody ever says what it came to: longer than any answer.
const RESERVED: Duration = Duration::from_secs(2 * 60 * 60);
/// How long totals are kept behind the end of their period, for clocks that differ.
const KEPT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The scope of the totals of all callers together.
const ALL_CALLERS: &str = "all";
/// Locks by which those of this process wait for each other before they meet in the store.
const STRIPES: usize = 32;

/// The bounds that the settings name, each scope and period.
fn limits_of(settings: &BudgetSettings) -> [Limits; 4] {
    let limits = |by_caller, by_month, tokens: (_, _), cost: (_, _)| Limits {
        by_caller,
        by_month,
        tokens: tokens.1,
        tokens_key: tokens.0,
        micros: Option::map(cost.1, micros_of),
        micros_key: cost.0,
    };
    [
        limits(
            false,
            false,
            ("budget.tokens_per_day", settings.tokens_per_day),
            ("budget.cost_per_day", settings.cost_per_day),
        ),
        limits(
            false,
            true,
            ("budget.tokens_per_month", settings.tokens_per_month),
            ("budget.cost_per_month", settings.cost_per_month),
        ),
        limits(
            true,
            false,
            ("budget.caller_tokens_per_day", settings.caller_tokens_per_day),
            ("budget.caller_cost_per_day", settings.caller_cost_per_day),
        ),
        limits(
            true,
            true,
            ("budget.caller_tokens_per_month", settings.caller_tokens_per_month),
            ("budget.caller_cost_per_month", settings.caller_cost_per_month),
        ),
    ]
}

/// Money in millionths.
fn micros_of(units: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
    let micros = (units.max(0.0) * 1_000_000.0).round() as u64;
    micros
}

/// The bounds of one scope and period.
#[derive(Debug, Clone, Copy)]
struct Limits {
    by_caller: bool,
    by_month: bool,
    tokens: Option<u64>,
    tokens_key: &'static str,
    micros: Option<u64>,
    micros_key: &'static str,
}

/// A bound and how full it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedBudget {
    /// Its key in the settings.
    pub key: &'static str,
    /// Whether it bounds money, in millionths of a unit, and not tokens.
    pub is_money: bool,
    /// What was used so far; `None` for a bound of each caller, of whom none is told.
    pub used: Option<u64>,
    /// What may be used.
    pub most: u64,
    /// When its period ends.
    pub ends_at: Timestamp,
}

/// The budgets of all agents that have one, as their files say: set up among the services of a house, for the operator.
pub struct AgentBudgets(pub Vec<(Handle, BudgetSettings)>);

/// What was used so far of each bound of an agent, by the totals of all nodes, what is set aside included.
///
/// The store being away is an error.
pub fn used<'a>(
    settings: &'a BudgetSettings,
    agent: &'a Handle,
    store: &'a dyn Store,
    now: Timestamp,
) -> BoxFuture<'a, Result<Vec<UsedBudget>, StoreError>> {
    Box::pin(async move {
        let mut all = Vec::new();
        for limits in limits_of(settings).into_iter().filter(Limits::bounds) {
            let (period, ends_at) = period(now, limits.by_month);
            let total = match limits.by_caller {
                true => None,
                false => Some(last(store, &stream(agent, ALL_CALLERS, &period), now).await?.1),
            };
            let line = |key, is_money, used, most| UsedBudget { key, is_money, used, most, ends_at };
            let tokens = total.map(|total| total.tokens);
            all.extend(limits.tokens.map(|most| line(limits.tokens_key, false, tokens, most)));
            let micros = total.map(|total| total.micros);
            all.extend(limits.micros.map(|most| line(limits.micros_key, true, micros, most)));
        }
        Ok(all)
    })
}

/// Tokens, and money in millionths of a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens, read and written.
    pub tokens: u64,
    /// What they cost.
    pub micros: u64,
}

/// Where totals are kept: set up by whoever opens the store, for agents that were built before.
pub struct BudgetStore(pub Arc<dyn Store>);

/// The bounds on tokens and costs of one agent, counted in the store for all nodes together.
pub struct Budget {
    limits: Vec<Limits>,
    agent: Handle,
    host: HostHandle,
    clock: Arc<dyn Clock>,
    stripes: [Mutex<()>; STRIPES],
}

/// The tokens and costs set aside for one request to a model, in each total that it counts in.
#[derive(Debug, Default)]
pub struct Reservation {
    lines: Vec<Line>,
    spent: Spending,
}

/// One total that a request counts in: a stream of the store, by agent, scope and period.
#[derive(Debug, Clone)]
struct Line {
    stream: String,
    limits: Limits,
    ends_at: Timestamp,
}

/// Told of every message that a budget refuses, for what the operator sees: set up by whoever has a host, for agents
/// that were built before.
pub struct BudgetRefusals(pub Box<dyn Fn(&BudgetRefusal<'_>) + Send + Sync>);

/// A message that a budget refused.
#[derive(Debug)]
pub struct BudgetRefusal<'a> {
    /// Whose budget it is.
    pub agent: &'a Handle,
    /// The message.
    pub message: &'a Message,
    /// The bound, by its key.
    pub key: &'static str,
    /// Whether it is the caller's own bound, and not that of all callers together.
    pub is_callers: bool,
    /// What the caller is told.
    pub part: &'a PolicyPart,
}

/// Why nothing was set aside.
#[derive(Debug)]
pub enum BudgetError {
    /// A bound would be exceeded: the one of this key.
    Exceeded {
        /// The key of the settings.
        key: &'static str,
        /// What the caller is told.
        refusal: Box<PolicyPart>,
    },
    /// The store is away, so that the totals are not known.
    Unavailable,
}

impl BudgetError {
    /// The ending that says so.
    pub fn into_ending(self) -> Ending {
        match self {
            Self::Exceeded { refusal, .. } => Ending::Refused(refusal),
            Self::Unavailable => unavailable("This agent can't say at the moment what it may spend.", Some(5)),
        }
    }
}

impl Budget {
    /// The budget of `agent`. `None` where nothing is bounded.
    pub fn new(settings: &BudgetSettings, agent: Handle, host: HostHandle, clock: Arc<dyn Clock>) -> Option<Self> {
        let limits: Vec<_> = limits_of(settings).into_iter().filter(Limits::bounds).collect();
        (!limits.is_empty()).then(|| Self { limits, agent, host, clock, stripes: Default::default() })
    }

    /// Sets aside what an answer to `message` may come to.
    ///
    /// # Errors
    /// There is not so much left, or the store is away.
    pub fn reserve<'a>(
        &'a self,
        message: &'a Message,
        spent: Spending,
    ) -> BoxFuture<'a, Result<Reservation, BudgetError>> {
        Box::pin(async move {
            let mut reservation = Reservation { lines: Vec::new(), spent };
            for line in self.lines(message) {
                match self.add(&line, spent, Spending::default(), true).await {
                    Ok(_) => reservation.lines.push(line),
                    Err(error) => {
                        // One total has no room: what was added to the totals before it is taken off again.
                        self.settle(reservation, Spending::default()).await;
                        self.tell(message, &line, &error);
                        return Err(error);
                    }
                }
            }
            Ok(reservation)
        })
    }

    fn tell(&self, message: &Message, line: &Line, error: &BudgetError) {
        let BudgetError::Exceeded { key, refusal } = error else { return };
        if let Some(refusals) = self.host.service::<BudgetRefusals>() {
            let (agent, is_callers) = (&self.agent, line.limits.by_caller);
            refusals.0(&BudgetRefusal { agent, message, key, is_callers, part: refusal });
        }
    }

    /// Says what it came to.
    pub fn settle(&self, reservation: Reservation, spent: Spending) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for line in &reservation.lines {
                if self.add(line, spent, reservation.spent, false).await.is_err() {
                    tracing::warn!(agent = %self.agent, "what a model used stays counted as it was estimated");
                }
            }
        })
    }

    /// Counts what an answer has used so far. What was set aside for it stays set aside, for what is still to come.
    ///
    /// # Errors
    /// More than there is was used, with what is set aside, and is counted all the same; or the store is away.
    pub fn count<'a>(
        &'a self,
        message: &'a Message,
        reservation: &'a Reservation,
        spent: Spending,
    ) -> BoxFuture<'a, Result<(), BudgetError>> {
        Box::pin(async move {
            let mut exceeded = None;
            for line in &reservation.lines {
                let sum = self.add(line, spent, Spending::default(), false).await?;
                if let (None, Some(key)) = (&exceeded, line.limits.exceeded(sum)) {
                    let refusal = Box::new(line.refusal(key, self.clock.now()));
                    exceeded = Some((line, BudgetError::Exceeded { key, refusal }));
                }
            }
            let Some((line, error)) = exceeded else { return Ok(()) };
            self.tell(message, line, &error);
            Err(error)
        })
    }

    fn lines(&self, message: &Message) -> Vec<Line> {
        let caller = message.sender.caller(None).stream_name().to_string();
        // A hash: who the caller is must not be readable from the name of a stream.
        let caller = URL_SAFE_NO_PAD.encode(&digest(&SHA256, caller.as_bytes()).as_ref()[..16]);
        let scope = |limits: &Limits| if limits.by_caller { caller.as_str() } else { ALL_CALLERS };
        self.limits.iter().map(|limits| self.line(*limits, scope(limits))).collect()
    }

    fn line(&self, limits: Limits, scope: &str) -> Line {
        let (period, ends_at) = period(self.clock.now(), limits.by_month);
        Line { stream: stream(&self.agent, scope, &period), limits, ends_at }
    }

    /// Adds `spent` to a total in place of `before`; the total. What is only set aside lapses, where it is the last word.
    async fn add(
        &self,
        line: &Line,
        spent: Spending,
        before: Spending,
        is_reserved: bool,
    ) -> Result<Spending, BudgetError> {
        let Some(store) = self.host.service::<BudgetStore>() else { return Err(BudgetError::Unavailable) };
        let stripe = digest(&SHA256, line.stream.as_bytes()).as_ref()[0] as usize % STRIPES;
        // Held over the awaits on purpose: requests of one process would else use up each other's tries in the store.
        let _one_after_another = self.stripes[stripe].lock().await;
        for _ in 0..TRIES_MAX {
            let now = self.clock.now();
            let (number, total) = last(&*store.0, &line.stream, now).await.map_err(away)?;
            let sum = Spending {
                // The reservation may have lapsed since, and its total with it: then there is less to take off.
                tokens: total.tokens.saturating_sub(before.tokens).saturating_add(spent.tokens),
                micros: total.micros.saturating_sub(before.micros).saturating_add(spent.micros),
            };
            if is_reserved && let Some(key) = line.limits.exceeded(sum) {
                return Err(BudgetError::Exceeded { key, refusal: Box::new(line.refusal(key, now)) });
            }
            let kept = line.ends_at.checked_add(KEPT_AFTER).unwrap_or(Timestamp::MAX);
            let until = match is_reserved {
                true => now.checked_add(RESERVED).unwrap_or(kept).min(kept),
                false => kept,
            };
            let entry = LedgerEntry::new(json!({"tokens": sum.tokens, "micros": sum.micros}), now).until(until);
            // The store refuses when the last entry is not `number` any more: another node has added, so the sum is
            // made again.
            if store.0.append_entry(&line.stream, entry, Some(number)).await.map_err(away)?.is_some() {
                return Ok(sum);
            }
        }
        tracing::warn!(agent = %self.agent, "too many nodes add to one budget at once");
        Err(BudgetError::Unavailable)
    }
}

fn away(error: StoreError) -> BudgetError {
    tracing::warn!(%error, "a budget can't be read or written");
    BudgetError::Unavailable
}

/// The stream of a total: of all callers, or of one by its hash.
fn stream(agent: &Handle, scope: &str, period: &str) -> String {
    format!("budget:{agent}:{scope}:{period}")
}

/// The last total of a stream, and its number.
async fn last(store: &dyn Store, stream: &str, now: Timestamp) -> Result<(u64, Spending), StoreError> {
    let page = store.entries(stream, Span::Before(u64::MAX), 1, now).await?;
    Ok(page.first().map_or((0, Spending::default()), |(number, entry)| {
        let count = |key: &str| entry.body[key].as_u64().unwrap_or_default();
        (*number, Spending { tokens: count("tokens"), micros: count("micros") })
    }))
}

/// The name of the period that `now` is in, and when it ends. UTC.
fn period(now: Timestamp, by_month: bool) -> (String, Timestamp) {
    let today = now.to_zoned(TimeZone::UTC).date();
    let (name, next) = match by_month {
        true => (today.strftime("%Y-%m").to_string(), today.last_of_month().tomorrow()),
        false => (today.to_string(), today.tomorrow()),
    };
    let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|midnight| midnight.timestamp());
    (name, next.and_then(midnight).unwrap_or(Timestamp::MAX))
}

impl Limits {
    /// Whether anything is bounded.
    fn bounds(&self) -> bool {
        self.tokens.is_some() || self.micros.is_some()
    }

    /// The key that `sum` is more than.
    fn exceeded(&self, sum: Spending) -> Option<&'static str> {
        let tokens = self.tokens.filter(|most| sum.tokens > *most).map(|_| self.tokens_key);
        tokens.or_else(|| self.micros.filter(|most| sum.micros > *most).map(|_| self.micros_key))
    }
}

impl Line {
    fn refusal(&self, key: &'static str, now: Timestamp) -> PolicyPart {
        let seconds = u64::try_from(self.ends_at.as_second() - now.as_second()).unwrap_or(0).max(1);
        let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(seconds) };
        let whose = if self.limits.by_caller { "What one caller may use of" } else { "What may be used of" };
        let span = if self.limits.by_month { "month" } else { "day" };
        let message = format!(
            "{whose} this agent's language model in a {span} is used up (`{key}`). It renews at {}.",
            self.ends_at.strftime("%Y-%m-%d %H:%M UTC")
        );
        let mut part = PolicyPart::new(kind, message);
        part.code = Some("mentionable:budget_exhausted".to_owned());
        part.data.insert("forecourt.budget".to_owned(), json!({"key": key, "renews_at": self.ends_at.to_string()}));
        part
    }
}

/// Something set aside, which is settled whatever happens: dropped, with what it is known to have come to by then.
pub struct Hold {
    held: Option<(Arc<Budget>, Reservation)>,
    /// What it has come to so far.
    pub spent: Spending,
}

impl Hold {
    /// Nothing is counted.
    pub fn none() -> Self {
        Self { held: None, spent: Spending::default() }
    }

    /// Holds what was set aside in `budget`.
    pub fn new(budget: Arc<Budget>, reservation: Reservation) -> Self {
        Self { held: Some((budget, reservation)), spent: Spending::default() }
    }

    /// Says what it came to.
    pub fn settle(mut self, spent: Spending) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some((budget, reservation)) = self.held.take() {
                budget.settle(reservation, spent).await;
            }
        })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Some((budget, reservation)) = self.held.take() else { return };
        // Outside a runtime nothing can be written: what was set aside then counts until it lapses.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let spent = self.spent;
        runtime.spawn(async move { budget.settle(reservation, spent).await });
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("agent", &self.agent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
