//! The operator's console and API, over the house as it stands.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_admin::editor::DeploymentEditor;
use forecourt_admin::{CertificateInUse, DaemonControl, Desk, Entrance, OperatedHouse, ReloadAnswer, TelemetryState};
use forecourt_bus::NatsBus;
use forecourt_core::Bus;
use forecourt_server::{ReadinessCheck, certificate_facts};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Mutex;

use super::reloader::Reloader;
use crate::editor::FolderEditor;
use crate::export_metrics::ExportMetrics;
use crate::house::House;
use crate::live::LiveHouse;
use crate::operated::{CertificatePaths, EditorSwitch};
use crate::reload::{Attempt, AttemptOutcome, ReloadTrigger};
use crate::running::Running;

/// The daemon as the console and the admin API control it.
struct Around {
    live: Arc<LiveHouse>,
    reloader: Arc<Reloader>,
    readiness: ReadinessCheck,
    nats: Option<Arc<NatsBus>>,
    exports: Arc<ExportMetrics>,
    /// Where state is kept.
    data: PathBuf,
    /// Changes of files, one after another.
    edits: Arc<Mutex<()>>,
}

/// What opens the operator's surface of a house, whose listener is at this address.
pub(super) fn entrance(house: &House, listener: SocketAddr) -> Arc<Entrance> {
    Arc::new(Entrance::new(&house.deployment.entrance, &house.egress, listener))
}

/// The desk behind the console and the admin API of one domain.
pub(super) fn desk(
    running: &Running,
    reloader: Arc<Reloader>,
    readiness: ReadinessCheck,
    data: &Path,
    entrance: Arc<Entrance>,
) -> Arc<Desk> {
    let (nats, exports) = (running.nats(), running.deployment().meters.exports.clone());
    let (live, data, edits) = (running.live().clone(), data.to_path_buf(), Arc::default());
    let around = Arc::new(Around { live, reloader, readiness, nats, exports, data: data.clone(), edits });
    Desk::new(around, running.reads().clone(), data, entrance)
}

impl DaemonControl for Around {
    fn now(&self) -> Option<OperatedHouse> {
        let house = self.live.now()?;
        let contents = house.contents.iter().map(|content| (content.handle.clone(), content.indexing.clone()));
        let (host, services) = (house.host.clone(), house.services.clone());
        Some(OperatedHouse { host, services, contents: contents.collect() })
    }

    fn readiness(&self) -> BoxFuture<'static, Result<Vec<String>, String>> {
        (self.readiness)()
    }

    fn bus_fault(&self) -> Option<Option<String>> {
        self.nats.as_ref().map(|nats| nats.fault())
    }

    fn telemetry(&self) -> TelemetryState {
        self.exports.state()
    }

    fn reload_status(&self) -> Option<Value> {
        serde_json::to_value(self.reloader.status(self.live.houses())).ok()
    }

    fn reload(&self, by: String) -> BoxFuture<'static, Option<ReloadAnswer>> {
        let reloader = self.reloader.clone();
        Box::pin(async move {
            tracing::info!(by, "an operator has the deployment read again");
            // A task of its own: a caller that disconnects must not leave a reload half done.
            let reloading = tokio::spawn(async move { reloader.reload(ReloadTrigger::Admin).await });
            let attempt = reloading.await.ok()??;
            let is_applied = matches!(attempt.outcome, AttemptOutcome::Applied);
            Some(ReloadAnswer { is_applied, report: serde_json::to_value(attempt).unwrap_or_default() })
        })
    }

    fn editor(&self) -> Option<Arc<dyn DeploymentEditor>> {
        let is_on = self.live.now()?.services.get::<EditorSwitch>().is_some_and(|switch| switch.0);
        let source = self.reloader.source().filter(|_| is_on)?;
        let reloader = self.reloader.clone();
        let read_again = move |by| -> BoxFuture<'static, Option<Attempt>> {
            let reloader = reloader.clone();
            Box::pin(async move { reloader.reload_by(ReloadTrigger::Admin, Some(by)).await })
        };
        Some(Arc::new(FolderEditor::new(Arc::new(read_again), source, self.data.clone(), self.edits.clone())))
    }

    fn certificates(&self) -> Vec<CertificateInUse> {
        let paths = self.live.now().and_then(|house| house.services.get::<CertificatePaths>());
        let paths = paths.iter().flat_map(|paths| &paths.0);
        let facts = paths.filter_map(|path| certificate_facts(&fs::read(path).ok()?));
        facts
            .map(|facts| CertificateInUse {
                names: facts.names,
                issuer: facts.issuer,
                not_before: facts.not_before,
                not_after: facts.not_after,
            })
            .collect()
    }
}
