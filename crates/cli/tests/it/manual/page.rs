//! One page from top to bottom: files are written, commands run, daemons served, programs started, and what is
//! printed is compared.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use super::block::Block;
use super::{gallery, of_page, root, scratch};
use crate::support::{Deployment, FREE_PORTS, Served, within};

/// What a reader has in the environment.
pub(super) const VARIABLES: [(&str, &str); 25] = [
    ("DISCORD_BOT_TOKEN", "MTIzNDU2.discord.0123456789abcdef"),
    ("MATRIX_AS_TOKEN", "as-0123456789abcdef"),
    ("MATRIX_HS_TOKEN", "hs-0123456789abcdef"),
    ("TELEGRAM_BOT_TOKEN", "123456:telegram-0123456789abcdef"),
    ("TELEGRAM_SECRET", "telegram-0123456789abcdef"),
    ("SLACK_SIGNING_SECRET", "slack-0123456789abcdef"),
    ("SLACK_BOT_TOKEN", "xoxb-0123456789abcdef"),
    ("PSP_SECRET", "psp-0123456789abcdef"),
    ("STRIPE_KEY", "sk_test_0123456789abcdef"),
    ("STRIPE_WEBHOOK", "whsec_0123456789abcdef"),
    ("PGPASSWORD", "a-password"),
    ("NATS_PASSWORD", "another-password"),
    ("FORECOURT_STORE_KEY", "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"),
    ("OIDC_CLIENT_SECRET", "a-secret"),
    ("FORECOURT_ADMIN_TOKEN", "operator-0123456789abcdef"),
    ("FORECOURT_METRICS_TOKEN", "metrics-0123456789abcdef"),
    ("FORECOURT_CONSOLE_SECRET", "console-0123456789abcdef"),
    ("FORECOURT_WEBHOOK_SECRET", "webhook-0123456789abcdef"),
    ("SEARCH_KEY", "search-0123456789abcdef"),
    ("LLM_KEY", "llm-0123456789abcdef"),
    ("FAR_TOKEN", "far-0123456789abcdef"),
    ("ROOMS_TOKEN", "rooms-0123456789abcdef"),
    ("CRM_SECRET", "crm-0123456789abcdef"),
    ("DATABASE", "rooms.db"),
    ("UPSTREAM_SPOKE_WORKSHOP_WORKSHOP_KEY", "spanner"),
];

/// How a line begins that serves: by the program, by what runs it without installing it, by what builds it first.
const SERVES: [&str; 3] = ["forecourt serve", "uvx forecourt serve", "cargo run --release -- serve"];

/// The ports on which the little servers of the manual and the examples listen: another one in each run.
const PROGRAM_PORTS: [&str; 3] = ["8701", "8790", "8791"];

/// Runs a page.
#[track_caller]
pub(super) fn run(file: &str) {
    let library = match file.ends_with("typescript.md").then(crate::sdk_typescript::built) {
        // It says that it is skipped.
        Some(None) => return,
        library => library.flatten(),
    };
    let mut page = Page::new(file);
    if let Some(library) = &library {
        page.offer_package("forecourt-agent", library.path());
    }
    for block in of_page(file) {
        if block.not_run.is_none() {
            page.block(&block);
        }
    }
    page.check_site(file);
    if let Some(example) = gallery::made_by(file) {
        gallery::compare(&page.at().join("mysite"), example, |text| page.with_ports(text));
    }
}

struct Page {
    /// The reader's folder, while nothing is served.
    folder: Option<Deployment>,
    served: Option<Served>,
    /// Whether files of `mysite` were written since it was checked.
    is_unchecked: bool,
    /// What the last commands printed.
    printed: String,
    program_port: u16,
    /// Process groups of commands, which end with the page.
    groups: Vec<Pid>,
}

impl Page {
    fn new(file: &str) -> Self {
        let folder = Deployment::empty();
        let at = folder.path();
        fs::create_dir(at.join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_forecourt"), at.join("bin/forecourt")).unwrap();
        let cargo = "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || exit 64\nshift 3\nexec forecourt \"$@\"\n";
        fs::write(at.join("bin/cargo"), cargo).unwrap();
        fs::set_permissions(at.join("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        let uvx = "#!/bin/sh\n[ \"$1\" = forecourt ] || exit 64\nexec \"$@\"\n";
        fs::write(at.join("bin/uvx"), uvx).unwrap();
        fs::set_permissions(at.join("bin/uvx"), fs::Permissions::from_mode(0o755)).unwrap();
        // A status that is no success ends a command, which plain curl would pass over.
        fs::write(at.join(".curlrc"), "fail-with-body\nshow-error\nsilent\nmax-time = 40\nnoproxy = \"*\"\n").unwrap();
        let kitchen = Deployment::kitchen();
        fs::create_dir(at.join("examples")).unwrap();
        scratch::copy(kitchen.path(), &at.join("examples/kitchen"));
        if file.contains("openapi") {
            scratch::copy(&root().join("examples/migration"), &at.join("examples/migration"));
        }
        // The library, which readers fetch from the index of packages.
        if file.ends_with("manual/python.md") {
            fs::create_dir(at.join("sdk")).unwrap();
            symlink(root().join("sdk/python").canonicalize().unwrap(), at.join("sdk/python")).unwrap();
        }
        // The page of an example is read in the example's folder.
        if let Some(folder) = file.strip_suffix("/README.md").filter(|folder| folder.starts_with("examples/migration/"))
        {
            scratch::copy(&root().join(folder), at);
        }
        // That of the gallery in the root of the repository, beside the kitchen, which has fewer recipes here.
        if let Some(name) = gallery::example_of(file).filter(|name| *name != "kitchen") {
            scratch::copy(&root().join("examples").join(name), &at.join("examples").join(name));
        }
        let program_port = forecourt_testkit::free_port();
        let page = Self {
            folder: Some(folder),
            served: None,
            is_unchecked: false,
            printed: String::new(),
            program_port,
            groups: Vec::new(),
        };
        page.move_ports();
        page
    }

    /// Has `npm install NAME` bring a package that is not published yet.
    fn offer_package(&self, name: &str, from: &Path) {
        let npm = format!(
            "#!/bin/sh\n[ \"$*\" = 'install {name}' ] || exit 64\nmkdir -p node_modules/.bin\n\
             ln -s {from} node_modules/{name}\nln -s ../{name}/dist/cli.js node_modules/.bin/{name}\n",
            from = from.display()
        );
        let program = self.at().join("bin/npm");
        fs::write(&program, npm).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Has the files of an example name the port of this run.
    fn move_ports(&self) {
        for entry in walkdir::WalkDir::new(self.at()).into_iter().map(Result::unwrap) {
            let is_text =
                entry.path().extension().is_some_and(|ending| ["py", "toml", "yaml"].iter().any(|e| ending == *e));
            if is_text && entry.file_type().is_file() {
                let text = fs::read_to_string(entry.path()).unwrap();
                fs::write(entry.path(), self.with_ports(&text)).unwrap();
            }
        }
    }

    fn at(&self) -> PathBuf {
        let folder = self.served.as_ref().map(|served| &served.deployment).or(self.folder.as_ref());
        folder.expect("a folder").path().to_owned()
    }

    /// A text of the page with the ports of this run in place of those that are printed.
    fn with_ports(&self, text: &str) -> String {
        let port = self.program_port.to_string();
        let text = PROGRAM_PORTS.iter().fold(text.to_owned(), |text, printed| text.replace(printed, &port));
        let Some(served) = &self.served else { return text };
        [(8080, served.http), (8443, served.https), (9080, served.admin), (8088, served.gateway)]
            .iter()
            .fold(text, |text, (printed, real)| text.replace(&format!(":{printed}"), &format!(":{real}")))
    }

    #[track_caller]
    fn block(&mut self, block: &Block) {
        let at = block.at();
        match (block.language.as_str(), block.named_file()) {
            ("toml" | "python" | "js", Some((file, false))) => self.write(file, &block.text),
            ("toml", Some((file, true))) => scratch::check_part(&at, file, &block.text, &self.at().join("mysite")),
            ("python" | "js", None) => self.program(block),
            ("sh", _) => self.commands(block),
            ("text", _) => self.compare_lines(&at, &block.text),
            ("json", _) if block.is_output => self.compare_shape(&at, &block.text),
            ("json", _) => check_client_settings(&at, &block.text),
            // What a browser reads; `embed.rs` shows it to one.
            ("html" | "css", None) => {}
            // What proxies read; `proxies.rs` starts one of each kind with it.
            ("nginx" | "caddyfile" | "haproxy", None) => {}
            (other, _) => panic!("{at}: nobody knows how to run `{other}`: say `<!-- not run: why -->`"),
        }
    }

    /// A whole file of `mysite`.
    fn write(&mut self, file: &str, text: &str) {
        let target = self.at().join("mysite").join(file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, self.with_ports(text) + "\n").unwrap();
        self.is_unchecked |= file.ends_with(".toml");
    }

    /// `forecourt check mysite`, when the page has written files of it.
    #[track_caller]
    fn check_site(&mut self, at: &str) {
        if !std::mem::take(&mut self.is_unchecked) {
            return;
        }
        let about = self.at().join("mysite/forecourt.toml");
        if !about.exists() {
            fs::write(about, "domain = \"demo.localhost\"\n").unwrap();
        }
        let (code, said) = self.bash("forecourt check mysite");
        assert_eq!(code, 0, "{at}: the files of this page are refused:\n{said}");
    }

    #[track_caller]
    fn commands(&mut self, block: &Block) {
        let at = block.at();
        self.check_site(&at);
        let mut script = String::new();
        for line in block.text.lines() {
            // A variable before the command is one of `VARIABLES`.
            let command =
                line.split_once("=").filter(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
            let command = command.and_then(|(_, rest)| rest.split_once(' ')).map_or(line, |(_, command)| command);
            let served = SERVES.iter().find_map(|beginning| command.strip_prefix(beginning));
            match served.map(|words| words.split('#').next().unwrap_or_default().trim()) {
                Some(words) => {
                    self.shell(&at, &std::mem::take(&mut script), 0);
                    self.serve(words);
                }
                None => script += &format!("{line}\n"),
            }
        }
        self.shell(&at, &script, block.exits);
    }

    #[track_caller]
    fn shell(&mut self, at: &str, script: &str, exits: i32) {
        if script.trim().is_empty() {
            return;
        }
        let (code, said) = self.bash(script);
        assert_eq!(code, exits, "{at}: these commands end with {code}:\n{script}\n{said}");
        self.printed = said;
    }

    /// Runs a script in the reader's folder, for a minute at most; its exit code, and what it printed.
    fn bash(&mut self, script: &str) -> (i32, String) {
        let at = self.at();
        let output = at.join("printed");
        let file = fs::File::create(&output).unwrap();
        let mut command = Command::new("timeout");
        command.args(["60", "bash", "-euo", "pipefail", "-c", &self.with_ports(script)]).current_dir(&at);
        reader(&mut command, &at);
        // A file and no pipe: programs in the background keep it open.
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
        let mut child = command.spawn().unwrap();
        self.groups.push(Pid::from_raw(child.id().try_into().unwrap()));
        let code = child.wait().unwrap().code().unwrap_or(-1);
        if script.lines().any(|line| line.ends_with(" &")) {
            within("the program in the background listens", || {
                TcpStream::connect(("127.0.0.1", self.program_port)).ok()
            });
        }
        (code, fs::read_to_string(output).unwrap())
    }

    /// Serves a deployment in place of the one before.
    fn serve(&mut self, words: &str) {
        let folder = match self.served.take() {
            Some(served) => served.killed(),
            None => self.folder.take().expect("a folder"),
        };
        let words: Vec<&str> = words.split_whitespace().chain(FREE_PORTS).chain(["--gateway", "127.0.0.1:0"]).collect();
        self.served = Some(folder.serve_with(&words, &VARIABLES));
    }

    /// A program that is complete as it is printed, with the library that it is for. It must print something.
    #[track_caller]
    fn program(&mut self, block: &Block) {
        let at = block.at();
        let name = block.library.as_ref().unwrap_or_else(|| panic!("{at}: say `<!-- with: LIBRARY -->`"));
        let library = root().join(".cache/sdk").join(name);
        if !library.exists() {
            println!("skipped: {name} is not there; dev/sdk/setup brings it");
            return;
        }
        let library = library.display();
        let program = self.with_ports(&block.text);
        let folder = self.at();
        let command = match block.language.as_str() {
            "python" => {
                fs::write(folder.join("program.py"), program).unwrap();
                format!("{library}/bin/python program.py")
            }
            _ => {
                fs::write(folder.join("program.mjs"), program).unwrap();
                format!("ln -sfn {library}/node_modules node_modules && node program.mjs")
            }
        };
        let (code, said) = self.bash(&command);
        assert_eq!(code, 0, "{at}: the program fails:\n{said}");
        // Every program of the manual asks the kitchen for a soup.
        assert!(said.contains("wikibooks"), "{at}: the program found no soup:\n{said}");
        self.printed = said;
    }

    /// The lines of an output that the page shows, in their order; `…` stands for anything.
    #[track_caller]
    fn compare_lines(&self, at: &str, shown: &str) {
        // Columns are as wide as what is in them, so that only the words count.
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = self.printed.lines().map(words);
        for line in self.with_ports(shown).lines().map(words).filter(|line| !line.is_empty()) {
            let is_there = rest.any(|real| fits(&line, &real));
            assert!(is_there, "{at}: no line {line:?} (in this order) in\n{}", self.printed);
        }
    }

    #[track_caller]
    fn compare_shape(&self, at: &str, shown: &str) {
        let shown: Value = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{at}: {error}"));
        let text = &self.printed[self.printed.find('{').unwrap_or(0)..];
        let real = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
        let real = real.unwrap_or_else(|| panic!("{at}: nothing was printed")).unwrap();
        if let Err(path) = same_shape(&shown, &real) {
            panic!("{at}: {path} differs from what was printed: {real:#}");
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        for group in &self.groups {
            let _ = killpg(*group, Signal::SIGKILL);
        }
    }
}

/// What a reader's shell has: the program on `PATH`, the variables, and nothing of this machine's.
fn reader(command: &mut Command, folder: &Path) {
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    command.env("XDG_STATE_HOME", folder.join("state")).env("CURL_HOME", folder).envs(VARIABLES);
    let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"];
    for variable in proxies.into_iter().chain(["FORECOURT_DATA_DIR", "FORECOURT_LOG", "FORECOURT_TOKEN"]) {
        command.env_remove(variable).env_remove(variable.to_lowercase());
    }
}

fn fits(shown: &str, real: &str) -> bool {
    let mut pieces = shown.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = real.strip_prefix(first) else { return false };
    for piece in pieces {
        let Some(found) = rest.find(piece) else { return false };
        rest = &rest[found + piece.len()..];
    }
    rest.is_empty() || shown.ends_with('…')
}

/// Whether each field that is shown is there, with a value of the same type; else the path to the one that is not.
fn same_shape(shown: &Value, real: &Value) -> Result<(), String> {
    let within = |name: &str, result: Result<(), String>| result.map_err(|path| format!("{name}/{path}"));
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => shown.iter().try_for_each(|(name, value)| {
            let found = real.get(name).ok_or_else(|| name.clone())?;
            within(name, same_shape(value, found))
        }),
        (Value::Array(shown), Value::Array(real)) => {
            shown.iter().zip(real).try_for_each(|(shown, real)| within("0", same_shape(shown, real)))
        }
        _ if std::mem::discriminant(shown) == std::mem::discriminant(real) => Ok(()),
        _ => Err(String::new()),
    }
}

/// Settings of a client that starts programs: they must start this one.
#[track_caller]
fn check_client_settings(at: &str, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{at}: {error}"));
    if let Some(servers) = value.get("mcpServers") {
        for server in servers.as_object().unwrap().values() {
            assert_eq!((&server["command"], &server["args"][0]), (&"forecourt".into(), &"mcp".into()), "{at}");
        }
    }
}

#[test]
fn shown_lines_and_shapes_are_compared() {
    assert!(fits("GET … ok", "GET /a 200 ok") && fits("…ends", "it ends") && fits("begins…", "begins here"));
    assert!(!fits("GET … ok", "GET /a 200 failed") && !fits("it", "it ends"));
    let real = serde_json::json!({"a": 1, "b": [{"c": "x"}]});
    assert_eq!(same_shape(&serde_json::json!({"a": 7, "b": [{"c": ""}]}), &real), Ok(()));
    assert_eq!(same_shape(&serde_json::json!({"b": [{"d": ""}]}), &real), Err("b/0/d".to_owned()));
    assert!(same_shape(&serde_json::json!({"a": "1"}), &real).is_err());
}
