//! This module describes a connection: the client's address, its certificate and its own name. Base 1, 2.4.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_contract::ScopeSet;
use forecourt_contract::call::ConnectionId;
use forecourt_core::ids::mint;
use forecourt_core::{Entropy, Sender};
use forecourt_identity::certificate::{AgentCertificate, AgentCertificateError};
use forecourt_identity::genesis::TrustTier;
use serde_json::{Map, Value};

/// The connection that a request came by: its client's address and certificate, and its own name.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    /// The address of the client, in its shortest form.
    pub peer: IpAddr,
    /// What the client's certificate says, if it showed one. One that an authority vouched for and that
    /// can't be read all the same proves nothing, and is held against who shows it.
    pub certificate: Option<Result<AgentCertificate, AgentCertificateError>>,
    /// What the connection is called here, so that what belongs to it ends with it. `None`: each request comes by
    /// itself, as over the gateway.
    pub id: Option<ConnectionId>,
}

impl ConnectionInfo {
    /// A connection from a client that showed this certificate.
    pub(crate) fn new(peer: IpAddr, certificate: Option<&[u8]>) -> Self {
        Self { peer, certificate: certificate.map(AgentCertificate::parse), id: None }
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

    /// What the certificate says beside the name and the scopes, for rules, agents and records.
    pub(crate) fn certified(&self) -> Map<String, Value> {
        let Some(Ok(certificate)) = &self.certificate else { return Map::new() };
        let members = [
            ("principal_id", certificate.principal_id.clone().map(Value::from)),
            ("governance_zone", certificate.governance_zone.clone().map(Value::from)),
            ("trust_tier", certificate.trust_tier.map(|tier| u8::from(tier).into())),
            ("archetype", certificate.archetype.clone().map(Value::from)),
            ("activation_certificate_id", certificate.activation_id.clone().map(Value::from)),
            ("agtp_ctl_sct", certificate.ctl_sct.as_deref().map(|receipt| STANDARD.encode(receipt).into())),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// How far an agent is vouched for that is by itself as far as `own`: its certificate may say less, and never
    /// more.
    pub(crate) fn tier_within(&self, own: TrustTier) -> TrustTier {
        let certified = self.certificate.as_ref().and_then(|read| read.as_ref().ok()?.trust_tier);
        // A greater number is a lower tier. Base 6.5.
        certified.map_or(own, |certified| if u8::from(certified) > u8::from(own) { certified } else { own })
    }

    /// The key of the certificate that the caller showed.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let certificate: Option<&AgentCertificate> = self.certificate.as_ref().and_then(|read| read.as_ref().ok());
        certificate.and_then(|certificate| certificate.fingerprint.clone())
    }
}
