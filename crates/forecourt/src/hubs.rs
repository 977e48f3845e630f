//! Hubs elsewhere: a file of `hubs/` fronts all agents of one, as they come and go.
//!
//! A house is built from the list of agents that was seen last, without the network. Whoever serves it looks at the hubs
//! (`server/hubs.rs`), and has the deployment built again where one has changed.
//!
//! | module | holds |
//! |---|---|
//! | `open` | the hubs of a deployment, checked, and the agents that come of their lists |
//! | `lists` | the lists: which one counts, where they are kept, and how the hubs do |
//! | `kept` | the list of a hub that was kept last, and when it is kept again |
//! | `proposals` | lists that are to be served, at once or one at a time |
//! | `trust` | when a list that has shrunk is believed |
//! | `limits` | every bound of these, with its unit |

mod kept;
pub(crate) mod limits;
pub(crate) mod lists;
mod open;
mod proposals;
mod trust;

use std::path::Path;

use forecourt_core::Handle;
use forecourt_rules::HubRuleSettings;
use forecourt_settings::{Environment, Problems, Section, files};

use crate::named_file::name_of_file;
use crate::settings::HubSettings;
use limits::{HUBS_MAX, PATTERNS_MAX, REFRESH_SECONDS_MAX, REFRESH_SECONDS_MIN};

pub(crate) use kept::KeptList;
pub(crate) use lists::HubLists;
pub(crate) use open::{OpenHub, Places, open, open_one};
pub(crate) use proposals::Proposals;
pub(crate) use trust::{Remainder, Shrinking};

/// The folder of the files that define hubs, and the one in the data folder where their lists are kept.
pub const HUBS: &str = "hubs";
/// What the name of a kept list ends with, behind that of its hub.
pub const LIST_SUFFIX: &str = ".agents.json";

/// A hub elsewhere: a file of `hubs/`.
pub(crate) struct HubFile {
    /// Its name: that of the file.
    pub name: Handle,
    pub settings: HubSettings,
    /// What the file says but for its rules and its backend.
    pub section: Section,
    /// What the backends of its agents are built from.
    pub backend: Section,
    /// The rules before its agents, each with its place.
    pub rules: Vec<(HubRuleSettings, Section)>,
}

/// The hubs that can be read, and what is wrong with the others.
pub(crate) fn read_hubs(folder: &Path, environment: &dyn Environment) -> (Vec<HubFile>, Problems) {
    let files = match files::files_in(&folder.join(HUBS), HUBS_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let read = files.iter().filter_map(|file| problems.absorb(read_hub(file, environment))).collect();
    (read, problems)
}

fn read_hub(file: &Path, environment: &dyn Environment) -> Result<HubFile, Problems> {
    read_text(file, &files::text_of(file)?, environment)
}

/// A hub that `text` defines, as `file` would.
pub(crate) fn read_text(file: &Path, text: &str, environment: &dyn Environment) -> Result<HubFile, Problems> {
    let name = name_of_file(file, "hub", "hubs/partner.toml")?;
    let mut section = Section::parse(file, text, environment)?;
    let mut problems = Problems::new();
    let rules = section.take_list("policy").into_iter();
    let rules = rules.filter_map(|rule| Some((problems.absorb(rule.read())?, rule))).collect();
    let backend = section.take_or_empty("backend");
    let settings = problems.absorb(section.read::<HubSettings>());
    let Some(settings) = settings else { return Err(problems) };
    check(&section, &settings, &mut problems);
    problems.into_result(HubFile { name, settings, section, backend, rules })
}

fn check(section: &Section, settings: &HubSettings, problems: &mut Problems) {
    let is_handle = |text: &str| Handle::parse(text).is_ok_and(|read| read.as_str() == text);
    if !settings.prefix.is_empty() && !is_handle(&settings.prefix) {
        let words = "`prefix` is of a-z, 0-9, `_` and `-`, and shorter than a handle";
        problems.push(section.problem(Some("prefix"), words));
    }
    for (key, list) in [("only", &settings.only), ("except", &settings.except)] {
        if list.len() > PATTERNS_MAX {
            problems.push(section.problem(Some(key), format!("`{key}` has at most {PATTERNS_MAX} patterns")));
        }
    }
    if !(REFRESH_SECONDS_MIN..=REFRESH_SECONDS_MAX).contains(&settings.refresh_seconds) {
        let words =
            format!("`refresh_seconds` must be between {REFRESH_SECONDS_MIN} and {REFRESH_SECONDS_MAX} seconds");
        problems.push(section.problem(Some("refresh_seconds"), words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("far.toml");
        std::fs::write(&file, text).unwrap();
        let read = read_hub(&file, &|_: &str| None);
        read.err().map(|problems| problems.iter().map(|one| one.message().to_owned()).collect()).unwrap_or_default()
    }

    #[test]
    fn every_key_is_held_against_its_bound() {
        let globs = |count: usize| format!("only = [{}]", "\"a\", ".repeat(count));
        for (keys, is_fine) in [
            (String::new(), true),
            (format!("refresh_seconds = {REFRESH_SECONDS_MIN}"), true),
            (format!("refresh_seconds = {}", REFRESH_SECONDS_MIN - 1), false),
            (format!("refresh_seconds = {REFRESH_SECONDS_MAX}"), true),
            (format!("refresh_seconds = {}", REFRESH_SECONDS_MAX + 1), false),
            (globs(PATTERNS_MAX), true),
            (globs(PATTERNS_MAX + 1), false),
            ("prefix = \"far-\"".to_owned(), true),
            ("prefix = \"Far.\"".to_owned(), false),
            ("adress = \"x\"".to_owned(), false),
        ] {
            let found = problems(&format!("address = \"example.com\"\n{keys}"));
            assert_eq!(found.is_empty(), is_fine, "{keys} {found:?}");
        }
        assert!(problems("").iter().any(|words| words.contains("address")));
    }

    #[test]
    fn a_deployment_has_so_many_hubs_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(HUBS)).unwrap();
        for n in 0..=HUBS_MAX {
            assert!(read_hubs(folder.path(), &|_: &str| None).1.is_empty(), "{n}");
            std::fs::write(folder.path().join(format!("{HUBS}/h{n}.toml")), "address = \"example.com\"").unwrap();
        }
        let (_, problems) = read_hubs(folder.path(), &|_: &str| None);
        assert!(problems.to_string().contains(&format!("more than {HUBS_MAX} files")), "{problems}");
    }
}
