//! A thread that looks after the workers, whatever the host around it does.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use forecourt_contract::Failure;
use forecourt_process::{Program, find};
use serde_json::Value;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::folder::Folder;
use super::frame::Request;
use super::pool::Pool;
use super::settings::Options;
use super::worker;

/// The thread and its workers. They end when it is dropped.
///
/// A runtime of its own lets functions be loaded before there is one, and keeps timers of a host
/// under test away from real processes.
pub(super) struct Supervisor {
    pool: Arc<Pool>,
    runtime: Handle,
    /// The thread runs as long as this is kept.
    _running: oneshot::Sender<Infallible>,
}

impl Supervisor {
    /// Begins to look after workers; none is started yet.
    ///
    /// # Errors
    /// There is no interpreter, or no room for a thread: for the operator.
    pub(super) fn start(options: &Options, folder: Folder) -> Result<Supervisor, String> {
        let program = Program {
            file: interpreter(options)?,
            arguments: worker::arguments(options.memory_bytes),
            folder: std::path::absolute(&folder.0).map_err(|error| error.to_string())?,
            path_variable: options.path_variable.clone(),
            variables: options.variables.clone(),
        };
        let pool = Arc::new(Pool::new(program, folder, options.workers, options.import_time));
        let no_thread = |error: std::io::Error| format!("workers for functions can't be looked after: {error}");
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let handle = runtime.handle().clone();
        let (running, stopped) = oneshot::channel::<Infallible>();
        let run = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("functions".to_owned()).spawn(run).map_err(no_thread)?;
        Ok(Supervisor { pool, runtime: handle, _running: running })
    }

    /// Imports a function; blocks meanwhile.
    ///
    /// # Errors
    /// What is wrong with it, for the operator.
    pub(super) fn load(&self, function: &str) -> Result<(), String> {
        let (give, get) = mpsc::channel();
        let load = Arc::clone(&self.pool).load(function.to_owned());
        self.runtime.spawn(async move { give.send(load.await) });
        get.recv().unwrap_or_else(|_| Err("the workers for functions are gone".to_owned()))
    }

    /// Calls a function.
    pub(super) async fn call(&self, function: Arc<str>, request: Request, time: Duration) -> Result<Value, Failure> {
        let pool = Arc::clone(&self.pool);
        let call = self.runtime.spawn(async move { pool.call(&function, request, time).await });
        let gone = |_| Err(Failure::Crashed("the workers for functions are gone".to_owned()));
        // The work is a task of the other runtime; dropped by its caller alone, it would go on there.
        AbortOnDropHandle::new(call).await.unwrap_or_else(gone)
    }
}

/// The interpreter's file.
fn interpreter(Options { python, deployment, path_variable, .. }: &Options) -> Result<PathBuf, String> {
    match python.contains('/') {
        true => Some(deployment.join(python))
            .filter(|file| file.is_file())
            .and_then(|file| std::path::absolute(file).ok())
            .ok_or_else(|| format!("functions need Python, and there is no {}", Path::new(python).display())),
        false => find(python, path_variable.as_deref().unwrap_or_default())
            .ok_or_else(|| format!("functions need {python} on PATH")),
    }
}
