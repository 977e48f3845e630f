//! Why an outgoing request gave nothing: one text for the caller, the reason for our log.

use http::StatusCode;

/// Why an outgoing request gave nothing.
///
/// `Display` is for callers and is the same for all that happens on the network, so that nobody can
/// tell open ports from closed ones by asking us. [`EgressError::log_reason`] is for the operator.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// Our rules forbid it. No socket was opened to the target.
    #[error("that URL can't be reached from here")]
    Refused(Refusal),
    /// No connection could be made, so nothing of the request was sent. The text is for our log.
    #[error("that URL can't be reached from here")]
    Unconnected(String),
    /// The network, TLS or the server failed, or was too slow. The text is for our log.
    #[error("that URL can't be reached from here")]
    Failed(String),
    /// The server answered, but not with success.
    #[error("that URL can't be reached from here")]
    Status(StatusCode),
    /// More bytes than we take.
    #[error("that URL can't be reached from here")]
    TooLarge {
        /// How many bytes would have been fine.
        bytes_max: usize,
    },
    /// Too many outgoing requests at the moment; trying again later may work.
    #[error("too many outgoing requests at the moment, try again later")]
    Busy,
}

/// Which rule forbids a target. security sheet, section 6, steps 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is no URL that we would take.
    #[error("the URL {0}")]
    Text(&'static str),
    /// Neither https, nor http where the operator opened that.
    #[error("the scheme is not open for this purpose")]
    Scheme,
    /// Neither 443 nor a listed port.
    #[error("the port is not open")]
    Port,
    /// A name of a private network, or a single label.
    #[error("the name belongs to a private network")]
    PrivateName,
    /// A name or an address of this host itself.
    #[error("the target is this host itself")]
    OwnHost,
    /// At least one address is not public.
    #[error("an address of the target is not public")]
    PrivateAddress,
    /// The lookup gave nothing, too much or took too long.
    #[error("the name does not resolve")]
    Unresolved,
    /// One redirect too many, or one to somewhere we would not go.
    #[error("there are too many redirects")]
    Redirects,
}

impl EgressError {
    /// The kind as a metric label or a span attribute, out of a closed set of words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Unconnected(_) => "unconnected",
            Self::Failed(_) => "failed",
            Self::Status(_) => "status",
            Self::TooLarge { .. } => "too_large",
            Self::Busy => "busy",
        }
    }

    /// What really happened, for our own log. Never holds the URL, whose query may be a secret.
    pub fn log_reason(&self) -> String {
        match self {
            Self::Refused(refusal) => format!("refused: {refusal}"),
            Self::Unconnected(reason) | Self::Failed(reason) => format!("failed: {reason}"),
            Self::Status(status) => format!("the server answered {status}"),
            Self::TooLarge { bytes_max } => format!("the answer has more than {bytes_max} bytes"),
            Self::Busy => "too many outgoing requests at once".to_owned(),
        }
    }

    pub(crate) fn timed_out(what: &str) -> Self {
        Self::Failed(format!("{what} took too long"))
    }
}

impl From<Refusal> for EgressError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What went wrong below us, with every cause. The HTTP client writes no URL into its errors.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        chain = format!("{chain}: {inner}");
        cause = inner.source();
    }
    chain
}
