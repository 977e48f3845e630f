//! Messages, told over a connection that is opened from here: again and again, through all that passes by itself.
//!
//! | file | holds |
//! |---|---|
//! | `session.rs` | a session, stepped by what is heard: no socket and no clock |
//! | `socket.rs` | a connection on which it is spoken |
//! | `progress.rs` | how far events are durable |
//! | `conversations.rs`, `catch_up.rs` | channels that were heard, and what was said there while no session could go on |
//! | `lanes.rs` | events to agents, those of one channel in their order |

mod catch_up;
mod conversations;
mod lanes;
mod progress;
mod session;
mod socket;

use std::sync::Arc;
use std::time::Duration;

use forecourt_connectors::{Listening, Outcome, PlatformError};
use futures::future::join_all;
use http::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::api::{Api, Route};
use crate::command;
use crate::limits::{
    EVENTS_AT_ONCE_MAX, FRAMES_TOO_LARGE_MAX, GREETING_WAIT, IDENTIFY_EVERY, IDENTIFY_WAIT_MAX, LAST_EVENTS_WAIT,
    RECONNECT_WAIT, RECONNECT_WAIT_MAX, RESUMES_MAX,
};
use crate::places::Places;
use conversations::Conversations;
use lanes::{HeardEvent, Lanes, keep_state};
use progress::Progress;
use session::{Next, ResumePoint, Session, Step};
use socket::{Socket, SocketEvent};

/// The bot that listens.
#[derive(Clone, Copy)]
pub(crate) struct ListeningBot<'a> {
    pub(crate) api: &'a Api,
    pub(crate) places: &'a Places,
    /// Whether messages are heard of.
    pub(crate) mentions: bool,
}

/// How a connection ended.
struct ConnectionEnd {
    next: Next,
    /// Whether the session had begun: then nothing is wrong that waiting longer would mend.
    was_ready: bool,
    /// Whether a message that is too large ended it.
    was_too_large: bool,
}

/// What goes on from one connection to the next.
struct Gateway<'a> {
    bot: ListeningBot<'a>,
    listening: &'a Listening<'a>,
    lanes: Lanes,
    conversations: &'a Conversations,
    slots: Arc<Semaphore>,
    /// When a new session was begun last.
    identified_at: Option<Instant>,
}

/// Registers the command, then hears of messages until it is stopped, where that is wanted.
pub(crate) async fn listen(bot: ListeningBot<'_>, listening: &Listening<'_>) {
    if !register(bot.api, listening).await || !bot.mentions {
        listening.stop.cancelled().await;
        return;
    }
    let conversations = Conversations::of(&listening.state());
    let (lanes, workers) = Lanes::new(bot, listening, &conversations);
    let slots = Arc::new(Semaphore::new(EVENTS_AT_ONCE_MAX));
    let gateway = Gateway { bot, listening, lanes, conversations: &conversations, slots, identified_at: None };
    let working = async {
        let all = join_all(workers);
        tokio::pin!(all);
        tokio::select! {
            _ = &mut all => return,
            () = listening.stop.cancelled() => {}
        }
        // What is not done by then is told of again when the session goes on.
        let _ = timeout(LAST_EVENTS_WAIT, all).await;
    };
    // The lanes end with the gateway, which has their beginnings.
    futures::join!(gateway.run(), working);
}

/// Registers the command, through all that passes. Gives whether it was not stopped meanwhile.
async fn register(api: &Api, listening: &Listening<'_>) -> bool {
    let mut wait = RECONNECT_WAIT;
    loop {
        match command::register(api, listening.egress).await {
            Ok(is_new) => {
                if is_new {
                    tracing::info!(connector = %listening.name, "the command /ask was registered");
                }
                return true;
            }
            Err(PlatformError::Refused(reason)) => {
                tracing::warn!(reason, connector = %listening.name, "the command /ask was not registered");
                return true;
            }
            Err(error) => {
                tracing::warn!(%error, connector = %listening.name, "the command /ask is not registered yet");
                if listening.stop.run_until_cancelled(sleep(jittered(wait, listening))).await.is_none() {
                    return false;
                }
                wait = (wait * 2).min(RECONNECT_WAIT_MAX);
            }
        }
    }
}

/// A wait of this length, and up to a half more: many hosts lose Discord at once.
fn jittered(wait: Duration, listening: &Listening<'_>) -> Duration {
    wait + wait.mul_f64(fraction(listening) / 2.0)
}

/// A random number from 0 up to 1.
fn fraction(listening: &Listening<'_>) -> f64 {
    let mut bytes = [0; 4];
    listening.entropy.fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}

impl Gateway<'_> {
    async fn run(mut self) {
        let mut point = ResumePoint::of(&self.listening.state());
        let (mut wait, mut failed, mut too_large) = (RECONNECT_WAIT, 0, 0);
        let stop = self.listening.stop.clone();
        while !stop.is_cancelled() {
            let ended = stop.run_until_cancelled(self.connect(point.clone())).await;
            let Some(ended) = ended else { return };
            match ended {
                Ok(ConnectionEnd { next: Next::Never(reason), .. }) => {
                    tracing::error!(reason, connector = %self.listening.name, "messages are not heard of any more");
                    return;
                }
                Ok(ConnectionEnd { next, was_ready, was_too_large }) => {
                    (wait, failed) = if was_ready { (RECONNECT_WAIT, 0) } else { (wait, failed + 1) };
                    too_large = if was_too_large { too_large + 1 } else { 0 };
                    let is_given_up = too_large >= FRAMES_TOO_LARGE_MAX;
                    if is_given_up {
                        tracing::error!(connector = %self.listening.name, "a session is given up: a message is too large");
                        self.listening.missed(1);
                        too_large = 0;
                    }
                    // Where a session goes on may take connections and answer nothing.
                    let goes_on = matches!(next, Next::Resume) && failed < RESUMES_MAX && !is_given_up;
                    point = if goes_on { ResumePoint::of(&self.listening.state()) } else { None };
                    if point.is_none() {
                        keep_state(self.listening, None, self.conversations);
                    }
                }
                Err(PlatformError::Later(later)) => {
                    tracing::warn!(seconds = later.as_secs(), "Discord takes no new session before that");
                    wait = wait.max(later);
                }
                Err(error) => {
                    tracing::warn!(%error, connector = %self.listening.name, "Discord could not be connected to");
                    failed += 1;
                    // Where a session goes on may be gone with the machine that it was on.
                    point = point.filter(|_| failed < RESUMES_MAX);
                }
            }
            if stop.run_until_cancelled(sleep(jittered(wait, self.listening))).await.is_none() {
                return;
            }
            wait = (wait * 2).min(RECONNECT_WAIT_MAX);
        }
    }

    /// One connection from its beginning to its end.
    async fn connect(&mut self, point: Option<ResumePoint>) -> Outcome<ConnectionEnd> {
        let url = match &point {
            Some(point) => point.url.clone(),
            None => self.begin_session().await?,
        };
        let mut socket = Socket::open(self.bot.api, self.listening.egress, &url).await?;
        let mut session = Session::new(self.bot.api.token(), point.clone());
        let progress = Arc::new(Progress::new(point));
        let ended = match self.converse(&mut socket, &mut session, &progress).await {
            // It was good until then, and goes on where it stopped.
            Err(error) if session.is_ready() => {
                tracing::info!(%error, "a connection to Discord broke off");
                Ok(ended(&session, session.next()))
            }
            other => other,
        };
        // Any other code would end the session with the connection.
        socket.close(session::GOES_ON).await;
        ended
    }

    /// Where a new session is begun, once that is allowed.
    async fn begin_session(&mut self) -> Outcome<String> {
        if let Some(at) = self.identified_at {
            sleep_until(at + IDENTIFY_EVERY).await;
        }
        let route = Route::new(Method::GET, "gateway", "", "/gateway/bot".to_owned());
        let answer = self.bot.api.call(self.listening.egress, &route, None).await?;
        let limit = &answer["session_start_limit"];
        if limit["remaining"].as_u64() == Some(0) {
            let millis = limit["reset_after"].as_u64().map_or(IDENTIFY_WAIT_MAX, Duration::from_millis);
            return Err(PlatformError::Later(millis.min(IDENTIFY_WAIT_MAX)));
        }
        self.identified_at = Some(Instant::now());
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| PlatformError::Failed("gateway: there is no address".to_owned()))
    }

    /// Speaks on a connection until it ends.
    async fn converse(
        &self,
        socket: &mut Socket,
        session: &mut Session<'_>,
        progress: &Arc<Progress>,
    ) -> Outcome<ConnectionEnd> {
        let greeted_by = Instant::now() + GREETING_WAIT;
        let (mut beat_at, mut every) = (None::<Instant>, Duration::ZERO);
        // Read on only where there is room for what may come.
        let mut room: Option<OwnedSemaphorePermit> = None;
        loop {
            let heard = tokio::select! {
                () = sleep_until(greeted_by), if !session.is_ready() => {
                    tracing::warn!("Discord did not answer who it thinks we are");
                    return Ok(ended(session, session.next()));
                }
                () = sleep_until(beat_at.unwrap_or(greeted_by)), if beat_at.is_some() => {
                    let Some(beat) = session.beat(progress.seen()) else {
                        tracing::info!("Discord did not answer a heartbeat");
                        return Ok(ended(session, Next::Resume));
                    };
                    socket.send(&beat).await?;
                    beat_at = Some(Instant::now() + every);
                    continue;
                }
                permit = self.slots.clone().acquire_owned(), if room.is_none() => {
                    room = permit.ok();
                    continue;
                }
                heard = socket.hear(), if room.is_some() => heard,
            };
            let mut frame = match heard {
                SocketEvent::Frame(frame) => frame,
                SocketEvent::Closed(code) => return Ok(ended(session, session.next_after(code))),
                SocketEvent::TooLarge => {
                    return Ok(ConnectionEnd { was_too_large: true, ..ended(session, session.next()) });
                }
            };
            match session.step(&mut frame, progress.seen()) {
                Step::Nothing => {}
                Step::Greeted { reply, heartbeat } => {
                    every = heartbeat;
                    beat_at = Some(Instant::now() + every.mul_f64(fraction(self.listening)));
                    socket.send(&reply).await?;
                }
                Step::Reply(reply) => socket.send(&reply).await?,
                Step::Event { number, kind, data } => {
                    progress.begin(number);
                    if let Some(point) = session.point().filter(|_| matches!(kind.as_str(), "READY" | "RESUMED")) {
                        self.is_heard(&progress.go_on_from(point), kind == "READY");
                    }
                    let event = HeardEvent { number, kind, data, us: session.us(), progress: progress.clone() };
                    self.lanes.take((self.listening, self.conversations), event, room.take());
                }
                Step::Ended(next) => return Ok(ended(session, next)),
            }
        }
    }
}

impl Gateway<'_> {
    /// A session began, or goes on: what was said before one that is new is asked for, ahead of what it tells of.
    fn is_heard(&self, point: &ResumePoint, is_new: bool) {
        tracing::info!(connector = %self.listening.name, "messages are heard of");
        if is_new {
            self.conversations.fall_behind();
        }
        keep_state(self.listening, Some(point), self.conversations);
        self.lanes.catch_up(self.listening, self.conversations, &point.us);
    }
}

fn ended(session: &Session<'_>, next: Next) -> ConnectionEnd {
    ConnectionEnd { next, was_ready: session.is_ready(), was_too_large: false }
}
