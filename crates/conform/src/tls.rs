//! This module looks at how a server encrypts: versions of TLS, and its certificates. Nothing is sent in these
//! connections. RFC 8446, 8996, 9325, 9525 and 5280; base 1 over AGTP.
//!
//! | file | holds |
//! |---|---|
//! | `certificate.rs` | what a certificate says of itself |
//! | `hello.rs` | the first words of a handshake of an old version, by hand |

mod certificate;
mod hello;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_egress::{Egress, EgressError, HandshakeError, TlsHandshake, TlsVersion};
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::check::{Check, Shortfall, ShownExchange, Verdict, check};
use crate::offer::{Absence, OfferedProtocol};
use crate::shown::Secrets;
use crate::suite::Suite;

use certificate::Certificate;
use hello::HelloAnswer;

/// What of TLS is looked at.
pub const SUITES: &[Suite<TlsTarget>] = &[Suite::of::<TlsServer>()];

const CHECKS: &[Check<TlsServer>] = &[
    check!("tls-1.3", "RFC 9325 3.1.1; base 1", Should, "TLS 1.3 is spoken", modern),
    check!(
        "tls-1.2",
        "RFC 9325 4; base 1",
        Must,
        "TLS 1.2 has forward secrecy and authenticated encryption, and is refused over AGTP",
        older
    ),
    check!("tls-1.1", "RFC 8996", Must, "TLS 1.1 is refused", old),
    check!("tls-name", "RFC 9525 6", Must, "the certificate is of the name that was asked for", name),
    check!("tls-valid", "RFC 5280 4.1.2.5", Must, "the certificate is valid now", valid),
    check!("tls-expiry", "RFC 5280 4.1.2.5", Should, "the certificate is valid for two more days", expiry),
    check!("tls-chain", "RFC 8446 4.4.2", Must, "the certificates lead to an authority that is trusted here", chain),
];

/// The alert of who finds nothing to agree on. RFC 5246 7.2.2.
const HANDSHAKE_FAILURE: u8 = 40;

/// How long before its end a certificate is warned of: certificates of six days are renewed after four.
const EXPIRY_WARNED: Duration = Duration::from_secs(2 * 24 * 3600);

/// A port of a server, and what is spoken there.
pub struct TlsTarget {
    /// The guarded way out.
    pub egress: Egress,
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The port on which the protocol listens everywhere.
    pub usual_port: u16,
    /// The protocol, as ALPN names it.
    pub protocol: &'static str,
    /// Whether it is asked over TLS at all.
    pub is_encrypted: bool,
    /// Whether the user takes every certificate.
    pub is_insecure: bool,
    /// How long one handshake may take.
    pub patience: Duration,
}

/// A server that shook hands.
pub(crate) struct TlsServer {
    endpoint: Arc<TlsTarget>,
    version: TlsVersion,
    handshake: TlsHandshake,
}

impl OfferedProtocol for TlsServer {
    type Target = TlsTarget;
    const NAME: &'static str = "TLS";
    const IS_CARRIER: bool = true;
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(endpoint: Arc<TlsTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            if !endpoint.is_encrypted {
                return Err(Absence::NotOffered("the server is asked without TLS".to_owned()));
            }
            let mut why = String::new();
            for version in [TlsVersion::V1_3, TlsVersion::V1_2] {
                match endpoint.shake_hands(version).await {
                    Ok(handshake) => return Ok(Self { endpoint, version, handshake }),
                    Err(error) => why = error.log_reason(),
                }
            }
            Err(Absence::Untold(format!("no handshake with {}: {why}", endpoint.at())))
        })
    }
}

impl TlsTarget {
    fn at(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    async fn shake_hands(&self, version: TlsVersion) -> Result<TlsHandshake, HandshakeError> {
        let Self { egress, host, port, usual_port, protocol, patience, .. } = self;
        let handshake = egress.shake_hands(host, *port, *usual_port, version, protocol.as_bytes());
        let late = |_| HandshakeError::Untold(EgressError::Failed("no answer in time".to_owned()));
        timeout(*patience, handshake).await.map_err(late)?
    }

    /// Whether AGTP is spoken, which has no older version.
    fn is_agtp(&self) -> bool {
        self.protocol == "agtp"
    }
}

impl TlsServer {
    fn certificates(&self) -> Vec<Certificate> {
        self.handshake.certificates.iter().map(|der| Certificate::read(der)).collect()
    }

    fn own(&self) -> Result<Certificate, Shortfall> {
        let own = self.certificates().into_iter().next();
        own.ok_or_else(|| self.wrong("the server shows no certificate"))
    }

    /// That the certificates show a rule broken.
    fn wrong(&self, what: impl Into<String>) -> Shortfall {
        let version = match self.version {
            TlsVersion::V1_2 => "1.2",
            TlsVersion::V1_3 => "1.3",
        };
        let mut came = format!("{}\n", self.handshake.cipher_suite);
        for certificate in self.certificates() {
            came.push_str(&format!("{certificate}\n"));
        }
        self.shown(version, what, &came)
    }

    fn shown(&self, version: &str, what: impl Into<String>, came: &str) -> Shortfall {
        let sent = format!("a ClientHello of TLS {version} to {}", self.endpoint.at());
        let came = Secrets::default().shown("", came.as_bytes());
        Shortfall::Broken(what.into(), ShownExchange { sent, came })
    }
}

async fn modern(found: &TlsServer) -> Verdict {
    match found.version {
        TlsVersion::V1_3 => Ok(()),
        TlsVersion::V1_2 => Err(found.wrong("only TLS 1.2 is spoken")),
    }
}

async fn older(found: &TlsServer) -> Verdict {
    let is_agtp = found.endpoint.is_agtp();
    match found.endpoint.shake_hands(TlsVersion::V1_2).await {
        Ok(handshake) if is_agtp => Err(found.shown("1.2", "TLS 1.2 is spoken", &handshake.cipher_suite)),
        Ok(_) => Ok(()),
        // Any other refusal than that of the version is of what was offered within it: all that is safe.
        Err(error @ HandshakeError::Alert(HANDSHAKE_FAILURE)) if !is_agtp => Err(found.shown(
            "1.2",
            "TLS 1.2 is spoken, but not with forward secrecy and authenticated encryption",
            &error.log_reason(),
        )),
        Err(HandshakeError::Alert(_) | HandshakeError::Closed) => Ok(()),
        Err(HandshakeError::Untold(error)) => {
            Err(Shortfall::skip(format!("TLS 1.2 could not be tried: {}", error.log_reason())))
        }
    }
}

async fn old(found: &TlsServer) -> Verdict {
    let TlsTarget { egress, host, port, patience, .. } = &*found.endpoint;
    let answer = timeout(*patience, hello::ask(egress, host, *port)).await;
    match answer.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
        Ok(HelloAnswer::Taken(bytes)) => Err(found.shown("1.1", "TLS 1.1 is spoken", &bytes)),
        Ok(HelloAnswer::Refused) => Ok(()),
        Err(why) => Err(Shortfall::skip(format!("TLS 1.1 could not be tried: {why}"))),
    }
}

async fn name(found: &TlsServer) -> Verdict {
    match found.faults().name {
        Some(fault) => Err(found.wrong(fault)),
        None => Ok(()),
    }
}

async fn valid(found: &TlsServer) -> Verdict {
    let (own, now) = (found.own()?, Timestamp::now());
    match (own.not_before, own.not_after) {
        (Some(from), _) if now < from => Err(found.wrong(format!("it is not valid before {from}"))),
        (_, Some(until)) if now > until => Err(found.wrong(format!("it has not been valid since {until}"))),
        (Some(_), Some(_)) => Ok(()),
        _ => Err(found.wrong("it can't be read")),
    }
}

async fn expiry(found: &TlsServer) -> Verdict {
    let (own, now) = (found.own()?, Timestamp::now());
    match own.not_after {
        // The check of its validity tells of one that has ended.
        Some(until) if now <= until && until.duration_since(now).unsigned_abs() < EXPIRY_WARNED => {
            Err(found.wrong(format!("it ends at {until}")))
        }
        _ => Ok(()),
    }
}

async fn chain(found: &TlsServer) -> Verdict {
    match found.faults().chain {
        Some(_) if found.endpoint.is_insecure => {
            Err(Shortfall::skip("--insecure takes every certificate, whoever signed it"))
        }
        Some(fault) => Err(found.wrong(fault)),
        None => Ok(()),
    }
}

impl TlsServer {
    /// What is wrong with the certificates, at the time nearest to now at which the server's own is valid: whether it is
    /// valid now is told by the check of that, and of those that signed it by this.
    fn faults(&self) -> forecourt_egress::CertificateFaults {
        let TlsTarget { egress, host, .. } = &*self.endpoint;
        let (mut at, own) = (Timestamp::now(), self.certificates().into_iter().next().unwrap_or_default());
        at = own.not_after.map_or(at, |until| at.min(until));
        at = own.not_before.map_or(at, |from| at.max(from));
        egress.judge_certificates(host, &self.handshake.certificates, at.into())
    }
}
