//! Programs of `tests/sdk`: others' client libraries and servers, in their own languages. `dev/sdk/setup` brings them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::support::{PATIENCE, lines_of};

/// How long a script may take until its first line: ten times what the slowest takes beside other work.
const FIRST_LINE: Duration = Duration::from_secs(30);

/// Where a library is that `dev/sdk/setup` brings; `None`, and says so, where it was not brought.
pub(crate) fn library(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk").join(name);
    let is_there = folder.join("asked").exists();
    if !is_there {
        println!("skipped: {name} is not there; dev/sdk/setup brings it");
    }
    is_there.then_some(folder)
}

/// The path of a script.
pub(crate) fn script_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(name)
}

/// A script with the interpreter that its ending asks for: Node, or the Python of `library`, else the system's. It uses
/// no proxy of its user's.
pub(crate) fn client_script(name: &str, library: Option<&Path>) -> Command {
    let mut command = match (name.ends_with(".py"), library) {
        (true, Some(library)) => Command::new(library.join("bin/python")),
        (true, None) => Command::new("python3"),
        (false, _) => Command::new("node"),
    };
    command.arg(script_path(name)).env("PYTHONDONTWRITEBYTECODE", "1");
    if let Some(library) = library {
        command.env("FORECOURT_SDK", library);
    }
    for stranger in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(stranger).env_remove(stranger.to_lowercase());
    }
    command
}

/// A script that runs beside a test, and is told what to do line by line. Ends with it.
pub(crate) struct RunningScript {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl RunningScript {
    /// Starts it; gives it with the first line it says. One that says nothing at all is started once more: an
    /// interpreter was once seen to hang before the script's first statement, on a machine with much else to do.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> (Self, String) {
        let first = Self::spawn(command);
        if let Ok(line) = first.lines.recv_timeout(FIRST_LINE) {
            return (first, line);
        }
        eprintln!("{command:?} said nothing for {FIRST_LINE:?}, and is started once more");
        drop(first);
        let second = Self::spawn(command);
        let line = second.line();
        (second, line)
    }

    fn spawn(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, lines) = (process.stdin.take().unwrap(), lines_of(process.stdout.take().unwrap()));
        Self { process, input, lines }
    }

    /// What it says next.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the script says something")
    }

    /// Tells it something; gives what it says to that.
    #[track_caller]
    pub(crate) fn tell(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").unwrap();
        self.line()
    }
}

impl Drop for RunningScript {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a script that checks something, and shows what it said where it fails.
#[track_caller]
pub(crate) fn run_checks(command: &mut Command) {
    let output = command.output().unwrap();
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    let arguments: Vec<_> = command.get_args().collect();
    assert!(output.status.success(), "{arguments:?}:\n{said}\n{complaints}");
}
