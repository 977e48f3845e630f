//! `registered_function`: functions of this program, by name, and of wherever else they are looked
//! for. Section 12.2.
//!
//! A name is one that the operator wrote into an endpoint's file; callers never choose one.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::{Failure, Handler, Invocation};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

/// Where functions are found. Asked once for each endpoint, before the host answers.
pub trait FunctionSource: Send + Sync {
    /// The function of a dotted path, ready to be called. May block while it is loaded.
    ///
    /// What it gives ends each call within [`time`], as late or as busy.
    ///
    /// # Errors
    /// There is none of that name, or it can't be loaded.
    fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, FunctionError>;
}

/// Why a function can't be bound to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionError {
    /// This source has none of that name; another one may.
    #[error("there is no function of that name")]
    Unknown,
    /// It is there, but can't be used. A sentence for the operator.
    #[error("{0}")]
    Broken(String),
}

/// Functions of a program that embeds this host, by dotted path, and behind them other sources.
///
/// ```
/// use forecourt_contract::Failure;
/// use forecourt_endpoints::Functions;
/// use serde_json::json;
///
/// let functions = Functions::new()
///     .with("rooms.count", |_| async { Ok(json!({ "free": 3 })) })
///     .with("rooms.book", |call| async move {
///         match call.input.get("guest_id") {
///             Some(guest) => Ok(json!({ "reservation_id": "r-1", "guest_id": guest })),
///             None => Err(Failure::named("guest_unknown", "Say who is to stay.")),
///         }
///     });
/// # use forecourt_endpoints::FunctionSource;
/// assert!(functions.find("rooms.book").is_ok());
/// assert!(functions.find("rooms.burn").is_err());
/// ```
#[derive(Clone, Default)]
pub struct Functions {
    own: BTreeMap<String, Arc<dyn Handler>>,
    others: Vec<Arc<dyn FunctionSource>>,
}

impl Functions {
    /// No functions yet.
    pub fn new() -> Functions {
        Functions::default()
    }

    /// The same with a function under `dotted`, in place of one that was there. A panic in it ends
    /// its call only.
    #[must_use]
    pub fn with<F, R>(mut self, dotted: impl Into<String>, function: F) -> Functions
    where
        F: Fn(Invocation) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.own.insert(dotted.into(), Arc::new(Function(function)));
        self
    }

    /// The same with another source, which is asked after those before it.
    #[must_use]
    pub fn then(mut self, source: Arc<dyn FunctionSource>) -> Functions {
        self.others.push(source);
        self
    }
}

impl FunctionSource for Functions {
    fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, FunctionError> {
        if let Some(own) = self.own.get(dotted) {
            return Ok(Arc::clone(own));
        }
        // Lazily: a later source must not import a module for a name that an earlier one has.
        let mut asked = self.others.iter().map(|source| source.find(dotted));
        // A source that has the function decides, even when it can't use it.
        let decided = asked.find(|found| !matches!(found, Err(FunctionError::Unknown)));
        decided.unwrap_or(Err(FunctionError::Unknown))
    }
}

/// How long a call of a function may take.
pub fn time(invocation: &Invocation) -> Duration {
    invocation.endpoint.binding.timeout()
}

/// A function as a handler. When its time is over it is dropped, which stops the work.
struct Function<F>(F);

impl<F, R> Handler for Function<F>
where
    F: Fn(Invocation) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        let time = time(&invocation);
        let late = move |_| Err(Failure::Late(format!("the function took more than {time:?}")));
        // Called where it is polled, so that a panic at its very beginning is one of the call too.
        let call = async move { (self.0)(invocation).await };
        tokio::time::timeout(time, call).map(move |ended| ended.unwrap_or_else(late)).boxed()
    }
}
