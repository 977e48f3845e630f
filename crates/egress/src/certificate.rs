//! The certificate that we show, and the judge who takes every certificate that is shown to us.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, Error, InconsistentKeys, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use crate::setup_error::SetupError;

/// What says who we are to servers that ask: a chain of certificates and the key of the first. It is
/// shown as it is, whatever extensions it has: those may be of a protocol that only the server knows.
#[derive(Clone)]
pub struct ClientCertificate(Arc<CertifiedKey>);

impl ClientCertificate {
    /// Reads PEM texts: the chain, our own certificate first, and its key. Fails when there is no
    /// certificate, one is broken, there is no key, or it is that of another certificate.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, SetupError> {
        let wrong = |source: &str| SetupError::Certificates { source_name: source.to_owned() };
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = found.ok().filter(|chain| !chain.is_empty()).ok_or_else(|| wrong("the client certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(key).ok().and_then(|key| any_supported_type(&key).ok());
        let certified = CertifiedKey::new(chain, key.ok_or_else(|| wrong("the key of the client certificate"))?);
        match certified.keys_match() {
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                Err(wrong("the client certificate, which is of another key"))
            }
            // What has extensions that are unknown here is for the server to judge.
            _ => Ok(Self(Arc::new(certified))),
        }
    }
}

impl ResolvesClientCert for ClientCertificate {
    fn resolve(&self, _hints: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Never prints the key.
impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate").field("certificates", &self.0.cert.len()).finish_non_exhaustive()
    }
}

/// Takes whatever certificate a server shows. The server must still hold its key.
#[derive(Debug)]
pub(crate) struct AnyCertificate(WebPkiSupportedAlgorithms);

impl AnyCertificate {
    pub(crate) fn new(provider: &CryptoProvider) -> Self {
        Self(provider.signature_verification_algorithms)
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
