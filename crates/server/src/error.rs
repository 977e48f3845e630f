//! Why a listener could not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a listener could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Plain HTTP would leave this machine. Mentionable REST 8.1.
    #[error("{0} is not a loopback address: plain HTTP is spoken on loopback only, use TLS there")]
    PlainOffLoopback(SocketAddr),
    /// The address is taken, not ours, or not allowed.
    #[error("can't listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The certificate can't be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Why a certificate can't be used or made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds something else than it should.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it; never its content.
        reason: String,
    },
    /// A certificate could not be made for these names.
    #[error("no certificate can be made: {0}")]
    Making(String),
    /// The TLS library refuses the configuration.
    #[error("TLS can't be set up: {0}")]
    Setup(String),
}
