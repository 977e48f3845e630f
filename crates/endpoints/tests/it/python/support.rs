//! A deployment with functions, and calls of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::call::Thread;
use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::{Caller, Catalog, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook};
use forecourt_endpoints::python::Options;
use forecourt_endpoints::{FunctionError, FunctionSource, Python};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time enough for a call that is not about time, on a busy machine.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);

pub(crate) struct Deployment {
    pub(crate) root: TempDir,
    pub(crate) python: Python,
}

/// One worker, and `functions/rooms.py` as given.
pub(crate) fn rooms(text: &str) -> Deployment {
    with(text, |_| {})
}

/// The same, run as `change` says.
pub(crate) fn with(text: &str, change: impl FnOnce(&mut Options)) -> Deployment {
    let root = tempfile::tempdir().unwrap();
    let mut options = Options {
        folder: root.path().join("functions"),
        deployment: root.path().to_owned(),
        python: "python3".to_owned(),
        path_variable: std::env::var("PATH").ok(),
        variables: BTreeMap::new(),
        workers: 1,
        memory_bytes: 512 * 1024 * 1024,
        import_time: AMPLE,
    };
    change(&mut options);
    let deployment = Deployment { root, python: Python::new(options) };
    deployment.write("functions/rooms.py", text);
    deployment
}

impl Deployment {
    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.root.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn function(&self, dotted: &str) -> Arc<dyn Handler> {
        self.python.find(dotted).unwrap_or_else(|fault| panic!("{dotted}: {fault}"))
    }

    /// Why the function can't be bound.
    pub(crate) fn refusal(&self, dotted: &str) -> String {
        match self.python.find(dotted) {
            Err(FunctionError::Broken(why)) => why,
            Err(FunctionError::Unknown) => "unknown".to_owned(),
            Ok(_) => panic!("{dotted} was bound"),
        }
    }
}

/// A call that may take `time`.
pub(crate) fn invocation(input: Value, time: Duration) -> Invocation {
    let Value::Object(input) = input else { panic!("an input is an object") };
    Invocation {
        endpoint: Arc::new(endpoint(time)),
        input,
        caller: Caller { agent_id: Some("agent-1".to_owned()), ..Caller::default() },
        thread: Thread { task_id: Some("task-1".to_owned()), ..Thread::default() },
        depth: 0,
    }
}

pub(crate) async fn call(function: &Arc<dyn Handler>, input: Value) -> Result<Value, Failure> {
    call_within(function, input, AMPLE).await
}

pub(crate) async fn call_within(function: &Arc<dyn Handler>, input: Value, time: Duration) -> Result<Value, Failure> {
    function.call(invocation(input, time)).await
}

/// Why the call crashed.
pub(crate) async fn crash(function: &Arc<dyn Handler>, input: Value) -> String {
    match call(function, input).await {
        Err(Failure::Crashed(cause)) => cause,
        other => panic!("a crash is expected, not {other:?}"),
    }
}

fn endpoint(timeout: Duration) -> Endpoint {
    let catalog = Catalog::shipped();
    let policy = MethodPolicy::new(&MethodPolicySettings::default(), &catalog).unwrap().0;
    let recipes = RecipeBook::default();
    let around = RegistrationContext::new(&catalog, &policy, &recipes);
    let definition = Definition {
        method: Some("BOOK".into()),
        path: Some("/room".into()),
        description: Some("Books a room.".into()),
        semantic: json!({
            "intent": "Book a room.", "actor": "agent", "outcome": "A room is booked.", "capability": "transaction",
            "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        }),
        input_schema: Some(json!({"type": "object", "additionalProperties": false})),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(vec!["room_unavailable".into()]),
        binding: Some(Binding::RegisteredFunction { function: "rooms.book".into(), timeout }),
        ..Definition::default()
    };
    Endpoint::register(definition, &around).unwrap()
}

/// The number that a function wrote into a file of its folder.
pub(crate) fn number(file: &Path) -> i32 {
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// Waits until a process of ours is gone, and was collected.
pub(crate) fn collected(process: i32) {
    let began = std::time::Instant::now();
    while Path::new(&format!("/proc/{process}")).exists() {
        assert!(began.elapsed() < AMPLE, "process {process} is left");
        std::thread::yield_now();
    }
}

/// Waits until a process is gone, or is only left to be collected by whoever has it now.
pub(crate) fn gone(process: i32) {
    let stat = format!("/proc/{process}/stat");
    let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let began = std::time::Instant::now();
    while lives() {
        assert!(began.elapsed() < AMPLE, "process {process} is left");
        std::thread::yield_now();
    }
}
