//! Words: methods, states and roles as each dialect spells them.

use forecourt_core::TaskState;
use serde_json::Value;

use super::{Dialect, Method};
use crate::model::{Role, Version};

/// What one method is called.
struct MethodNames {
    v0_3: &'static str,
    v1_0: &'static str,
    grpc_0_3: &'static str,
}

impl Method {
    /// All methods, in the order of the table of operations.
    pub(crate) const ALL: [Self; 11] = [
        Self::Send,
        Self::Stream,
        Self::Get,
        Self::List,
        Self::Cancel,
        Self::Subscribe,
        Self::PushCreate,
        Self::PushGet,
        Self::PushList,
        Self::PushDelete,
        Self::ExtendedCard,
    ];

    /// The method that a JSON-RPC request names, and whose version's name that is: they never collide.
    pub(crate) fn from_rpc(name: &str) -> Option<(Version, Self)> {
        let of = |version| Self::ALL.into_iter().find(|m| m.rpc_name(version) == name).map(|m| (version, m));
        of(Version::V1_0).or_else(|| of(Version::V0_3))
    }

    /// Its name over JSON-RPC. 0.3 defines none for [`Self::List`]; `tasks/list` is what its servers use.
    pub(crate) fn rpc_name(self, version: Version) -> &'static str {
        match version {
            Version::V0_3 => self.names().v0_3,
            Version::V1_0 => self.names().v1_0,
        }
    }

    /// The method that is called so over gRPC.
    pub(crate) fn from_grpc(version: Version, name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.grpc_name(version) == name)
    }

    /// Its name over gRPC.
    pub(crate) fn grpc_name(self, version: Version) -> &'static str {
        match version {
            Version::V0_3 => self.names().grpc_0_3,
            Version::V1_0 => self.names().v1_0,
        }
    }

    fn names(self) -> MethodNames {
        let (v0_3, v1_0, grpc_0_3) = match self {
            Self::Send => ("message/send", "SendMessage", "SendMessage"),
            Self::Stream => ("message/stream", "SendStreamingMessage", "SendStreamingMessage"),
            Self::Get => ("tasks/get", "GetTask", "GetTask"),
            Self::List => ("tasks/list", "ListTasks", "ListTasks"),
            Self::Cancel => ("tasks/cancel", "CancelTask", "CancelTask"),
            Self::Subscribe => ("tasks/resubscribe", "SubscribeToTask", "TaskSubscription"),
            Self::PushCreate => (
                "tasks/pushNotificationConfig/set",
                "CreateTaskPushNotificationConfig",
                "CreateTaskPushNotificationConfig",
            ),
            Self::PushGet => {
                ("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig", "GetTaskPushNotificationConfig")
            }
            Self::PushList => (
                "tasks/pushNotificationConfig/list",
                "ListTaskPushNotificationConfigs",
                "ListTaskPushNotificationConfig",
            ),
            Self::PushDelete => (
                "tasks/pushNotificationConfig/delete",
                "DeleteTaskPushNotificationConfig",
                "DeleteTaskPushNotificationConfig",
            ),
            Self::ExtendedCard => ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard", "GetAgentCard"),
        };
        MethodNames { v0_3, v1_0, grpc_0_3 }
    }
}

impl Dialect {
    const ALL: [Self; 3] = [Self::Json03, Self::Proto03, Self::Json10];

    /// How a state is spelt.
    pub(crate) fn state_name(self, state: TaskState) -> &'static str {
        match (self, state) {
            (Self::Json03, TaskState::Submitted) => "submitted",
            (Self::Json03, TaskState::Working) => "working",
            (Self::Json03, TaskState::InputRequired) => "input-required",
            (Self::Json03, TaskState::AuthRequired) => "auth-required",
            (Self::Json03, TaskState::Completed) => "completed",
            (Self::Json03, TaskState::Failed) => "failed",
            (Self::Json03, TaskState::Canceled) => "canceled",
            (Self::Json03, TaskState::Rejected) => "rejected",
            (_, TaskState::Submitted) => "TASK_STATE_SUBMITTED",
            (_, TaskState::Working) => "TASK_STATE_WORKING",
            (_, TaskState::InputRequired) => "TASK_STATE_INPUT_REQUIRED",
            (_, TaskState::AuthRequired) => "TASK_STATE_AUTH_REQUIRED",
            (_, TaskState::Completed) => "TASK_STATE_COMPLETED",
            (_, TaskState::Failed) => "TASK_STATE_FAILED",
            (Self::Proto03, TaskState::Canceled) => "TASK_STATE_CANCELLED",
            (Self::Json10, TaskState::Canceled) => "TASK_STATE_CANCELED",
            (_, TaskState::Rejected) => "TASK_STATE_REJECTED",
        }
    }

    /// How a role is spelt.
    pub(crate) fn role_name(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::Json03, Role::User) => "user",
            (Self::Json03, Role::Agent) => "agent",
            (_, Role::User) => "ROLE_USER",
            (_, Role::Agent) => "ROLE_AGENT",
        }
    }

    /// Reads a state. The two dialects of protocol buffers take each other's names and the numbers.
    pub(super) fn state(self, value: &Value) -> Option<TaskState> {
        let named = |name: &str| {
            let spelt = |dialect: Self| TaskState::ALL.into_iter().find(|s| dialect.state_name(*s) == name);
            self.readable().iter().copied().find_map(spelt)
        };
        match value {
            Value::String(name) => named(name),
            Value::Number(number) if self != Self::Json03 => number.as_u64().and_then(state_numbered),
            _ => None,
        }
    }

    /// Reads a state in any dialect, for peers that mix them.
    pub(super) fn state_in_any(value: &Value) -> Option<TaskState> {
        Self::ALL.into_iter().find_map(|dialect| dialect.state(value))
    }

    /// Reads a role. The 0.3 dialect of protocol buffers takes those of its JSON too, as its servers do.
    pub(super) fn role(self, value: &Value) -> Option<Role> {
        let named = |name: &str| {
            let spelt = |dialect: Self| [Role::User, Role::Agent].into_iter().find(|r| dialect.role_name(*r) == name);
            spelt(self).or_else(|| (self == Self::Proto03).then(|| spelt(Self::Json03)).flatten())
        };
        match value {
            Value::String(name) => named(name),
            Value::Number(number) if self != Self::Json03 => match number.as_u64() {
                Some(1) => Some(Role::User),
                Some(2) => Some(Role::Agent),
                _ => None,
            },
            _ => None,
        }
    }

    /// Reads a role in any dialect, for peers that mix them.
    pub(super) fn role_in_any(value: &Value) -> Option<Role> {
        Self::ALL.into_iter().find_map(|dialect| dialect.role(value))
    }

    /// The dialects whose names of states are understood in this one.
    fn readable(self) -> &'static [Self] {
        match self {
            Self::Json03 => &[Self::Json03],
            Self::Proto03 => &Self::ALL,
            Self::Json10 => &[Self::Json10, Self::Proto03],
        }
    }
}

/// The number of a state in the protocol buffers of both versions.
fn state_numbered(number: u64) -> Option<TaskState> {
    Some(match number {
        1 => TaskState::Submitted,
        2 => TaskState::Working,
        3 => TaskState::Completed,
        4 => TaskState::Failed,
        5 => TaskState::Canceled,
        6 => TaskState::InputRequired,
        7 => TaskState::Rejected,
        8 => TaskState::AuthRequired,
        _ => return None,
    })
}
