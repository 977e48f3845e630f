//! The spellings of A2A on the wire: JSON as 0.3 and 1.0 write it, and the JSON form of 0.3's
//! protocol buffers, which its REST binding speaks.

mod answer;
mod files;
mod item;
mod limits;
mod message;
mod names;
mod params;
mod part;
mod plain;
mod push;
mod read;
mod request;
mod task;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use files::Files;
pub(crate) use item::MessageItem;
pub(crate) use plain::PlainCall;
pub(crate) use write::DialectValue;

/// What a client asks for, by the rows of the table of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    /// `message/send`, `SendMessage`.
    Send,
    /// `message/stream`, `SendStreamingMessage`.
    Stream,
    /// `tasks/get`, `GetTask`.
    Get,
    /// `ListTasks`; in 0.3 over REST and gRPC only.
    List,
    /// `tasks/cancel`, `CancelTask`.
    Cancel,
    /// `tasks/resubscribe`, `SubscribeToTask`.
    Subscribe,
    /// `tasks/pushNotificationConfig/set`, `CreateTaskPushNotificationConfig`.
    PushCreate,
    /// `…/get`.
    PushGet,
    /// `…/list`.
    PushList,
    /// `…/delete`.
    PushDelete,
    /// `agent/getAuthenticatedExtendedCard`, `GetExtendedAgentCard`.
    ExtendedCard,
}

/// One spelling of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// JSON-RPC of 0.3.
    Json03,
    /// The JSON form of the protocol buffers of 0.3: its REST binding, and its gRPC transcoded.
    Proto03,
    /// The JSON form of the protocol buffers of 1.0: all its bindings.
    Json10,
}
