//! A deployment is read again while it is served: when its files change, on a signal, and when the operator asks.
//!
//! All of these go one way, one after another: read, compared with what can't change, sockets bound, built, indexed,
//! and only then put in the place of the deployment before. What fails on the way changes nothing, and is kept as the
//! last [`Attempt`] with file and line of what is wrong.
//!
//! | module | holds |
//! |---|---|
//! | `attempt` | what was tried, by what, and what came of it |
//! | `files` | which files make a deployment, and how they look |
//! | `fixed` | the settings that need a restart |

mod attempt;
mod files;
mod fixed;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_settings::Problems;

use crate::deployment::Deployment;

pub use attempt::{Attempt, AttemptOutcome, AttemptProblem, ReloadTrigger};
pub(crate) use attempt::{CHANGED_SHOWN, attempt_problems, relative_path};
pub(crate) use files::{FileLook, WatchedFiles};
pub(crate) use fixed::FixedSettings;

/// Reads the deployment in a folder.
type ReadDeployment = dyn Fn(&Path) -> Result<Deployment, Problems> + Send + Sync;

/// Where a deployment comes from, so that it can be read again.
///
/// Make it before the deployment is read for the first time: what changes after that is taken up.
#[derive(Clone)]
pub struct ReloadSource {
    pub(crate) folder: PathBuf,
    read: Arc<ReadDeployment>,
    pub(crate) applied: Arc<dyn Fn(&Deployment) + Send + Sync>,
    /// The file that says what this deployment shares with others, if there is one.
    shared_file: Option<PathBuf>,
    /// Whether the modules of the programs that its settings name are watched, too.
    watches_code: bool,
    /// The files as they were when this was made, and what in them can't change.
    pub(crate) first: Arc<(FileLook, FixedSettings)>,
}

impl ReloadSource {
    /// The deployment in `folder`, as `read` reads it: with the flags and the agents that it was served with. It is given
    /// the folder, since a change is read from a draft of it before it is made.
    pub fn new(
        folder: impl AsRef<Path>,
        read: impl Fn(&Path) -> Result<Deployment, Problems> + Send + Sync + 'static,
    ) -> Self {
        let folder = folder.as_ref().to_path_buf();
        let first = Arc::new((WatchedFiles::of(&folder, &[]).look(), FixedSettings::of(&folder, None)));
        Self { folder, read: Arc::new(read), applied: Arc::new(|_| {}), shared_file: None, watches_code: false, first }
    }

    /// The same, read again whenever the code of its programs changes as well.
    #[must_use]
    pub fn with_code(self) -> Self {
        let watching = Self { watches_code: true, ..self };
        let first = Arc::new((watching.watched(&[]).look(), watching.first.1.clone()));
        Self { first, ..watching }
    }

    /// The files that are watched, without `others`.
    pub(crate) fn watched(&self, others: &[PathBuf]) -> WatchedFiles {
        match self.watches_code {
            true => WatchedFiles::with_code(&self.folder, others),
            false => WatchedFiles::of(&self.folder, others),
        }
    }

    /// The same, where `file` says what this deployment shares with others.
    #[must_use]
    pub fn with_shared_file(self, file: PathBuf) -> Self {
        let first = Arc::new((self.first.0.clone(), FixedSettings::of(&self.folder, Some(&file))));
        Self { shared_file: Some(file), first, ..self }
    }

    pub(crate) fn shared_file(&self) -> Option<PathBuf> {
        self.shared_file.clone()
    }

    /// The same, where `applied` is called with each deployment that has taken over: for what is around the server,
    /// such as the level of the log.
    #[must_use]
    pub fn with_applied(self, applied: impl Fn(&Deployment) + Send + Sync + 'static) -> Self {
        Self { applied: Arc::new(applied), ..self }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(&self) -> Result<Deployment, Problems> {
        self.read_in(&self.folder)
    }

    /// Reads a draft of it, which is in another folder.
    pub(crate) fn read_in(&self, folder: &Path) -> Result<Deployment, Problems> {
        (self.read)(folder)
    }

    /// The folder of its files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}
