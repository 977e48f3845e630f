//! What a client is made of, shared by its clones.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::dial::Dialer;
use crate::guard::Guard;
use crate::metrics::EgressMetrics;
use crate::recordings::Recordings;
use crate::slots::Slots;
use crate::trust::Judge;

/// What a client is made of.
pub(crate) struct Inner {
    pub(crate) guard: Guard,
    pub(crate) dialer: Dialer,
    pub(crate) slots: Arc<Slots>,
    pub(crate) upstream_turns: Arc<Semaphore>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) metrics: Arc<EgressMetrics>,
    /// What stands in for the network, in a test of a deployment.
    pub(crate) recordings: Option<Arc<Recordings>>,
}
