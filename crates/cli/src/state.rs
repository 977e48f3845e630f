//! Where a running deployment can be found: written by `serve`, read by `ask` and `discover`.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use forecourt_core::Domain;
use serde::{Deserialize, Serialize};

use crate::output::Failure;

/// The file in the data folder.
const FILE: &str = "serving.json";
/// The file in the data folder that a running `serve` holds.
const LOCK: &str = "serving.lock";

/// Takes the data folder for this process alone, as long as the result is kept; the system lets go of
/// it with the process. Two daemons in one folder would take each other's tasks for cut off.
pub(crate) fn hold(data: &Path) -> Result<File, Failure> {
    let file = data.join(LOCK);
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be used: {error}", file.display()));
    let lock = File::options().create(true).truncate(false).write(true).open(&file).map_err(wrong)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::Error(error)) => Err(wrong(error)),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::yours(format!("a deployment is being served from {} already", data.display()))
                .hint("stop it first, or name another folder with --data DIR"))
        }
    }
}

/// What a running `serve` says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Serving {
    /// The domain it serves.
    pub domain: Domain,
    /// The port of its HTTPS listener.
    pub https_port: u16,
    /// The port on which it speaks AGTP over TLS, if it does.
    #[serde(default)]
    pub agtp_port: Option<u16>,
    /// Its data folder, where the local authority's certificate is.
    pub data: PathBuf,
}

impl Serving {
    /// Writes it into the data folder, and a pointer to that where every user's tools look.
    pub(crate) fn write(&self) -> std::io::Result<()> {
        let text = serde_json::to_vec(self)?;
        std::fs::write(self.data.join(FILE), &text)?;
        if let Some(folder) = user_folder() {
            // Only a convenience: `--data` says the same when there is no home to write to.
            let _ =
                std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(pointer(&folder, &self.domain), &text));
        }
        Ok(())
    }

    /// The local deployment of `domain`: in `data` if given, in this folder, or the last one served.
    pub(crate) fn find(domain: &Domain, data: Option<&Path>) -> Option<Self> {
        let here = Path::new(".forecourt").to_path_buf();
        let places = match data {
            Some(data) => vec![data.join(FILE)],
            None => {
                let last = user_folder().map(|folder| pointer(&folder, domain));
                [Some(here.join(FILE)), last].into_iter().flatten().collect()
            }
        };
        places.iter().find_map(|file| read(file).filter(|serving| serving.domain == *domain))
    }
}

fn read(file: &Path) -> Option<Serving> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// Where what belongs to a user is kept, whichever deployment it is about.
pub(crate) fn user_folder() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    state.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("forecourt"))
}

fn pointer(folder: &Path, domain: &Domain) -> PathBuf {
    folder.join(format!("{domain}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_by_one_and_free_again_after_it() {
        let data = tempfile::tempdir().unwrap();
        let held = hold(data.path()).unwrap();
        assert!(hold(data.path()).is_err());
        drop(held);
        hold(data.path()).unwrap();
    }

    #[test]
    fn what_was_written_is_found_by_its_domain_only() {
        let data = tempfile::tempdir().unwrap();
        let domain = Domain::parse("demo.localhost").unwrap();
        let serving =
            Serving { domain: domain.clone(), https_port: 8443, agtp_port: None, data: data.path().to_path_buf() };
        std::fs::write(data.path().join(FILE), serde_json::to_vec(&serving).unwrap()).unwrap();
        assert_eq!(Serving::find(&domain, Some(data.path())), Some(serving));
        assert_eq!(Serving::find(&Domain::parse("other.localhost").unwrap(), Some(data.path())), None);
    }
}
