//! Files of an operation that are called otherwise than at the last import.

use super::record::RecordedOperation;
use crate::import::EndpointFiles;

/// What the names of an operation's files began with, and what they begin with now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Renaming {
    pub(super) old: String,
    pub(super) new: String,
}

impl Renaming {
    /// `None`: the files are called as before.
    pub(super) fn of(recorded: &RecordedOperation, written: &EndpointFiles) -> Option<Renaming> {
        let old = recorded.files.keys().find_map(|name| name.strip_suffix(".toml"))?;
        let new = written.files.iter().find_map(|file| file.name.strip_suffix(".toml"))?;
        (old != new).then(|| Renaming { old: old.to_owned(), new: new.to_owned() })
    }

    /// How a file was called: `open_room.input.json` was `create_room.input.json`.
    pub(super) fn before(&self, name: &str) -> String {
        begun(name, &self.new, &self.old)
    }

    /// How a file is called now.
    pub(super) fn after(&self, name: &str) -> String {
        begun(name, &self.old, &self.new)
    }
}

fn begun(name: &str, from: &str, to: &str) -> String {
    let ending = name.strip_prefix(from).filter(|ending| ending.starts_with('.'));
    ending.map_or_else(|| name.to_owned(), |ending| format!("{to}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_are_others() {
        let renaming = Renaming { old: "create_room".to_owned(), new: "open_room".to_owned() };
        assert_eq!(renaming.after("create_room.input.json"), "open_room.input.json");
        assert_eq!(renaming.before("open_room.toml"), "create_room.toml");
        assert_eq!(renaming.before("open_room_2.toml"), "open_room_2.toml");
    }
}
