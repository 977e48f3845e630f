//! The files of a deployment that is served, changed from the operator's desk.
//!
//! A change is checked in a folder of its own that looks as the deployment's would ([`draft`]), written, and taken up the
//! way that every change of files is. What is refused is put back. What was served is kept, so that it can be put back
//! too ([`versions`]).

mod draft;
mod limits;
mod texts;
mod versions;

use std::path::PathBuf;
use std::sync::Arc;

use forecourt_admin::editor::{
    DeploymentEditor, EditError, EditProblem, EditReport, EditedBy, HouseVersion, TextChange, Texts, changed_files,
    state_of,
};
use forecourt_core::Timestamp;
use forecourt_settings::{Problem, Problems};
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use crate::inspect;
use crate::reload::{Attempt, AttemptProblem, FixedSettings, ReloadSource, attempt_problems};
use draft::Draft;
use versions::Versions;

/// Has the deployment read again in somebody's name; `None` where the server is ending.
pub(crate) type ReadAgain = dyn Fn(EditedBy) -> BoxFuture<'static, Option<Attempt>> + Send + Sync;

/// The editor of one deployment.
pub(crate) struct FolderEditor {
    read_again: Arc<ReadAgain>,
    source: ReloadSource,
    /// Where state is kept.
    data: PathBuf,
    /// One change after another: each is made from what the one before left.
    turn: Arc<Mutex<()>>,
}

/// What is served from now on, to be kept.
pub(crate) struct ServedHouse {
    pub(crate) at: Timestamp,
    pub(crate) by: EditedBy,
}

/// Keeps the files of the deployment in `folder` as they are now, where they are others than those kept last. Blocks.
pub(crate) fn keep_version(folder: &std::path::Path, data: &std::path::Path, served: ServedHouse) {
    let kept = texts::read(folder, data).and_then(|texts| Versions::of(data).keep(&texts, served));
    if let Err(error) = kept {
        tracing::warn!(%error, "the files of the deployment are served and not kept as a version");
    }
}

impl FolderEditor {
    pub(crate) fn new(read_again: Arc<ReadAgain>, source: ReloadSource, data: PathBuf, turn: Arc<Mutex<()>>) -> Self {
        Self { read_again, source, data, turn }
    }

    /// Work with the folder, one after another and on a thread that may wait for the disk. It goes on where whoever asked
    /// goes away.
    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, EditError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, EditError>> {
        let folder = Folder { source: self.source.clone(), data: self.data.clone() };
        let turn = self.turn.clone();
        Box::pin(async move {
            let turn = turn.lock_owned().await;
            let in_turn = move || {
                // Held until the work is done, also where nobody waits for it any more.
                let _turn = turn;
                work(&folder)
            };
            let done = tokio::task::spawn_blocking(in_turn).await;
            done.unwrap_or_else(|_| Err(EditError::Unavailable("looking at the files ended in a panic".to_owned())))
        })
    }
}

impl DeploymentEditor for FolderEditor {
    fn texts(&self) -> BoxFuture<'static, Result<Texts, EditError>> {
        self.work(Folder::texts)
    }

    fn check(&self, change: TextChange) -> BoxFuture<'static, Result<EditReport, EditError>> {
        self.work(move |folder| folder.check(&change))
    }

    fn apply(&self, change: TextChange, by: EditedBy) -> BoxFuture<'static, Result<EditReport, EditError>> {
        let folder = Arc::new(Folder { source: self.source.clone(), data: self.data.clone() });
        let (turn, read_again) = (self.turn.clone(), self.read_again.clone());
        // A task of its own: a caller that goes away must not leave files behind that nobody has read.
        let applied = tokio::spawn(async move {
            let _turn = turn.lock_owned().await;
            apply(folder, &*read_again, change, by).await
        });
        Box::pin(async move {
            applied.await.unwrap_or_else(|_| Err(EditError::Unavailable("the change ended in a panic".to_owned())))
        })
    }

    fn versions(&self) -> BoxFuture<'static, Result<Vec<HouseVersion>, EditError>> {
        self.work(|folder| Versions::of(&folder.data).list())
    }

    fn version(&self, number: u64) -> BoxFuture<'static, Result<(HouseVersion, Texts), EditError>> {
        self.work(move |folder| Versions::of(&folder.data).read(number))
    }
}

/// Writes, has the deployment read again, and puts back what is refused.
async fn apply(
    folder: Arc<Folder>,
    read_again: &ReadAgain,
    change: TextChange,
    by: EditedBy,
) -> Result<EditReport, EditError> {
    let at = folder.clone();
    // Checked first: what is wrong by itself is never on disk, where another node or a restart would read it.
    let written = blocking(move || {
        let report = at.check(&change)?;
        // A check takes its time, and others change files meanwhile.
        if at.texts()? != report.before {
            return Err(EditError::Stale);
        }
        if report.problems.is_empty() {
            texts::write(at.source.folder(), &report.before, &report.texts)?;
        }
        Ok(report)
    });
    let report = written.await?;
    if !report.problems.is_empty() || report.before == report.texts {
        return Ok(report);
    }
    let attempt = read_again(by).await;
    let problems = match &attempt {
        Some(attempt) if attempt.problems.is_empty() => return Ok(report),
        Some(attempt) => attempt.problems.iter().map(problem).collect(),
        None => vec![nobody_reads()],
    };
    let EditReport { before, texts: now, .. } = report;
    let refused = EditReport { problems, texts: before.clone(), before: before.clone() };
    blocking(move || texts::put_back(folder.source.folder(), &now, &before)).await?;
    Ok(refused)
}

fn nobody_reads() -> EditProblem {
    let message = "the server is stopping: nothing was changed".to_owned();
    EditProblem { file: String::new(), line: None, message, hint: None }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EditError> + Send + 'static,
) -> Result<T, EditError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(EditError::Unavailable("working on the files ended in a panic".to_owned())))
}

fn problem(problem: &AttemptProblem) -> EditProblem {
    EditProblem {
        file: problem.file.clone(),
        line: problem.line.map(|line| line as u64),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    }
}

/// A deployment's folder, and where its state is kept.
struct Folder {
    source: ReloadSource,
    data: PathBuf,
}

impl Folder {
    fn texts(&self) -> Result<Texts, EditError> {
        texts::read(self.source.folder(), &self.data)
    }

    /// What would be wrong with the files changed like that.
    fn check(&self, change: &TextChange) -> Result<EditReport, EditError> {
        let before = self.texts()?;
        if change.based_on.as_ref().is_some_and(|based_on| *based_on != state_of(&before)) {
            return Err(EditError::Stale);
        }
        let texts = change.made_to(&before);
        texts::are_within_bounds(&texts)?;
        let changed = changed_files(&before, &texts);
        changed.iter().try_for_each(|name| texts::is_editable(name))?;
        let is_hidden =
            |name: &&String| !before.contains_key(*name) && self.source.folder().join(name).symlink_metadata().is_ok();
        if let Some(name) = changed.iter().find(is_hidden) {
            let why = "it is there, and too long or no text: change it where it is";
            return Err(EditError::Invalid(format!("`{name}` is not changed from here: {why}")));
        }
        if changed.is_empty() {
            return Ok(EditReport { problems: Vec::new(), before, texts });
        }
        let draft = Draft::make(self.source.folder(), &self.data, &before, &texts)?;
        let wrong = self.problems(&draft, &changed);
        let problems = attempt_problems(&wrong, draft.folder()).iter().map(problem).collect();
        Ok(EditReport { problems, before, texts })
    }

    /// Everything that is found in a draft without opening a socket or the store.
    fn problems(&self, draft: &Draft, changed: &[String]) -> Problems {
        let mut problems = Problems::new();
        let settings = FixedSettings::of(draft.folder(), self.source.shared_file().as_deref());
        problems.extend(self.source.first.1.changes(&settings, draft.folder()));
        let Some(mut deployment) = problems.absorb(self.source.read_in(draft.folder())) else { return problems };
        deployment.data.clone_from(&self.data);
        problems.extend(inspect::inspect(&deployment));
        if let Some(house) = problems.absorb(deployment.build()) {
            problems.extend(house.content_problems());
            // One that was broken before is left out now as well, and stands in nobody's way.
            let is_changed =
                |problem: &&Problem| changed.iter().any(|name| draft.folder().join(name) == problem.file());
            problems.extend(house.refused_endpoints().iter().filter(is_changed).cloned());
        }
        problems
    }
}

#[cfg(test)]
mod tests;
