//! Several domains in one daemon: a file that names their deployments, or a folder of them, and which of them a request
//! is for.
//!
//! The domains share the sockets and nothing else: each has its own folder, its own data folder with a database and
//! keys, its own host with limits, sessions and agents, and its own views for the operator. A request reaches a house
//! through [`LiveDomains`] alone, which knows one domain for each name.

mod router;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_core::Domain;
use forecourt_server::{AllowedHosts, Connection, ServerName, Speak, requested_host};
use forecourt_settings::{Problem, Problems, ProcessEnvironment};
use http::Request;

use crate::live::LiveHouse;
use crate::reload::FileLook;
use crate::settings::FILE;

pub use crate::domains_file::{DOMAINS_MAX, DomainsFile};
use router::LiveRouter;

/// The deployments in a folder: those that its `forecourt.toml` names by `[[domain]]`, the folder itself, or else each
/// folder in it that has a `forecourt.toml`, by name. None where there is neither.
///
/// # Errors
/// There are more than [`DOMAINS_MAX`], or something is wrong with the file that names them.
pub fn deployment_folders(folder: &Path) -> Result<Vec<PathBuf>, Problems> {
    if let Some(file) = DomainsFile::read(folder, &ProcessEnvironment)? {
        return Ok(file.folders().to_vec());
    }
    if folder.join(FILE).exists() {
        return Ok(vec![folder.to_path_buf()]);
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        !is_hidden && path.join(FILE).exists()
    };
    let mut folders: Vec<PathBuf> = entries.filter(is_one).collect();
    // The order decides which domain is the first one, and `read_dir` has none.
    folders.sort();
    match folders.len() > DOMAINS_MAX {
        true => Err(Problem::of_file(folder, format!("has more than {DOMAINS_MAX} deployments")).into()),
        false => Ok(folders),
    }
}

/// A folder of deployments that is followed while they are served.
///
/// Make it before [`deployment_folders`] reads it for the first time: what changes after that is taken up.
#[derive(Debug)]
pub struct DomainsFolder {
    pub(crate) folder: PathBuf,
    /// The file that says which there are, as it was when this was made.
    pub(crate) first: FileLook,
}

impl DomainsFolder {
    /// The folder as it is now.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref().to_path_buf();
        let first = FileLook::of(&folder.join(FILE));
        Self { folder, first }
    }
}

/// A domain that is served.
pub(crate) struct LiveDomain {
    /// Its name.
    pub(crate) name: Domain,
    /// The names that lead to it.
    pub(crate) hosts: AllowedHosts,
    /// Its house.
    pub(crate) live: Arc<LiveHouse>,
}

/// The domains of a daemon. The first one answers where no name is said.
#[derive(Default)]
pub(crate) struct LiveDomains(ArcSwap<Vec<LiveDomain>>);

impl LiveDomains {
    /// Serves these from here on.
    pub(crate) fn replace(&self, domains: Vec<LiveDomain>) {
        self.0.store(Arc::new(domains));
    }

    /// Whose house answers a request. `None`: it asks for a host of another domain than its connection was opened for.
    pub(crate) fn of_request<B>(&self, request: &Request<B>) -> Option<Arc<LiveHouse>> {
        let opened_for = request.extensions().get::<ServerName>().map(|name| &*name.0);
        self.of(opened_for, requested_host(request))
    }

    /// Whose house answers who asks for these names.
    fn of(&self, opened_for: Option<&str>, host: Option<&str>) -> Option<Arc<LiveHouse>> {
        let domains = self.0.load();
        // With one domain every name that was let in is its own: no look-up for each request.
        if let [only] = domains.as_slice() {
            return Some(only.live.clone());
        }
        let at = |name: &str| domains.iter().position(|domain| domain.hosts.serves(name));
        let at = match (opened_for.map(at), host.map(at)) {
            // HTTP/2 may send requests for several hosts over one connection. Client certificates and terms of TLS
            // belong to the name it was opened for, so another domain's request is misdirected (421).
            (Some(opened), Some(asked)) if opened != asked => return None,
            (Some(at), _) | (None, Some(at)) => at?,
            (None, None) => 0,
        };
        domains.get(at).map(|domain| domain.live.clone())
    }

    /// The names of all of them.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.0.load().iter().flat_map(|domain| domain.hosts.names().to_vec()).collect()
    }

    /// What they are called, in their order.
    pub(crate) fn names(&self) -> Vec<Domain> {
        self.0.load().iter().map(|domain| domain.name.clone()).collect()
    }

    /// What answers on shared listeners, whichever house it is by then.
    pub(crate) fn shared(self: &Arc<Self>) -> LiveRouter {
        LiveRouter { domains: self.clone(), listen: None }
    }

    /// What answers HTTP on the listener of a protocol's own.
    pub(crate) fn own(self: &Arc<Self>, listen: &'static str) -> LiveRouter {
        LiveRouter { domains: self.clone(), listen: Some(listen) }
    }

    /// What is spoken on the listener of a protocol's own: each connection begins with the house of its moment, of
    /// the domain that it was opened for.
    pub(crate) fn stream(self: &Arc<Self>, listen: &'static str) -> Speak {
        let domains = self.clone();
        Arc::new(move |connection: Connection| {
            let live = domains.of(connection.server_name.as_deref(), None);
            match live.and_then(|live| live.speak(listen)) {
                Some(speak) => speak(connection),
                // The house has no use for this listener any more.
                None => Box::pin(async {}),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domains(names: &[&str]) -> (LiveDomains, Vec<Arc<LiveHouse>>) {
        let houses: Vec<Arc<LiveHouse>> = names.iter().map(|_| Arc::default()).collect();
        let one = |(name, live): (&&str, &Arc<LiveHouse>)| LiveDomain {
            name: Domain::parse(name).unwrap(),
            hosts: AllowedHosts::new([*name], true),
            live: live.clone(),
        };
        let domains = LiveDomains::default();
        domains.replace(names.iter().zip(&houses).map(one).collect());
        (domains, houses)
    }

    fn at(
        domains: &LiveDomains,
        houses: &[Arc<LiveHouse>],
        opened_for: Option<&str>,
        host: Option<&str>,
    ) -> Option<usize> {
        let found = domains.of(opened_for, host)?;
        houses.iter().position(|house| Arc::ptr_eq(house, &found))
    }

    #[test]
    fn a_request_is_for_the_domain_that_both_its_connection_and_its_host_name() {
        let (domains, houses) = domains(&["a.example", "b.example"]);
        let at = |opened_for, host| at(&domains, &houses, opened_for, host);
        assert_eq!(at(None, Some("a.example")), Some(0));
        assert_eq!(at(None, Some("B.example.")), Some(1));
        assert_eq!(at(Some("b.example"), Some("b.example")), Some(1));
        assert_eq!(at(Some("b.example"), None), Some(1), "a stream");
        assert_eq!(at(Some("a.example"), Some("b.example")), None, "421");
        assert_eq!(at(Some("a.example"), Some("c.example")), None);
        assert_eq!(at(None, Some("c.example")), None);
        assert_eq!(at(None, None), Some(0));
        assert_eq!(at(None, Some("127.0.0.1")), Some(0), "the first one answers for the machine");
        assert_eq!(at(Some("c.example"), None), None);
    }

    #[test]
    fn one_domain_alone_answers_for_every_name_that_is_let_in() {
        let (domains, houses) = domains(&["a.example"]);
        assert_eq!(at(&domains, &houses, Some("a.example"), Some("www.a.example")), Some(0));
    }

    #[test]
    fn the_deployments_of_a_folder_are_found_and_have_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        assert!(deployment_folders(folder.path()).unwrap().is_empty());
        for at in 0..DOMAINS_MAX {
            let path = folder.path().join(format!("site-{at:03}"));
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join(FILE), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        let found = deployment_folders(folder.path()).unwrap();
        assert!(found.len() == DOMAINS_MAX && found[0].ends_with("site-000"));
        std::fs::write(folder.path().join("notes").join(FILE), "").unwrap();
        assert!(deployment_folders(folder.path()).is_err());
        std::fs::write(folder.path().join(FILE), "").unwrap();
        assert_eq!(deployment_folders(folder.path()).unwrap(), [folder.path()]);
    }
}
