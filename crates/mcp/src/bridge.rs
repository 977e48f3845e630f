//! A server on HTTP at the other end of a pipe: for desktop clients that only start programs.

use forecourt_egress::{Egress, Purpose};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::client;

/// Carries messages between a client at `input` and `output` and the server at `url`, until the input
/// ends. Fails with what is wrong when the server can't be reached at all.
pub async fn bridge<R, W>(egress: Egress, url: &str, token: Option<&str>, input: R, output: W) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let value =
            HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| "the token can't be sent".to_owned())?;
        headers.insert(AUTHORIZATION, value);
    }
    let mut far = client::connection(egress, Purpose::Upstream, url, headers);
    let mut near = AsyncRwTransport::<RoleServer, _, _>::new_server(input, output);
    let mut waiting = Waiting::default();
    loop {
        tokio::select! {
            said = near.receive(), if !waiting.ending => match said {
                Some(message) => {
                    let id = match &message {
                        JsonRpcMessage::Request(request) => Some(request.id.clone()),
                        _ => None,
                    };
                    waiting.count += usize::from(id.is_some());
                    if let Err(error) = far.send(message).await {
                        let Some(id) = id else { continue };
                        waiting.count -= 1;
                        let words = format!("the server could not be asked: {error}");
                        let answer = ServerJsonRpcMessage::error(ErrorData::internal_error(words, None), Some(id));
                        near.send(answer).await.map_err(|error| error.to_string())?;
                    }
                }
                None => waiting.ending = true,
            },
            said = far.receive() => match said {
                Some(message) => {
                    let answers = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
                    waiting.count = waiting.count.saturating_sub(usize::from(answers));
                    near.send(message).await.map_err(|error| error.to_string())?;
                }
                None => return Err("the server closed the connection, or could not be reached".to_owned()),
            },
        }
        if waiting.ending && waiting.count == 0 {
            let _ = far.close().await;
            return Ok(());
        }
    }
}

/// Requests without an answer yet.
#[derive(Default)]
struct Waiting {
    count: usize,
    /// Whether the input has ended.
    ending: bool,
}
