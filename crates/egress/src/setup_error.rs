//! Why there can be no client.

use std::path::PathBuf;

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A file of certificates can't be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no usable certificate.
    #[error("{source_name} holds no usable PEM certificate")]
    Certificates {
        /// Where it was looked for.
        source_name: String,
    },
    /// A host name of our own is none.
    #[error("`{0}` is not a host with an optional port")]
    OwnHost(String),
    /// TLS can't be set up.
    #[error("TLS can't be set up: {0}")]
    Tls(String),
}
