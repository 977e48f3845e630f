//! What an outgoing request is for. Each purpose has its own rules.

use std::time::Duration;

use crate::config::EgressConfig;
use crate::limits;
use crate::target::CheckedUrl;

/// What an outgoing request is for, which decides its rules. Security sheet, section 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A file that a caller referred to. https, or http where that is open; at most
    /// [`limits::ATTACHMENT_REDIRECTS_MAX`] redirects; never this host. Mentionable REST 3.3.
    Attachment,
    /// A registered webhook. No redirects; never this host, whatever the port. Mentionable REST 5.5.
    Webhook,
    /// The callback of one request. No redirects; never this very server. It may share our host name
    /// on another port, since callers on our host must use it. Mentionable REST 5.4.
    Callback,
    /// A card, a key set or another document of [`limits::DOCUMENT_BYTES_MAX`]. https only.
    Document,
    /// A WebFinger lookup: a [`Purpose::Document`] with one redirect.
    WebFinger,
    /// A page or a sitemap of a site that the operator named, whose links are not the operator's: guarded
    /// like a document, though it may be plain where that is open. No redirects, which are for the reader
    /// to judge. At most [`limits::PAGE_BYTES_MAX`].
    Crawl,
    /// A remote agent whose URL came from its card: guarded like a webhook, streaming, as long as
    /// an agent may take.
    RemoteAgent,
    /// An actor, or the inbox of one, of another server: guarded like a document, though it may be plain within opened
    /// networks; never this very server. No redirects, which a signature would not cover. ActivityPub 3.2, 7.
    Federation,
    /// A backend whose URL the operator wrote down: any address, port and scheme.
    Upstream,
    /// The provider at which people sign in: guarded like a document, though it may be plain within opened
    /// networks. OpenID Connect Core.
    SignIn,
    /// A service that the operator wrapped as an endpoint: any address and port over https; plain http
    /// only within opened networks, where that is open. AGTP-API 12.3.
    Service,
    /// The certificate authority that signs our certificates, whose directory the operator chose: any address and
    /// port, over https alone. RFC 8555 6.1.
    CertificateAuthority,
    /// A platform that agents are mentioned on, such as a chat, with the credentials of its connector: any address and
    /// port over https; plain http only within opened networks, where that is open. Files of its messages too.
    Platform,
    /// The collector of traces, metrics and logs that the operator named: any address, port and scheme. It is
    /// no part of any trace.
    Telemetry,
}

/// How long an exchange and its steps may take, and how much it may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the connection stands, TLS included.
    pub connect: Duration,
    /// From then to the head of the answer.
    pub first_byte: Duration,
    /// From the beginning to the last byte.
    pub total: Duration,
    /// Bytes of the answer.
    pub body_bytes_max: usize,
}

impl Purpose {
    /// Bytes of a URL. What an operator wrapped is filled in from inputs, within the bound of its handler.
    pub(crate) fn url_bytes_max(self) -> usize {
        match self {
            Self::Service => limits::SERVICE_URL_BYTES_MAX,
            _ => limits::URL_BYTES_MAX,
        }
    }

    /// The purpose as a metric label and span attribute.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attachment => "attachment",
            Self::Webhook => "webhook",
            Self::Callback => "callback",
            Self::Document => "document",
            Self::WebFinger => "webfinger",
            Self::Crawl => "crawl",
            Self::RemoteAgent => "remote_agent",
            Self::Federation => "federation",
            Self::Upstream => "upstream",
            Self::SignIn => "sign_in",
            Self::Service => "service",
            Self::Telemetry => "telemetry",
            Self::Platform => "platform",
            Self::CertificateAuthority => "certificate_authority",
        }
    }

    /// Whether a URL of this kind comes from the operator, so that no address is refused.
    pub(crate) fn is_trusted(self, target: &CheckedUrl) -> bool {
        match self {
            Self::Upstream | Self::Telemetry => true,
            // Operators' URLs too, but with credentials in them: in plain text only within networks that were opened.
            Self::Service | Self::Platform | Self::CertificateAuthority => target.is_https(),
            Self::Attachment
            | Self::Webhook
            | Self::Callback
            | Self::Document
            | Self::WebFinger
            | Self::Crawl
            | Self::SignIn
            | Self::Federation
            | Self::RemoteAgent => false,
        }
    }

    /// Whether plain http is possible at all, if the operator opened it.
    pub(crate) fn may_be_plain(self) -> bool {
        !matches!(self, Self::Document | Self::WebFinger | Self::CertificateAuthority)
    }

    pub(crate) fn redirects_max(self) -> usize {
        match self {
            Self::Attachment => limits::ATTACHMENT_REDIRECTS_MAX,
            Self::WebFinger => limits::WEBFINGER_REDIRECTS_MAX,
            Self::Webhook
            | Self::Callback
            | Self::Document
            | Self::Crawl
            | Self::SignIn
            | Self::Federation
            | Self::RemoteAgent
            | Self::Upstream
            | Self::CertificateAuthority
            | Self::Telemetry
            | Self::Platform
            | Self::Service => 0,
        }
    }

    /// The `Accept` of a GET that does not bring its own.
    pub(crate) fn accept(self) -> &'static str {
        match self {
            Self::WebFinger => "application/jrd+json, application/json;q=0.9",
            Self::Document | Self::SignIn => "application/json, */*;q=0.1",
            Self::Crawl => "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
            Self::Service => "application/json",
            Self::Federation => "application/activity+json, application/ld+json",
            Self::Attachment
            | Self::Webhook
            | Self::Callback
            | Self::RemoteAgent
            | Self::Upstream
            | Self::CertificateAuthority
            | Self::Platform
            | Self::Telemetry => "*/*",
        }
    }

    /// The bounds of this purpose under `config`.
    pub fn deadlines(self, config: &EgressConfig) -> Deadlines {
        let seconds = |n: std::num::NonZeroU32| Duration::from_secs(n.get().into());
        let base = Deadlines {
            connect: seconds(config.connect_seconds),
            first_byte: seconds(config.first_byte_seconds),
            total: seconds(config.total_seconds),
            body_bytes_max: limits::DOCUMENT_BYTES_MAX,
        };
        match self {
            Self::Document
            | Self::WebFinger
            | Self::SignIn
            | Self::Federation
            | Self::CertificateAuthority
            | Self::Telemetry => base,
            Self::Crawl => Deadlines { body_bytes_max: limits::PAGE_BYTES_MAX, ..base },
            Self::Attachment => Deadlines { body_bytes_max: config.attachment_bytes.get(), ..base },
            Self::Platform => Deadlines { body_bytes_max: limits::PLATFORM_BYTES_MAX, ..base },
            Self::Webhook | Self::Callback => Deadlines { body_bytes_max: limits::RECEIPT_BYTES_MAX, ..base },
            Self::RemoteAgent | Self::Upstream | Self::Service => Deadlines {
                first_byte: limits::ANSWER_TIME_MAX,
                total: limits::ANSWER_TIME_MAX,
                body_bytes_max: limits::ANSWER_BYTES_MAX,
                ..base
            },
        }
    }
}
