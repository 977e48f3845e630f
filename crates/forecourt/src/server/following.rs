//! Domains that come and go while a server serves, and the files that say which there are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Domain;
use forecourt_settings::Problems;
use futures::future::BoxFuture;

use super::Server;
use super::certificates::CertificateKeeper;
use super::domain::OpenedDomain;
use super::reloader::blocking;
use crate::data_folder;
use crate::deployment::{Deployment, FILE};
use crate::domains::{DOMAINS_MAX, DomainsFolder, deployment_folders};
use crate::error::Error;
use crate::inspect;
use crate::manual;
use crate::reload::{FileLook, ReloadSource, ReloadTrigger, WatchedFiles};
use crate::serving;

/// How often the folders of deployments are looked at.
const FOLDERS_EVERY: Duration = Duration::from_millis(400);

impl Server {
    /// Serves another domain on the same sockets from here on: another deployment, in a data folder of its own, that
    /// shares nothing else. With `source` it is read again as [`Server::reload_from`] says.
    ///
    /// # Errors
    /// What stands in the way: everything that is wrong with it, a name that is served already, sockets that are not
    /// the same, a data folder that another process has. Then nothing has changed.
    pub fn add(&self, mut deployment: Deployment, source: Option<ReloadSource>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let _one_at_a_time = self.shared.changing.lock().await;
            // All names and not only the domain: two domains with one alias would take each other's requests.
            let known = self.shared.live.hosts();
            if let Some(taken) = deployment.host_names().into_iter().find(|name| known.contains(name)) {
                return Err(Error::new(format!("the domain {taken} is served already")));
            }
            if self.shared.list.all().len() >= DOMAINS_MAX {
                return Err(Error::new(format!("{DOMAINS_MAX} domains are served already")));
            }
            self.shared.sockets.disagreement(&deployment).into_result(())?;
            let data = data_folder::make(&deployment.data)?;
            deployment.data.clone_from(&data);
            let lock = serving::hold(&data)?;
            inspect::inspect(&deployment).into_result(())?;
            manual::unpack(&data)?;
            let addresses = self.shared.sockets.addresses();
            addresses.tell(&mut deployment);
            let keeper = Arc::new(CertificateKeeper::new(&deployment, &data)?);
            let doubt = deployment.proxy_notice();
            let house = blocking(move || deployment.build()).await??;
            let stop = self.shared.stop.child_token();
            let opened = OpenedDomain::open(house, (data, lock), keeper, &addresses, stop).await?;
            let core = opened.join(self.shared.clone())?;
            if let Some(source) = source {
                tokio::spawn(core.reloader.clone().run(core.clone(), source));
            }
            tracing::info!(domain = %core.name, "a domain is served");
            doubt.iter().for_each(|notice| tracing::warn!("{notice}"));
            self.shared.admit(core);
            Ok(())
        })
    }

    /// Serves a domain no more: requests for it are misdirected from here on, and what is under way has
    /// [`super::DRAIN`] to end. Where it was the first one, the next one answers where no name is said, and the sockets
    /// go by its deployment; they stay as they are.
    ///
    /// # Errors
    /// It is not served, or is the only one.
    pub fn remove<'a>(&'a self, domain: &'a Domain) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let _one_at_a_time = self.shared.changing.lock().await;
            let list = &self.shared.list;
            if list.all().iter().all(|core| core.name == *domain) && list.named(domain.as_str()).is_some() {
                return Err(Error::new(format!("{domain} is the only domain of this server")).hint("stop the server"));
            }
            let core = list.take(domain).ok_or_else(|| Error::new(format!("{domain} is not served")))?;
            self.shared.follow_list();
            // Ending takes up to `DRAIN`; further changes of the list do not wait for it.
            tokio::spawn(async move { core.end().await });
            tracing::info!(%domain, "a domain is not served any more");
            Ok(())
        })
    }

    /// Serves each deployment that comes to be one of `folder`, read by what `source` gives for its own folder, and each
    /// that goes no more; without end. Those that are served already are known by their folders. Where the folder's
    /// `forecourt.toml` says which there are, and what they share, all are read again when it changes.
    pub fn follow<'a>(
        &'a self,
        folder: DomainsFolder,
        source: impl Fn(&Path) -> ReloadSource + Send + Sync + 'a,
    ) -> BoxFuture<'a, ()> {
        let source: Box<dyn Fn(&Path) -> ReloadSource + Send + Sync + 'a> = Box::new(source);
        Box::pin(self.follow_folder(folder, source))
    }

    async fn follow_folder(
        &self,
        DomainsFolder { folder, first }: DomainsFolder,
        source: Box<dyn Fn(&Path) -> ReloadSource + Send + Sync + '_>,
    ) {
        let (mut watch, mut file) = (FolderWatch::default(), FileWatch::new(first));
        loop {
            tokio::time::sleep(FOLDERS_EVERY).await;
            let (at, served) = (folder.clone(), self.served_folders());
            let looked = blocking(move || {
                let look = FileLook::of(&at.join(FILE));
                (look, deployment_folders(&at).map(|found| looks(found, &at)))
            });
            let Ok((look, found)) = looked.await else { continue };
            let is_changed = file.is_changed(look);
            let found = match found {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(problems) => {
                    if is_changed {
                        tell(&problems, "the domains that are served stay as they are:");
                    }
                    continue;
                }
            };
            if is_changed {
                self.reload_all(ReloadTrigger::Files).await;
            }
            let (come, gone) = watch.changes(found, &served.keys().cloned().collect::<Vec<_>>());
            for path in come {
                self.come(source(&path), &path).await;
            }
            for domain in gone.iter().filter_map(|path| served.get(path)) {
                if let Err(error) = self.remove(domain).await {
                    tracing::error!("{error}");
                }
            }
        }
    }

    /// Serves a deployment that has come, or says what is wrong with it.
    async fn come(&self, source: ReloadSource, folder: &Path) {
        let read = source.read().map_err(Error::from);
        let added = match read {
            Ok(deployment) => self.add(deployment, Some(source)).await,
            Err(error) => Err(error),
        };
        let Err(error) = added else { return };
        tracing::error!(
            "{} is not served: what is wrong with it follows; it is tried again when it changes",
            folder.display()
        );
        error.into_problems(folder).iter().for_each(|problem| tracing::error!("{problem}"));
    }

    fn served_folders(&self) -> HashMap<PathBuf, Domain> {
        let cores = self.shared.list.all();
        cores.iter().map(|core| (core.running.deployment().dir.clone(), core.name.clone())).collect()
    }

    /// The domains that are served, the first one first.
    pub fn domains(&self) -> Vec<Domain> {
        self.shared.live.names()
    }
}

fn tell(problems: &Problems, what: &str) {
    tracing::error!("{what}");
    problems.iter().for_each(|problem| tracing::error!("{problem}"));
}

/// The file that says which domains there are.
struct FileWatch {
    /// As it was when it was last said to have changed.
    said: FileLook,
    /// As it was at the last look.
    last: FileLook,
}

impl FileWatch {
    /// Of a file that was read when it looked like this.
    fn new(read: FileLook) -> Self {
        Self { said: read.clone(), last: read }
    }

    /// Whether it has changed since that was last said, and was quiet for a look.
    fn is_changed(&mut self, look: FileLook) -> bool {
        let is_quiet = self.last == look;
        let is_new = is_quiet && self.said != look;
        self.last = look.clone();
        if is_new {
            self.said = look;
        }
        is_new
    }
}

/// How the deployments of a folder look. `None` where the folder is one itself.
fn looks(found: Vec<PathBuf>, folder: &Path) -> Option<Vec<(PathBuf, FileLook)>> {
    let looked = |path: PathBuf| (path.clone(), WatchedFiles::of(&path, &[]).look());
    (found != [folder]).then(|| found.into_iter().map(looked).collect())
}

/// Deployments that come and go.
#[derive(Default)]
struct FolderWatch {
    /// How those looked that are not served, and whether that was tried.
    seen: HashMap<PathBuf, (FileLook, bool)>,
    /// How often those that are served were missed, one look after another.
    missed: HashMap<PathBuf, u32>,
}

impl FolderWatch {
    /// Which deployments are to be served, now that they were quiet for a look, and which are gone for two.
    fn changes(&mut self, found: Vec<(PathBuf, FileLook)>, served: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
        self.missed.retain(|path, _| served.contains(path) && !found.iter().any(|(known, _)| known == path));
        self.seen.retain(|path, _| found.iter().any(|(known, _)| known == path) && !served.contains(path));
        let gone = served.iter().filter(|path| !found.iter().any(|(known, _)| known == *path)).filter(|path| {
            let missed = self.missed.entry((*path).clone()).or_default();
            *missed = missed.saturating_add(1);
            // Two looks: a folder that is replaced by a rename is missing for a moment. Equal and not "at least", so
            // that it is told once.
            *missed == 2
        });
        let gone = gone.cloned().collect();
        let mut come = Vec::new();
        for (path, look) in found.into_iter().filter(|(path, _)| !served.contains(path)) {
            match self.seen.get_mut(&path) {
                Some((last, is_tried)) if *last == look => {
                    // Tried once for each look of its files: one that is refused is tried again only when it changes.
                    if !std::mem::replace(is_tried, true) {
                        come.push(path);
                    }
                }
                _ => drop(self.seen.insert(path, (look, false))),
            }
        }
        (come, gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_changed_once_it_is_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        let look = |text: &str| {
            std::fs::write(&file, text).unwrap();
            FileLook::of(&file)
        };
        let first = look("a");
        let mut watch = FileWatch::new(first.clone());
        assert!(!watch.is_changed(first.clone()) && !watch.is_changed(first));
        let half = look("half of it");
        assert!(!watch.is_changed(half), "more may come");
        let whole = look("half of it, and the other");
        assert!(!watch.is_changed(whole.clone()));
        assert!(watch.is_changed(whole.clone()));
        assert!(!watch.is_changed(whole), "it is said once");
    }

    #[test]
    fn what_is_written_before_the_first_look_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        std::fs::write(&file, "as it was read").unwrap();
        let mut watch = FileWatch::new(DomainsFolder::new(folder.path()).first);
        std::fs::write(&file, "as it was written while the server started").unwrap();
        assert!(!watch.is_changed(FileLook::of(&file)), "more may come");
        assert!(watch.is_changed(FileLook::of(&file)));
    }

    #[test]
    fn deployments_come_once_they_are_quiet_and_go_once_they_are_missed_twice() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("a");
        std::fs::create_dir(&site).unwrap();
        let found = |text: &str| {
            std::fs::write(site.join("forecourt.toml"), text).unwrap();
            looks(vec![site.clone()], folder.path()).unwrap()
        };
        let mut watch = FolderWatch::default();
        let half = found("domain = ");
        assert!(watch.changes(half, &[]).0.is_empty());
        let whole = found("domain = 'a.example'");
        assert!(watch.changes(whole.clone(), &[]).0.is_empty(), "more may come");
        assert_eq!(watch.changes(whole.clone(), &[]).0, [site.as_path()]);
        assert!(watch.changes(whole.clone(), &[]).0.is_empty(), "what failed is not tried again");
        let other = found("domain = 'b.example'");
        watch.changes(other.clone(), &[]);
        assert_eq!(watch.changes(other.clone(), &[]).0, [site.as_path()], "until it changes");
        let served = [site.clone()];
        assert!(watch.changes(Vec::new(), &served).1.is_empty(), "a moment without it is no end");
        assert!(watch.changes(other, &served).1.is_empty());
        assert!(watch.changes(Vec::new(), &served).1.is_empty());
        assert_eq!(watch.changes(Vec::new(), &served).1, [site.as_path()]);
        assert!(watch.changes(Vec::new(), &served).1.is_empty(), "and is said once");
        assert!(looks(vec![folder.path().to_path_buf()], folder.path()).is_none());
    }
}
