//! The `[email]` section of `forecourt.toml`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use forecourt_settings::{Problems, Section};
use forecourt_surface::{Carries, Listen, Socket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{MESSAGE_BYTES_CEILING, MESSAGE_BYTES_MAX, MESSAGES_PER_SENDER_PER_HOUR, RECIPIENTS_MAX};

/// The name of the LMTP listener.
pub(crate) const LISTENER: &str = "email";
/// Where the section says that it is.
pub(crate) const SOCKETS: &[Socket] =
    &[Socket { name: LISTENER, key: "listen", help: "Mail by LMTP on this address; loopback only" }];

/// How agents are asked by mail, at `handle@domain`. Off without `listen`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmailSettings {
    /// Where the mail server of this domain hands mail over by LMTP: a loopback address such as
    /// `127.0.0.1:2424`. Default: nowhere.
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// Whether mail is taken only from senders whose DKIM signature is aligned with their address. `false` answers
    /// whoever writes, also to an address that somebody else made up. Default: true.
    pub require_aligned: bool,
    /// Where answers are handed over. Needed with `listen`.
    pub smtp: Option<SmtpSettings>,
    /// What signs answers. Without it they hold no links that ask for consent or payment.
    pub dkim: Option<DkimSettings>,
    /// The DNS server that is asked for keys, such as `127.0.0.1:53`. Default: those of the system.
    #[schemars(with = "Option<String>")]
    pub resolver: Option<SocketAddr>,
    /// Whether answers have an HTML part beside the text. Default: true.
    pub html: bool,
    /// Bytes of a message; larger ones are refused. At most 16777216. Default: 1048576.
    pub message_bytes: NonZeroUsize,
    /// Recipients of one message. Default: 20.
    pub recipients: NonZeroUsize,
    /// Messages of one sender within an hour; further ones have to wait. Default: 60.
    pub messages_per_sender_per_hour: NonZeroU32,
}

impl Default for EmailSettings {
    fn default() -> Self {
        let count = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        Self {
            listen: None,
            require_aligned: true,
            smtp: None,
            dkim: None,
            resolver: None,
            html: true,
            message_bytes: count(MESSAGE_BYTES_MAX),
            recipients: count(RECIPIENTS_MAX),
            messages_per_sender_per_hour: NonZeroU32::new(MESSAGES_PER_SENDER_PER_HOUR).unwrap_or(NonZeroU32::MIN),
        }
    }
}

/// Never prints a password.
impl std::fmt::Debug for EmailSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmailSettings").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// The server that answers are handed over to, by SMTP submission.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmtpSettings {
    /// Its name, or an address.
    pub host: String,
    /// Its port. Default: 465 with `tls = "implicit"`, else 587.
    pub port: Option<u16>,
    /// How the connection is protected: `starttls`, `implicit`, or `none`, which is for this machine and never
    /// sends a password elsewhere. Default: `starttls`.
    #[serde(default)]
    pub tls: SmtpTls,
    /// Who signs in. Default: nobody does.
    pub user: Option<String>,
    /// The password: best as `"${VARIABLE}"`.
    pub password: Option<String>,
    /// A file with the password, relative to this one.
    #[schemars(with = "Option<String>")]
    pub password_file: Option<PathBuf>,
}

/// How the connection to the submission server is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SmtpTls {
    /// TLS begins with a command, and nothing is said before it. RFC 3207.
    #[default]
    Starttls,
    /// TLS from the first byte. RFC 8314.
    Implicit,
    /// None.
    None,
}

/// What signs answers. RFC 6376.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DkimSettings {
    /// The name of the key in DNS, at `SELECTOR._domainkey.DOMAIN`.
    pub selector: String,
    /// The private key: a PEM file of PKCS #8, RSA or Ed25519, relative to this one.
    #[schemars(with = "String")]
    pub key_file: PathBuf,
}

impl EmailSettings {
    /// Reads the section.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        let mut wrong = |key, words: &str| problems.push(section.problem(Some(key), words));
        if settings.listen.is_some_and(|address| !address.ip().is_loopback()) {
            wrong("listen", "`listen` must be a loopback address, such as 127.0.0.1:2424: LMTP knows no sign-in");
        }
        if settings.listen.is_some() && settings.smtp.is_none() {
            wrong("listen", "`listen` needs [email.smtp]: without it no mail can be answered");
        }
        if settings.message_bytes.get() > MESSAGE_BYTES_CEILING {
            wrong("message_bytes", &format!("`message_bytes` can be at most {MESSAGE_BYTES_CEILING}"));
        }
        if let Some(smtp) = &settings.smtp {
            smtp.check(&mut |words| wrong("smtp", words));
        }
        let is_selector = |text: &str| {
            (1..=63).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        if settings.dkim.as_ref().is_some_and(|dkim| !is_selector(&dkim.selector)) {
            wrong("dkim", "`selector` must be a DNS name of letters, digits, dots and hyphens");
        }
        problems.into_result(settings)
    }

    /// The socket that the section asks for.
    pub(crate) fn listens(&self) -> Vec<Listen> {
        vec![Listen { name: LISTENER, address: self.listen, may_move: false, carries: Carries::Plain }]
    }
}

impl SmtpSettings {
    /// The port of the submission server: 465 with implicit TLS, else 587, unless the settings name one.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(match self.tls {
            SmtpTls::Implicit => 465,
            SmtpTls::Starttls | SmtpTls::None => 587,
        })
    }

    fn check(&self, wrong: &mut impl FnMut(&str)) {
        if self.password.is_some() && self.password_file.is_some() {
            wrong("[email.smtp] has `password` and `password_file`: leave one out");
        }
        if self.user.is_some() != (self.password.is_some() || self.password_file.is_some()) {
            wrong("[email.smtp] needs both `user` and a password, or neither");
        }
        let is_here =
            self.host == "localhost" || self.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if self.tls == SmtpTls::None && self.user.is_some() && !is_here {
            wrong("[email.smtp] with `tls = \"none\"` would send the password in the clear: use `starttls`");
        }
        if self.user.as_deref().is_some_and(|user| user.contains('\0')) {
            wrong("`user` of [email.smtp] holds NUL");
        }
    }
}
