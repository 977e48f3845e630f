//! The host at the other end of a pipe: for desktop clients, which start programs.

use std::sync::Arc;

use forecourt_settings::{Problems, Section};
use forecourt_surface::Mount;
use futures::future::BoxFuture;
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::offer::{Offer, OfferSource};
use crate::section::McpSettings;
use crate::server::Server;

/// What a client says, wherever it comes from.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
/// Where what it is told goes.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The host of a mount, for one client.
pub struct StdioServer {
    server: Server,
}

impl StdioServer {
    /// Reads `section`. Fails with everything that is wrong there.
    pub fn new(mount: &Mount, section: &Section) -> Result<Self, Problems> {
        Offer::new(mount, McpSettings::read(section)?, section, &[]).map(Arc::new).map(Self::of)
    }

    /// A server of what is on offer.
    pub(crate) fn of(offer: Arc<Offer>) -> Self {
        Self { server: Server::local(OfferSource::new(offer, None)) }
    }

    /// Talks to the client: one message of JSON-RPC a line and nothing else, until `input` ends.
    pub fn serve<R, W>(self, input: R, output: W) -> BoxFuture<'static, ()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Box::pin(self.talk(Box::new(input), Box::new(output)))
    }

    async fn talk(self, input: Input, output: Output) {
        match self.server.serve((input, output)).await {
            Ok(running) => drop(running.waiting().await),
            // A client that leaves before it says what it speaks has done no harm.
            Err(error) => tracing::info!(%error, "a client left before it began"),
        }
    }
}
