//! Whether the domain of an author vouches for a message: DKIM, with the alignment of DMARC. RFC 6376, RFC 7489;
//! PolicyPart 4.4.

use std::net::SocketAddr;
use std::time::Duration;

use forecourt_core::Timestamp;
use mail_auth::dmarc::verify::DmarcParameters;
use mail_auth::hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use mail_auth::{AuthenticatedMessage, DkimOutput, DkimResult, DmarcResult, MessageAuthenticator, SpfOutput};
use mail_parser::HeaderName;

use crate::inbound::{InboundMail, is_named};
use crate::limits::{CLOCK_SKEW_MAX, LOOKUP_WAIT, SIGNATURE_AGE_MAX, SIGNATURES_MAX};
use crate::mailbox::Mailbox;

/// Checks signatures against the keys in DNS.
pub(crate) struct Authenticator(MessageAuthenticator);

/// What signatures say about an author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// A domain that may speak for the author's signed the message.
    Aligned(Signer),
    /// None did. The reason is for the mail server.
    None(&'static str),
    /// DNS does not answer, so that nobody knows.
    Unknown,
}

/// The domain whose valid DKIM signature vouches for the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signer {
    /// The domain.
    pub(crate) domain: String,
    /// The name of its key.
    pub(crate) selector: String,
    /// Whether a DMARC policy of the author's domain said that this domain may speak for it.
    pub(crate) by_dmarc: bool,
    /// Whether it is the author's very domain.
    pub(crate) is_exact: bool,
    /// The fields that it signed.
    pub(crate) fields: Vec<String>,
    /// When, in seconds since 1970; 0 when it does not say.
    pub(crate) signed_at: u64,
}

impl Authenticator {
    /// One that asks `server`, or those of the system.
    ///
    /// # Errors
    /// The system names none.
    pub(crate) fn new(server: Option<SocketAddr>) -> Result<Self, String> {
        let (config, mut options) = match server {
            Some(server) => {
                let (mut udp, mut tcp) = (ConnectionConfig::udp(), ConnectionConfig::tcp());
                (udp.port, tcp.port) = (server.port(), server.port());
                let server = NameServerConfig::new(server.ip(), true, vec![udp, tcp]);
                (ResolverConfig::from_name_servers(vec![server]), ResolverOpts::default())
            }
            None => mail_auth::hickory_resolver::system_conf::read_system_conf().map_err(|error| error.to_string())?,
        };
        options.timeout = LOOKUP_WAIT;
        // One more behind the first.
        options.attempts = 1;
        MessageAuthenticator::new(config, options).map(Self).map_err(|error| error.to_string())
    }

    /// Checks the first signatures of a message by `author`.
    pub(crate) async fn check(&self, head: &mut AuthenticatedMessage<'_>, author: &Mailbox) -> Alignment {
        if !matches!(head.from.as_slice(), [from] if Mailbox::parse(from).as_ref() == Some(author)) {
            return Alignment::None("the message has another author");
        }
        // Each one costs lookups at a DNS server that the author of the message chose.
        head.dkim_headers.truncate(SIGNATURES_MAX);
        let head = &*head;
        let checked = self.0.verify_dkim(head).await;
        if checked.is_empty() {
            return Alignment::None("the message is not signed (DKIM)");
        }
        let mut is_unknown = false;
        for output in &checked {
            match output.result() {
                DkimResult::Pass => {}
                DkimResult::TempError(_) => {
                    // Another signature may still hold; only when none does is the message put off.
                    is_unknown = true;
                    continue;
                }
                _ => continue,
            }
            match self.aligned(head, output, author).await {
                Some(Alignment::Aligned(signer)) => return Alignment::Aligned(signer),
                Some(Alignment::Unknown) => is_unknown = true,
                _ => {}
            }
        }
        match is_unknown {
            true => Alignment::Unknown,
            false => Alignment::None("no valid DKIM signature is aligned with the author's domain"),
        }
    }

    /// Whether the domain of one valid signature may speak for the author's.
    async fn aligned(
        &self,
        head: &AuthenticatedMessage<'_>,
        output: &DkimOutput<'_>,
        author: &Mailbox,
    ) -> Option<Alignment> {
        // RFC 6376 5.4: a signature that does not cover From says nothing of the author.
        let signature = output.signature().filter(|it| is_named(&it.h, HeaderName::From))?;
        let is_exact = signature.d.trim_end_matches('.').eq_ignore_ascii_case(author.domain().as_str());
        // SPF asks which host sent the message, and here that is always the operator's own mail server.
        let spf = SpfOutput::default();
        let outputs = std::slice::from_ref(output);
        let dmarc = self.0.verify_dmarc(DmarcParameters::new(head, outputs, "", &spf)).await;
        let by_dmarc = match dmarc.dkim_result() {
            DmarcResult::Pass => true,
            DmarcResult::TempError(_) => return Some(Alignment::Unknown),
            // Without a policy nobody says which other domains belong to the author's.
            _ if is_exact && dmarc.dmarc_record().is_none() => false,
            _ => return None,
        };
        Some(Alignment::Aligned(Signer {
            domain: signature.d.clone(),
            selector: signature.s.clone(),
            by_dmarc,
            is_exact,
            fields: signature.h.clone(),
            signed_at: signature.t,
        }))
    }
}

impl Alignment {
    /// The same for the agent at `mailbox`: a signature proves who wrote a message, and not that it was written to
    /// this agent, or lately. Whoever has a signed message of somebody could send it again, to anybody.
    pub(crate) fn bound(&self, mail: &InboundMail, mailbox: &Mailbox, now: Timestamp) -> Self {
        let Self::Aligned(signer) = self else { return self.clone() };
        if !mail.readers.iter().any(|reader| reader.is_read_by(mailbox)) {
            return Self::None("the agent is not among the recipients that the message names (To, Cc)");
        }
        if !is_named(&signer.fields, HeaderName::To) && !is_named(&signer.fields, HeaderName::Cc) {
            return Self::None("the signature does not cover the recipients (To, Cc)");
        }
        let dated = is_named(&signer.fields, HeaderName::Date).then_some(mail.dated_at).flatten();
        let signed_at = i64::try_from(signer.signed_at).ok().filter(|at| *at > 0).or(dated);
        match signed_at.is_some_and(|at| is_fresh(at, now.as_second())) {
            true => self.clone(),
            false => Self::None("the signature is too old, or says not when it was made"),
        }
    }
}

fn is_fresh(at: i64, now: i64) -> bool {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    at <= now.saturating_add(seconds(CLOCK_SKEW_MAX)) && at >= now.saturating_sub(seconds(SIGNATURE_AGE_MAX))
}

#[cfg(test)]
mod tests;
