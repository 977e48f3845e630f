//! Requests as a server reads them.

use serde_json::{Map, Value};

use super::limits::{MODE_BYTES_MAX, MODES_MAX, PAGE_SIZES, PAGE_TOKEN_BYTES_MAX};
use super::read::{ObjectReader, Path, Reading};
use super::{Dialect, Method, message, push};
use crate::model::{Configuration, ListQuery, Operation, OperationError, PushConfig, Send};

impl Dialect {
    /// Reads the parameters of a method; `null` is no parameters.
    ///
    /// Fails with [`OperationError::InvalidParams`], which names each field that is missing or wrong. Unknown
    /// fields are ignored, `null` is absent, snake_case is as good as camelCase.
    ///
    /// Over REST, put what the path names into the parameters first: the task as `id` (`taskId` for
    /// methods of push configurations), the configuration as `id` (1.0 and [`Dialect::Proto03`]).
    pub(crate) fn read_params(self, method: Method, params: Value) -> Result<Operation, OperationError> {
        let reading = Reading::strict(self);
        let params = match params {
            Value::Null => Value::Object(Map::new()),
            params => params,
        };
        let operation = ObjectReader::of(params, &Path::Root, &reading).and_then(|fields| read(method, fields));
        reading.finish(operation).map_err(OperationError::InvalidParams)
    }
}

fn read(method: Method, mut fields: ObjectReader<'_>) -> Option<Operation> {
    Some(match method {
        Method::Send => Operation::Send(Box::new(read_send(fields)?)),
        Method::Stream => Operation::Stream(Box::new(read_send(fields)?)),
        Method::Get => {
            let history_length = fields.count("historyLength");
            Operation::Get { task: read_task(&mut fields)?, history_length }
        }
        Method::List => Operation::List(read_list(fields)),
        Method::Cancel => {
            let metadata = fields.metadata("metadata");
            Operation::Cancel { task: read_task(&mut fields)?, metadata }
        }
        Method::Subscribe => Operation::Subscribe { task: read_task(&mut fields)? },
        Method::PushCreate => Operation::PushCreate(read_push_create(fields)?),
        Method::PushGet => read_push_get(&mut fields)?,
        Method::PushList => read_push_list(&mut fields)?,
        Method::PushDelete => read_push_delete(&mut fields)?,
        Method::ExtendedCard => Operation::ExtendedCard,
    })
}

fn read_send(mut fields: ObjectReader<'_>) -> Option<Send> {
    let name = match fields.dialect() {
        // What the protocol buffers call it; their JSON says message.
        Dialect::Proto03 if !fields.has("message") && fields.has("request") => "request",
        _ => "message",
    };
    let message = fields.required(name, message::read);
    let configuration = fields.object("configuration", read_configuration).unwrap_or_default();
    let metadata = fields.metadata("metadata");
    Some(Send { message: message?, configuration, metadata })
}

fn read_configuration(mut fields: ObjectReader<'_>) -> Option<Configuration> {
    let accepted_output_modes = fields.texts("acceptedOutputModes", MODES_MAX, MODE_BYTES_MAX);
    let history_length = fields.count("historyLength");
    let blocking = read_blocking(&mut fields);
    let push = fields.object(push_field(fields.dialect()), |mut config| push::read(&mut config));
    let push = push.or_else(|| fields.object("pushNotificationConfig", |mut config| push::read(&mut config)));
    Some(Configuration { accepted_output_modes, history_length, blocking, push })
}

/// Where a send carries a push configuration. `pushNotificationConfig` is taken in every dialect.
pub(super) fn push_field(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Json03 => "pushNotificationConfig",
        Dialect::Proto03 => "pushNotification",
        Dialect::Json10 => "taskPushNotificationConfig",
    }
}

/// Whether to wait, which is meant unless the client says otherwise. A configuration in the protocol
/// buffers of 0.3 says so by leaving it out: there `blocking` is false without being written.
/// Drafts of 1.0 said it as 0.3 does.
fn read_blocking(fields: &mut ObjectReader<'_>) -> bool {
    let blocking = fields.flag("blocking");
    match fields.dialect() {
        Dialect::Json03 => blocking.unwrap_or(true),
        Dialect::Proto03 => blocking.unwrap_or(false),
        Dialect::Json10 => {
            fields.flag("returnImmediately").map_or(blocking.unwrap_or(true), |immediately| !immediately)
        }
    }
}

/// The task that is meant: by its id, or by its path in the protocol buffers of 0.3.
fn read_task(fields: &mut ObjectReader<'_>) -> Option<String> {
    match fields.dialect() {
        Dialect::Proto03 if !fields.has("id") => {
            let name = push::read_name(fields, "name");
            required(fields, "name", name.task)
        }
        _ => fields.required_id("id"),
    }
}

fn read_list(mut fields: ObjectReader<'_>) -> ListQuery {
    ListQuery {
        context: fields.id("contextId"),
        state: read_state_filter(&mut fields),
        since: fields.timestamp("statusTimestampAfter"),
        page_size: read_page_size(&mut fields),
        page_token: fields.text("pageToken", PAGE_TOKEN_BYTES_MAX),
        history_length: fields.count("historyLength"),
        include_artifacts: fields.flag("includeArtifacts").unwrap_or(false),
    }
}

/// The state to filter by; what the enums call unspecified is no filter.
fn read_state_filter(fields: &mut ObjectReader<'_>) -> Option<forecourt_core::TaskState> {
    let value = fields.take("status")?;
    let unspecified = value == "TASK_STATE_UNSPECIFIED" || value == 0 || value == "";
    let state = fields.dialect().state(&value);
    if state.is_none() && !unspecified {
        fields.wrong("status", "must be the name of a task state");
    }
    state
}

fn read_page_size(fields: &mut ObjectReader<'_>) -> Option<u32> {
    let size = fields.count("pageSize")?;
    if !PAGE_SIZES.contains(&size) {
        fields.wrong("pageSize", &format!("must be from {} to {}", PAGE_SIZES.start(), PAGE_SIZES.end()));
    }
    Some(size)
}

fn read_push_create(mut fields: ObjectReader<'_>) -> Option<PushConfig> {
    let config = push::read_registration(&mut fields)?;
    if config.task.is_none() {
        let field = match fields.dialect() {
            Dialect::Json03 | Dialect::Json10 => "taskId",
            Dialect::Proto03 => "parent",
        };
        fields.wrong(field, "is required");
    }
    Some(config)
}

/// `{id: task, pushNotificationConfigId}` in the JSON of 0.3, a path in its protocol buffers, `{taskId, id}` in 1.0.
fn read_push_name(fields: &mut ObjectReader<'_>) -> (Option<String>, Option<String>) {
    match fields.dialect() {
        Dialect::Json03 => (fields.required_id("id"), fields.id("pushNotificationConfigId")),
        Dialect::Proto03 => {
            let name = push::read_name(fields, "name");
            let task = fields.id("taskId").or(name.task);
            (required(fields, "name", task), fields.id("id").or(name.id))
        }
        Dialect::Json10 => (fields.required_id("taskId"), fields.required_id("id")),
    }
}

fn read_push_get(fields: &mut ObjectReader<'_>) -> Option<Operation> {
    let (task, id) = read_push_name(fields);
    Some(Operation::PushGet { task: task?, id })
}

fn read_push_delete(fields: &mut ObjectReader<'_>) -> Option<Operation> {
    let (task, id) = read_push_name(fields);
    let id = match fields.dialect() {
        Dialect::Json03 => required(fields, "pushNotificationConfigId", id),
        Dialect::Proto03 => required(fields, "name", id),
        Dialect::Json10 => id,
    };
    Some(Operation::PushDelete { task: task?, id: id? })
}

fn read_push_list(fields: &mut ObjectReader<'_>) -> Option<Operation> {
    let task = match fields.dialect() {
        Dialect::Json03 => fields.required_id("id"),
        Dialect::Proto03 => {
            let parent = push::read_name(fields, "parent");
            let task = fields.id("taskId").or(parent.task);
            required(fields, "parent", task)
        }
        Dialect::Json10 => fields.required_id("taskId"),
    };
    let page_size = read_page_size(fields);
    let page_token = fields.text("pageToken", PAGE_TOKEN_BYTES_MAX);
    Some(Operation::PushList { task: task?, page_size, page_token })
}

/// `value`, whose absence is noted.
fn required(fields: &ObjectReader<'_>, name: &'static str, value: Option<String>) -> Option<String> {
    if value.is_none() {
        fields.wrong(name, "is required");
    }
    value
}
