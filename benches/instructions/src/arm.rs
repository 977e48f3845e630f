//! The paths that are counted, and what each is compared with.

mod agtp;
mod http;

use std::net::SocketAddr;

use clap::ValueEnum;

/// A path through a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arm {
    /// `GET` of markdown at an axum handler that negotiates.
    RestAxum,
    /// The same at ours.
    Rest,
    /// `SendMessage` at an axum handler that reads and writes structs.
    A2aAxum,
    /// The same at ours.
    A2a,
    /// `tools/call` of an agent, as a client of 2026-07-28 makes it.
    Mcp,
    /// `tools/call` of a server elsewhere, at a bare proxy before it.
    ServerProxy,
    /// The same through our gateway.
    Server,
    /// `QUERY` at a text server that answers the same bytes.
    AgtpText,
    /// The same at ours, without TLS.
    Agtp,
}

/// What a served path is asked.
pub(crate) struct Question {
    /// Where.
    pub(crate) address: SocketAddr,
    /// All bytes of it.
    pub(crate) request: String,
    /// What the answer holds.
    pub(crate) expects: String,
}

/// What is said, and repeated by every answer.
const WORDS: &str = "hello from the other side";

impl Arm {
    /// Every path.
    pub(crate) fn all() -> Vec<Arm> {
        Self::value_variants().to_vec()
    }

    /// Its name on the command line and in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RestAxum => "rest-axum",
            Self::Rest => "rest",
            Self::A2aAxum => "a2a-axum",
            Self::A2a => "a2a",
            Self::Mcp => "mcp",
            Self::ServerProxy => "server-proxy",
            Self::Server => "server",
            Self::AgtpText => "agtp-text",
            Self::Agtp => "agtp",
        }
    }

    /// What it is compared with.
    pub(crate) fn baseline(self) -> Option<Arm> {
        match self {
            Self::Rest => Some(Self::RestAxum),
            Self::A2a => Some(Self::A2aAxum),
            Self::Mcp => Some(Self::A2a),
            Self::Server => Some(Self::ServerProxy),
            Self::Agtp => Some(Self::AgtpText),
            Self::RestAxum | Self::A2aAxum | Self::ServerProxy | Self::AgtpText => None,
        }
    }

    /// Serves it on this thread's runtime.
    pub(crate) async fn serve(self) -> anyhow::Result<Question> {
        match self {
            Self::RestAxum => http::axum(bench_baseline::rest::router(), http::rest).await,
            Self::Rest => http::ours(&forecourt_mentionable::PROTOCOL, "/{agent}", None, http::rest).await,
            Self::A2aAxum => http::axum(bench_baseline::a2a::router(0), http::a2a).await,
            Self::A2a => http::ours(&forecourt_a2a::PROTOCOL, "/a2a/{agent}", None, http::a2a).await,
            Self::Mcp => http::ours(&forecourt_mcp::PROTOCOL, "/mcp/{agent}", None, http::mcp).await,
            Self::ServerProxy => http::proxy(http::elsewhere()?, http::server).await,
            Self::Server => {
                let server = http::elsewhere()?;
                http::ours(&forecourt_mcp::PROTOCOL, "/mcp/{agent}", Some(server), http::server).await
            }
            Self::AgtpText => agtp::text().await,
            Self::Agtp => agtp::ours().await,
        }
    }
}
