//! Several providers in their order: which is asked, how often, and when the next one is.
//!
//! Nothing is asked again once a word of an answer was shown: that is for whoever shows it to keep to.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Clock, Ending, Entropy};
use tokio::time::Instant;

use crate::breaker::Breaker;
use crate::error::ProviderError;
use crate::metering::Price;
use crate::provider::Provider;
use crate::window::Window;
use forecourt_agents::declined::unavailable;

/// The wait before a provider is asked again; each further one is twice as long, and of each a random share is taken.
pub(crate) const RETRY_WAIT: Duration = Duration::from_millis(400);
/// The longest that a provider may have us wait before it is asked again. One that asks for more is left alone.
pub const RETRY_WAIT_MAX: Duration = Duration::from_secs(8);
/// Providers behind the first one.
pub const FALLBACKS_MAX: usize = 5;

/// A model that may be asked.
pub struct Target {
    /// The preset of its provider, or [`crate::preset::OTHER`].
    pub name: &'static str,
    /// The model as its provider knows it.
    pub model: String,
    /// Where it is.
    pub provider: Provider,
    /// How much it reads.
    pub window: Window,
    /// Tokens that it may write in one reply.
    pub max_tokens: u32,
    /// What it costs.
    pub price: Option<Price>,
    /// Leaves the provider alone after failures in a row.
    pub breaker: Breaker,
}

/// Models that stand in for each other.
pub struct Chain {
    /// In the order in which they are asked; at least one.
    pub targets: Vec<Target>,
    /// How often each is asked again.
    pub retries: usize,
    /// The clock of the breakers.
    pub clock: Arc<dyn Clock>,
    /// Randomness for the waits, so that callers that failed together do not come back together.
    pub entropy: Arc<dyn Entropy>,
}

/// How far one reply has come through a chain.
#[derive(Debug, Default)]
pub struct Attempts {
    /// The model that is asked.
    pub at: usize,
    tried: usize,
}

/// What to do after a failure.
#[derive(Debug)]
pub enum Next {
    /// Ask the model at [`Attempts::at`] after this wait.
    Ask(Duration),
    /// No model of the chain may answer: end with this.
    End(Ending),
}

impl Chain {
    /// Begins with the first model that is not left alone.
    ///
    /// # Errors
    /// All providers are left alone; the refusal has the seconds until the first may be asked.
    pub fn begin(&self, attempts: &mut Attempts) -> Result<(), Ending> {
        attempts.tried = 0;
        let mut soonest = Duration::MAX;
        while let Some(target) = self.targets.get(attempts.at) {
            match target.breaker.enter(&*self.clock) {
                Ok(()) => return Ok(()),
                Err(left) => soonest = soonest.min(left),
            }
            attempts.at += 1;
        }
        attempts.at = 0;
        let seconds = if soonest == Duration::MAX { 1 } else { soonest.as_secs().max(1) };
        let text = "The model behind this agent is away for a moment. Please try again later.";
        Err(unavailable(text, Some(seconds)))
    }

    /// The model that is asked.
    pub fn target(&self, attempts: &Attempts) -> &Target {
        &self.targets[attempts.at.min(self.targets.len() - 1)]
    }

    /// How much of a time that is `left` for the whole chain belongs to the model that is asked: those behind it have
    /// as much each.
    pub fn share(&self, attempts: &Attempts, left: Duration) -> Duration {
        let behind = self.targets.len().saturating_sub(attempts.at + 1);
        left / u32::try_from(behind + 1).unwrap_or(u32::MAX)
    }

    /// What to do after a failure of the model that was asked, of whose reply nothing was shown. Behind `deadline`
    /// nobody waits for another attempt.
    pub fn after(&self, attempts: &mut Attempts, error: ProviderError, deadline: Instant) -> Next {
        let target = self.target(attempts);
        // `Unfit` and `TooLong` say something about the request and not about the provider: the breaker does not count
        // them.
        match &error {
            ProviderError::Away(_) | ProviderError::Silent(_) | ProviderError::Broke(_) => {
                target.breaker.failed(&*self.clock);
            }
            ProviderError::Later(_, Some(seconds)) if Duration::from_secs(*seconds) > RETRY_WAIT_MAX => {
                target.breaker.rest_for(Duration::from_secs(*seconds), &*self.clock);
            }
            _ => {}
        }
        // A wait that ends behind the deadline would only delay the stand-in, or the end.
        if let Some(wait) = self.wait(attempts, &error)
            && Instant::now() + wait < deadline
        {
            attempts.tried += 1;
            return Next::Ask(wait);
        }
        attempts.at += 1;
        match Instant::now() < deadline && attempts.at < self.targets.len() && self.begin(attempts).is_ok() {
            true => {
                tracing::info!(model = self.target(attempts).model, "another model stands in");
                Next::Ask(Duration::ZERO)
            }
            false => Next::End(error.into_ending()),
        }
    }

    /// How long to wait before the same model is asked again; `None` when it is not.
    fn wait(&self, attempts: &Attempts, error: &ProviderError) -> Option<Duration> {
        if attempts.tried >= self.retries || !error.is_passing() {
            return None;
        }
        if let ProviderError::Later(_, Some(seconds)) = error {
            return Some(Duration::from_secs(*seconds)).filter(|wait| *wait <= RETRY_WAIT_MAX);
        }
        let longest = RETRY_WAIT.saturating_mul(1 << attempts.tried.min(8)).min(RETRY_WAIT_MAX);
        let mut byte = [0];
        self.entropy.fill(&mut byte);
        Some(longest.mul_f64(0.5 + f64::from(byte[0]) / 512.0))
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").field("targets", &self.targets.len()).finish_non_exhaustive()
    }
}
