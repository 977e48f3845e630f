//! What the operator is shown of a house beside its host: set up among its services when it is opened.

use std::path::PathBuf;
use std::sync::Arc;

use forecourt_admin::{PlaygroundTools, ReadSettings};
use forecourt_egress::{Egress, Purpose};
use forecourt_settings::{Problem, Problems};
use forecourt_surface::Mount;

use crate::deployment::Deployment;

/// The certificate of the local authority in the data folder.
const LOCAL_CERTIFICATE: &str = "cert.pem";

/// The files of certificates that listeners show.
pub(crate) struct CertificatePaths(pub Vec<PathBuf>);

/// Whether operators change the files of the deployment from the console.
pub(crate) struct EditorSwitch(pub bool);

/// Whether the provider at which operators log in can be reached at all.
///
/// # Errors
/// What of `[egress]` stands in the way.
pub(crate) fn check_login(deployment: &Deployment, egress: &Egress) -> Result<(), Problems> {
    let Some(login) = &deployment.entrance.login else { return Ok(()) };
    egress.foresees(Purpose::SignIn, login.issuer()).map_err(|error| {
        let text = format!("`issuer` in [admin.oidc] can't be reached: {error}");
        let hint = "networks of your own are opened by `allow` in [egress], other ports than 443 by `ports`, and http on \
                    this machine by `allow_http`";
        Problems::from(Problem::of_file(deployment.root.file(), text).hint(hint))
    })
}

/// Sets it up.
pub(crate) fn publish(mount: &Mount, deployment: &Deployment) {
    mount.services.publish(mount.verifier.clone());
    mount.services.publish(Arc::new(PlaygroundTools(mount.tools.clone())));
    // Read now and kept: the console shows what this house was built from, and not what the files say since.
    mount.services.publish(Arc::new(ReadSettings::of(&deployment.dir)));
    mount.services.publish(Arc::new(deployment.hub_lists.states(&deployment.open_hubs)));
    mount.services.publish(Arc::new(deployment.alerts.told()));
    mount.services.publish(Arc::new(EditorSwitch(deployment.editor)));
    let own = deployment.tls.files().map(|files| files.certificate);
    let certificate = own.unwrap_or_else(|| deployment.data.join(LOCAL_CERTIFICATE));
    mount.services.publish(Arc::new(CertificatePaths(vec![certificate])));
}
