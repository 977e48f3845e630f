//! This module has one write: the call of a function of the schema, what it locks, and its place in a transaction.

use tokio_postgres::types::{ToSql, Type};

use super::batch::TaskWrite;
use crate::seal::Hash;
use crate::sealed::Holder;

/// A value that is bound to a parameter.
pub(super) enum Param {
    Bool(bool),
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Ints(Vec<i64>),
    Texts(Vec<String>),
    Blobs(Vec<Vec<u8>>),
    /// Some of which may be missing.
    AnyBlobs(Vec<Option<Vec<u8>>>),
}

impl Param {
    /// As it is sent.
    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Bool(value) => (value, Type::BOOL),
            Self::Int(value) => (value, Type::INT8),
            Self::Text(value) => (value, Type::TEXT),
            Self::Bytes(value) => (value, Type::BYTEA),
            Self::Ints(value) => (value, Type::INT8_ARRAY),
            Self::Texts(value) => (value, Type::TEXT_ARRAY),
            Self::Blobs(value) => (value, Type::BYTEA_ARRAY),
            Self::AnyBlobs(value) => (value, Type::BYTEA_ARRAY),
        }
    }
}

macro_rules! from {
    ($($from:ty => $param:expr),* $(,)?) => {
        $(impl From<$from> for Param {
            fn from(value: $from) -> Self {
                $param(value)
            }
        })*
    };
}

from! {
    bool => Param::Bool,
    i64 => |value| Param::Int(Some(value)),
    Option<i64> => Param::Int,
    String => |value| Param::Text(Some(value)),
    &str => |value: &str| Param::Text(Some(value.to_owned())),
    Option<String> => Param::Text,
    Vec<u8> => |value| Param::Bytes(Some(value)),
    Option<Vec<u8>> => Param::Bytes,
    Hash => |value: Hash| Param::Bytes(Some(value.to_vec())),
    Option<Hash> => |value: Option<Hash>| Param::Bytes(value.map(|hash| hash.to_vec())),
    Vec<Vec<u8>> => Param::Blobs,
    Vec<String> => Param::Texts,
}

/// The row that a write changes. Writes of one transaction are sorted by it, so that two transactions lock rows in the
/// same order and never deadlock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Run(String),
    Claim(Hash),
    Route(Hash),
    Thread(Hash, String),
    Stream(Hash),
    /// A task, and whether an account may be charged for it.
    Task(Hash, bool),
    Delivery(i64),
    /// Something new that nobody else waits for.
    New,
}

/// One write.
pub(super) struct Call {
    work: Work,
    pub(super) subject: Subject,
    /// The account whose bytes it may change, besides that of its subject.
    account: Holder,
    /// Whether doing it twice is as good as doing it once.
    is_repeatable: bool,
}

/// How it is written.
enum Work {
    /// By a function of its own.
    Function { sql: String, params: Vec<Param> },
    /// By one statement with others of its kind.
    Task(Box<TaskWrite>),
}

impl Call {
    /// The call of `forecourt.{function}`.
    pub(super) fn new(
        function: &'static str,
        subject: Subject,
        account: Holder,
        params: impl IntoIterator<Item = Param>,
    ) -> Self {
        let params: Vec<Param> = params.into_iter().collect();
        let places: Vec<String> = (1..=params.len()).map(|n| format!("${n}")).collect();
        let sql = format!("SELECT code, n FROM forecourt.{function}({})", places.join(","));
        Self { work: Work::Function { sql, params }, subject, account, is_repeatable: false }
    }

    /// The same, of which the function knows when it was done before: it is tried again where nobody can say whether
    /// it was.
    pub(super) fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// A write of a task, which always knows when it was done before.
    pub(super) fn task(write: TaskWrite) -> Self {
        // `false`: its account is given here, and need not be looked up from the task to be locked.
        let (subject, account) = (Subject::Task(write.task, false), write.payer);
        Self { work: Work::Task(Box::new(write)), subject, account, is_repeatable: true }
    }

    /// Whether it may be tried again where nobody can say whether it was done.
    pub(super) fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }
}

/// One statement of a transaction.
pub(super) enum Statement<'a> {
    /// The call of a function: what is sent, and what is bound to it.
    Function(&'a str, Vec<(&'a (dyn ToSql + Sync), Type)>),
    /// Neighbours that are done together.
    Tasks(Vec<&'a TaskWrite>),
}

/// The statements that do all of this, in the same order.
pub(super) fn statements<'a>(calls: &[&'a Call]) -> Vec<Statement<'a>> {
    let mut statements = Vec::new();
    for call in calls {
        match (&call.work, statements.last_mut()) {
            (Work::Function { sql, params }, _) => {
                statements.push(Statement::Function(sql, params.iter().map(Param::typed).collect()));
            }
            (Work::Task(write), Some(Statement::Tasks(writes))) => writes.push(write),
            (Work::Task(write), _) => statements.push(Statement::Tasks(vec![write])),
        }
    }
    statements
}

/// The statement that locks all accounts which a transaction may change, in their order.
pub(super) const LOCK: &str = "SELECT forecourt.lock_4($1, $2, $3, $4, $5, $6, $7, $8)";

/// What is bound to [`LOCK`]; `None` when there is nothing to lock.
pub(super) fn locks(calls: &[&Call]) -> Option<Vec<Param>> {
    let holders: Vec<Holder> = calls.iter().map(|call| call.account).filter(|of| of.account.is_some()).collect();
    let accounts: Vec<Vec<u8>> = holders.iter().filter_map(|of| of.account.map(|hash| hash.to_vec())).collect();
    let around = |level: usize| {
        let network = |of: &Holder| of.around()[level].map(|hash| hash.to_vec());
        Param::AnyBlobs(holders.iter().map(network).collect())
    };
    let (mut tasks, mut threads, mut agents, mut routes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut deliveries = Vec::new();
    for call in calls {
        match &call.subject {
            Subject::Task(hash, true) => tasks.push(hash.to_vec()),
            Subject::Thread(hash, agent) => {
                threads.push(hash.to_vec());
                agents.push(agent.clone());
            }
            Subject::Route(hash) => routes.push(hash.to_vec()),
            Subject::Delivery(id) => deliveries.push(*id),
            Subject::Task(_, false) | Subject::Run(_) | Subject::Claim(_) | Subject::Stream(_) | Subject::New => {}
        }
    }
    // Then the statement is left out: one less to send for runs, claims and streams.
    let nothing = [&accounts, &tasks, &threads, &routes].iter().all(|list| list.is_empty()) && deliveries.is_empty();
    (!nothing).then(|| {
        vec![
            Param::Blobs(accounts),
            around(0),
            around(1),
            Param::Blobs(tasks),
            Param::Blobs(threads),
            Param::Texts(agents),
            Param::Blobs(routes),
            Param::Ints(deliveries),
        ]
    })
}
