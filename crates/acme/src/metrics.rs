//! What became of orders, for the operator's metrics.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::error::OrderError;

/// What became of orders.
#[derive(Clone, Debug, Default)]
pub struct AcmeMetrics {
    orders: Family<Outcome, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

impl AcmeMetrics {
    /// Makes them visible.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("acme_orders", "Orders of certificates, by what became of them", self.orders.clone());
    }

    pub(crate) fn ordered(&self, result: Result<(), &OrderError>) {
        let outcome = match result {
            Ok(()) => "issued",
            Err(OrderError::Refused { .. }) => "refused",
            Err(OrderError::Unreachable(_)) => "unreachable",
            Err(OrderError::Failed(_)) => "failed",
        };
        self.orders.get_or_create(&Outcome { outcome }).inc();
    }
}
