//! What a platform does. Everything that needs the network goes through `egress`.

use std::time::Duration;

use bytes::Bytes;
use forecourt_core::message::Profile;
use forecourt_core::{Clock, Entropy, Error, File, Handle, Timestamp};
use forecourt_egress::Egress;
use forecourt_pages::markdown::Marks;
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::chat::{ChatFile, ChatMessage, Place};
use crate::limits;
use crate::settings::ConnectorSettings;
use crate::split::CodeMarks;

/// One connector of a kind of platform: its credentials, and how it is spoken with.
pub trait Platform: Sized + Send + Sync + 'static {
    /// `kind` of its files: also its protocol, and what its subjects begin with.
    const KIND: &'static str;
    /// The host that vouches for its users, where it is one for all of them.
    const ISSUER: &'static str;
    /// How it proves who speaks, as a word of `auth_method`; with `urn:mentionable:auth:` before it and `:v0.1` behind it
    /// the method of the evidence.
    const METHOD: &'static str;
    /// The path of its events, with the name of the connector in it.
    const PATH: &'static str;
    /// Where its events come with any method to several paths below that one, and not as a POST to it: the same path
    /// with `/{*below}` at its end.
    const PATH_BELOW: Option<&'static str> = None;
    /// Bytes of one request with events.
    const EVENT_BYTES_MAX: usize = limits::EVENT_BYTES_MAX;
    /// How long it waits until its events are acknowledged.
    const ACKNOWLEDGED_WITHIN: Duration = limits::ACKNOWLEDGED_WITHIN;
    /// Characters of one message.
    const MESSAGE_CHARS_MAX: usize;
    /// How often one message may be edited.
    const EDIT_EVERY: Duration;
    /// Whether its threads are rooms of their own, such as topics, in which replies tell what they answer.
    const THREADS_ARE_TOPICS: bool = false;
    /// What its marks put around a block of code.
    const CODE_MARKS: CodeMarks = ("```\n", "\n```");
    /// The path of files that are too large to be sent there, with the name of the connector and a token in it.
    const FILES_PATH: &'static str;

    /// Reads a file of this kind: what it says of the platform, and what every connector has.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems>;

    /// Looks at the head of a request before its body is read: where that proves who sends, nobody else sends a body.
    ///
    /// # Errors
    /// [`EventError`]: it is not proven to be the platform's.
    fn admit(&self, _headers: &HeaderMap) -> Result<(), EventError> {
        Ok(())
    }

    /// Verifies an event and reads it. Only what this gives is believed.
    ///
    /// # Errors
    /// [`EventError`]: it is not proven to be the platform's, or means nothing.
    fn read(&self, request: &EventRequest<'_>, now: Timestamp) -> Result<Incoming, EventError>;

    /// What an event tells of which [`Platform::read`] gave [`Incoming::Open`]: whatever has to be asked or done on the
    /// platform first. The same event may come again. What it gives is none that is open, and not several.
    fn look_into<'a>(&'a self, _egress: &'a Egress, _event: Value) -> BoxFuture<'a, Outcome<Incoming>> {
        Box::pin(std::future::ready(Ok(Incoming::Nothing)))
    }

    /// What stands in the body of an answer to its events. `None`: nothing where they were taken, else words.
    fn answer_body(_answer: &EventAnswer) -> Option<Value> {
        None
    }

    /// The host that vouches for its users.
    fn issuer(&self) -> &str {
        Self::ISSUER
    }

    /// What it wants to hear of an event with this body, once the event is taken; durable by then. `None`: nothing but
    /// that it was.
    fn acknowledgement(&self, _body: &[u8], _reception: Reception) -> Option<Value> {
        None
    }

    /// Whether it tells of events over a connection that is opened from here: [`Platform::listen`].
    fn listens(&self) -> bool {
        false
    }

    /// Hears of events, and hands them over, until it is stopped: through all that passes by itself. Of several nodes
    /// one does at a time. Returns early where that can never work again, after it has told why.
    fn listen<'a>(&'a self, _listening: &'a Listening<'a>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The subject of a user: such as `slack:T123/U456`.
    fn subject(&self, group: &str, user: &str) -> String {
        format!("{}:{group}/{user}", Self::KIND)
    }

    /// What a user shows of itself, for display alone, where events don't say it. `None` where that can't be had at once.
    fn profile<'a>(&'a self, _egress: &'a Egress, _user: &'a str) -> BoxFuture<'a, Option<Profile>> {
        Box::pin(std::future::ready(None))
    }

    /// The bytes of a file of a message.
    fn download<'a>(&'a self, egress: &'a Egress, file: &'a ChatFile) -> BoxFuture<'a, Outcome<Bytes>>;

    /// Sends a message and gives its id; none where it has none by which it could be edited.
    fn post<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<Option<String>>>;

    /// Puts other words, and nothing else of `post`, into a message of ours.
    fn edit<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        id: &'a str,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<()>>;

    /// Deletes a message of ours; one that is not there any more is fine.
    fn delete<'a>(&'a self, egress: &'a Egress, place: &'a Place, id: &'a str) -> BoxFuture<'a, Outcome<()>>;

    /// Sends a file, whose bytes are given beside it. Its id names it among all files: what is sent again under it, after
    /// a failure or a crash, is the same.
    fn upload<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        file: &'a File,
        bytes: Bytes,
    ) -> BoxFuture<'a, Outcome<()>>;

    /// How it marks up text.
    fn marks(&self) -> &'static (dyn Marks + Sync);

    /// Asks whether the credentials are good: whom they are for.
    fn try_credentials<'a>(&'a self, egress: &'a Egress) -> BoxFuture<'a, Outcome<String>>;

    /// What an operator does on the platform, in Markdown, for a connector of this name whose events go to `url`.
    fn steps(name: &Handle, url: &str) -> String;
}

/// A request that a platform makes of this host.
#[derive(Debug, Clone, Copy)]
pub struct EventRequest<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its path below [`Platform::PATH`], decoded, without a first slash; empty where it is that path.
    pub path: &'a str,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body, of at most [`Platform::EVENT_BYTES_MAX`].
    pub body: &'a [u8],
}

/// What takes the events that a platform hears.
pub(crate) trait TakeEvents: Send + Sync {
    /// Does what an event asks for; durable when this returns.
    fn take(&self, incoming: Incoming) -> BoxFuture<'_, Result<Reception, Error>>;

    /// Counts events that are not heard of any more.
    fn missed(&self, count: usize);
}

/// What a platform is given to listen with.
pub struct Listening<'a> {
    /// The connector.
    pub name: &'a Handle,
    /// The way out.
    pub egress: &'a Egress,
    /// Cancelled when it is to end: the host stops, or another node listens by now.
    pub stop: CancellationToken,
    /// The clock of the host.
    pub clock: &'a dyn Clock,
    /// The randomness of the host.
    pub entropy: &'a dyn Entropy,
    /// Where it stands.
    state: Mutex<Value>,
    /// Told when that is another place.
    pub(crate) changed: Notify,
    events: &'a dyn TakeEvents,
}

impl<'a> Listening<'a> {
    pub(crate) fn new(
        name: &'a Handle,
        egress: &'a Egress,
        (clock, entropy): (&'a dyn Clock, &'a dyn Entropy),
        stop: CancellationToken,
        state: Value,
        events: &'a dyn TakeEvents,
    ) -> Self {
        Self { name, egress, stop, clock, entropy, state: Mutex::new(state), changed: Notify::new(), events }
    }

    /// Where whoever listened before stopped, or where this one stands by now. `null` where nothing is known.
    pub fn state(&self) -> Value {
        self.state.lock().clone()
    }

    /// Has it written down where it stands, some seconds later at most, and at the end. It lies in the store, sealed, and
    /// is small.
    pub fn keep(&self, state: Value) {
        let before = std::mem::replace(&mut *self.state.lock(), state.clone());
        if before != state {
            self.changed.notify_one();
        }
    }

    /// Does what an event asks for. Whatever must not be lost is durable when this returns.
    ///
    /// # Errors
    /// The event has to be handed over again: the store, or the host, is not there.
    pub fn take(&self, incoming: Incoming) -> BoxFuture<'_, Result<Reception, Error>> {
        self.events.take(incoming)
    }

    /// Has the operator know that so many events were said while nobody could listen, and are not heard of any more.
    pub fn missed(&self, count: usize) {
        self.events.missed(count);
    }
}

/// What an event tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// The platform wants to hear this, and nothing is asked.
    Reply(Value),
    /// Nothing that an agent is to hear of.
    Nothing,
    /// Somebody wrote.
    Message(Box<ChatMessage>),
    /// Somebody changed what was written: all of it as it is now.
    Edited(Box<ChatMessage>),
    /// Somebody took back what was written.
    Deleted {
        /// Where it was.
        place: Place,
        /// The message.
        message: String,
    },
    /// The platform has to look into it first: [`Platform::look_into`].
    Open(Value),
    /// Several events of one request, each done after the one before it. None of them is several again.
    Several(Vec<Incoming>),
}

/// How a request with events is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventAnswer<'a> {
    /// What it asks for is done, or durable.
    Taken,
    /// It is not taken.
    Refused(EventError),
    /// It has more bytes than may be.
    TooLarge,
    /// Its body broke off, or took too long.
    Unreadable,
    /// There is no such connector.
    NoConnector,
    /// It is to be sent again, for this reason.
    Again(&'a str),
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// What it asks is under way, or was before; or it asks nothing.
    Taken,
    /// There were too many of one person: nothing follows.
    Dropped,
}

/// Why an event is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// It is not proven that the platform sent it, lately.
    #[error("{0}")]
    Unproven(&'static str),
    /// It is proven, and can't be read.
    #[error("{0}")]
    Malformed(&'static str),
    /// It asks for something that is not there.
    #[error("{0}")]
    Unknown(&'static str),
}

/// A message to send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// What it says, in the platform's marks.
    pub text: String,
    /// What it leads to.
    pub button: Option<PostButton>,
    /// The user who alone may see it. In a direct conversation nobody else does.
    pub only_for: Option<String>,
    /// What everybody may read in its stead, where it had to go elsewhere to be seen by one person alone.
    pub in_public: String,
    /// Names it among all messages: what is sent again under it, after a failure or a crash, is the same message, which
    /// may have other words by now.
    pub key: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
}

/// A button that opens a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostButton {
    /// What it says.
    pub label: String,
    /// The page.
    pub url: String,
}

/// What came of speaking with a platform.
pub type Outcome<T> = Result<T, PlatformError>;

/// Why a platform did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// Too much at once: it says when to come again.
    #[error("the platform wants to be asked again after {} s", .0.as_secs())]
    Later(Duration),
    /// It could not be reached, or failed.
    #[error("{0}")]
    Failed(String),
    /// It will never do that.
    #[error("the platform refused: {0}")]
    Refused(String),
    /// Somebody who may do so took down what was to be changed: nothing is put in its place.
    #[error("a message of ours was taken down by somebody else")]
    TakenDown,
}
