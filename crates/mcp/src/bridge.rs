//! A server on HTTP at the other end of a pipe: for desktop clients that only start programs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_egress::Egress;
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::client::{self, Out};
use crate::stdio::{Input, Output};

/// How long taking leave of the server may take.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(2);

/// Carries messages between a client at `input` and `output` and the server at `url`, until the input
/// ends. Fails with what is wrong when the server can't be reached at all.
pub fn bridge<'a, R, W>(
    egress: Egress,
    url: &'a str,
    token: Option<&'a str>,
    input: R,
    output: W,
) -> BoxFuture<'a, Result<(), String>>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    Box::pin(carry(egress, url, token, Box::new(input), Box::new(output)))
}

async fn carry(egress: Egress, url: &str, token: Option<&str>, input: Input, output: Output) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let value =
            HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| "the token can't be sent".to_owned())?;
        headers.insert(AUTHORIZATION, value);
    }
    // The client at the pipe hears what the server tells without being asked, such as that its lists have changed.
    let mut far = client::listening_connection(Out::noted(egress, headers, Arc::default()), url);
    let mut near = AsyncRwTransport::<RoleServer, _, _>::new_server(input, output);
    let mut open = Open::default();
    loop {
        tokio::select! {
            // A pipe that has ended gives `None` again and again, and would keep this loop busy.
            said = near.receive(), if !open.has_ended => match said {
                Some(message) => {
                    let id = open.track(&message);
                    if let Err(error) = far.send(message).await {
                        let Some(id) = id else { continue };
                        open.waiting.remove(&id);
                        let words = format!("the server could not be asked: {error}");
                        let answer = ServerJsonRpcMessage::error(ErrorData::internal_error(words, None), Some(id));
                        near.send(answer).await.map_err(|error| error.to_string())?;
                    }
                }
                None => open.has_ended = true,
            },
            said = far.receive() => match said {
                // Nobody is there any more to answer it, and what waits for the answer would wait on.
                Some(JsonRpcMessage::Request(request)) if open.has_ended => {
                    let gone = ErrorData::internal_error("the client has left", None);
                    let answer = ClientJsonRpcMessage::error(gone, Some(request.id));
                    far.send(answer).await.map_err(|error| error.to_string())?;
                }
                Some(message) => {
                    open.heard(&message);
                    near.send(message).await.map_err(|error| error.to_string())?;
                }
                None => return Err("the server closed the connection, or could not be reached".to_owned()),
            },
        }
        if open.has_ended && open.waiting.is_empty() {
            if open.has_begun {
                // The session there ends by itself when nobody takes leave of it.
                let _ = timeout(LEAVE_TIME_MAX, far.close()).await;
            }
            return Ok(());
        }
    }
}

/// What is going on between both ends.
#[derive(Default)]
struct Open {
    /// Requests without an answer yet.
    waiting: HashSet<RequestId>,
    /// Whether anything was said to the server: before that there is nothing to end.
    has_begun: bool,
    /// Whether the input has ended.
    has_ended: bool,
}

impl Open {
    /// Notes a message of the client; gives the id of a request.
    fn track(&mut self, message: &ClientJsonRpcMessage) -> Option<RequestId> {
        self.has_begun = true;
        match message {
            JsonRpcMessage::Request(request) => {
                self.waiting.insert(request.id.clone());
                return Some(request.id.clone());
            }
            // What was given up may never be answered.
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(given_up) = &told.notification
                    && let Some(id) = &given_up.params.request_id
                {
                    self.waiting.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        None
    }

    /// Notes a message of the server.
    fn heard(&mut self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(answer) => drop(self.waiting.remove(&answer.id)),
            JsonRpcMessage::Error(error) => match &error.id {
                Some(id) => drop(self.waiting.remove(id)),
                // It can't be said what it answers; whoever waits for that must not wait forever.
                None => self.waiting.clear(),
            },
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }
}
