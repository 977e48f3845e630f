//! Drafts, texts on disk and versions, without a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::limits::{FILE_BYTES_MAX, FILES_MAX, NAME_CHARS_MAX, TEXTS_BYTES_MAX, VERSIONS_MAX};
use super::*;

const TOP: &str = "domain = 'demo.localhost'\n";
const ECHO: &str = "handle = 'echo'\nname = 'Echo'\n[backend]\nkind = 'echo'\n";

/// A deployment in a folder of its own, with its data folder in it and a file beside it.
struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        site.write("site/forecourt.toml", TOP);
        site.write("site/agents/echo.toml", ECHO);
        site.write("site/content/items.jsonl", "{}");
        site.write("site/.forecourt/host.key", "secret");
        site.write("beside.jsonl", "{}");
        site
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("site")
    }

    fn data(&self) -> PathBuf {
        self.folder().join(".forecourt")
    }

    fn editor(&self) -> Folder {
        let source = ReloadSource::new(self.folder(), |folder| crate::Deployment::read(folder));
        Folder { source, data: self.data() }
    }

    fn texts(&self) -> Texts {
        texts::read(&self.folder(), &self.data()).unwrap()
    }
}

fn change(files: &[(&str, Option<&str>)]) -> TextChange {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.map(str::to_owned)));
    TextChange { files: files.collect(), based_on: None }
}

fn served(who: &str) -> ServedHouse {
    ServedHouse { at: Timestamp::UNIX_EPOCH, by: EditedBy { who: who.to_owned(), reason: None } }
}

#[test]
fn what_may_be_changed_is_settings_and_neither_state_nor_content_nor_programs() {
    let site = Site::new();
    for (name, text) in
        [("site/agents/run.py", "x"), ("site/.env", "x"), ("site/prompts/chef.md", "Be kind."), ("site/notes.txt", "x")]
    {
        site.write(name, text);
    }
    site.write("site/agents/long.toml", &"#".repeat(FILE_BYTES_MAX + 1));
    let names: Vec<String> = site.texts().into_keys().collect();
    assert_eq!(names, ["agents/echo.toml", "forecourt.toml", "prompts/chef.md"]);
    let long = format!("agents/{}.toml", "a".repeat(NAME_CHARS_MAX - 12));
    assert!(texts::is_editable(&long).is_ok() && texts::is_editable("agents/deep/in/it/a.toml").is_ok());
    for name in [
        "",
        "/etc/passwd.toml",
        "../forecourt.toml",
        "agents/../../x.toml",
        "agents//x.toml",
        ".forecourt/x.toml",
        "agents/.x.toml",
        "agents/x.py",
        "content/x.json",
        "agents/a b.toml",
        "agents/x.toml/",
        "agents\\x.toml",
        "agents/x\n.toml",
        &format!("a{long}"),
        "agents/deep/in/it/all/a.toml",
    ] {
        assert!(matches!(texts::is_editable(name), Err(EditError::Invalid(_))), "{name:?}");
    }
}

#[test]
fn what_is_over_a_bound_is_refused_by_name() {
    let of = |count: usize, bytes: usize| -> Texts {
        (0..count).map(|number| (format!("agents/{number}.toml"), "#".repeat(bytes))).collect()
    };
    let refused =
        |texts: &Texts| texts::are_within_bounds(texts).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(refused(&of(FILES_MAX, 1)), "");
    assert!(refused(&of(FILES_MAX + 1, 1)).contains("more than 2000 files"));
    assert_eq!(refused(&of(1, FILE_BYTES_MAX)), "");
    assert!(refused(&of(1, FILE_BYTES_MAX + 1)).contains("more than 65536 bytes"));
    let most = TEXTS_BYTES_MAX / FILE_BYTES_MAX;
    assert_eq!(refused(&of(most, FILE_BYTES_MAX)), "");
    assert!(refused(&of(most + 1, FILE_BYTES_MAX)).contains("more than 8388608 bytes in all"));
}

#[test]
fn a_draft_is_checked_and_nothing_of_it_is_left() {
    let site = Site::new();
    let (editor, before) = (site.editor(), site.texts());
    let checked = |files: &[(&str, Option<&str>)]| editor.check(&change(files)).unwrap().problems;
    assert_eq!(checked(&[("agents/two.toml", Some(&ECHO.replace("'echo'\nname", "'two'\nname")))]), []);
    let found = |files: &[(&str, Option<&str>)], file: &str, line: Option<u64>, words: &str| {
        let problems = checked(files);
        let is_it = |one: &EditProblem| one.file == file && one.line == line && one.message.contains(words);
        assert!(problems.iter().any(is_it), "{problems:?}");
    };
    found(&[("agents/echo.toml", Some(&ECHO.replace("name =", "nmae =")))], "agents/echo.toml", Some(2), "nmae");
    found(&[("agents/echo.toml", None)], "agents", None, "there is no agent");
    let other = "domain = 'other.localhost'";
    found(&[("forecourt.toml", Some(other))], "forecourt.toml", Some(1), "`domain` can't change");
    // What settings name is found from a draft too, in the folder and beside it.
    for content in ["content/items.jsonl", "../beside.jsonl"] {
        let search = format!("handle = 'find'\nname = 'Find'\n[backend]\nkind = 'search'\ncontent = ['{content}']\n");
        assert_eq!(checked(&[("agents/find.toml", Some(&search))]), [], "{content}");
    }
    // Files that are not shown are not replaced either.
    site.write("site/agents/long.toml", &"#".repeat(FILE_BYTES_MAX + 1));
    let hidden = editor.check(&change(&[("agents/long.toml", Some("x = 1"))]));
    assert!(matches!(hidden, Err(EditError::Invalid(_))), "{hidden:?}");
    assert_eq!(site.texts(), before);
    assert_eq!(fs::read_dir(site.data().join("drafts")).unwrap().count(), 0);
}

#[test]
fn a_change_of_what_somebody_else_has_changed_is_refused() {
    let site = Site::new();
    let based_on = Some(state_of(&site.texts()));
    let files: BTreeMap<_, _> = [("agents/echo.toml".to_owned(), Some(format!("{ECHO}# mine")))].into();
    let mine = TextChange { files, based_on };
    assert!(site.editor().check(&mine).is_ok());
    site.write("site/agents/echo.toml", &format!("{ECHO}# theirs"));
    assert_eq!(site.editor().check(&mine), Err(EditError::Stale));
}

#[test]
fn files_are_written_whole_as_closed_as_they_were_and_put_back_where_one_fails() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new();
    let (folder, before) = (site.folder(), site.texts());
    fs::set_permissions(folder.join("agents/echo.toml"), fs::Permissions::from_mode(0o640)).unwrap();
    let mut now = before.clone();
    now.insert("agents/echo.toml".to_owned(), format!("{ECHO}# other"));
    now.insert("agents/new.toml".to_owned(), "# new".to_owned());
    texts::write(&folder, &before, &now).unwrap();
    assert_eq!(site.texts(), now);
    assert_eq!(fs::metadata(folder.join("agents/echo.toml")).unwrap().permissions().mode() & 0o777, 0o640);
    // A folder stands where a file is to be.
    let mut wrong = before.clone();
    wrong.insert("hubs/x.toml".to_owned(), "# x".to_owned());
    fs::create_dir_all(folder.join("hubs/x.toml/in")).unwrap();
    assert!(matches!(texts::write(&folder, &now, &wrong), Err(EditError::Unavailable(_))));
    assert_eq!(site.texts(), now);
    assert_eq!(hidden_files(&folder), 0, "nothing half written is left");
}

#[test]
fn what_somebody_else_has_changed_since_is_not_put_back() {
    let site = Site::new();
    let (folder, before) = (site.folder(), site.texts());
    let mut written = before.clone();
    for name in ["agents/a.toml", "agents/b.toml"] {
        written.insert(name.to_owned(), "# ours".to_owned());
    }
    texts::write(&folder, &before, &written).unwrap();
    site.write("site/agents/b.toml", "# theirs");
    texts::put_back(&folder, &written, &before).unwrap();
    assert!(!folder.join("agents/a.toml").exists());
    assert_eq!(fs::read_to_string(folder.join("agents/b.toml")).unwrap(), "# theirs");
}

fn hidden_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder.join("agents")).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count()
}

#[test]
fn what_was_served_is_kept_once_and_the_oldest_goes() {
    let site = Site::new();
    let versions = Versions::of(&site.data());
    assert_eq!((versions.list(), versions.read(1)), (Ok(Vec::new()), Err(EditError::NoVersion(1))));
    let mut texts = site.texts();
    for _ in 0..2 {
        versions.keep(&texts, served("start")).unwrap();
    }
    for number in 2..=VERSIONS_MAX + 1 {
        texts.insert("agents/echo.toml".to_owned(), format!("{ECHO}# {number}"));
        versions.keep(&texts, served("ann")).unwrap();
    }
    let kept = versions.list().unwrap();
    let ends = (kept[0].number, kept[kept.len() - 1].number);
    assert_eq!((kept.len(), ends), (VERSIONS_MAX, (VERSIONS_MAX as u64 + 1, 2)));
    assert_eq!((kept[0].by.as_str(), &kept[0].changed[..]), ("ann", &["agents/echo.toml".to_owned()][..]));
    assert_eq!(versions.read(VERSIONS_MAX as u64 + 1).unwrap().1, texts);
    // One that is broken is told, and stands in nobody's way.
    fs::write(site.data().join("versions/51.json"), "{").unwrap();
    assert!(matches!(versions.read(51), Err(EditError::Unavailable(_))));
    versions.keep(&texts, served("ann")).unwrap();
    assert_eq!(versions.list().unwrap()[0].number, 52);
}
