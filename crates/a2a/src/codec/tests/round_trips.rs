//! What is written is read back the same, but for what a dialect has no place for.

use bytes::Bytes;
use forecourt_core::{TaskState, Timestamp};
use forecourt_testkit::dear;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::DIALECTS;
use crate::codec::{Dialect, DialectValue, Method};
use crate::model::*;

/// What reaches the other side of a dialect.
trait Lossy {
    fn through(&mut self, dialect: Dialect);
}

impl Lossy for Part {
    /// 0.3 names and types files only, and its data are objects; its protocol buffers name nothing.
    fn through(&mut self, dialect: Dialect) {
        if dialect == Dialect::Json10 {
            return;
        }
        match &mut self.content {
            Content::Text(_) => (self.filename, self.media_type) = (None, None),
            Content::Data(value) => {
                if !value.is_object() {
                    *value = json!({ "value": value });
                }
                (self.filename, self.media_type) = (None, None);
            }
            Content::Raw(_) | Content::Url(_) if dialect == Dialect::Proto03 => self.filename = None,
            Content::Raw(_) | Content::Url(_) => {}
        }
    }
}

impl Lossy for Message {
    /// The protocol buffers of 0.3 have no references.
    fn through(&mut self, dialect: Dialect) {
        self.parts.iter_mut().for_each(|part| part.through(dialect));
        if dialect == Dialect::Proto03 {
            self.references.clear();
        }
    }
}

impl Lossy for Task {
    fn through(&mut self, dialect: Dialect) {
        self.status.message.iter_mut().for_each(|message| message.through(dialect));
        self.history.iter_mut().for_each(|message| message.through(dialect));
        self.artifacts.iter_mut().flat_map(|a| &mut a.parts).for_each(|part| part.through(dialect));
    }
}

impl Lossy for Item {
    /// 1.0 does not say which update is the last.
    fn through(&mut self, dialect: Dialect) {
        match self {
            Self::Task(task) => task.through(dialect),
            Self::Message(message) => message.through(dialect),
            Self::Status(update) => {
                update.status.message.iter_mut().for_each(|message| message.through(dialect));
                update.is_final &= dialect != Dialect::Json10;
            }
            Self::Artifact(update) => update.artifact.parts.iter_mut().for_each(|part| part.through(dialect)),
        }
    }
}

impl Lossy for PushConfig {
    /// 1.0 has one scheme.
    fn through(&mut self, dialect: Dialect) {
        if let (Dialect::Json10, Some(how)) = (dialect, &mut self.authentication) {
            how.schemes.truncate(1);
        }
    }
}

impl Lossy for Operation {
    fn through(&mut self, dialect: Dialect) {
        match self {
            Self::Send(send) | Self::Stream(send) => {
                send.message.through(dialect);
                if let Some(push) = &mut send.configuration.push {
                    push.task = None;
                    push.through(dialect);
                }
            }
            Self::PushCreate(config) => config.through(dialect),
            Self::PushList { page_size, page_token, .. } if dialect == Dialect::Json03 => {
                (*page_size, *page_token) = (None, None);
            }
            Self::Cancel { metadata, .. } if dialect == Dialect::Proto03 => metadata.clear(),
            _ => {}
        }
    }
}

fn id() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_.~-]{1,12}"
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let value = prop_oneof![Just(json!(null)), Just(json!({"a":[1]})), any::<i32>().prop_map(Value::from)];
    vec(("\\PC{1,6}", value), 0..3).prop_map(|all| all.into_iter().collect())
}

fn part() -> impl Strategy<Value = Part> {
    let data = prop_oneof![Just(json!(null)), Just(json!([1, {}])), Just(json!({"a":{"data":1}})), Just(json!({}))];
    let content = prop_oneof![
        "\\PC{0,12}".prop_map(Content::Text),
        vec(any::<u8>(), 0..12).prop_map(|bytes| Content::Raw(Bytes::from(bytes))),
        id().prop_map(|path| Content::Url(format!("https://x.example/{path}"))),
        data.prop_map(Content::Data),
    ];
    (content, of(id()), of(id()), metadata()).prop_map(|(content, filename, media_type, metadata)| Part {
        content,
        filename,
        media_type,
        metadata,
    })
}

fn message(role: impl Strategy<Value = Role>) -> impl Strategy<Value = Message> {
    let ids = (id(), of(id()), of(id()), vec(id(), 0..3));
    (role, ids, vec(part(), 1..4), vec(id(), 0..3), metadata()).prop_map(
        |(role, (id, context, task, references), parts, extensions, metadata)| Message {
            id,
            role,
            parts,
            context,
            task,
            references,
            extensions,
            metadata,
        },
    )
}

pub(super) fn any_message() -> impl Strategy<Value = Message> {
    message(proptest::sample::select(vec![Role::User, Role::Agent]))
}

fn state() -> impl Strategy<Value = TaskState> {
    proptest::sample::select(TaskState::ALL.to_vec())
}

fn moment() -> impl Strategy<Value = Timestamp> {
    (0..4_000_000_000_000_i64).prop_map(|ms| Timestamp::from_millisecond(ms).unwrap())
}

fn status() -> impl Strategy<Value = Status> {
    (state(), of(any_message()), of(moment())).prop_map(|(state, message, timestamp)| Status {
        state,
        message,
        timestamp,
    })
}

fn artifact() -> impl Strategy<Value = Artifact> {
    (id(), of(id()), of(id()), vec(part(), 1..3), vec(id(), 0..2), metadata()).prop_map(
        |(id, name, description, parts, extensions, metadata)| Artifact {
            id,
            name,
            description,
            parts,
            extensions,
            metadata,
        },
    )
}

fn task() -> impl Strategy<Value = Task> {
    (id(), id(), status(), vec(artifact(), 0..2), vec(any_message(), 0..2), metadata()).prop_map(
        |(id, context, status, artifacts, history, metadata)| Task {
            id,
            context,
            status,
            artifacts,
            history,
            metadata,
        },
    )
}

pub(super) fn item() -> impl Strategy<Value = Item> {
    let status =
        (id(), id(), status(), any::<bool>(), metadata()).prop_map(|(task, context, status, is_final, metadata)| {
            StatusUpdate { task, context, status, is_final, metadata }
        });
    let artifact = (id(), id(), artifact(), any::<bool>(), any::<bool>(), metadata()).prop_map(
        |(task, context, artifact, append, last_chunk, metadata)| ArtifactUpdate {
            task,
            context,
            artifact,
            append,
            last_chunk,
            metadata,
        },
    );
    prop_oneof![
        task().prop_map(Item::Task),
        any_message().prop_map(Item::Message),
        status.prop_map(Item::Status),
        artifact.prop_map(Item::Artifact),
    ]
}

fn push() -> impl Strategy<Value = PushConfig> {
    let how =
        (vec(id(), 1..3), of(id())).prop_map(|(schemes, credentials)| PushAuthentication { schemes, credentials });
    (of(id()), id(), id(), of(id()), of(how)).prop_map(|(id, task, path, token, authentication)| PushConfig {
        id,
        task: Some(task),
        url: format!("https://h.example/{path}"),
        token,
        authentication,
    })
}

pub(super) fn send() -> impl Strategy<Value = Box<Send>> {
    let configuration = (vec(id(), 0..3), of(0..1000_u32), any::<bool>(), of(push())).prop_map(
        |(accepted_output_modes, history_length, blocking, push)| Configuration {
            accepted_output_modes,
            history_length,
            blocking,
            push: push.map(|config| PushConfig { task: None, ..config }),
        },
    );
    (message(Just(Role::User)), configuration, metadata())
        .prop_map(|(message, configuration, metadata)| Box::new(Send { message, configuration, metadata }))
}

fn query() -> impl Strategy<Value = ListQuery> {
    (of(id()), of(state()), of(moment()), of(1..=100_u32), of(id()), of(0..9_u32), any::<bool>()).prop_map(
        |(context, state, since, page_size, page_token, history_length, include_artifacts)| ListQuery {
            context,
            state,
            since,
            page_size,
            page_token,
            history_length,
            include_artifacts,
        },
    )
}

pub(super) fn operation() -> impl Strategy<Value = (Method, Operation)> {
    let pages = (id(), of(1..=100_u32), of(id()));
    prop_oneof![
        send().prop_map(|send| (Method::Send, Operation::Send(send))),
        send().prop_map(|send| (Method::Stream, Operation::Stream(send))),
        (id(), of(0..9_u32)).prop_map(|(task, history_length)| (Method::Get, Operation::Get { task, history_length })),
        query().prop_map(|query| (Method::List, Operation::List(query))),
        (id(), metadata()).prop_map(|(task, metadata)| (Method::Cancel, Operation::Cancel { task, metadata })),
        id().prop_map(|task| (Method::Subscribe, Operation::Subscribe { task })),
        push().prop_map(|config| (Method::PushCreate, Operation::PushCreate(config))),
        (id(), id()).prop_map(|(task, id)| (Method::PushGet, Operation::PushGet { task, id: Some(id) })),
        (id(), id()).prop_map(|(task, id)| (Method::PushDelete, Operation::PushDelete { task, id })),
        pages.prop_map(|(task, page_size, page_token)| {
            (Method::PushList, Operation::PushList { task, page_size, page_token })
        }),
        Just((Method::ExtendedCard, Operation::ExtendedCard)),
    ]
}

proptest! {
    #![proptest_config(dear(64))]

    #[test]
    fn an_operation_reaches_the_server((method, operation) in operation()) {
        for dialect in DIALECTS {
            let mut want = operation.clone();
            want.through(dialect);
            prop_assert_eq!(dialect.read_params(method, DialectValue(dialect, &operation).to_value()), Ok(want));
        }
    }

    #[test]
    fn an_item_reaches_the_client(item in item()) {
        for dialect in DIALECTS {
            let mut want = item.clone();
            want.through(dialect);
            prop_assert_eq!(dialect.read_item(DialectValue(dialect, &item).to_value()), Ok(want));
        }
    }

    #[test]
    fn a_list_reaches_the_client(tasks in vec(task(), 0..3), next_page_token in "[a-z]{0,4}", total in 0..99_u64) {
        for dialect in DIALECTS {
            let listing = TaskListing { tasks: tasks.clone(), next_page_token: next_page_token.clone(), page_size: 50, total };
            let written = DialectValue(dialect, &OperationOutcome::Listing(listing.clone())).to_value();
            let mut want = listing;
            want.tasks.iter_mut().for_each(|task| task.through(dialect));
            prop_assert_eq!(dialect.read_outcome(Method::List, written), Ok(OperationOutcome::Listing(want)));
        }
    }

    #[test]
    fn push_configurations_reach_the_client(configs in vec(push(), 0..3)) {
        for dialect in DIALECTS {
            let mut want = PushListing { configs: configs.clone(), next_page_token: String::new() };
            let written = DialectValue(dialect, &OperationOutcome::Pushes(want.clone())).to_value();
            want.configs.iter_mut().for_each(|config| config.through(dialect));
            prop_assert_eq!(dialect.read_outcome(Method::PushList, written), Ok(OperationOutcome::Pushes(want)));
        }
    }
}
