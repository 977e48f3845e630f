//! Answers: as a server writes them, and as a client reads them.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::limits::{ANSWER_ITEMS_MAX, PAGE_TOKEN_BYTES_MAX};
use super::push::Registration;
use super::read::{ObjectReader, Path, Reading, objects};
use super::write::{DialectValue, ObjectWriter};
use super::{Dialect, Method, item, push, task};
use crate::model::{Item, OperationError, OperationOutcome, PushListing, TaskListing};

impl Dialect {
    /// Reads one item of an agent's stream, wrapped or bare.
    ///
    /// Takes it as it is meant: unknown states are [`forecourt_core::TaskState::Working`], a missing
    /// conversation is empty, optional fields that can not be read are absent. Fails with
    /// [`OperationError::InvalidAgentResponse`] when it is none of the four items.
    pub(crate) fn read_item(self, value: Value) -> Result<Item, OperationError> {
        self.read_answer(value, item::read)
    }

    /// Reads the result of a method, as leniently as [`Self::read_item`].
    pub(crate) fn read_outcome(self, method: Method, value: Value) -> Result<OperationOutcome, OperationError> {
        match method {
            Method::Send => match self.read_item(value)? {
                sent @ (Item::Task(_) | Item::Message(_)) => Ok(OperationOutcome::Sent(sent)),
                Item::Status(_) | Item::Artifact(_) => Err(OperationError::InvalidAgentResponse),
            },
            Method::Stream | Method::Subscribe => self.read_item(value).map(OperationOutcome::Sent),
            Method::Get | Method::Cancel => match self.read_item(value)? {
                Item::Task(task) => Ok(OperationOutcome::Task(task)),
                Item::Message(_) | Item::Status(_) | Item::Artifact(_) => Err(OperationError::InvalidAgentResponse),
            },
            Method::List => self.read_answer(value, read_listing).map(OperationOutcome::Listing),
            Method::PushCreate | Method::PushGet => {
                self.read_answer(value, |mut fields| push::read_registration(&mut fields)).map(OperationOutcome::Push)
            }
            Method::PushList => self.read_pushes(value).map(OperationOutcome::Pushes),
            Method::PushDelete => Ok(OperationOutcome::Removed),
            Method::ExtendedCard if value.is_object() => Ok(OperationOutcome::Card(value)),
            Method::ExtendedCard => Err(OperationError::InvalidAgentResponse),
        }
    }

    fn read_answer<T>(
        self,
        value: Value,
        read: impl FnOnce(ObjectReader<'_>) -> Option<T>,
    ) -> Result<T, OperationError> {
        let reading = Reading::lenient(self);
        let answer = ObjectReader::of(value, &Path::Root, &reading).and_then(read);
        finish(reading, answer)
    }

    /// A bare array, or an object with a page of them.
    fn read_pushes(self, value: Value) -> Result<PushListing, OperationError> {
        if !value.is_array() {
            return self.read_answer(value, read_push_page);
        }
        let reading = Reading::lenient(self);
        let configs =
            objects(value, ANSWER_ITEMS_MAX, &Path::Root, &reading, |mut fields| push::read_registration(&mut fields));
        finish(reading, Some(PushListing { configs, next_page_token: String::new() }))
    }
}

/// What is wrong with an agent's answer is for the log: the client can do nothing about it.
fn finish<T>(reading: Reading, answer: Option<T>) -> Result<T, OperationError> {
    reading.finish(answer).map_err(|violations| {
        tracing::debug!(?violations, "an agent's answer could not be read");
        OperationError::InvalidAgentResponse
    })
}

fn read_listing(mut fields: ObjectReader<'_>) -> Option<TaskListing> {
    let tasks = fields.objects("tasks", ANSWER_ITEMS_MAX, task::read);
    let next_page_token = fields.text("nextPageToken", PAGE_TOKEN_BYTES_MAX).unwrap_or_default();
    let here = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    let page_size = fields.count("pageSize").unwrap_or(here);
    let total = fields.count("totalSize").unwrap_or(here);
    Some(TaskListing { tasks, next_page_token, page_size, total: total.into() })
}

fn read_push_page(mut fields: ObjectReader<'_>) -> Option<PushListing> {
    let configs = fields.objects("configs", ANSWER_ITEMS_MAX, |mut fields| push::read_registration(&mut fields));
    let next_page_token = fields.text("nextPageToken", PAGE_TOKEN_BYTES_MAX).unwrap_or_default();
    Some(PushListing { configs, next_page_token })
}

/// The result of a method: what JSON-RPC has in `result` and REST in the body.
impl Serialize for DialectValue<'_, OperationOutcome> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, outcome) = *self;
        match outcome {
            OperationOutcome::Sent(item) => DialectValue(dialect, item).serialize(serializer),
            OperationOutcome::Task(task) => DialectValue(dialect, task).serialize(serializer),
            OperationOutcome::Listing(listing) => DialectValue(dialect, listing).serialize(serializer),
            OperationOutcome::Push(config) => DialectValue(dialect, &Registration(config)).serialize(serializer),
            OperationOutcome::Pushes(listing) => DialectValue(dialect, listing).serialize(serializer),
            OperationOutcome::Removed if dialect == Dialect::Json03 => serializer.serialize_unit(),
            OperationOutcome::Removed => ObjectWriter::begin(serializer)?.end(),
            OperationOutcome::Card(card) => card.serialize(serializer),
        }
    }
}

/// All four members, even when they are empty. A total beyond the 32 bits of the protocol is cut to them.
impl Serialize for DialectValue<'_, TaskListing> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, listing) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("nextPageToken", &listing.next_page_token)?;
        object.member("pageSize", &listing.page_size)?;
        object.member("tasks", &DialectValue(dialect, listing.tasks.as_slice()))?;
        object.member("totalSize", &i32::try_from(listing.total).unwrap_or(i32::MAX))?;
        object.end()
    }
}

/// A bare list in the JSON of 0.3.
impl Serialize for DialectValue<'_, PushListing> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, listing) = *self;
        let configs: Vec<_> = listing.configs.iter().map(Registration).collect();
        let configs = DialectValue(dialect, configs.as_slice());
        if dialect == Dialect::Json03 {
            return configs.serialize(serializer);
        }
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("configs", &configs)?;
        object.member("nextPageToken", &listing.next_page_token)?;
        object.end()
    }
}
