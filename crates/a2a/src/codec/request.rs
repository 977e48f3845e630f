//! Requests as a client writes them.

use serde::ser::{Serialize, Serializer};

use super::params::push_field;
use super::push::Registration;
use super::write::{DialectValue, Moment, ObjectWriter};
use super::{Dialect, push};
use crate::model::{Configuration, ListQuery, Operation, PushConfig, Send};

/// The parameters of an operation: always an object.
impl Serialize for DialectValue<'_, Operation> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, operation) = *self;
        if let Operation::Send(send) | Operation::Stream(send) = operation {
            return DialectValue(dialect, &**send).serialize(serializer);
        }
        if let Operation::List(query) = operation {
            return DialectValue(dialect, query).serialize(serializer);
        }
        if let Operation::PushCreate(config) = operation {
            return DialectValue(dialect, &NewRegistration(config)).serialize(serializer);
        }
        let mut object = ObjectWriter::begin(serializer)?;
        match operation {
            Operation::Get { task, history_length } => {
                object.some("historyLength", *history_length)?;
                name_task(&mut object, dialect, task)?;
            }
            Operation::Cancel { task, metadata } => {
                name_task(&mut object, dialect, task)?;
                // Its protocol buffers of 0.3 have no place for any.
                object.when(dialect != Dialect::Proto03 && !metadata.is_empty(), "metadata", metadata)?;
            }
            Operation::Subscribe { task } => name_task(&mut object, dialect, task)?,
            Operation::PushGet { task, id } => name_push(&mut object, dialect, task, id.as_deref())?,
            Operation::PushDelete { task, id } => name_push(&mut object, dialect, task, Some(id))?,
            Operation::PushList { task, page_size, page_token } => {
                write_push_list(&mut object, dialect, task, *page_size, page_token.as_deref())?;
            }
            Operation::ExtendedCard => {}
            // Written above.
            Operation::Send(_) | Operation::Stream(_) | Operation::List(_) | Operation::PushCreate(_) => {}
        }
        object.end()
    }
}

impl Serialize for DialectValue<'_, Send> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, send) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("configuration", &DialectValue(dialect, &send.configuration))?;
        object.member("message", &DialectValue(dialect, &send.message))?;
        object.metadata(&send.metadata)?;
        object.end()
    }
}

/// 0.3 leaves a server its choice when nothing is said, so it is said; 1.0 waits unless told otherwise.
impl Serialize for DialectValue<'_, Configuration> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, configuration) = *self;
        let is_1_0 = dialect == Dialect::Json10;
        let push = configuration.push.as_ref().map(|config| DialectValue(dialect, config));
        let mut object = ObjectWriter::begin(serializer)?;
        object.texts("acceptedOutputModes", &configuration.accepted_output_modes)?;
        object.when(!is_1_0, "blocking", configuration.blocking)?;
        object.some("historyLength", configuration.history_length)?;
        object.some(push_field(dialect), push.filter(|_| !is_1_0))?;
        object.when(is_1_0 && !configuration.blocking, "returnImmediately", true)?;
        object.some(push_field(dialect), push.filter(|_| is_1_0))?;
        object.end()
    }
}

impl Serialize for DialectValue<'_, ListQuery> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, query) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.some("contextId", query.context.as_deref())?;
        object.some("historyLength", query.history_length)?;
        object.when(query.include_artifacts, "includeArtifacts", true)?;
        object.some("pageSize", query.page_size)?;
        object.some("pageToken", query.page_token.as_deref())?;
        object.some("status", query.state.map(|state| dialect.state_name(state)))?;
        object.some("statusTimestampAfter", query.since.map(Moment))?;
        object.end()
    }
}

fn name_task<S: Serializer>(object: &mut ObjectWriter<S>, dialect: Dialect, task: &str) -> Result<(), S::Error> {
    match dialect {
        Dialect::Json03 | Dialect::Json10 => object.member("id", task),
        Dialect::Proto03 => object.member("name", &push::name(task, None)),
    }
}

fn name_push<S: Serializer>(
    object: &mut ObjectWriter<S>,
    dialect: Dialect,
    task: &str,
    id: Option<&str>,
) -> Result<(), S::Error> {
    match dialect {
        Dialect::Json03 => {
            object.member("id", task)?;
            object.some("pushNotificationConfigId", id)
        }
        Dialect::Proto03 => object.member("name", &push::name(task, id)),
        Dialect::Json10 => {
            object.some("id", id)?;
            object.member("taskId", task)
        }
    }
}

/// A registration that is to be made.
struct NewRegistration<'a>(&'a PushConfig);

impl Serialize for DialectValue<'_, NewRegistration<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, NewRegistration(config)) = *self;
        let registration = Registration(config);
        let registration = DialectValue(dialect, &registration);
        if dialect != Dialect::Proto03 {
            return registration.serialize(serializer);
        }
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("config", &registration)?;
        object.some("configId", config.id.as_deref())?;
        object.some("parent", config.task.as_deref().map(|task| push::name(task, None)))?;
        object.end()
    }
}

fn write_push_list<S: Serializer>(
    object: &mut ObjectWriter<S>,
    dialect: Dialect,
    task: &str,
    page_size: Option<u32>,
    page_token: Option<&str>,
) -> Result<(), S::Error> {
    if dialect == Dialect::Json03 {
        return object.member("id", task);
    }
    object.some("pageSize", page_size)?;
    object.some("pageToken", page_token)?;
    match dialect {
        Dialect::Proto03 => object.member("parent", &push::name(task, None)),
        Dialect::Json03 | Dialect::Json10 => object.member("taskId", task),
    }
}
