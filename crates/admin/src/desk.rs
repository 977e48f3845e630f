//! What every request of the operator is answered with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_store::StoreReads;
use parking_lot::{Mutex, RwLock};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::ApiError;
use crate::attempts::Attempts;
use crate::entrance::Entrance;
use crate::house::{DaemonControl, OperatedHouse};
use crate::limits::{ATTEMPTS_MAX, LOGINS_BEGUN_MAX, REASON_CHARS_MAX, STREAMS_MAX, TRIALS_MAX};
use crate::role::Actor;
use crate::verified::VerificationReport;

/// What every request of the operator is answered with. One for a process, whatever becomes of its deployment.
pub struct Desk {
    pub(crate) around: Arc<dyn DaemonControl>,
    pub(crate) reads: Arc<dyn StoreReads>,
    /// Where state is kept.
    pub(crate) data: PathBuf,
    /// What opens it, which a deployment that is read again may change.
    entrance: RwLock<Arc<Entrance>>,
    /// Wrong tokens.
    pub(crate) attempts: Attempts,
    /// Logins at a provider.
    pub(crate) logins: Attempts,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) trials: Arc<Semaphore>,
    /// What came of looking through the signed records last.
    pub(crate) verified: Mutex<Option<VerificationReport>>,
}

impl Desk {
    /// The desk of a program, over its store and its data folder, that `entrance` opens.
    pub fn new(
        around: Arc<dyn DaemonControl>,
        reads: Arc<dyn StoreReads>,
        data: PathBuf,
        entrance: Arc<Entrance>,
    ) -> Arc<Self> {
        Arc::new(Self {
            around,
            reads,
            data,
            entrance: RwLock::new(entrance),
            attempts: Attempts::new(ATTEMPTS_MAX),
            logins: Attempts::new(LOGINS_BEGUN_MAX),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            trials: Arc::new(Semaphore::new(TRIALS_MAX)),
            verified: Mutex::default(),
        })
    }

    /// Is opened by something else from here on. Sessions that it would not open end with that, also those in whose
    /// name an answer goes on.
    pub fn opens_by(&self, entrance: Arc<Entrance>) {
        *self.entrance.write() = entrance;
    }

    /// What opens it now.
    pub(crate) fn entrance(&self) -> Arc<Entrance> {
        self.entrance.read().clone()
    }

    /// The house as it stands now.
    pub(crate) fn house(&self) -> Result<OperatedHouse, ApiError> {
        self.around.now().ok_or_else(|| ApiError::unavailable("the host is starting or stopping"))
    }

    /// A place of the playground, for what is as much work as a trial: held until it is dropped.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = self.trials.clone().try_acquire_owned();
        place.map_err(|_| ApiError::unavailable("too much is looked at already").hint("try it again in a moment"))
    }

    /// The domain whose desk it is; nothing while there is no house.
    pub(crate) fn domain(&self) -> String {
        self.around.now().map(|house| house.host.site().domain.to_string()).unwrap_or_default()
    }
}

/// A call, by somebody who may make it.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) desk: Arc<Desk>,
    pub(crate) house: OperatedHouse,
    pub(crate) actor: Actor,
    /// What stands in the path, by name.
    pub(crate) path: BTreeMap<String, String>,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Ask {
    /// What stands in the path under a name; empty when there is no such name.
    pub(crate) fn named(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// A parameter of the query that says something.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// How many things a list is to have.
    pub(crate) fn limit(&self) -> Result<usize, ApiError> {
        use crate::limits::{PAGE_DEFAULT, PAGE_MAX};
        let Some(text) = self.query("limit") else { return Ok(PAGE_DEFAULT) };
        let limit = text.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit));
        limit.ok_or_else(|| ApiError::invalid(format!("`limit` is a number from 1 to {PAGE_MAX}")))
    }

    /// A number that a list goes on after, or before.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, ApiError> {
        let read = |text: &str| text.parse().map_err(|_| ApiError::invalid(format!("`{name}` is a number")));
        self.query(name).map(read).transpose()
    }

    /// The body as it should be.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let body = if self.body.is_null() { Value::Object(serde_json::Map::new()) } else { self.body.clone() };
        serde_json::from_value(body).map_err(|error| ApiError::invalid(format!("the body can't be read: {error}")))
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Timestamp {
        self.house.host.clock().now()
    }
}

/// A reason as it is kept; none when it says nothing.
pub(crate) fn reason(text: Option<&str>) -> Result<Option<String>, ApiError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.chars().count() <= REASON_CHARS_MAX && !text.chars().any(forecourt_core::clean::is_hidden) {
        true => Ok(Some(text.to_owned())),
        false => {
            Err(ApiError::invalid(format!("a reason has at most {REASON_CHARS_MAX} characters, and no hidden ones")))
        }
    }
}
