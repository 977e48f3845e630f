//! The sites of a search: visited when they are due, and read into files that are indexed like others.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io};

use forecourt_content::{Progressed, Site, Source, Visit, Visitor};
use forecourt_core::Timestamp;

use crate::backend::{Context, IndexingError};

/// Sites and the files that they are read into, in `sites/{handle}` of the data folder.
pub(crate) struct Sites {
    visitor: Visitor,
    folder: PathBuf,
    sites: Vec<Site>,
    refresh: Duration,
    /// Whether the next run visits them, due or not.
    wanted: AtomicBool,
}

/// What the visits of one run left out, and why.
#[derive(Debug, Default)]
pub(super) struct Visited {
    pub(super) skipped: u64,
    pub(super) reasons: Vec<String>,
}

impl Sites {
    /// Visits nothing yet.
    pub(super) fn new(context: &Context, sites: Vec<Site>, refresh: Duration) -> Self {
        let folder = context.data_dir.join("sites").join(context.handle.as_str());
        let visitor = Visitor { egress: context.egress.clone(), clock: context.clock.clone() };
        Self { visitor, folder, sites, refresh, wanted: AtomicBool::new(false) }
    }

    /// None at all.
    pub(super) fn none(context: &Context) -> Self {
        Self::new(context, Vec::new(), Duration::ZERO)
    }

    /// The files of all sites that were visited before.
    pub(super) fn sources(&self) -> Vec<Source> {
        let files = self.sites.iter().map(|site| self.file(site)).filter(|file| file.exists());
        files.map(Source::new).collect()
    }

    /// Asks for a visit by the next run.
    pub(super) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Whether a site has to be visited: the last visit is too long ago, or was to other sites.
    pub(super) fn is_due(&self) -> bool {
        if self.sites.is_empty() {
            return false;
        }
        self.wanted.load(Ordering::Relaxed) || !self.is_fresh(&fs::read_to_string(self.stamp()).unwrap_or_default())
    }

    fn is_fresh(&self, stamp: &str) -> bool {
        let Some((sites, at)) = stamp.trim().split_once(' ') else { return false };
        let Ok(at) = at.parse::<Timestamp>() else { return false };
        let age = self.visitor.clock.now().duration_since(at);
        // A clock that was set back makes a visit due as well.
        sites == self.mark() && Duration::try_from(age).is_ok_and(|age| age < self.refresh)
    }

    /// Visits all sites, if that is due. A site that cannot be read leaves what is known of it. Blocks;
    /// not to be called where async work goes on.
    pub(super) fn visit(&self, progress: &mut (dyn FnMut(&Progressed) + Send)) -> Result<Visited, IndexingError> {
        let mut all = Visited::default();
        if !self.is_due() {
            return Ok(all);
        }
        self.wanted.store(false, Ordering::Relaxed);
        // A runtime of its own: a visit may be under way when the daemon's comes to its end.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
        for site in &self.sites {
            let file = self.file(site);
            let mut told = |visit: &Visit| progress(&progressed(visit));
            let visit = runtime.block_on(self.visitor.visit(site, &file, &mut told, &|| false));
            let visit = visit.map_err(|error| failed(&error))?;
            tracing::info!(
                site = %site.url, pages = visit.pages, unchanged = visit.unchanged, items = visit.items,
                skipped = visit.skipped, gave_up = visit.gave_up, "visited a site"
            );
            all.skipped += visit.skipped;
            all.reasons.extend(visit.reasons);
        }
        let stamp = format!("{} {}\n", self.mark(), self.visitor.clock.now());
        fs::write(self.stamp(), stamp).map_err(|error| failed(&error))?;
        Ok(all)
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("visited")
    }

    /// The file of a site. Another way to read it is another file.
    fn file(&self, site: &Site) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (&site.url, site.read).hash(&mut hasher);
        self.folder.join(format!("{:016x}.jsonl", hasher.finish()))
    }

    /// What tells these sites from others.
    fn mark(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.sites.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Pages as if they were files.
fn progressed(visit: &Visit) -> Progressed {
    Progressed {
        files: visit.pages,
        files_total: visit.pages + visit.waiting,
        items: visit.items,
        ..Progressed::default()
    }
}

fn failed(error: &io::Error) -> IndexingError {
    IndexingError(format!("sites cannot be read into files: {error}"))
}
