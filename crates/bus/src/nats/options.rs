//! Where the servers of the bus are, and who this node is to them.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{ConnectOptions, ServerAddr};

/// Messages of one subscription that may wait to be read; over it the server's are dropped and counted.
const UNREAD_MAX: usize = 65_536;
/// How often a server that says nothing is asked whether it is there; after two questions it is away.
const PING_EVERY: Duration = Duration::from_secs(2);
/// The longest wait between two attempts to connect.
const RECONNECT_WAIT_MAX: Duration = Duration::from_secs(2);
/// How long one attempt may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// Where the servers are, and who this node is to them.
#[derive(Clone)]
pub struct NatsOptions {
    /// `nats://` or `tls://` URLs of one or several servers, with commas in between; a name and a password, or a
    /// token, may stand before the host.
    pub url: String,
    /// What tells this deployment from others on the same servers: 1 to 64 of `a-z`, `0-9` and `-`.
    pub deployment: String,
    /// A file of credentials (`.creds`): a JWT with its seed.
    pub credentials: Option<PathBuf>,
    /// Authorities in PEM whose certificates are trusted, beside those of the system.
    pub ca: Option<PathBuf>,
    /// The certificate chain and the private key, in PEM, by which this node is known.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Never prints the URL, which may hold a password.
impl std::fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsOptions").field("deployment", &self.deployment).finish_non_exhaustive()
    }
}

/// Why there is no bus: something is wrong with its settings.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// It is no URL of a server.
    #[error("`{0}` is no URL of a NATS server: write nats://HOST:PORT or tls://HOST:PORT")]
    Url(String),
    /// A file can't be read.
    #[error("{}: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// The client refuses the settings.
    #[error("{0}")]
    Settings(String),
}

impl NatsOptions {
    /// The servers of the URL.
    ///
    /// # Errors
    /// One of them is none. Says so without a name or password.
    pub fn servers(&self) -> Result<Vec<ServerName>, BusError> {
        let read = |text: &str| match text.trim().parse::<ServerAddr>() {
            Ok(address) if !address.host().is_empty() => Ok(ServerName(address)),
            _ => Err(BusError::Url(without_secrets(text))),
        };
        self.url.split(',').map(read).collect()
    }

    pub(super) async fn connect_options(&self) -> Result<ConnectOptions, BusError> {
        let mut options = ConnectOptions::new()
            .name("forecourt")
            .client_capacity(256)
            // Listeners of this process are told without the server.
            .no_echo()
            .subscription_capacity(UNREAD_MAX)
            .ping_interval(PING_EVERY)
            .connection_timeout(CONNECT_TIME_MAX)
            .reconnect_delay_callback(|attempts| {
                let tenths = u64::try_from(attempts.min(20)).unwrap_or(20);
                Duration::from_millis(100 * tenths).min(RECONNECT_WAIT_MAX)
            })
            .retry_on_initial_connect();
        // The client takes nobody's name from a URL.
        options = match self.servers()?.iter().find_map(ServerName::login) {
            Some((token, None)) => options.token(token),
            Some((name, Some(password))) => options.user_and_password(name, password),
            None => options,
        };
        if let Some(file) = &self.credentials {
            let wrong = |error: std::io::Error| BusError::File { file: file.clone(), error: error.to_string() };
            options = options.credentials_file(file).await.map_err(wrong)?;
        }
        for file in self.ca.iter().chain(self.certificate.iter().flat_map(|(chain, key)| [chain, key])) {
            let wrong = |error: std::io::Error| BusError::File { file: file.clone(), error: error.to_string() };
            // The client reads them when it connects, and would only try again where one is missing.
            tokio::fs::metadata(file).await.map_err(wrong)?;
        }
        if let Some(ca) = &self.ca {
            // Whoever names an authority wants the server proven, whatever the URL says.
            options = options.add_root_certificates(ca.clone()).require_tls(true);
        }
        if let Some((chain, key)) = &self.certificate {
            options = options.add_client_certificate(chain.clone(), key.clone()).require_tls(true);
        }
        Ok(options)
    }
}

/// A server, shown without a name or password.
#[derive(Clone)]
pub struct ServerName(pub(super) ServerAddr);

impl ServerName {
    /// The name and the password before the host; a name alone is a token.
    fn login(&self) -> Option<(String, Option<String>)> {
        Some((decoded(self.0.username()?), self.0.password().map(decoded)))
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.0.tls_required() { "tls" } else { "nats" };
        write!(f, "{scheme}://{}:{}", self.0.host(), self.0.port())
    }
}

/// A part of a URL without its percent signs.
fn decoded(text: &str) -> String {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [byte, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|_| *byte == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(number.unwrap_or(*byte));
        rest = if number.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What of a URL may be shown.
fn without_secrets(text: &str) -> String {
    let text = text.trim();
    match (text.split_once("://"), text.rsplit_once('@')) {
        // Up to the last `@`, as a password may have one in it.
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        (_, None) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(url: &str) -> NatsOptions {
        NatsOptions { url: url.to_owned(), deployment: "d".to_owned(), credentials: None, ca: None, certificate: None }
    }

    #[test]
    fn a_url_is_read_and_never_told_with_its_password() {
        let names =
            |url: &str| options(url).servers().map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
        let both = names("nats://ann:s3cret@a:4222, tls://b").unwrap();
        assert_eq!(both, ["nats://a:4222", "tls://b:4222"]);
        for wrong in ["http://ann:s3cret@a", "nats://ann:s3cret@", "nats://ann:s3cret@a:x", ""] {
            let error = names(wrong).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        assert!(!format!("{:?}", options("nats://ann:s3cret@a")).contains("s3cret"));
        let login = |url: &str| options(url).servers().unwrap()[0].login();
        assert_eq!(login("nats://a%40b:p%25%2fq@a"), Some(("a@b".to_owned(), Some("p%/q".to_owned()))));
        assert_eq!(login("nats://t0ken@a"), Some(("t0ken".to_owned(), None)));
        assert_eq!((login("nats://a"), decoded("%4"), decoded("%zz%")), (None, "%4".to_owned(), "%zz%".to_owned()));
    }
}
