//! A `forecourt.toml` that names the domains of one daemon by `[[domain]]`, and says what they share.

use std::path::{Path, PathBuf};

use forecourt_settings::{Environment, EnvironmentOverride, Problem, Problems, Section, files};
use serde::Deserialize;
use toml::{Table, Value};

use crate::settings::{DomainEntry, FILE};

/// Domains of one daemon.
pub const DOMAINS_MAX: usize = 100;

/// What names a domain.
const DOMAIN: &str = "domain";
/// What all domains share, and only this file says: the sockets and what holds on them, and what the process tells.
pub(crate) const SHARED: [&str; 7] = ["listen", "http", "trusted_proxies", "log", "metrics", "telemetry", "drain"];

/// A file that names several domains.
#[derive(Debug, Clone)]
pub struct DomainsFile {
    /// What they share, each table still to be read by its owner.
    root: Section,
    /// The folders of their deployments, in the order of the file.
    folders: Vec<PathBuf>,
    trusted_proxies: Vec<ipnet::IpNet>,
}

/// The keys that may stand at the top of such a file beside the shared tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopKeys {
    #[serde(default)]
    trusted_proxies: Vec<ipnet::IpNet>,
}

impl DomainsFile {
    /// The one in `folder`; `None` where there is none, or it is that of a deployment.
    ///
    /// # Errors
    /// Everything that is wrong with it, but for what is in the tables that domains share: that is told with each of
    /// their deployments.
    pub fn read(folder: &Path, environment: &dyn Environment) -> Result<Option<Self>, Problems> {
        let file = folder.join(FILE);
        // What can't be read is told by whoever reads it as a deployment.
        let Ok(text) = files::text_of(&file) else { return Ok(None) };
        if !names_several(&text) {
            return Ok(None);
        }
        let mut root = Section::parse(&file, &text, environment)?;
        let (shared, _) = divided(EnvironmentOverride::all(environment));
        root.override_from(&shared)?;
        let mut problems = Problems::new();
        let entries = root.take_list(DOMAIN);
        let folders = problems.absorb(folders_of(&entries));
        let mut rest = root.clone();
        // Taken out unread: each deployment reads the shared tables itself.
        SHARED.iter().filter(|name| **name != "trusted_proxies").for_each(|table| drop(rest.take(table)));
        let hint = "settings of one domain belong in the forecourt.toml of its own folder";
        let top: Result<TopKeys, Problems> = rest.read();
        match top {
            Err(wrong) => problems.extend(wrong.into_iter().map(|problem| problem.hint(hint))),
            Ok(TopKeys { trusted_proxies }) if problems.is_empty() => {
                return Ok(folders.map(|folders| Self { root, folders, trusted_proxies }));
            }
            Ok(_) => {}
        }
        Err(problems)
    }

    /// The folders of the deployments, in the order of the file.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        self.root.file()
    }

    /// The section with the tables that all domains share.
    pub(crate) fn shared(&self) -> Section {
        self.root.clone()
    }

    pub(crate) fn trusted_proxies(&self) -> &[ipnet::IpNet] {
        &self.trusted_proxies
    }

    /// What the file of one domain says that only this file may.
    pub(crate) fn duplicated_tables(&self, own: &Section) -> Problems {
        let mut problems = Problems::new();
        for name in SHARED.into_iter().filter(|name| own.has(name)) {
            let text = format!("`{name}` is what all domains share: {} says it", self.file().display());
            problems.push(own.problem(Some(name), text).hint("take it out here"));
        }
        problems
    }
}

/// The variables of the environment for what domains share, and the others.
pub(crate) fn divided(all: Vec<EnvironmentOverride>) -> (Vec<EnvironmentOverride>, Vec<EnvironmentOverride>) {
    all.into_iter().partition(|one| SHARED.contains(&one.first()))
}

/// What is wrong with a file that names several domains where one deployment is wanted; `None`: it does not.
pub(crate) fn several_instead_of_one(root: &Section, text: &str) -> Option<Problem> {
    let wrong = || root.problem(Some(DOMAIN), "this file names several domains, and is no deployment itself");
    names_several(text).then(|| wrong().hint("name the folder of one of them; `serve` and `check` take all of them"))
}

fn names_several(text: &str) -> bool {
    text.parse::<Table>().is_ok_and(|table| matches!(table.get(DOMAIN), Some(Value::Array(_))))
}

fn folders_of(entries: &[Section]) -> Result<Vec<PathBuf>, Problems> {
    let (mut problems, mut folders) = (Problems::new(), Vec::new());
    for entry in entries {
        let Some(DomainEntry { path }) = problems.absorb(entry.read()) else { continue };
        let folder = entry.resolve_path(&path);
        let wrong = if !folder.join(FILE).exists() {
            format!("{} has no {FILE}", folder.display())
        } else if folders.contains(&folder) {
            format!("{} is named twice", folder.display())
        } else {
            folders.push(folder);
            continue;
        };
        problems.push(entry.problem(Some("path"), wrong));
    }
    if let Some(entry) = entries.get(DOMAINS_MAX) {
        problems.push(entry.problem(None, format!("there are more than {DOMAINS_MAX} domains")));
    }
    problems.into_result(folders)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(folder: &Path, text: &str) -> Result<Option<DomainsFile>, Vec<String>> {
        fs::write(folder.join(FILE), text).unwrap();
        let read = DomainsFile::read(folder, &|_: &str| None);
        read.map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    fn site(folder: &Path, name: &str) {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join(FILE), "").unwrap();
    }

    #[test]
    fn a_file_names_deployments_in_its_order_and_one_of_a_deployment_does_not() {
        let folder = tempfile::tempdir().unwrap();
        ["b", "a"].iter().for_each(|name| site(folder.path(), name));
        let file =
            read(folder.path(), "[[domain]]\npath = 'b'\n[[domain]]\npath = 'a'\n[listen]\nhttp = '127.0.0.1:1'");
        assert_eq!(file.unwrap().unwrap().folders(), ["b", "a"].map(|name| folder.path().join(name)));
        assert!(read(folder.path(), "domain = 'a.example'").unwrap().is_none());
        assert!(read(folder.path(), "domain = [").unwrap().is_none(), "told where it is read");
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        site(folder.path(), "a");
        let text = "[[domain]]\npath = 'a'\n[[domain]]\npath = './a'\n[[domain]]\npath = 'b'\n[[domain]]\npaht = 'a'\n[limits]\n";
        let wrong = read(folder.path(), text).unwrap_err();
        let all = wrong.join("\n");
        for (line, word) in [(6, "has no forecourt.toml"), (8, "paht"), (9, "limits")] {
            assert!(all.contains(&format!("{FILE}:{line}")) && all.contains(word), "{line} {word}: {all}");
        }
        assert!(all.contains("belong in the forecourt.toml of its own folder"), "{all}");
        let twice = read(folder.path(), "[[domain]]\npath = 'a'\n[[domain]]\npath = 'a'").unwrap_err();
        assert!(twice[0].contains("named twice") && twice[0].contains(":4"), "{twice:?}");
    }

    #[test]
    fn there_may_be_so_many_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..=DOMAINS_MAX).map(|n| format!("site-{n}")).collect();
        names.iter().for_each(|name| site(folder.path(), name));
        let text = |count: usize| {
            names[..count].iter().map(|name| format!("[[domain]]\npath = '{name}'\n")).collect::<String>()
        };
        assert_eq!(read(folder.path(), &text(DOMAINS_MAX)).unwrap().unwrap().folders().len(), DOMAINS_MAX);
        let wrong = read(folder.path(), &text(DOMAINS_MAX + 1)).unwrap_err();
        assert!(wrong[0].contains("more than 100 domains"), "{wrong:?}");
    }
}
