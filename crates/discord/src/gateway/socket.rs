//! A connection of the gateway: a WebSocket on a connection that `egress` opened and checked.

use forecourt_connectors::{Outcome, PlatformError};
use forecourt_core::json;
use forecourt_egress::{Connection, Egress, Purpose};
use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use url::Url;

use super::session::Frame;
use crate::api::Api;
use crate::limits::{FRAME_BYTES_MAX, GREETING_WAIT, WRITE_WAIT};

/// The version and the form of what is spoken.
const QUERY: &str = "v=10&encoding=json";
/// Where `wss` listens.
const TLS_PORT: u16 = 443;

/// An open connection.
pub(super) struct Socket(WebSocketStream<Connection>);

/// What was heard.
pub(super) enum SocketEvent {
    Frame(Frame),
    /// Nothing more is. With the code, where Discord said one.
    Closed(Option<u16>),
    /// Nothing more is, since a message has more than [`FRAME_BYTES_MAX`].
    TooLarge,
}

impl Socket {
    /// Opens a connection to an address of Discord's, and to no other: the token goes there.
    pub(super) async fn open(api: &Api, egress: &Egress, address: &str) -> Outcome<Self> {
        let failed = |words: String| PlatformError::Failed(format!("gateway: {words}"));
        let mut url = Url::parse(address).map_err(|_| failed("its address can't be read".to_owned()))?;
        if !api.is_gateway(&url) {
            return Err(failed("its address is not one of Discord's".to_owned()));
        }
        url.set_query(Some(QUERY));
        let host = url.host_str().unwrap_or_default().to_owned();
        let port = url.port_or_known_default().unwrap_or(TLS_PORT);
        let connection = match url.scheme() {
            "wss" => {
                let tls = egress.tls_without_alpn(TLS_PORT).map_err(|error| failed(error.to_string()))?;
                egress.connect_tls(Purpose::Platform, &host, port, &tls).await
            }
            _ => egress.connect(Purpose::Platform, &host, port).await,
        };
        let mut connection = connection.map_err(|error| failed(error.log_reason()))?;
        // It stands for hours, and is no request that others wait behind.
        connection.rest();
        let config = WebSocketConfig::default()
            .read_buffer_size(16 * 1024)
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let opening = client_async_with_config(url.as_str(), connection, Some(config));
        match timeout(GREETING_WAIT, opening).await {
            Ok(Ok((stream, _))) => Ok(Self(stream)),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed("it did not answer".to_owned())),
        }
    }

    /// Waits for what comes next. Nothing is lost where nobody waits any more.
    pub(super) async fn hear(&mut self) -> SocketEvent {
        loop {
            let text = match self.0.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(frame))) => return SocketEvent::Closed(frame.map(|frame| frame.code.into())),
                // Answered by themselves.
                Some(Ok(_)) => continue,
                Some(Err(Error::Capacity(error))) => {
                    tracing::warn!(%error, "a message of Discord is too large");
                    return SocketEvent::TooLarge;
                }
                Some(Err(error)) => {
                    tracing::info!(%error, "a connection to Discord broke off");
                    return SocketEvent::Closed(None);
                }
                None => return SocketEvent::Closed(None),
            };
            if let Some(frame) = json::parse(text.as_bytes()).ok().and_then(|value| Frame::deserialize(value).ok()) {
                return SocketEvent::Frame(frame);
            }
            // It would come again each time that the session goes on, and nothing behind it ever.
            tracing::warn!("a message of Discord can't be read, and is passed over");
        }
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, value: &Value) -> Outcome<()> {
        match timeout(WRITE_WAIT, self.0.send(Message::text(value.to_string()))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PlatformError::Failed(format!("gateway: {error}"))),
            Err(_) => Err(PlatformError::Failed("gateway: it takes nothing".to_owned())),
        }
    }

    /// Says that it ends, with a code.
    pub(super) async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let _ = timeout(WRITE_WAIT, self.0.close(Some(frame))).await;
    }
}
