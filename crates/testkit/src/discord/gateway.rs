//! The gateway: sessions over WebSockets.

use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::{DISCORD_APPLICATION, DISCORD_BOT, DISCORD_TOKEN, DiscordBooks, DiscordDouble};

/// How often hearts are to beat.
const HEARTBEAT: Duration = Duration::from_millis(1_500);
/// How often a session may be begun.
const IDENTIFY_EVERY: Duration = Duration::from_secs(5);
/// What it is to be told of, and no more.
const INTENTS: u64 = (1 << 9) | (1 << 12) | (1 << 15);

/// What a connection is to do.
#[derive(Debug, Clone)]
pub enum GatewayOrder {
    /// Close with this code.
    Close(u16),
    /// Break off.
    Break,
    /// Say this.
    Say(Value),
}

/// Why a connection ends.
enum End {
    Code(u16),
    Broken,
}

struct Connection {
    discord: DiscordDouble,
    socket: WebSocketStream<TcpStream>,
    /// The session, and how many of its events were sent.
    session: Option<(String, usize)>,
    /// How many orders were followed.
    followed: usize,
}

pub(super) async fn serve(discord: DiscordDouble, listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let discord = discord.clone();
        tokio::spawn(async move {
            #[allow(clippy::result_large_err, reason = "the type is that of the crate")]
            let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
                match request.uri().query() {
                    Some("v=10&encoding=json") => Ok(response),
                    _ => Err(ErrorResponse::new(Some("another version".to_owned()))),
                }
            };
            let Ok(socket) = accept_hdr_async(stream, check).await else { return };
            let followed = discord.books.lock().orders.len();
            let mut connection = Connection { discord, socket, session: None, followed };
            match connection.run().await {
                End::Code(code) => {
                    let frame = CloseFrame { code: code.into(), reason: "as the rules are".into() };
                    let _ = connection.socket.close(Some(frame)).await;
                }
                End::Broken => {}
            }
        });
    }
}

impl Connection {
    async fn run(&mut self) -> End {
        let mut changed = self.discord.changed.subscribe();
        let hello = json!({"op": 10, "d": {"heartbeat_interval": HEARTBEAT.as_millis() as u64}});
        if self.say(&hello).await.is_err() {
            return End::Broken;
        }
        let mut beaten_at = tokio::time::Instant::now();
        loop {
            if let Err(end) = self.catch_up().await {
                return end;
            }
            let heard = tokio::select! {
                _ = changed.changed() => continue,
                () = tokio::time::sleep_until(beaten_at + HEARTBEAT * 8) => {
                    self.discord.books.lock().note("a heart that does not beat");
                    return End::Code(4_009);
                }
                heard = self.socket.next() => heard,
            };
            let Some(Ok(heard)) = heard else { return End::Broken };
            let text = match heard {
                Message::Text(text) => text,
                Message::Close(_) => return End::Broken,
                _ => continue,
            };
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            if value["op"] == 1 {
                beaten_at = tokio::time::Instant::now();
            }
            if let Err(end) = self.hear(&value).await {
                return end;
            }
        }
    }

    async fn say(&mut self, value: &Value) -> Result<(), End> {
        self.socket.send(Message::text(value.to_string())).await.map_err(|_| End::Broken)
    }

    /// Sends what there is by now.
    async fn catch_up(&mut self) -> Result<(), End> {
        let (orders, events) = {
            let books = self.discord.books.lock();
            let orders = books.orders[self.followed..].to_vec();
            self.followed = books.orders.len();
            let events = match &mut self.session {
                Some((session, sent)) => {
                    let all = books.sessions.get(session.as_str()).map(Vec::as_slice).unwrap_or_default();
                    let events = all.get(*sent..).unwrap_or_default().to_vec();
                    *sent = all.len().max(*sent);
                    events
                }
                None => Vec::new(),
            };
            (orders, events)
        };
        for event in events {
            self.say(&event).await?;
        }
        for order in orders {
            match order {
                GatewayOrder::Close(code) => return Err(End::Code(code)),
                GatewayOrder::Break => return Err(End::Broken),
                GatewayOrder::Say(value) => self.say(&value).await?,
            }
        }
        Ok(())
    }

    async fn hear(&mut self, value: &Value) -> Result<(), End> {
        let answer = {
            let books = &mut *self.discord.books.lock();
            match value["op"].as_u64() {
                Some(1) => {
                    books.beats += 1;
                    (!books.is_mute).then(|| json!({"op": 11}))
                }
                Some(2) if self.session.is_some() => return Err(End::Code(4_005)),
                Some(2) => match identify(books, &value["d"])? {
                    Some(session) => {
                        self.session = Some((session, 0));
                        None
                    }
                    None => Some(json!({"op": 9, "d": false})),
                },
                Some(6) => match resume(books, &value["d"])? {
                    Some(session) => {
                        self.session = Some(session);
                        None
                    }
                    None => Some(json!({"op": 9, "d": false})),
                },
                _ => return Err(End::Code(4_001)),
            }
        };
        match answer {
            Some(answer) => self.say(&answer).await,
            None => Ok(()),
        }
    }
}

/// Begins a session.
fn identify(books: &mut DiscordBooks, data: &Value) -> Result<Option<String>, End> {
    let keys = data.as_object().map(|fields| fields.keys().map(String::as_str).collect::<Vec<_>>()).unwrap_or_default();
    if !keys.iter().all(|key| matches!(*key, "token" | "intents" | "properties")) || !data["properties"].is_object() {
        books.note("an identify with other fields");
        return Err(End::Code(4_002));
    }
    if data["token"] != DISCORD_TOKEN {
        return Err(End::Code(4_004));
    }
    if data["intents"] != INTENTS {
        books.note("other intents");
        return Err(End::Code(4_013));
    }
    if let Some(code) = books.refuses_sessions {
        books.refused_sessions += 1;
        return Err(End::Code(code));
    }
    if books.identified_at.replace(Instant::now()).is_some_and(|at| at.elapsed() < IDENTIFY_EVERY) {
        books.note("sessions are begun too often");
        return Ok(None);
    }
    books.identifies += 1;
    let session = format!("session-{}", books.identifies);
    let user = json!({"id": DISCORD_BOT, "username": "cook", "bot": true});
    let ready = json!({
        "v": 10, "user": user, "guilds": [{"id": "60", "unavailable": true}], "session_id": session,
        "resume_gateway_url": books.gateway, "application": {"id": DISCORD_APPLICATION, "flags": 1 << 19},
    });
    books.sessions.insert(session.clone(), vec![json!({"op": 0, "s": 1, "t": "READY", "d": ready})]);
    Ok(Some(session))
}

/// Goes on with a session behind the event that it names.
fn resume(books: &mut DiscordBooks, data: &Value) -> Result<Option<(String, usize)>, End> {
    if data["token"] != DISCORD_TOKEN {
        return Err(End::Code(4_004));
    }
    let session = data["session_id"].as_str().unwrap_or_default().to_owned();
    let Some(events) = books.sessions.get_mut(&session) else { return Ok(None) };
    let number = data["seq"].as_u64().and_then(|number| usize::try_from(number).ok());
    let Some(number) = number.filter(|number| *number <= events.len()) else { return Err(End::Code(4_007)) };
    events.push(json!({"op": 0, "s": events.len() + 1, "t": "RESUMED", "d": {}}));
    books.resumes += 1;
    Ok(Some((session, number)))
}
