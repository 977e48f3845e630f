//! E-mail: agents are asked at `handle@domain`, and answer by mail. PolicyPart 4.4.
//!
//! | file | holds |
//! |---|---|
//! | `lmtp.rs`, `lmtp/` | how the mail server hands mail over: bytes to messages, replies, one connection |
//! | `inbound.rs`, `quote.rs` | a message as it came, and what a person wrote in it |
//! | `alignment.rs`, `sender.rs` | DKIM and DMARC: who is proven to have written |
//! | `service.rs` | messages to the host, and what the mail server is told |
//! | `address.rs`, `compose.rs`, `signer.rs` | an answer as a signed message |
//! | `courier.rs`, `submission.rs` | what is due by mail, handed to the submission server |
//! | `section.rs` | the section `[email]` |
//!
//! A message becomes a task, and its answer a delivery of that task (`correspondence`). Nothing is ever sent to an
//! address that was not proven, unless the operator says so.

mod address;
mod alignment;
mod compose;
mod courier;
mod inbound;
pub mod limits;
pub mod lmtp;
mod mailbox;
mod quote;
pub mod section;
mod sender;
mod service;
mod signer;
mod submission;

use std::net::SocketAddr;
use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Domain, Endpoint, Handle};
use forecourt_correspondence::{LetterCourier, OpenDesk};
use forecourt_egress::Egress;
use forecourt_host::Courier;
use forecourt_server::{Connection, Speak, StreamRequests};
use forecourt_settings::{Problems, Section};
use forecourt_surface::{Listen, Mount, Protocol, Surface, Wire};

use address::MailAddress;
use alignment::Authenticator;
use courier::MailCarrier;
use lmtp::{Bounds, Envelope, Mailroom, SmtpReply, speak};
pub use quote::own_words;
use section::{EmailSettings, LISTENER, SmtpSettings};
use service::Service;
use signer::Signature;
use submission::Submission;

/// The protocol's name: its section, its endpoints, its messages, its deliveries in metrics.
pub(crate) const NAME: &str = "email";

/// E-mail, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents by mail: questions by LMTP from the mail server of the domain, answers by SMTP, signed with DKIM",
    schema: || schemars::schema_for!(EmailSettings),
    sockets: section::SOCKETS,
    moved: &[],
    ask: None,
    open: |section| Ok(Box::new(EmailWire::open(section)?)),
    spelling: service::spelling,
};

/// E-mail with the settings of one deployment.
struct EmailWire {
    settings: EmailSettings,
    /// User and password for the submission server.
    login: Option<(String, String)>,
    /// Where problems stand that are found later.
    section: Section,
    /// Shared with the courier, which is there before anything is mounted.
    desk: OpenDesk<MailAddress>,
}

impl EmailWire {
    fn open(section: Section) -> Result<Self, Problems> {
        let settings = EmailSettings::read(&section)?;
        let login = settings.smtp.as_ref().map(|smtp| login(smtp, &section)).transpose()?.flatten();
        Ok(Self { settings, login, section, desk: Arc::default() })
    }

    fn signature(&self, domain: &Domain) -> Result<Option<Signature>, Problems> {
        let Some(dkim) = &self.settings.dkim else { return Ok(None) };
        let file = self.section.resolve_path(&dkim.key_file);
        let signature = Signature::open(&file, &dkim.selector, domain.as_str());
        Ok(Some(signature.map_err(|words| self.section.problem(Some("dkim"), words))?))
    }
}

/// Who signs in to the submission server.
fn login(smtp: &SmtpSettings, section: &Section) -> Result<Option<(String, String)>, Problems> {
    let Some(user) = smtp.user.clone() else { return Ok(None) };
    let password = match (&smtp.password, &smtp.password_file) {
        (Some(password), _) => password.clone(),
        (None, Some(file)) => {
            let file = section.resolve_path(file);
            let wrong = |error| section.problem(Some("smtp"), format!("{}: {error}", file.display()));
            // Editors end a file with a line end, which is no part of a password.
            std::fs::read_to_string(&file).map_err(wrong)?.trim_end_matches(['\r', '\n']).to_owned()
        }
        (None, None) => return Ok(None),
    };
    Ok(Some((user, password)))
}

impl Wire for EmailWire {
    fn listens(&self) -> Vec<Listen> {
        self.settings.listens()
    }

    fn bound(&mut self, _name: &str, address: SocketAddr) {
        self.settings.listen = Some(address);
    }

    /// The mailbox of an agent as a `mailto:` URL, where mail is taken. WebFinger 2.3, link 4.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let url = format!("mailto:{}@{}", card.handle(), site.domain);
        self.settings.listen.map(|_| Endpoint::new(NAME, url)).into_iter().collect()
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        if self.settings.listen.is_none() {
            return Ok(Vec::new());
        }
        self.notices().iter().for_each(|notice| tracing::warn!("{notice}"));
        // What is wrong with the key is said here; the courier has none then.
        self.signature(&mount.host.site().domain)?;
        let wrong = |words| self.section.problem(Some("resolver"), format!("no DNS server can be asked: {words}"));
        let authenticator = Authenticator::new(self.settings.resolver).map_err(wrong)?;
        let service = Service::new(mount, self.settings.clone(), Arc::new(authenticator));
        let _ = self.desk.set(Arc::clone(&service.desk));
        Ok(vec![Surface::Stream { listen: LISTENER, speak: on_connections(service) }])
    }

    fn courier(&self, egress: Arc<Egress>, site: &Site) -> Option<Arc<dyn Courier>> {
        let smtp = self.settings.smtp.as_ref()?;
        let submission = Submission {
            egress,
            host: smtp.host.clone(),
            port: smtp.port(),
            security: smtp.tls,
            login: self.login.clone(),
            domain: site.domain.to_string(),
        };
        let signature = self.signature(&site.domain).ok().flatten().map(Arc::new);
        let carrier = MailCarrier { submission, signature, html: self.settings.html };
        Some(Arc::new(LetterCourier { desk: self.desk.clone(), carrier }))
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.settings.listen.is_some() && self.settings.dkim.is_none() {
            notices.push("[email] has no `dkim` key: refusals by mail hold no links for consent or payment".to_owned());
        }
        if self.settings.listen.is_some() && !self.settings.require_aligned {
            notices.push("[email] answers senders that were not proven: answers can go to forged addresses".to_owned());
        }
        notices
    }
}

/// Speaks LMTP on connections, with the service of the moment for each message.
fn on_connections(service: Arc<Service>) -> Speak {
    Arc::new(move |connection: Connection| {
        let room = Room { service: service.clone(), requests: connection.requests };
        let (stream, stop) = (connection.stream, connection.stop);
        Box::pin(async move {
            let settings = &room.service.settings;
            let (message_bytes_max, recipients_max) = (settings.message_bytes.get(), settings.recipients.get());
            let bounds = Bounds { message_bytes_max, recipients_max };
            let domain = room.service.domain().to_owned();
            speak(stream, &room, &domain, bounds, stop).await;
        })
    })
}

/// The agents of a connection.
struct Room {
    service: Arc<Service>,
    /// Names and counts the messages.
    requests: StreamRequests,
}

impl Room {
    fn service(&self) -> Arc<Service> {
        // The deployment may have been replaced since this connection was opened.
        self.service.current.load().unwrap_or_else(|| self.service.clone())
    }
}

impl Mailroom for Room {
    fn agent(&self, address: &str) -> Result<Handle, SmtpReply> {
        self.service().agent(address)
    }

    async fn take(&self, envelope: Envelope, message: Vec<u8>) -> Vec<SmtpReply> {
        let counted = self.requests.begin("message");
        let service = self.service();
        let replies = counted.carry(service.take(&envelope, &message)).await;
        counted.answered(replies.iter().map(|reply| reply.code).max().unwrap_or(250), 0);
        replies
    }
}
