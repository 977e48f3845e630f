//! Functions in Python, which run in processes of their own. Section 12.2.
//!
//! `rooms.book` is `book` in `functions/rooms.py` of the deployment, and is imported when an endpoint
//! is bound to it. It is called with a context that has the validated `input` and says who calls; it
//! returns a dict, or raises `forecourt.EndpointError`. A function that hangs, prints, crashes or eats
//! memory costs its own call and nothing else: workers take one call at a time, have a bound of
//! memory, lose their process when a call fails to end, and see none of the host's environment.
//!
//! An edited file is read with the next call. One that is broken by it gives a clear failure until it
//! is mended.

mod calls;
mod folder;
mod frame;
mod lease;
mod output;
mod pool;
mod settings;
mod supervisor;
mod worker;

use std::sync::{Arc, Mutex, PoisonError};

use forecourt_contract::{Failure, Handler, Invocation};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::function::{FunctionError, FunctionSource, time};
use folder::Folder;
use frame::Request;
pub use settings::{DOCUMENTED, Options};
use supervisor::Supervisor;

/// The Python functions of one deployment. Nothing is started before the first is asked for; all ends
/// when this and the functions that it gave are dropped.
pub struct Python {
    options: Options,
    supervisor: Mutex<Option<Arc<Supervisor>>>,
}

impl Python {
    /// The functions below `options.folder`, whether it is there or not.
    pub fn new(options: Options) -> Python {
        Python { options, supervisor: Mutex::new(None) }
    }

    fn supervisor(&self, folder: Folder) -> Result<Arc<Supervisor>, String> {
        // A poisoned lock holds nothing half done: the supervisor is there or not.
        let mut supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        match &*supervisor {
            Some(running) => Ok(Arc::clone(running)),
            None => Ok(Arc::clone(supervisor.insert(Arc::new(Supervisor::start(&self.options, folder)?)))),
        }
    }

    fn load(&self, dotted: &str) -> Result<Arc<dyn Handler>, String> {
        let folder = Folder(self.options.folder.clone());
        let Some((module, _)) = dotted.rsplit_once('.') else {
            return Err("a function in Python has a module, such as `rooms.book` in functions/rooms.py".to_owned());
        };
        // Before a worker starts: only modules of the folder may be bound, whatever else Python could import.
        if folder.module(module).is_none() {
            return Err(format!("there is no {}", folder.shown(module)));
        }
        let supervisor = self.supervisor(folder)?;
        supervisor.load(dotted)?;
        Ok(Arc::new(Function { dotted: dotted.into(), supervisor }))
    }
}

impl FunctionSource for Python {
    /// Imports the function in a worker. A fault names the file, the line and the exception.
    fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, FunctionError> {
        self.load(dotted).map_err(FunctionError::Broken)
    }
}

/// One function.
struct Function {
    dotted: Arc<str>,
    supervisor: Arc<Supervisor>,
}

impl Handler for Function {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        let time = time(&invocation);
        let request = Request::call(&self.dotted, invocation);
        self.supervisor.call(Arc::clone(&self.dotted), request, time).boxed()
    }
}
