//! When the authority itself wants a certificate renewed: before it revokes it, for one. RFC 9773.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use forecourt_egress::{Egress, Purpose};
use jiff::Timestamp;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer, X509Certificate};

/// What of a directory matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Directory {
    renewal_info: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RenewalInfo {
    suggested_window: Window,
}

#[derive(Deserialize)]
struct Window {
    start: Timestamp,
    end: Timestamp,
}

/// The middle of the time in which the authority wants a chain renewed. `None`: it says nothing, or can't be asked.
pub(crate) async fn renew_at(egress: &Egress, directory: &str, chain: &str) -> Option<Timestamp> {
    let name = name_of(chain)?;
    let directory = egress.get(Purpose::CertificateAuthority, directory).await.ok()?;
    let directory: Directory = serde_json::from_slice(&directory.bytes).ok()?;
    let url = format!("{}/{name}", directory.renewal_info?.trim_end_matches('/'));
    let info = egress.get(Purpose::CertificateAuthority, &url).await.ok()?;
    let RenewalInfo { suggested_window: Window { start, end } } = serde_json::from_slice(&info.bytes).ok()?;
    // RFC 9773 4.2 suggests a random moment of the window; the middle lies in it too, and is the same for all nodes.
    Timestamp::from_second(start.as_second().midpoint(end.as_second())).ok().filter(|_| end > start)
}

/// What the authority calls a certificate: the key that signed it, and its number. RFC 9773 section 4.1.
fn name_of(chain: &str) -> Option<String> {
    let leaf = CertificateDer::pem_slice_iter(chain.as_bytes()).next()?.ok()?;
    let (_, certificate) = X509Certificate::from_der(&leaf).ok()?;
    let signed_by = certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::AuthorityKeyIdentifier(signer) => signer.key_identifier.as_ref().map(|key| key.0),
        _ => None,
    })?;
    let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    Some(format!("{}.{}", text(signed_by), text(certificate.raw_serial())))
}
