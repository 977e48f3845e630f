//! What to start, and in which surroundings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::process::Process;

/// A program and its surroundings.
#[derive(Clone, Debug)]
pub struct Program {
    /// An absolute path, or a name that is looked for in `path_variable`.
    pub file: PathBuf,
    /// What follows its name.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its `PATH`. `None`: it has none.
    pub path_variable: Option<String>,
    /// Further variables; they go before our own `LANG`.
    pub variables: BTreeMap<String, String>,
}

/// A program that was just started, with its standard streams.
#[derive(Debug)]
pub struct Started {
    /// The running process.
    pub process: Process,
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// What it complains of.
    pub stderr: ChildStderr,
}

impl Program {
    /// Starts it in a process group of its own, with a pipe for each of its standard streams.
    ///
    /// # Errors
    /// There is no such program or folder, or no room for another process.
    pub fn start(&self) -> std::io::Result<Started> {
        let mut command = Command::new(&self.file);
        command.args(&self.arguments).current_dir(&self.folder).env_clear().env("LANG", "C.UTF-8");
        command.envs(self.path_variable.as_ref().map(|path| ("PATH", path))).envs(&self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok(Started { process: Process::new(child), stdin, stdout, stderr })
            }
            _ => Err(std::io::Error::other("a standard stream is missing")),
        }
    }
}

/// The absolute path of a program that is named without a folder: the first file of that name in
/// `path_variable`.
pub fn find(name: &str, path_variable: &str) -> Option<PathBuf> {
    let file = std::env::split_paths(path_variable).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    std::path::absolute(file).ok()
}
