//! Variables of the environment that go before keys, and secrets from files and from systemd.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forecourt_settings::{Environment, EnvironmentOverride, Problems, SECRET_FILE_BYTES_MAX, Section};
use serde::Deserialize;

struct Variables(BTreeMap<String, String>);

impl Environment for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        self.0.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }
}

fn variables(pairs: &[(&str, &str)]) -> Variables {
    Variables(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Listen {
    http: String,
    #[serde(default)]
    https: Option<String>,
    #[serde(default)]
    port: u16,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    admin_token: Option<String>,
    #[serde(default)]
    names: Vec<String>,
}

const TEXT: &str = "[listen]\nhttp = \"127.0.0.1:80\"\n[[rule]]\nkind = \"a\"\n";

fn overridden(text: &str, pairs: &[(&str, &str)]) -> Result<Section, Problems> {
    let environment = variables(pairs);
    let mut section = Section::parse(Path::new("forecourt.toml"), text, &environment)?;
    section.override_from(&EnvironmentOverride::all(&environment))?;
    Ok(section)
}

fn listen(pairs: &[(&str, &str)]) -> Result<Listen, Problems> {
    overridden(TEXT, pairs)?.take_or_empty("listen").read()
}

#[test]
fn a_variable_goes_before_the_file() {
    let read = listen(&[
        ("FORECOURT__LISTEN__HTTP", "0.0.0.0:80"),
        ("FORECOURT__LISTEN__HTTPS", "\"quoted\""),
        ("FORECOURT__LISTEN__PORT", "8080"),
        ("FORECOURT__LISTEN__OPEN", "true"),
        ("FORECOURT__LISTEN__NAMES", "[\"a\", \"b\"]"),
        ("FORECOURT_LISTEN__PORT", "9"),
    ]);
    let expected = Listen {
        http: "0.0.0.0:80".into(),
        https: Some("quoted".into()),
        port: 8080,
        open: true,
        admin_token: None,
        names: vec!["a".into(), "b".into()],
    };
    assert_eq!(read.unwrap(), expected);
}

#[test]
fn what_looks_like_a_number_may_be_a_text() {
    let read = listen(&[("FORECOURT__LISTEN__HTTP", "8080"), ("FORECOURT__LISTEN__ADMIN_TOKEN", "1e5")]).unwrap();
    assert_eq!((read.http.as_str(), read.admin_token.as_deref()), ("8080", Some("1e5")));
}

#[test]
fn tables_that_the_file_has_not_are_made_and_lists_are_gone_into() {
    let mut section = overridden(
        TEXT,
        &[
            ("FORECOURT__AGTP__POLICIES__RCNS__ENABLED", "true"),
            ("FORECOURT__RULE__0__KIND", "b"),
            ("FORECOURT__RULE__1__KIND", "c"),
        ],
    )
    .unwrap();
    let rules: Vec<String> =
        section.take_list("rule").iter().map(|rule| rule.text("kind").unwrap().to_owned()).collect();
    assert_eq!(rules, ["b", "c"]);
    let mut agtp = section.take("agtp").unwrap();
    let policies: BTreeMap<String, bool> = agtp.take("policies").unwrap().take("rcns").unwrap().read().unwrap();
    assert_eq!(policies, BTreeMap::from([("enabled".to_owned(), true)]));
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    let told = listen(&[("FORECOURT__LISTEN__HTPS", "1.2.3.4:5")]).unwrap_err().to_string();
    assert_eq!(
        told,
        "error: unknown key `htps` in [listen]\n  --> the environment variable FORECOURT__LISTEN__HTPS\n  hint: did you \
         mean `FORECOURT__LISTEN__HTTPS`?"
    );
    let mut section = overridden(TEXT, &[("FORECOURT__LISTN__HTTP", "x")]).unwrap();
    section.take("listen");
    section.take_list("rule");
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Top {}
    let told = section.read::<Top>().unwrap_err().to_string();
    assert!(told.contains("did you mean `FORECOURT__LISTEN__HTTP`?"), "{told}");
}

#[test]
fn a_value_of_the_environment_is_never_shown() {
    for (name, value) in [
        ("FORECOURT__LISTEN__PORT", "hunter2"),
        ("FORECOURT__LISTEN__PORT", "123456789"),
        ("FORECOURT__LISTEN__OPEN", "\"hunter2\""),
        ("FORECOURT__LISTEN__NAMES", "{ hunter2 = 1 }"),
    ] {
        let told = listen(&[(name, value)]).unwrap_err().to_string();
        assert!(!told.contains("hunter2") && !told.contains("123456789"), "{told}");
        assert!(told.contains(name), "{told}");
    }
    let all = EnvironmentOverride::all(&variables(&[("FORECOURT__LISTEN__HTTP", "hunter2")]));
    assert!(!format!("{all:?} {}", all[0]).contains("hunter2"));
    assert_eq!(all[0].to_string(), "listen.http (FORECOURT__LISTEN__HTTP)");
}

#[test]
fn names_that_lead_nowhere_are_refused() {
    for name in [
        "FORECOURT__",
        "FORECOURT____HTTP",
        "FORECOURT__LISTEN__HTTP__X",
        "FORECOURT__RULE__2__KIND",
        "FORECOURT__RULE__X",
    ] {
        let told = overridden(TEXT, &[(name, "x")]).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
    }
}

fn value_of(folder: &Path, text: &str, pairs: &[(&str, &str)]) -> Result<Section, Problems> {
    Section::parse(&folder.join("a.toml"), text, &variables(pairs))
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("forecourt-settings-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.0.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_secret_is_read_from_a_file_without_the_end_of_its_line() {
    let folder = Folder::new("file");
    folder.write("secret", "hunter2\n", 0o600);
    folder.write("windows", "a\nb\r\n", 0o600);
    let section = value_of(&folder.0, "a = \"${file:secret}\"\nb = \"x-${file:windows}\"", &[]).unwrap();
    assert_eq!((section.text("a"), section.text("b")), (Some("hunter2"), Some("x-a\nb")));
    assert_eq!(section.secret_notices(), Vec::<String>::new());
    let absolute = format!("a = \"${{file:{}}}\"", folder.0.join("secret").display());
    assert_eq!(value_of(Path::new("/"), &absolute, &[]).unwrap().text("a"), Some("hunter2"));
}

#[test]
fn a_file_that_everybody_can_read_is_told_of() {
    let folder = Folder::new("mode");
    folder.write("open", "hunter2", 0o644);
    let section = value_of(&folder.0, "a = \"${file:open}\"", &[]).unwrap();
    let notices = section.secret_notices();
    assert!(notices.len() == 1 && notices[0].contains("chmod 600") && !notices[0].contains("hunter2"), "{notices:?}");
}

#[test]
fn a_missing_file_names_the_line() {
    let folder = Folder::new("missing");
    folder.write("large", vec![b'x'; SECRET_FILE_BYTES_MAX + 1], 0o600);
    folder.write("fits", vec![b'x'; SECRET_FILE_BYTES_MAX], 0o600);
    assert!(value_of(&folder.0, "a = \"${file:fits}\"", &[]).is_ok());
    for (name, why) in [("none", "is not there"), (".", "is no file"), ("large", "is larger than")] {
        let told = value_of(&folder.0, &format!("x = 1\na = \"${{file:{name}}}\""), &[]).unwrap_err().to_string();
        assert!(told.contains(why) && told.contains("a.toml:2:5") && told.contains(&format!("`{name}`")), "{told}");
    }
}

#[test]
fn a_credential_is_read_from_the_folder_that_systemd_names() {
    let folder = Folder::new("credential");
    folder.write("token", "hunter2\n", 0o600);
    let shown = folder.0.display().to_string();
    let there = [("CREDENTIALS_DIRECTORY", shown.as_str())];
    let text = "a = \"${credential:token}\"";
    assert_eq!(value_of(&folder.0, text, &there).unwrap().text("a"), Some("hunter2"));
    let told = value_of(&folder.0, text, &[]).unwrap_err().to_string();
    assert!(told.contains("`CREDENTIALS_DIRECTORY` is not set") && told.contains("LoadCredential=token:"), "{told}");
    let told = value_of(&folder.0, "a = \"${credential:none}\"", &there).unwrap_err().to_string();
    assert!(told.contains("the credential `none` is not there") && told.contains("a.toml:1:5"), "{told}");
    let told = value_of(&folder.0, "a = \"${credential:../token}\"", &there).unwrap_err().to_string();
    assert!(told.contains("${credential:NAME}"), "{told}");
}
