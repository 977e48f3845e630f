//! What A2A is made of, whatever its version spells: one model between the codecs and the host.
//!
//! The words are those of A2A 1.0. A codec reads a wire form into these types and writes them back;
//! nothing else knows how a version spells a role, a state or a part.

use bytes::Bytes;
use forecourt_core::{TaskState, Timestamp};
use serde_json::{Map, Value};

/// The two generations that are spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Version {
    /// 0.3: slashes in method names, `kind` in objects.
    #[serde(rename = "0.3")]
    V0_3,
    /// 1.0: the JSON form of its protocol buffers.
    #[serde(rename = "1.0")]
    V1_0,
}

/// Free members, by key. Extensions keep theirs here.
pub type Metadata = Map<String, Value>;

/// The author of a message, seen from the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The client.
    User,
    /// The agent.
    Agent,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Made up by its author; never empty.
    pub id: String,
    /// Who wrote it.
    pub role: Role,
    /// At least one when it comes from a client.
    pub parts: Vec<Part>,
    /// The conversation it belongs to.
    pub context: Option<String>,
    /// The task it continues or answers.
    pub task: Option<String>,
    /// Tasks it refers to.
    pub references: Vec<String>,
    /// URIs of extensions that are at work in it.
    pub extensions: Vec<String>,
    /// Free members.
    pub metadata: Metadata,
}

/// One piece of a message or artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it holds.
    pub content: Content,
    /// A name to show.
    pub filename: Option<String>,
    /// The media type, if it is said.
    pub media_type: Option<String>,
    /// Free members.
    pub metadata: Metadata,
}

/// The content of a part: exactly one of text, bytes, an address and data.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// Bytes.
    Raw(Bytes),
    /// The address of bytes.
    Url(String),
    /// Any JSON value. 0.3 knows objects only; its codec wraps what is none as `{"value": …}`.
    Data(Value),
}

/// Work that an agent does.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Made by the server.
    pub id: String,
    /// The conversation it belongs to.
    pub context: String,
    /// Where it stands.
    pub status: Status,
    /// What it made. Empty when there is nothing, or when nobody asked.
    pub artifacts: Vec<Artifact>,
    /// Messages so far, oldest first.
    pub history: Vec<Message>,
    /// Free members.
    pub metadata: Metadata,
}

/// The status of a task (`TaskStatus`): its state, the agent's message about it, and since when.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The state. What a peer calls unknown or unspecified is [`TaskState::Working`].
    pub state: TaskState,
    /// What the agent says about it.
    pub message: Option<Message>,
    /// Since when.
    pub timestamp: Option<Timestamp>,
}

/// Something that a task made.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Names it within its task.
    pub id: String,
    /// A name to show.
    pub name: Option<String>,
    /// A sentence about it.
    pub description: Option<String>,
    /// At least one.
    pub parts: Vec<Part>,
    /// URIs of extensions that are at work in it.
    pub extensions: Vec<String>,
    /// Free members.
    pub metadata: Metadata,
}

/// One item of a stream; the first two are also what an unstreamed send gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A task as it stands.
    Task(Task),
    /// A direct answer, after which nothing follows.
    Message(Message),
    /// The state of the task changed, or the agent says something about it.
    Status(StatusUpdate),
    /// The task made an artifact, or the next piece of one.
    Artifact(ArtifactUpdate),
}

/// A change of a task's state: `TaskStatusUpdateEvent`.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    /// Which task.
    pub task: String,
    /// Its conversation.
    pub context: String,
    /// Where it stands now.
    pub status: Status,
    /// Whether the stream ends here. Written in 0.3 only.
    pub is_final: bool,
    /// Free members.
    pub metadata: Metadata,
}

/// An artifact of a task, or the next piece of one: `TaskArtifactUpdateEvent`.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    /// Which task.
    pub task: String,
    /// Its conversation.
    pub context: String,
    /// The artifact, or the next piece of it.
    pub artifact: Artifact,
    /// Whether this adds to the artifact of the same id, instead of replacing it.
    pub append: bool,
    /// Whether the artifact is whole now.
    pub last_chunk: bool,
    /// Free members.
    pub metadata: Metadata,
}

/// A message on its way to an agent, and how to answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    /// The message.
    pub message: Message,
    /// How to answer.
    pub configuration: Configuration,
    /// Free members of the request.
    pub metadata: Metadata,
}

/// How a client would like its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Media types it can show; all when empty.
    pub accepted_output_modes: Vec<String>,
    /// How much history to give: all for `None`, none for 0.
    pub history_length: Option<u32>,
    /// Whether to wait for the end of the task. True unless the client says otherwise.
    pub blocking: bool,
    /// Whom to tell about the task.
    pub push: Option<PushConfig>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { accepted_output_modes: Vec::new(), history_length: None, blocking: true, push: None }
    }
}

/// A push notification configuration: which webhook is posted to when the task settles.
#[derive(Debug, Clone, PartialEq)]
pub struct PushConfig {
    /// Names it within its task; made up by the client or, when absent, by the server.
    pub id: Option<String>,
    /// The task; absent in a configuration that comes with a message.
    pub task: Option<String>,
    /// Where to post.
    pub url: String,
    /// Sent back with each post.
    pub token: Option<String>,
    /// How to authenticate at that place.
    pub authentication: Option<PushAuthentication>,
}

/// How to authenticate a post.
#[derive(Debug, Clone, PartialEq)]
pub struct PushAuthentication {
    /// Schemes that the receiver takes, the preferred first. 1.0 has exactly one.
    pub schemes: Vec<String>,
    /// What goes behind the scheme.
    pub credentials: Option<String>,
}

/// The filters and the page of `ListTasks`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListQuery {
    /// Only those of a conversation.
    pub context: Option<String>,
    /// Only those in a state.
    pub state: Option<TaskState>,
    /// Only those that moved then or later.
    pub since: Option<Timestamp>,
    /// From 1 to 100; 50 when absent.
    pub page_size: Option<u32>,
    /// Where to go on, as an earlier page said.
    pub page_token: Option<String>,
    /// As in [`Configuration::history_length`].
    pub history_length: Option<u32>,
    /// Whether artifacts are wanted.
    pub include_artifacts: bool,
}

/// One page of `ListTasks`, the task that moved last first.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskListing {
    /// The last moved first.
    pub tasks: Vec<Task>,
    /// Where to go on; empty on the last page.
    pub next_page_token: String,
    /// Tasks per page.
    pub page_size: u32,
    /// Tasks on all pages.
    pub total: u64,
}

/// One page of push configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct PushListing {
    /// In the order of their creation.
    pub configs: Vec<PushConfig>,
    /// Where to go on; empty on the last page. 1.0 only.
    pub next_page_token: String,
}

/// Everything that a client may ask of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Send a message; answered by [`OperationOutcome::Sent`].
    Send(Box<Send>),
    /// Send a message and stream the answer; answered by items as they come, or by one.
    Stream(Box<Send>),
    /// Read a task.
    Get {
        /// Which.
        task: String,
        /// As in [`Configuration::history_length`].
        history_length: Option<u32>,
    },
    /// List tasks.
    List(ListQuery),
    /// Cancel a task.
    Cancel {
        /// Which.
        task: String,
        /// Free members of the request.
        metadata: Metadata,
    },
    /// Follow a task.
    Subscribe {
        /// Which.
        task: String,
    },
    /// Register whom to tell.
    PushCreate(PushConfig),
    /// Read a registration.
    PushGet {
        /// Which task.
        task: String,
        /// Which registration; the only one when absent (0.3).
        id: Option<String>,
    },
    /// List registrations.
    PushList {
        /// Which task.
        task: String,
        /// Registrations per page.
        page_size: Option<u32>,
        /// Where to go on.
        page_token: Option<String>,
    },
    /// Remove a registration.
    PushDelete {
        /// Which task.
        task: String,
        /// Which registration.
        id: String,
    },
    /// The card for callers who proved who they are.
    ExtendedCard,
}

/// What comes of an [`Operation`], except for streams.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationOutcome {
    /// Of a send: a task or a message.
    Sent(Item),
    /// Of get and cancel.
    Task(Task),
    /// Of list.
    Listing(TaskListing),
    /// Of creating or reading a registration.
    Push(PushConfig),
    /// Of listing registrations.
    Pushes(PushListing),
    /// Of removing a registration.
    Removed,
    /// The extended card, ready to be sent.
    Card(Value),
}

/// Why an operation was not carried out: one variant for each row of the error table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OperationError {
    /// The body is no JSON.
    #[error("the body is not valid JSON: {0}")]
    Parse(String),
    /// The body is JSON but no request, or names what is not here.
    #[error("{0}")]
    InvalidRequest(String),
    /// No method of this name exists in either version.
    #[error("there is no method {0:?}")]
    MethodNotFound(String),
    /// A parameter is missing or wrong.
    #[error("{}", violations(.0))]
    InvalidParams(Vec<Violation>),
    /// The host failed; its log has the cause.
    #[error("the host could not do it")]
    Internal,
    /// The task is unknown, has expired, or is not the caller's: these look alike.
    #[error("task not found")]
    TaskNotFound,
    /// The task has ended.
    #[error("the task can not be cancelled any more")]
    TaskNotCancelable,
    /// Webhooks are switched off.
    #[error("this agent sends no push notifications")]
    PushNotificationNotSupported,
    /// The request is well formed, and can't be carried out here or in the state of the task.
    #[error("{0}")]
    UnsupportedOperation(String),
    /// The agent does not take this media type.
    #[error("{0}")]
    ContentTypeNotSupported(String),
    /// The agent answered something that is no answer.
    #[error("the agent's answer could not be read")]
    InvalidAgentResponse,
    /// The host declares an extended card, and has none for this agent.
    #[error("there is no extended agent card")]
    ExtendedAgentCardNotConfigured,
    /// The card requires an extension that the request does not name.
    #[error("this agent requires the extension {0}")]
    ExtensionSupportRequired(String),
    /// Neither 0.3 nor 1.0, or a method of the other one.
    #[error("{0}")]
    VersionNotSupported(String),
}

/// One thing that is wrong with the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The path of the parameter, such as `message.parts`.
    pub field: String,
    /// What would be right.
    pub description: String,
}

impl OperationError {
    /// [`Self::InvalidParams`] for one field, such as `message.parts`, and what would be right.
    pub fn param(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidParams(vec![Violation { field: field.into(), description: description.into() }])
    }
}

fn violations(all: &[Violation]) -> String {
    let each = all.iter().map(|v| format!("{}: {}", v.field, v.description));
    each.collect::<Vec<_>>().join("; ")
}

impl Part {
    /// Words, without a media type.
    pub fn text(words: impl Into<String>) -> Self {
        Self::of(Content::Text(words.into()))
    }

    /// A part that holds a JSON value, without a media type.
    pub fn data(value: Value) -> Self {
        Self::of(Content::Data(value))
    }

    /// A part with this content, and without name, media type and metadata.
    pub fn of(content: Content) -> Self {
        Self { content, filename: None, media_type: None, metadata: Metadata::new() }
    }
}
