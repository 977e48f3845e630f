//! Where the certificate of a deployment comes from: files of the operator, an authority that speaks ACME, or the
//! local one of development.

use std::net::{IpAddr, SocketAddr};

use forecourt_acme::AcmeSettings;
use forecourt_egress::{Egress, EgressConfig};
use forecourt_server::tls::CertificateFiles;

use crate::deployment::Deployment;
use crate::error::Error;

/// Where a certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateSource {
    /// Files of the operator, which are watched.
    Files(CertificateFiles),
    /// An authority, from which it is ordered.
    Acme(AcmeSettings),
    /// The local authority in the data folder, which nobody trusts who was not told to.
    Local,
}

/// Names under which no authority signs: special use (RFC 6761, 6762, 8375, 9476) and private ones.
const PRIVATE: [&str; 11] =
    ["localhost", "local", "internal", "test", "invalid", "example", "lan", "home.arpa", "alt", "onion", "localdomain"];

impl Deployment {
    /// Where its certificate comes from.
    pub(crate) fn certificate_source(&self) -> CertificateSource {
        if let Some(files) = self.tls.files() {
            return CertificateSource::Files(files);
        }
        let acme = &self.tls.acme;
        // Never by default for private names: no public authority signs for them.
        let by_default = acme.accept_terms
            && !self.listen.https.ip().to_canonical().is_loopback()
            && (is_public(self.top.domain.as_str()) || acme.directory.is_some());
        match acme.enabled.unwrap_or(by_default) {
            true => CertificateSource::Acme(acme.clone()),
            false => CertificateSource::Local,
        }
    }

    /// Fails when strangers could reach what is within TLS at this address, and there is no certificate that they
    /// can trust.
    pub(crate) fn suits(&self, name: &str, address: SocketAddr) -> Result<(), Error> {
        let source = self.certificate_source();
        let domain = self.top.domain.as_str();
        if let CertificateSource::Acme(AcmeSettings { directory: None, .. }) = source
            && !is_public(domain)
        {
            return Err(Error::new(format!("no public authority signs for {domain}"))
                .hint("name the `directory` of your own authority in [tls.acme], or set `cert` and `key` in [tls]"));
        }
        if source != CertificateSource::Local || address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let hint = match is_public(domain) {
            true => {
                "set `cert` and `key` in [tls], have one ordered with `enabled = true` in [tls.acme], or listen on 127.0.0.1"
            }
            false => {
                "set `cert` and `key` in [tls], name your own authority with `directory` in [tls.acme], or listen on 127.0.0.1"
            }
        };
        Err(Error::new(format!("{name} on {address} needs a certificate of your own")).hint(hint))
    }

    /// The names that requests may ask for, the domain first.
    pub(crate) fn host_names(&self) -> Vec<String> {
        let domain = self.top.domain.as_str().to_owned();
        let public = self.top.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
        let public = public.and_then(|url| url.host_str().map(str::to_owned)).filter(|host| *host != domain);
        std::iter::once(domain).chain(public).collect()
    }

    /// Those of them that a certificate is ordered for.
    pub(crate) fn certificate_names(&self) -> Vec<String> {
        // Authorities are asked for names only; an address in `public_url` has a certificate from elsewhere.
        let is_name = |host: &String| host.parse::<IpAddr>().is_err() && !host.starts_with('[');
        self.host_names().into_iter().filter(is_name).collect()
    }

    /// The way to the authority, trusting what its settings say.
    ///
    /// # Errors
    /// A sentence: a file of certificates can't be read.
    pub(crate) fn way_to_authority(&self, acme: &AcmeSettings) -> Result<Egress, String> {
        Egress::builder(self.way_config(acme)).base(&self.dir).build().map_err(|error| error.to_string())
    }

    /// The settings of that way.
    pub(crate) fn way_config(&self, acme: &AcmeSettings) -> EgressConfig {
        let mut config = self.egress.clone();
        config.ca_files.extend(acme.ca_file.clone());
        config
    }

    /// What the operator is told at the start about where certificates come from; `None`: nothing but the usual.
    pub(crate) fn certificate_notice(&self) -> Option<String> {
        let CertificateSource::Acme(acme) = self.certificate_source() else { return None };
        let (names, authority) = (self.certificate_names().join(", "), acme.authority());
        Some(format!(
            "Certificates for {names} are ordered from {authority} and renewed; serving accepts its terms of service. \
             `enabled = false` in [tls.acme] turns that off."
        ))
    }
}

/// Whether a public authority could sign for a domain.
fn is_public(domain: &str) -> bool {
    let within =
        |private: &str| domain == private || domain.strip_suffix(private).is_some_and(|rest| rest.ends_with('.'));
    domain.contains('.') && domain.parse::<IpAddr>().is_err() && !PRIVATE.into_iter().any(within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ListenOverrides;

    fn deployment(text: &str, https: &str) -> Deployment {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("forecourt.toml"), text).unwrap();
        let overrides = ListenOverrides { https: Some(https.parse().unwrap()), ..ListenOverrides::default() };
        Deployment::read_with(folder.path(), &|_: &str| None, &overrides).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    #[test]
    fn names_that_no_authority_signs_for_are_known() {
        for domain in ["example.com", "a.b.example.org", "shop.dev", "localhost.example.com"] {
            assert!(is_public(domain), "{domain}");
        }
        for domain in ["demo.localhost", "localhost", "nas.local", "a.home.arpa", "intranet", "127.0.0.1", "x.test"] {
            assert!(!is_public(domain), "{domain}");
        }
    }

    #[test]
    fn off_loopback_a_public_domain_gets_its_certificate_by_itself() {
        let source = |text: &str, https: &str| deployment(text, https).certificate_source();
        let is_acme = |text: &str, https: &str| matches!(source(text, https), CertificateSource::Acme(_));
        let public = "domain = \"example.com\"\n";
        assert!(is_acme(public, "0.0.0.0:443") && is_acme(public, "[::]:443"));
        assert!(!is_acme(public, "127.0.0.1:443") && !is_acme(public, "[::1]:443"));
        assert!(!is_acme("domain = \"demo.localhost\"", "0.0.0.0:443"));
        assert!(!is_acme(&format!("{public}[tls.acme]\nenabled = false"), "0.0.0.0:443"));
        assert!(!is_acme(&format!("{public}[tls.acme]\naccept_terms = false"), "0.0.0.0:443"));
        assert!(!is_acme(&format!("{public}[tls]\ncert = \"c.pem\"\nkey = \"k.pem\""), "0.0.0.0:443"));
        assert!(is_acme("domain = \"a.internal\"\n[tls.acme]\ndirectory = \"https://ca.internal/dir\"", "0.0.0.0:443"));
        assert!(is_acme("domain = \"demo.localhost\"\n[tls.acme]\nenabled = true", "127.0.0.1:443"));
    }

    #[test]
    fn who_needs_a_certificate_and_has_none_is_told_how_to_get_one() {
        let refused = |text: &str| {
            let deployment = deployment(text, "0.0.0.0:443");
            let error = deployment.suits("HTTPS", deployment.listen.https).err()?;
            Some(error.into_problem(deployment.root.file()).to_string())
        };
        assert_eq!(refused("domain = \"example.com\""), None);
        let told = refused("domain = \"nas.local\"").unwrap();
        assert!(
            told.contains("needs a certificate of your own") && told.contains("`directory` in [tls.acme]"),
            "{told}"
        );
        let told = refused("domain = \"nas.local\"\n[tls.acme]\nenabled = true").unwrap();
        assert!(told.contains("no public authority signs for nas.local"), "{told}");
    }
}
