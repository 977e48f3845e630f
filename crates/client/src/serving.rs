//! This module says where a running deployment can be found: written by `serve`, read by clients.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
use forecourt_core::Domain;
use serde::{Deserialize, Serialize};

/// The file in the data folder.
const FILE: &str = "serving.json";
/// Deployments of one domain that are looked at.
const POINTERS_MAX: usize = 64;
/// Bytes of the hash that tells the pointers to two data folders apart.
const PLACE_BYTES: usize = 16;
/// The file in the data folder that a running `serve` holds.
pub const LOCK: &str = "serving.lock";

/// What a running `serve` says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// The domain it serves.
    pub domain: Domain,
    /// The port of its HTTPS listener.
    pub https_port: u16,
    /// The port of its HTTP listener. Not known of one of an earlier release.
    #[serde(default)]
    pub http_port: Option<u16>,
    /// The ports of sockets that protocols have for themselves, by the names of their flags.
    #[serde(default)]
    pub sockets: BTreeMap<String, u16>,
    /// Where its operator's listener is. Not known of one of an earlier release.
    #[serde(default)]
    pub admin: Option<SocketAddr>,
    /// Its data folder, where the local authority's certificate is.
    pub data: PathBuf,
}

impl Serving {
    /// Writes it into the data folder, and a pointer to that where every user's tools look.
    pub fn write(&self) -> std::io::Result<()> {
        self.write_into_data()?;
        let text = serde_json::to_vec(self)?;
        if let Some(folder) = user_folder() {
            // Only a convenience: `--data` says the same when there is no home to write to.
            let _ = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(pointer(&folder, self), &text));
        }
        Ok(())
    }

    /// Writes it into the data folder alone, where who knows that folder finds it.
    pub fn write_into_data(&self) -> std::io::Result<()> {
        std::fs::write(self.data.join(FILE), serde_json::to_vec(self)?)
    }

    /// Whether it is served over plain HTTP alone, as while it is worked on: it names that port for both.
    pub fn is_plain(&self) -> bool {
        self.http_port == Some(self.https_port)
    }

    /// What was last served from the data folder `data`.
    pub fn of_data(data: &Path) -> Option<Self> {
        read(&data.join(FILE))
    }

    /// The local deployment of `domain`: the first of [`Self::all`].
    pub fn find(domain: &Domain, data: Option<&Path>) -> Option<Self> {
        Self::all(domain, data).into_iter().next()
    }

    /// The local deployments of `domain`: the one in `data` if given; else all that are being served, that
    /// of this folder first and then the last one that was started. When none is, the one that was.
    pub fn all(domain: &Domain, data: Option<&Path>) -> Vec<Self> {
        let places = match data {
            Some(data) => vec![data.join(FILE)],
            None => {
                let here = Path::new(".forecourt").join(FILE);
                std::iter::once(here)
                    .chain(user_folder().map(|folder| pointers(&folder, domain)).unwrap_or_default())
                    .collect()
            }
        };
        let mut all: Vec<Self> = Vec::new();
        for serving in places.iter().filter_map(|file| read(file)).filter(|serving| serving.domain == *domain) {
            // The folder here and a pointer to it may be the same deployment.
            if !all.iter().any(|known| is_same(&known.data, &serving.data)) {
                all.push(serving);
            }
        }
        match all.iter().any(Self::is_served) {
            true => all.retain(Self::is_served),
            false => all.truncate(1),
        }
        all
    }

    /// Whether somebody serves it at the moment.
    pub fn is_served(&self) -> bool {
        // A running server holds the lock and the system frees it after a crash, so that an old file means nothing.
        let Ok(lock) = File::options().write(true).open(self.data.join(LOCK)) else { return false };
        matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn read(file: &Path) -> Option<Serving> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// Where what belongs to a user is kept, whichever deployment it is about.
pub fn user_folder() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    state.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("forecourt"))
}

/// The pointer to one deployment: a file for each data folder, so that none takes another's place.
fn pointer(folder: &Path, serving: &Serving) -> PathBuf {
    let hash = digest::digest(&digest::SHA256, serving.data.as_os_str().as_encoded_bytes());
    let place: String = hash.as_ref()[..PLACE_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{}.{place}.json", serving.domain))
}

/// The pointers to deployments of a domain, the last one written first; at most [`POINTERS_MAX`].
fn pointers(folder: &Path, domain: &Domain) -> Vec<PathBuf> {
    let begins = format!("{domain}.");
    let named = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The form of earlier releases had one file for a domain.
        name.strip_prefix(&begins).is_some_and(|rest| rest == "json" || rest.matches('.').count() == 1)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).filter(named);
    let mut files: Vec<_> = files.map(|path| (path.metadata().and_then(|m| m.modified()).ok(), path)).collect();
    files.sort_by(|a, b| b.cmp(a));
    files.into_iter().take(POINTERS_MAX).map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deployment_of_a_domain_has_a_pointer_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let domain = Domain::parse("demo.localhost").unwrap();
        let serving = |data: &str| Serving {
            domain: domain.clone(),
            https_port: 8443,
            http_port: Some(8080),
            sockets: BTreeMap::new(),
            admin: None,
            data: PathBuf::from(data),
        };
        for data in ["/a", "/b"] {
            std::fs::write(pointer(folder.path(), &serving(data)), serde_json::to_vec(&serving(data)).unwrap())
                .unwrap();
        }
        std::fs::write(folder.path().join("demo.localhost.x.y.json"), "{}").unwrap();
        std::fs::write(folder.path().join("other.localhost.json"), "{}").unwrap();
        let found = pointers(folder.path(), &domain);
        let mut data: Vec<_> = found.iter().filter_map(|file| read(file)).map(|serving| serving.data).collect();
        data.sort();
        assert_eq!(data, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn what_was_written_is_found_by_its_domain_only() {
        let data = tempfile::tempdir().unwrap();
        let domain = Domain::parse("demo.localhost").unwrap();
        let serving = Serving {
            domain: domain.clone(),
            https_port: 8443,
            http_port: Some(8080),
            sockets: BTreeMap::new(),
            admin: None,
            data: data.path().to_path_buf(),
        };
        std::fs::write(data.path().join(FILE), serde_json::to_vec(&serving).unwrap()).unwrap();
        assert!(!serving.is_plain() && Serving { http_port: Some(8443), ..serving.clone() }.is_plain());
        assert!(!Serving { http_port: None, ..serving.clone() }.is_plain(), "one of an earlier release");
        assert_eq!(Serving::find(&domain, Some(data.path())), Some(serving));
        assert_eq!(Serving::find(&Domain::parse("other.localhost").unwrap(), Some(data.path())), None);
    }
}
