//! The lists of hubs: which one counts, where they are kept, and how the hubs do.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_agents::hub::{HubList, LeftOutAgent};
use forecourt_core::{Handle, Timestamp};
use forecourt_host::{HubState, HubStates};
use forecourt_settings::{Problem, files};
use parking_lot::Mutex;
use tempfile::NamedTempFile;

use super::limits::{LEFT_OUT_MAX, LIST_BYTES_MAX};
use super::{HUBS, LIST_SUFFIX, OpenHub};

/// What is known of the hubs of a deployment, from one state of it to the next.
#[derive(Default)]
pub(crate) struct HubLists(Mutex<HashMap<Handle, HubRecord>>);

/// What is known of one hub beside the list that is served.
#[derive(Default)]
struct HubRecord {
    /// The list that is to be served next: it counts before those on disk.
    candidate: Option<Arc<HubList>>,
    answers: Option<bool>,
    last_error: Option<String>,
    seen_at: Option<Timestamp>,
    left_out: Vec<String>,
}

impl HubLists {
    /// The list that counts for a hub: the one that is to be served next, else the newer one of what was imported into
    /// `folder` and what was seen since and is kept in `data`. Lists of another hub than that at `url` do not count.
    ///
    /// # Errors
    /// What was imported can't be read.
    pub(super) fn of(
        &self,
        name: &Handle,
        url: &str,
        folder: &Path,
        data: &Path,
    ) -> Result<Option<Arc<HubList>>, Problem> {
        let candidate = self.0.lock().get(name).and_then(|record| record.candidate.clone());
        if let Some(list) = candidate.filter(|list| list.hub == url) {
            return Ok(Some(list));
        }
        let file = list_file(folder, name);
        let imported = read(&file).map_err(|why| {
            let problem = Problem::of_file(&file, format!("is no list of a hub's agents: {why}"));
            problem.hint("import the hub again, or delete the file: then the hub is asked once this is served")
        })?;
        let seen = read(&list_file(data, name)).unwrap_or_else(|why| {
            tracing::warn!(hub = %name, why, "the kept list of a hub can't be read; the imported one counts");
            None
        });
        let lists = imported.into_iter().chain(seen).filter(|list| list.hub == url);
        Ok(lists.max_by_key(|list| list.seen_at).map(Arc::new))
    }

    /// Has these lists be served next.
    pub(crate) fn propose(&self, lists: &HashMap<Handle, Arc<HubList>>) {
        let mut all = self.0.lock();
        for (name, list) in lists {
            let record = all.entry(name.clone()).or_default();
            (record.candidate, record.last_error) = (Some(list.clone()), None);
        }
    }

    /// Takes notice that a proposed list is not served: `why`.
    pub(crate) fn refuse(&self, name: &Handle, why: String) {
        let mut all = self.0.lock();
        let record = all.entry(name.clone()).or_default();
        (record.candidate, record.last_error) = (None, Some(why));
    }

    /// Keeps a list that is served in `data`. Until that is done the list counts as proposed: whoever builds the
    /// deployment meanwhile has it too.
    ///
    /// # Errors
    /// It can't be written. A list that was proposed goes on to count then.
    pub(crate) fn keep(&self, data: &Path, name: &Handle, list: &HubList) -> io::Result<()> {
        keep(data, name, list)?;
        let mut all = self.0.lock();
        let record = all.entry(name.clone()).or_default();
        // A newer one may have been proposed meanwhile.
        record.candidate.take_if(|candidate| candidate.seen_at <= list.seen_at);
        Ok(())
    }

    /// Takes notice of a look at a hub that was read; `behind` says why what was found is not served. Gives whether it
    /// is news that it answers.
    pub(crate) fn note_read(
        &self,
        name: &Handle,
        at: Timestamp,
        left_out: &[LeftOutAgent],
        behind: Option<String>,
    ) -> bool {
        let mut all = self.0.lock();
        let record = all.entry(name.clone()).or_default();
        if behind.is_none() {
            record.seen_at = Some(at);
        }
        record.last_error = behind;
        let more = left_out.len().saturating_sub(LEFT_OUT_MAX);
        record.left_out = left_out.iter().take(LEFT_OUT_MAX).map(|one| format!("{} {}", one.handle, one.why)).collect();
        record.left_out.extend((more > 0).then(|| format!("and {more} more")));
        record.answers.replace(true) == Some(false)
    }

    /// Takes notice of a look that failed. Gives whether that is news.
    pub(crate) fn note_failure(&self, name: &Handle, why: String) -> bool {
        let mut all = self.0.lock();
        let record = all.entry(name.clone()).or_default();
        record.last_error = Some(why);
        record.answers.replace(false) != Some(false)
    }

    /// Forgets the hubs that are not followed any more.
    pub(crate) fn retain(&self, is_followed: impl Fn(&Handle) -> bool) {
        self.0.lock().retain(|name, _| is_followed(name));
    }

    /// How the hubs of one state of a deployment do.
    pub(crate) fn states(self: &Arc<Self>, hubs: &[OpenHub]) -> HubStates {
        let lists = self.clone();
        let served: Vec<_> = hubs.iter().map(OpenHub::state).collect();
        HubStates(Box::new(move || served.iter().map(|state| lists.state(state)).collect()))
    }

    fn state(&self, served: &HubState) -> HubState {
        let all = self.0.lock();
        let Some(record) = all.get(&served.name) else { return served.clone() };
        HubState {
            answers: record.answers,
            last_error: record.last_error.clone(),
            seen_at: served.seen_at.max(record.seen_at),
            left_out: record.left_out.clone(),
            ..served.clone()
        }
    }
}

impl fmt::Debug for HubLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubLists").finish_non_exhaustive()
    }
}

/// Where the list of a hub lies, below the folder of a deployment or of its data.
fn list_file(below: &Path, name: &Handle) -> PathBuf {
    below.join(HUBS).join(format!("{name}{LIST_SUFFIX}"))
}

/// A list that was kept. `None`: there is none.
fn read(file: &Path) -> Result<Option<HubList>, String> {
    if !file.exists() {
        return Ok(None);
    }
    let bytes = files::bytes_of(file, LIST_BYTES_MAX)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string())
}

/// Writes a list, whole or not at all.
fn keep(data: &Path, name: &Handle, list: &HubList) -> io::Result<()> {
    let folder = data.join(HUBS);
    fs::create_dir_all(&folder)?;
    let mut file = NamedTempFile::new_in(&folder)?;
    file.write_all(&serde_json::to_vec(list)?)?;
    file.as_file().sync_all()?;
    file.persist(list_file(data, name)).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://far.example/.well-known/agent-card.json";

    fn list(second: i64) -> HubList {
        let seen_at = Timestamp::from_second(second).unwrap();
        HubList { hub: URL.to_owned(), seen_at, is_signed: false, agents: Vec::new(), signed_before: Vec::new() }
    }

    fn name() -> Handle {
        "far".parse().unwrap()
    }

    #[test]
    fn the_newer_list_counts_and_only_for_its_own_hub() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lists = HubLists::default();
        let of = |url: &str| {
            let list = lists.of(&name(), url, folder.path(), data.path()).unwrap();
            list.map(|list| list.seen_at.as_second())
        };
        assert_eq!(of(URL), None);
        keep(folder.path(), &name(), &list(5)).unwrap();
        assert_eq!(of(URL), Some(5));
        keep(data.path(), &name(), &list(7)).unwrap();
        assert_eq!((of(URL), of("https://other.example/")), (Some(7), None));
        keep(folder.path(), &name(), &list(9)).unwrap();
        assert_eq!(of(URL), Some(9), "it was imported again");
        lists.propose(&HashMap::from([(name(), Arc::new(list(8)))]));
        assert_eq!(of(URL), Some(8));
        lists.refuse(&name(), "is not served".to_owned());
        assert_eq!(of(URL), Some(9));
    }

    #[test]
    fn a_list_that_is_served_counts_before_it_is_kept_and_where_it_cant_be() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lists = HubLists::default();
        let of = || lists.of(&name(), URL, folder.path(), data.path()).unwrap().map(|list| list.seen_at.as_second());
        lists.propose(&HashMap::from([(name(), Arc::new(list(5)))]));
        fs::write(data.path().join(HUBS), "a file where the folder would be").unwrap();
        lists.keep(data.path(), &name(), &list(5)).unwrap_err();
        assert_eq!(of(), Some(5));
        fs::remove_file(data.path().join(HUBS)).unwrap();
        lists.keep(data.path(), &name(), &list(5)).unwrap();
        assert_eq!(of(), Some(5), "it is on disk");
        lists.propose(&HashMap::from([(name(), Arc::new(list(7)))]));
        lists.keep(data.path(), &name(), &list(5)).unwrap();
        assert_eq!(of(), Some(7), "a newer one is proposed");
    }

    #[test]
    fn an_imported_list_that_is_broken_is_told_and_a_kept_one_is_passed_over() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lists = HubLists::default();
        keep(folder.path(), &name(), &list(5)).unwrap();
        fs::create_dir(data.path().join(HUBS)).unwrap();
        fs::write(list_file(data.path(), &name()), "{").unwrap();
        let of = || lists.of(&name(), URL, folder.path(), data.path());
        assert_eq!(of().unwrap().map(|list| list.seen_at.as_second()), Some(5));
        fs::write(list_file(folder.path(), &name()), "{").unwrap();
        assert!(of().unwrap_err().to_string().contains("is no list of a hub's agents"));
    }

    #[test]
    fn so_many_agents_that_are_left_out_are_told_and_the_rest_is_counted() {
        let lists = Arc::new(HubLists::default());
        let left_out = |count: usize| vec![LeftOutAgent { handle: "a".to_owned(), why: "is x".to_owned() }; count];
        let served = HubState {
            name: name(),
            url: URL.to_owned(),
            answers: None,
            last_error: None,
            agents: 0,
            seen_at: None,
            left_out: Vec::new(),
        };
        let told = |count: usize| {
            lists.note_read(&name(), Timestamp::UNIX_EPOCH, &left_out(count), None);
            lists.state(&served).left_out
        };
        assert_eq!(told(LEFT_OUT_MAX).len(), LEFT_OUT_MAX);
        assert_eq!(told(LEFT_OUT_MAX + 1).last().unwrap(), "and 1 more");
    }
}
