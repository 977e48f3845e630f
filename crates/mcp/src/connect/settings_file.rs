//! An entry written into the settings of another program, which stay as their owner left them.

use std::path::{Path, PathBuf};

use forecourt_client::output::Failure;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use crate::limits::SETTINGS_BYTES_MAX;

/// The settings of a program: JSON, with comments where the program takes them.
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    /// The table of its servers.
    pub(super) table: &'static str,
}

/// What writing came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The entry is there already.
    None,
    /// It was written; the file as it was is kept beside it, if there was one.
    Written { kept: Option<PathBuf> },
}

impl SettingsFile {
    /// Writes an entry. Fails, with the file as it was, when the file is not the JSON that is expected, or has another
    /// entry of this name and that is not to be replaced.
    pub(super) fn set(&self, name: &str, entry: &Value, replaces: bool) -> Result<Change, Failure> {
        // Where a file is a link, as those who keep their settings in one place have it, what it leads to is written.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let before = self.read(&path)?;
        let Some(after) = self.changed(before.as_deref().unwrap_or("{}\n"), name, entry, replaces)? else {
            return Ok(Change::None);
        };
        let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", path.display()));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        let kept = before.is_some().then(|| beside(&path, "bak"));
        if let Some(kept) = &kept {
            std::fs::copy(&path, kept).map_err(wrong)?;
        }
        // In one step, so that a crash leaves the old file or the new one; as closed as the old one, which may hold secrets.
        let new = beside(&path, "new");
        let written = std::fs::write(&new, after).and_then(|()| {
            if before.is_some() {
                std::fs::set_permissions(&new, std::fs::metadata(&path)?.permissions())?;
            }
            std::fs::rename(&new, &path)
        });
        written.map_err(wrong)?;
        Ok(Change::Written { kept })
    }

    fn read(&self, path: &Path) -> Result<Option<String>, Failure> {
        let wrong = |why: String| Failure::yours(format!("{} cannot be read: {why}", path.display()));
        match std::fs::metadata(path) {
            Ok(found) if found.len() > SETTINGS_BYTES_MAX => {
                Err(wrong(format!("it has more than {} MiB", SETTINGS_BYTES_MAX / (1024 * 1024))))
            }
            Ok(_) => std::fs::read_to_string(path).map(Some).map_err(|error| wrong(error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// The text with the entry in it; `None` when it has that already.
    fn changed(&self, text: &str, name: &str, entry: &Value, replaces: bool) -> Result<Option<String>, Failure> {
        let paste = "nothing was written; without --write it is printed, to be pasted";
        let wrong = |why: String| Failure::yours(format!("{} {why}", self.path.display())).hint(paste);
        // An empty file is settings that nobody has made yet.
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &ParseOptions::default());
        let root = root.map_err(|error| wrong(format!("is not JSON: {error}")))?;
        let settings = root.object_value().ok_or_else(|| wrong("is JSON, but no object".to_owned()))?;
        let Some(servers) = settings.object_value_or_create(self.table) else {
            return Err(wrong(format!("has a `{}` that is no object", self.table)));
        };
        if let Some(there) = servers.get(name) {
            if there.to_serde_value().as_ref() == Some(entry) {
                return Ok(None);
            }
            if !replaces {
                let failure = wrong(format!("has another server called `{name}`"));
                return Err(failure.hint("--force replaces it, --name gives this one another name"));
            }
            there.set_value(input(entry));
        } else {
            append(&servers, name, entry);
        }
        Ok(Some(root.to_string()))
    }
}

fn append(servers: &CstObject, name: &str, entry: &Value) {
    servers.append(name, input(entry));
    servers.ensure_multiline();
}

/// A value as the editor of settings takes it.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// The path of a file beside another one.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Value {
        json!({"type": "http", "url": "http://127.0.0.1:8080/mcp"})
    }

    fn changed(text: &str, replaces: bool) -> Result<Option<String>, Failure> {
        let file = SettingsFile { path: PathBuf::from("mcp.json"), table: "servers" };
        file.changed(text, "kitchen", &entry(), replaces)
    }

    #[test]
    fn what_is_there_stays_with_its_comments_and_its_order() {
        let text = "{\n  // ours\n  \"zebra\": 1,\n  \"servers\": {\n    \"other\": { \"command\": \"x\" } // theirs\n  },\n  \"apple\": [1, 2]\n}\n";
        let after = changed(text, false).ok().flatten().unwrap();
        for piece in
            ["// ours", "// theirs", "\"other\": { \"command\": \"x\" }", "\"apple\": [1, 2]", "\"kitchen\": {"]
        {
            assert!(after.contains(piece), "{piece}: {after}");
        }
        assert!(after.find("zebra") < after.find("servers") && after.find("servers") < after.find("apple"), "{after}");
        let again = changed(&after, false).ok().unwrap();
        assert_eq!(again, None, "a second time nothing changes");
    }

    #[test]
    fn what_is_new_begins_with_the_entry() {
        for text in ["{}", "", "  \n", "{\"servers\": {}}"] {
            let after = changed(text, false).ok().flatten().unwrap();
            let read: Value = serde_json::from_str(&after).unwrap();
            assert_eq!(read["servers"]["kitchen"], entry(), "{after}");
        }
    }

    #[test]
    fn another_entry_of_the_name_is_replaced_only_when_that_is_said() {
        let text = "{\"servers\": {\"kitchen\": {\"url\": \"https://old.example\"}, \"other\": {}}}";
        assert!(changed(text, false).is_err());
        let read: Value = serde_json::from_str(&changed(text, true).ok().flatten().unwrap()).unwrap();
        assert_eq!(read, json!({"servers": {"kitchen": entry(), "other": {}}}));
    }

    #[test]
    fn what_is_no_settings_is_refused() {
        for text in ["[]", "7", "{", "{\"servers\": []}", "{\"servers\": \"x\"}", "{\"a\": 1} trailing", "\u{0}"] {
            assert!(changed(text, true).is_err(), "{text}");
        }
    }

    #[test]
    fn the_file_as_it_was_is_kept_and_a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.json"), folder.path().join("mcp.json"));
        std::fs::write(&real, "{\"servers\": {}}").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let file = SettingsFile { path: link.clone(), table: "servers" };
        let Ok(Change::Written { kept: Some(kept) }) = file.set("kitchen", &entry(), false) else {
            panic!("not written")
        };
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "{\"servers\": {}}");
        assert!(link.symlink_metadata().unwrap().is_symlink() && real.is_file());
        assert_eq!(file.set("kitchen", &entry(), false).ok(), Some(Change::None));
    }

    #[test]
    fn a_file_has_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let of = |bytes: u64| {
            let path = folder.path().join("mcp.json");
            let spaces = " ".repeat(usize::try_from(bytes).unwrap() - 2);
            std::fs::write(&path, format!("{{}}{spaces}")).unwrap();
            SettingsFile { path, table: "servers" }.set("kitchen", &entry(), false)
        };
        assert!(of(SETTINGS_BYTES_MAX).is_ok());
        assert!(of(SETTINGS_BYTES_MAX + 1).is_err());
    }
}
