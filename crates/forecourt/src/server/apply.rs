//! One deployment takes the place of another, sockets and all, or nothing changes.

use std::sync::Arc;

use forecourt_admin::Entrance;
use forecourt_settings::{Problem, Problems, Section};

use super::certificates::CertificateChange;
use super::domain::publish;
use super::reloader::{NotApplied, blocking};
use super::sockets::SocketChange;
use super::{Addresses, ServerCore, console, index_new};
use crate::certificates::CertificateSource;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::house::{self, House};
use crate::inspect;
use crate::reload::{FixedSettings, ReloadSource};

impl ServerCore {
    /// Serves the deployment as `source` gives it now. What was done beside that is said in a sentence each.
    ///
    /// # Errors
    /// Why it is not served. Then nothing has changed.
    pub(crate) async fn apply(
        &self,
        source: &ReloadSource,
        fixed: &mut FixedSettings,
    ) -> Result<Vec<String>, NotApplied> {
        let folder = source.folder().to_path_buf();
        let file = folder.join(crate::deployment::FILE);
        let wrong = |error: Error| NotApplied::Refused(error.into_problems(&file));
        let (read, at) = (source.clone(), folder.clone());
        let settings_file = source.shared_file();
        let looked = blocking(move || (FixedSettings::of(&at, settings_file.as_deref()), read.read()));
        let (settings, read) = looked.await.map_err(wrong)?;
        let mut deployment = read.map_err(NotApplied::Refused)?;
        // First of all checks, since nothing of such a deployment can be applied.
        restart_wanted(fixed.changes(&settings, &folder))?;
        deployment.data.clone_from(&self.data);
        // What is counted goes on to be.
        deployment.meters = self.meters.clone();
        deployment.hub_lists = self.hub_lists.clone();
        let (looked, mut deployment) =
            blocking(move || (inspect::inspect(&deployment), deployment)).await.map_err(wrong)?;
        looked.into_result(()).map_err(NotApplied::Refused)?;
        let certificates = self.keeper.prepare(&deployment).await.map_err(wrong)?;
        let sockets = &self.shared.sockets;
        let change = match self.owns_sockets() {
            true => Some(sockets.prepare(&deployment).await.map_err(wrong)?),
            // The sockets go by another domain's, and stay as they are.
            false => sockets.disagreement(&deployment).into_result(None).map_err(NotApplied::Refused)?,
        };
        let addresses = change.as_ref().map_or_else(|| sockets.addresses(), |change| change.addresses().clone());
        addresses.tell(&mut deployment);
        restart_wanted(other_address(&deployment, &self.running.host().site().base))?;
        if deployment.development.is_some() {
            // Whoever works on it is told at once; else the next message would be the first to fail.
            deployment.code_problems().await.into_result(()).map_err(NotApplied::Refused)?;
        }
        let house = blocking(move || deployment.build()).await.map_err(wrong)?.map_err(NotApplied::Refused)?;
        // At the start a broken endpoint is left out; while serving, the working one before it must not disappear.
        self.newly_refused(&house).into_result(()).map_err(NotApplied::Refused)?;
        // The old house answers meanwhile: the new one opens with an index or not at all.
        index_new(&house).await.map_err(wrong)?;
        let entrance = console::entrance(&house, addresses.shared.admin);
        // The last step that may fail. Sockets and certificates follow, which were prepared before it.
        self.running.replace(house).await.map_err(wrong)?;
        *fixed = settings;
        let mut notes = self.take(change, entrance);
        notes.extend(certificates.and_then(|change| self.take_certificates(change)));
        source.tell_applied(&self.running.deployment());
        Ok(notes)
    }

    /// What of its endpoints is refused that was not before: at the start they are left out, and while it is served
    /// the ones before stay.
    fn newly_refused(&self, house: &House) -> Problems {
        let before = self.running.refused_endpoints();
        let mut problems = Problems::new();
        let new = house.refused_endpoints().iter().filter(|problem| !before.iter().any(|known| known == *problem));
        problems.extend(new.cloned());
        problems
    }

    /// Has listeners and what opens the operator's follow the house that has taken over.
    fn take(&self, change: Option<SocketChange>, entrance: Arc<Entrance>) -> Vec<String> {
        let sockets = &self.shared.sockets;
        let before: Addresses = sockets.addresses();
        self.operator.open_by(entrance, &self.running);
        let notes = change.map(|change| sockets.apply(change)).unwrap_or_default();
        let now = sockets.addresses();
        // The deployment is served already, so a file that can't be written is only told.
        if now != before
            && let Err(error) = publish(&self.running, &now, &self.data)
        {
            tracing::error!(%error, "clients on this machine are not told where the deployment is now");
        }
        notes
    }

    /// Has listeners show certificates from elsewhere, and says from where.
    fn take_certificates(&self, change: CertificateChange) -> Option<String> {
        if let Err(error) = self.keeper.take(change) {
            tracing::error!(%error, "the certificate before stays in use");
            return None;
        }
        let deployment = self.running.deployment();
        Some(match deployment.certificate_source() {
            CertificateSource::Files(files) => format!("the certificate is {}", files.certificate.display()),
            CertificateSource::Local => "the certificate is the local authority's".to_owned(),
            CertificateSource::Acme(acme) => {
                let names = deployment.certificate_names().join(", ");
                format!("certificates for {names} are ordered from {}", acme.authority())
            }
        })
    }
}

fn restart_wanted(problems: Problems) -> Result<(), NotApplied> {
    problems.into_result(()).map_err(NotApplied::NeedsRestart)
}

/// Links, sessions and contracts name the address that a deployment publishes.
fn other_address(deployment: &Deployment, before: &str) -> Problems {
    let now = house::site(deployment).base;
    if now == before {
        return Problems::new();
    }
    let mut root: Section = deployment.root.clone();
    let text = format!("{before} can't become {now} while it is served: what was published names it");
    let problem = match root.has("public_url") {
        true => root.problem(Some("public_url"), text),
        false => root.take_or_empty("listen").problem(Some("https"), text),
    };
    let hint = "restart the server to change it, or set `public_url` to what the outside uses: then ports may change";
    Problem::hint(problem, hint).into()
}

impl ReloadSource {
    fn tell_applied(&self, deployment: &Deployment) {
        (self.applied)(deployment);
    }
}
