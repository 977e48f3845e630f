//! What is counted beside requests, and lasts from one house to the next.

use std::sync::Arc;

use forecourt_egress::EgressMetrics;
use forecourt_questions::UnfoundQuestions;
use forecourt_store::StoreMetrics;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::export_metrics::ExportMetrics;
use crate::model_metrics::ModelMetrics;
use crate::process_metrics::ProcessMetrics;

/// The prefix of every metric that is not about the process as such.
const PREFIX: &str = "forecourt";

/// Counters that deployments hand on to each other.
#[derive(Debug, Default, Clone)]
pub struct Meters {
    /// What goes out.
    pub egress: Arc<EgressMetrics>,
    /// What language models use.
    pub models: Arc<ModelMetrics>,
    /// What nothing was found for.
    pub unfound: Arc<UnfoundQuestions>,
    /// What the store takes.
    pub store: Arc<StoreMetrics>,
    /// What a collector is told.
    pub exports: Arc<ExportMetrics>,
}

impl Meters {
    /// A registry with these counters, and those that `more` names; all of them with our prefix. Those that
    /// `conventional` names have none, as everything that is called alike in every program.
    pub(crate) fn registry(
        &self,
        conventional: impl FnOnce(&mut Registry),
        more: impl FnOnce(&mut Registry),
    ) -> Registry {
        let mut root = Registry::default();
        root.register_collector(Box::new(ProcessMetrics));
        self.models.register_conventional(&mut root);
        conventional(&mut root);
        let own = root.sub_registry_with_prefix(PREFIX);
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        own.register("build", "Which version this is", build);
        self.egress.register(own);
        self.models.register(own);
        self.unfound.register(own);
        self.store.register(own);
        self.exports.register(own);
        more(own);
        root
    }
}
