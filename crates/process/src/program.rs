//! What to start, and in which surroundings.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::process::Process;
use crate::supervisor;

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
pub struct RunningProgram {
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
    /// Starts it in a process group of its own, with a pipe for each of its standard streams, behind a
    /// supervisor if there is one ([`crate::supervise_if_asked`]).
    ///
    /// # Errors
    /// There is no such program or folder, or no room for another process.
    pub fn start(&self) -> std::io::Result<RunningProgram> {
        let supervisor = supervisor::executable();
        let is_supervised = supervisor.is_some();
        let mut command = match supervisor {
            Some(supervisor) => {
                let mut command = Command::new(supervisor);
                command.arg0("forecourt").arg(supervisor::ARGUMENT).arg(self.executable()?);
                command
            }
            None => Command::new(&self.file),
        };
        command.args(&self.arguments).current_dir(&self.folder).env_clear().env("LANG", "C.UTF-8");
        command.envs(self.path_variable.as_ref().map(|path| ("PATH", path))).envs(&self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A supervisor that is killed ends nobody.
        let mut child = command.process_group(0).kill_on_drop(!is_supervised).spawn()?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok(RunningProgram { process: Process::new(child, is_supervised), stdin, stdout, stderr })
            }
            _ => Err(std::io::Error::other("a standard stream is missing")),
        }
    }

    /// The file to run, looked at beforehand: of a supervisor's troubles we learn too late to tell them from
    /// the program's own.
    fn executable(&self) -> std::io::Result<PathBuf> {
        let is_path = self.file.components().count() > 1;
        let named = || find(self.file.to_str()?, self.path_variable.as_deref()?);
        let file = if is_path { Some(std::path::absolute(&self.file)?) } else { named() };
        let file = file.ok_or(std::io::ErrorKind::NotFound)?;
        let metadata = std::fs::metadata(&file)?;
        match metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
            true => Ok(file),
            false => Err(std::io::ErrorKind::PermissionDenied.into()),
        }
    }
}

/// The absolute path of a program that is named without a folder: the first file of that name in
/// `path_variable`.
pub fn find(name: &str, path_variable: &str) -> Option<PathBuf> {
    let file = std::env::split_paths(path_variable).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    std::path::absolute(file).ok()
}
