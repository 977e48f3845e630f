//! What is known of the connection that a request came by. Base 1, 2.4.

use std::net::IpAddr;

use forecourt_contract::ScopeSet;
use forecourt_contract::call::ConnectionId;
use forecourt_core::ids::mint;
use forecourt_core::{Entropy, Sender};
use forecourt_identity::certificate::{AgentCertificate, CertificateFault};

/// What is known of the connection that a request came by.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    /// The address of the client, in its shortest form.
    pub peer: IpAddr,
    /// What the client's certificate says, if it showed one. One that an authority vouched for and that
    /// can't be read all the same proves nothing, and is held against who shows it.
    pub certificate: Option<Result<AgentCertificate, CertificateFault>>,
    /// What the connection is called here, so that what belongs to it ends with it. `None`: each request comes by
    /// itself, as over the gateway.
    pub id: Option<ConnectionId>,
}

impl ConnectionInfo {
    /// A connection from a client that showed the certificate `shown`.
    pub(crate) fn new(peer: IpAddr, shown: Option<&[u8]>) -> Self {
        Self { peer, certificate: shown.map(AgentCertificate::parse), id: None }
    }

    /// The same, with a name that nobody else can know.
    #[must_use]
    pub(crate) fn named(self, entropy: &dyn Entropy) -> Self {
        Self { id: Some(ConnectionId(mint(entropy).into())), ..self }
    }

    /// Whoever calls by this connection, of whom nothing else is known.
    pub(crate) fn stranger(&self) -> Sender {
        Sender { peer: Some(self.peer), ..Sender::anonymous() }
    }

    /// What is left of declared scopes by the certificate of the connection.
    pub(crate) fn within(&self, declared: &ScopeSet) -> ScopeSet {
        let commitment = self.certificate.as_ref().and_then(|read| read.as_ref().ok()?.scopes.as_ref());
        commitment.map_or_else(|| declared.clone(), |commitment| declared.shared(commitment))
    }

    /// The key of the certificate that the caller showed.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let certificate: Option<&AgentCertificate> = self.certificate.as_ref().and_then(|read| read.as_ref().ok());
        certificate.and_then(|certificate| certificate.fingerprint.clone())
    }
}
