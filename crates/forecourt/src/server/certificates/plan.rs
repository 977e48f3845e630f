//! Where the certificates of a deployment are to come from, as its settings say.

use std::path::PathBuf;

use forecourt_acme::AcmeSettings;
use forecourt_egress::{Egress, EgressConfig};
use forecourt_server::AllowedHosts;
use forecourt_server::tls::CertificateFiles;

use crate::certificates::CertificateSource;
use crate::deployment::Deployment;
use crate::error::Error;

/// Where certificates are to come from. Two that are equal are the same to everybody.
#[derive(Clone, PartialEq)]
pub(super) enum CertificatePlan {
    /// Files of the operator.
    Files { files: CertificateFiles, hosts: AllowedHosts },
    /// The local authority in the data folder.
    Local { domain: String, hosts: AllowedHosts },
    /// An authority.
    Ordered(Box<WantedCertificates>),
    /// Nowhere: nothing is served within TLS.
    Unused,
}

/// What is to be ordered from an authority.
#[derive(Clone, PartialEq)]
pub(super) struct WantedCertificates {
    pub(super) settings: AcmeSettings,
    pub(super) names: Vec<String>,
    /// Whether the first name is served under the names of loopback, too.
    pub(super) is_local: bool,
    pub(super) has_port_80: bool,
    /// The way to the authority.
    way: EgressConfig,
    folder: PathBuf,
}

impl CertificatePlan {
    /// That of a deployment.
    ///
    /// # Errors
    /// There is no way to the authority.
    pub(super) fn of(deployment: &Deployment) -> Result<Self, Error> {
        if deployment.development.is_some() {
            return Ok(Self::Unused);
        }
        let is_local = deployment.listen.https.ip().is_loopback();
        let hosts = AllowedHosts::new(deployment.host_names(), is_local);
        Ok(match deployment.certificate_source() {
            CertificateSource::Files(files) => Self::Files { files, hosts },
            CertificateSource::Local => Self::Local { domain: deployment.top.domain.as_str().to_owned(), hosts },
            CertificateSource::Acme(settings) => {
                let wanted = WantedCertificates {
                    way: deployment.way_config(&settings),
                    settings,
                    names: deployment.certificate_names(),
                    is_local,
                    // On loopback a proxy is in front, or nobody: an authority could not reach that listener.
                    has_port_80: !deployment.listen.http.ip().to_canonical().is_loopback(),
                    folder: deployment.dir.clone(),
                };
                // Built once to see that it can be: files of certificates are read here, and not when the first order
                // is due.
                wanted.egress()?;
                Self::Ordered(Box::new(wanted))
            }
        })
    }
}

impl WantedCertificates {
    /// The way to the authority.
    ///
    /// # Errors
    /// A file of certificates can't be read.
    pub(super) fn egress(&self) -> Result<Egress, Error> {
        let built = Egress::builder(self.way.clone()).base(&self.folder).build();
        built.map_err(|error| Error::new(error.to_string()))
    }
}
