//! Requests as a client writes them.

use serde_json::Value;

use super::params::push_field;
use super::write::{Object, moment};
use super::{Dialect, message, push};
use crate::model::{Configuration, ListQuery, Operation, PushConfig, Send};

impl Dialect {
    /// Writes the parameters of an operation: always an object.
    pub(crate) fn write_params(self, operation: &Operation) -> Value {
        match operation {
            Operation::Send(send) | Operation::Stream(send) => write_send(self, send),
            Operation::Get { task, history_length } => {
                named_task(self, task).with_some("historyLength", *history_length).into()
            }
            Operation::List(query) => write_list(self, query),
            Operation::Cancel { task, .. } if self == Self::Proto03 => named_task(self, task).into(),
            Operation::Cancel { task, metadata } => named_task(self, task).with_metadata(metadata).into(),
            Operation::Subscribe { task } => named_task(self, task).into(),
            Operation::PushCreate(config) => write_push_create(self, config),
            Operation::PushGet { task, id } => named_push(self, task, id.as_deref()).into(),
            Operation::PushDelete { task, id } => named_push(self, task, Some(id)).into(),
            Operation::PushList { task, page_size, page_token } => {
                write_push_list(self, task, *page_size, page_token.as_deref())
            }
            Operation::ExtendedCard => Object::new().into(),
        }
    }
}

fn write_send(dialect: Dialect, send: &Send) -> Value {
    Object::new()
        .with("message", message::write(dialect, &send.message))
        .with("configuration", write_configuration(dialect, &send.configuration))
        .with_metadata(&send.metadata)
        .into()
}

/// 0.3 leaves a server its choice when nothing is said, so it is said; 1.0 waits unless told otherwise.
fn write_configuration(dialect: Dialect, configuration: &Configuration) -> Value {
    let object = match dialect {
        Dialect::Json03 | Dialect::Proto03 => Object::new().with("blocking", configuration.blocking),
        Dialect::Json10 => Object::new().with_true("returnImmediately", !configuration.blocking),
    };
    object
        .with_texts("acceptedOutputModes", &configuration.accepted_output_modes)
        .with_some("historyLength", configuration.history_length)
        .with_some(push_field(dialect), configuration.push.as_ref().map(|config| push::write(dialect, config)))
        .into()
}

fn write_list(dialect: Dialect, query: &ListQuery) -> Value {
    Object::new()
        .with_some("contextId", query.context.as_deref())
        .with_some("status", query.state.map(|state| dialect.state_name(state)))
        .with_some("statusTimestampAfter", query.since.map(moment))
        .with_some("pageSize", query.page_size)
        .with_some("pageToken", query.page_token.as_deref())
        .with_some("historyLength", query.history_length)
        .with_true("includeArtifacts", query.include_artifacts)
        .into()
}

fn named_task(dialect: Dialect, task: &str) -> Object {
    match dialect {
        Dialect::Json03 | Dialect::Json10 => Object::new().with("id", task),
        Dialect::Proto03 => Object::new().with("name", push::name(task, None)),
    }
}

fn named_push(dialect: Dialect, task: &str, id: Option<&str>) -> Object {
    match dialect {
        Dialect::Json03 => Object::new().with("id", task).with_some("pushNotificationConfigId", id),
        Dialect::Proto03 => Object::new().with("name", push::name(task, id)),
        Dialect::Json10 => Object::new().with("taskId", task).with_some("id", id),
    }
}

fn write_push_create(dialect: Dialect, config: &PushConfig) -> Value {
    let registration = push::write_registration(dialect, config);
    match dialect {
        Dialect::Json03 | Dialect::Json10 => registration,
        Dialect::Proto03 => Object::new()
            .with_some("parent", config.task.as_deref().map(|task| push::name(task, None)))
            .with_some("configId", config.id.as_deref())
            .with("config", registration)
            .into(),
    }
}

fn write_push_list(dialect: Dialect, task: &str, page_size: Option<u32>, page_token: Option<&str>) -> Value {
    let object = match dialect {
        Dialect::Json03 => return Object::new().with("id", task).into(),
        Dialect::Proto03 => Object::new().with("parent", push::name(task, None)),
        Dialect::Json10 => Object::new().with("taskId", task),
    };
    object.with_some("pageSize", page_size).with_some("pageToken", page_token).into()
}
