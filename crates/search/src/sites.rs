//! The sites of a search: visited when they are due, and read into files that are indexed like others.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use forecourt_core::Timestamp;
use forecourt_crawler::{Hosts, Visit, Visitor, WebSite};
use forecourt_index::LoadProgress;
use forecourt_loaders::ContentSource;

use crate::limits::WARNINGS_MAX;
use forecourt_agents::backend::{Context, FetchSummary, IndexingError};

/// Sites and the files that they are read into, in `sites/{handle}` of the data folder.
pub(crate) struct Sites {
    visitor: Visitor,
    folder: PathBuf,
    sites: Vec<WebSite>,
    refresh: Duration,
}

impl Sites {
    /// Visits nothing yet.
    pub(super) fn new(context: &Context, sites: Vec<WebSite>, refresh: Duration) -> Self {
        let folder = context.data_dir.join("sites").join(context.handle.as_str());
        let visitor = Visitor { egress: context.egress.clone(), clock: context.clock.clone(), hosts: Hosts::shared() };
        Self { visitor, folder, sites, refresh }
    }

    /// None at all.
    pub(super) fn none(context: &Context) -> Self {
        Self::new(context, Vec::new(), Duration::ZERO)
    }

    /// The files of all sites that were visited before.
    pub(super) fn sources(&self) -> Vec<ContentSource> {
        let files = self.sites.iter().map(|site| self.file(site)).filter(|file| file.exists());
        let label = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The name of the file says which site it is of, and how that is read.
        files.map(|path| ContentSource { label: label(&path), path, url: None, tables: Vec::new() }).collect()
    }

    /// Whether something was read of one of them, or a visit to all of them has ever come to its end.
    pub(super) fn were_visited(&self) -> bool {
        let has_items = |site: &WebSite| fs::metadata(self.file(site)).is_ok_and(|meta| meta.len() > 0);
        self.sites.is_empty() || self.stamp().exists() || self.sites.iter().any(has_items)
    }

    /// Whether a site has to be visited: the last visit is too long ago, or was to other sites.
    pub(super) fn is_due(&self) -> bool {
        !self.sites.is_empty() && !self.is_fresh(&fs::read_to_string(self.stamp()).unwrap_or_default())
    }

    fn is_fresh(&self, stamp: &str) -> bool {
        let Some((sites, at)) = stamp.trim().split_once(' ') else { return false };
        let Ok(at) = at.parse::<Timestamp>() else { return false };
        let age = self.visitor.clock.now().duration_since(at);
        // A clock that was set back makes a visit due as well.
        sites == self.mark() && Duration::try_from(age).is_ok_and(|age| age < self.refresh)
    }

    /// Visits all sites. A site that cannot be read leaves what is known of it. Blocks; not to be called
    /// where async work goes on. `cancel` is asked before every page.
    pub(super) fn visit(
        &self,
        progress: &mut (dyn FnMut(&LoadProgress) + Send),
        cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<FetchSummary, IndexingError> {
        let mut all = FetchSummary::default();
        if self.sites.is_empty() {
            return Ok(all);
        }
        // A runtime of its own: a visit may be under way when the daemon's comes to its end.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
        for site in &self.sites {
            let before = all.clone();
            let mut told = |visit: &Visit| progress(&progressed(&before, visit));
            let visit = runtime.block_on(self.visitor.visit(site, &self.file(site), &mut told, cancel));
            let visit = visit.map_err(|error| failed(&error))?;
            tracing::info!(
                site = %site.url, pages = visit.pages, unchanged = visit.unchanged, resumed = visit.resumed, items = visit.items,
                skipped = visit.skipped, gave_up = visit.gave_up, "visited a site"
            );
            add_visit(&mut all, &visit);
        }
        // A visit that was broken off leaves no stamp, so that it is due at once and goes on.
        if !cancel() {
            let stamp = format!("{} {}\n", self.mark(), self.visitor.clock.now());
            fs::write(self.stamp(), stamp).map_err(|error| failed(&error))?;
        }
        Ok(all)
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("visited")
    }

    /// The file of a site. Another way to read it is another file.
    fn file(&self, site: &WebSite) -> PathBuf {
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

fn add_visit(all: &mut FetchSummary, visit: &Visit) {
    all.pages += visit.pages;
    all.unchanged += visit.unchanged;
    all.items += visit.items;
    all.skipped += visit.skipped;
    let room = WARNINGS_MAX.saturating_sub(all.warnings.len());
    all.warnings.extend(visit.reasons.iter().take(room).cloned());
}

/// Pages as if they were files, behind those of sites that were visited before.
fn progressed(before: &FetchSummary, visit: &Visit) -> LoadProgress {
    let pages = before.pages + visit.pages;
    LoadProgress {
        files: pages,
        files_total: pages + visit.waiting,
        items: before.items + visit.items,
        skipped: before.skipped + visit.skipped,
        ..LoadProgress::default()
    }
}

fn failed(error: &io::Error) -> IndexingError {
    IndexingError(format!("sites cannot be read into files: {error}"))
}
