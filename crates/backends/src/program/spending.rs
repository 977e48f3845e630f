//! What one answer of a program uses, on its way into the totals of its agent's budget.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forecourt_completions::budget::{Budget, BudgetError, Reservation, Spending};
use forecourt_core::{Admitted, Ending};
use tokio::runtime::Handle as Runtime;
use tokio::sync::Notify;

/// What is set aside for an answer of which nobody knows what it comes to: enough to be refused where nothing is left.
const LEAST: Spending = Spending { tokens: 1, micros: 1 };

/// Hears that an answer has used up what there is.
pub(super) type OnUsedUp = Box<dyn Fn() + Send + Sync>;

/// The spending of one answer. It is written one step after the other, with all that was told meanwhile.
pub(super) struct AnswerSpending {
    /// Told once it has used up what there is.
    on_used_up: OnUsedUp,
    budget: Arc<Budget>,
    admitted: Arc<Admitted>,
    state: Mutex<SpendingState>,
    news: Notify,
}

struct SpendingState {
    /// What is set aside; nothing while it is written, and once the answer is settled.
    held: Option<Reservation>,
    /// What was told and is not written yet.
    told: Spending,
    /// Whether no more will be told.
    is_over: bool,
    refusal: Option<Ending>,
}

/// Tells when an answer has used up what its agent may use.
#[derive(Clone)]
pub(crate) struct BudgetWatch(pub(super) Option<Arc<AnswerSpending>>);

impl BudgetWatch {
    /// Waits until more was used than there is; how the answer ends then. For ever where that never is.
    pub(crate) async fn used_up(&self) -> Ending {
        let Some(spending) = &self.0 else { return std::future::pending().await };
        loop {
            let refusal = spending.state().refusal.clone();
            match refusal {
                Some(refusal) => return refusal,
                None => spending.news.notified().await,
            }
        }
    }
}

impl AnswerSpending {
    /// Sets aside what an answer needs at least.
    pub(super) async fn begin(
        budget: Arc<Budget>,
        admitted: Arc<Admitted>,
        on_used_up: OnUsedUp,
    ) -> Result<Arc<Self>, BudgetError> {
        let held = Some(budget.reserve(admitted.message(), LEAST).await?);
        let state = SpendingState { held, told: Spending::default(), is_over: false, refusal: None };
        Ok(Arc::new(Self { on_used_up, budget, admitted, state: Mutex::new(state), news: Notify::new() }))
    }

    /// Adds what was used, to be written with [`AnswerSpending::write`].
    pub(super) fn add(&self, spent: Spending) {
        let told = &mut self.state().told;
        told.tokens = told.tokens.saturating_add(spent.tokens);
        told.micros = told.micros.saturating_add(spent.micros);
    }

    /// Has what was told be written, on a task of its own: whoever reads the program waits for no store.
    pub(super) fn write(self: &Arc<Self>) {
        // Outside a runtime nothing can be written: what was set aside then counts until it lapses.
        let Ok(runtime) = Runtime::try_current() else { return };
        if let Some(step) = self.step() {
            drop(runtime.spawn(self.clone().run(step)));
        }
    }

    /// The answer is over: what was set aside is let go of.
    pub(super) fn finish(self: &Arc<Self>) {
        self.state().is_over = true;
        self.write();
    }

    /// What there is to be written, unless somebody is at it.
    fn step(&self) -> Option<WriteStep> {
        let mut state = self.state();
        // An answer that has used up all is about to end, and is written then.
        let may_wait = state.told == Spending::default() || state.refusal.is_some();
        if may_wait && !state.is_over {
            return None;
        }
        let held = state.held.take()?;
        Some(WriteStep { held, spent: std::mem::take(&mut state.told), is_last: state.is_over })
    }

    async fn run(self: Arc<Self>, mut step: WriteStep) {
        loop {
            let WriteStep { held, spent, is_last } = step;
            if is_last {
                return self.budget.settle(held, spent).await;
            }
            let counted = self.budget.count(self.admitted.message(), &held, spent).await;
            self.state().held = Some(held);
            match counted {
                Ok(()) => {}
                Err(error @ BudgetError::Exceeded { .. }) => {
                    (self.on_used_up)();
                    self.state().refusal = Some(error.into_ending());
                    self.news.notify_one();
                }
                Err(BudgetError::Unavailable) => {
                    // Tried again with what is told next, or when the answer is over.
                    self.add(spent);
                    if !self.state().is_over {
                        return;
                    }
                }
            }
            match self.step() {
                Some(next) => step = next,
                None => return,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SpendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One step of writing.
struct WriteStep {
    held: Reservation,
    spent: Spending,
    is_last: bool,
}
