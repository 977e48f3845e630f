//! The repository checks itself: direction of crates, leaks of protocols, links in the docs, file
//! sizes, and that the reference of settings is the one that the types give.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use walkdir::WalkDir;

#[path = "tidy/architecture.rs"]
mod architecture;
#[path = "tidy/backends.rs"]
mod backends;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/contributing.rs"]
mod contributing;
#[path = "tidy/floors.rs"]
mod floors;
#[path = "tidy/fuzz.rs"]
mod fuzz;
#[path = "tidy/lengths.rs"]
mod lengths;
#[path = "tidy/manual.rs"]
mod manual;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/programs.rs"]
mod programs;
#[path = "tidy/publishing.rs"]
mod publishing;
#[path = "tidy/seams.rs"]
mod seams;
#[path = "tidy/words.rs"]
mod words;

/// Lines above which a source file is named in the report.
const LINES_REPORTED: usize = 400;
/// Lines that no source file may have.
const LINES_MAX: usize = 700;

/// The layers, lowest first. A crate may depend on crates of lower layers, and of its own only
/// where [`SIDEWAYS`] says so.
const LAYERS: &[&[&str]] = &[
    &["features"],
    &["core", "settings", "telemetry"],
    &[
        "agtp-wire",
        "audit",
        "bus",
        "contract",
        "egress",
        "embed",
        "eval",
        "jose",
        "loaders",
        "store",
        "process",
        "ranking",
        "retrieval",
        "sentences",
        "server",
        "vocabulary",
    ],
    &[
        "acme",
        "client",
        "crawler",
        "endpoints",
        "engines",
        "issuance",
        "oidc",
        "openapi",
        "pages",
        "payments",
        "questions",
        "rules",
        "understanding",
    ],
    &["index"],
    &["identity", "host", "agents"],
    &["acceptance", "attribution", "completions", "conform", "correspondence", "surface", "synthesis"],
    &["connectors"],
    &[
        "a2a",
        "activitypub",
        "agtp",
        "agtp-client",
        "discord",
        "email",
        "matrix",
        "mcp",
        "mentionable",
        "nlweb",
        "search",
        "signin",
        "slack",
        "telegram",
    ],
    &["admin", "backends"],
    &["forecourt"],
    &["cli"],
];

/// Crates that are protocols: nobody but the registry names them. Further crates of a protocol begin with its name, as
/// `agtp-wire` does; they are its own, and named by nobody else either.
const PROTOCOLS: &[&str] =
    &["a2a", "activitypub", "agtp", "discord", "email", "matrix", "mcp", "mentionable", "nlweb", "slack", "telegram"];

/// Pairs of one layer of which the first may use the second. Empty: keep it so.
const SIDEWAYS: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(under: &str, extension: &str) -> Vec<PathBuf> {
    let skipped = |name: &str| matches!(name, "target" | ".git" | ".cache" | ".forecourt" | "node_modules");
    WalkDir::new(root().join(under))
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| !skipped(&entry.file_name().to_string_lossy()))
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The crates of this workspace that `name` depends on, outside its tests.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let used = manifest.split("[dev-dependencies]").next().unwrap();
    // The library of all of them is called as the project is.
    let pattern = Regex::new(r"(?m)^forecourt(?:-([a-z0-9-]+))?\b").unwrap();
    let named = |found: regex::Captures<'_>| found.get(1).map_or("forecourt", |name| name.as_str()).to_owned();
    pattern.captures_iter(used).map(named).collect()
}

#[test]
fn crates_depend_downwards_only() {
    let layer = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    let mut wrong = Vec::new();
    for name in LAYERS.iter().flat_map(|layer| layer.iter()) {
        for used in dependencies(name) {
            let down = layer(&used).is_some_and(|below| below < layer(name).unwrap());
            if !down && !SIDEWAYS.contains(&(name, used.as_str())) {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_crate_has_a_layer() {
    let known: BTreeSet<_> = LAYERS.iter().flat_map(|layer| layer.iter().map(ToString::to_string)).collect();
    let found: BTreeSet<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("test"))
        .collect();
    assert_eq!(known, found);
}

#[test]
fn modules_import_each_other_one_way() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut wrong = Vec::new();
    for folder in crates.filter(|folder| folder.join("src").is_dir()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let found = circles::circles(&folder.join("src"));
        wrong.extend(found.into_iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_core_has_no_io_runtime_or_wire() {
    let manifest = fs::read_to_string(root().join("crates/core/Cargo.toml")).unwrap();
    let used = manifest.split("[dev-dependencies]").next().unwrap();
    for foreign in ["tokio", "axum", "hyper", "http", "reqwest", "rusqlite"] {
        let pattern = Regex::new(&format!(r"(?m)^{foreign}\b")).unwrap();
        assert!(!pattern.is_match(used), "the core uses {foreign}");
    }
}

/// The one file that names every protocol.
const REGISTRY: &str = "crates/forecourt/src/registry.rs";

/// Files that name a protocol as data of their own wire: what a specification calls a member of a document, or
/// a transport that an item can be acted on by. They use nothing of that protocol.
const WIRE_WORDS: &[(&str, &[&str])] = &[
    // The A2A part of an agent card, which Mentionable's specification lays down.
    (
        "a2a",
        &[
            "crates/mentionable/src/discovery/card.rs",
            "crates/mentionable/src/discovery/validate/rules.rs",
            "crates/mentionable/src/discovery/wire.rs",
        ],
    ),
    // The same for the actor of an agent.
    ("activitypub", &["crates/mentionable/src/discovery/card.rs", "crates/mentionable/src/discovery/wire.rs"]),
    // NLWeb 5: an action is done over HTTP, MCP or A2A.
    ("a2a", &["crates/nlweb/src/action.rs"]),
    ("mcp", &["crates/nlweb/src/action.rs"]),
    // The address of a contact in a hub's directory, a member of that name.
    ("email", &["crates/mentionable/src/discovery/directory.rs", "crates/mentionable/src/discovery/wire.rs"]),
    // A matrix of numbers, and a style of parameters in OpenAPI.
    (
        "matrix",
        &[
            "crates/contract/src/endpoint/style.rs",
            "crates/embed/src/encoder.rs",
            "crates/embed/src/encoder/math.rs",
            "crates/embed/src/tensors.rs",
            "crates/endpoints/src/external/address.rs",
            "crates/openapi/src/import/style.rs",
        ],
    ),
    // A claim of OpenID Connect.
    ("email", &["crates/signin/src/person.rs"]),
    // The address of an account's owner, a key of `[tls.acme]`.
    ("email", &["crates/acme/src/authority.rs", "crates/acme/src/settings.rs"]),
    // The member `mentionable` of the same card, read and written from the other side.
    (
        "mentionable",
        &[
            "crates/a2a/src/card/names.rs",
            "crates/a2a/src/card/read.rs",
            "crates/a2a/src/card/validate/rules.rs",
            "crates/a2a/src/card/write.rs",
            "crates/a2a/src/service/caller.rs",
        ],
    ),
];

/// Rust without comments, texts and unit tests: what is left are its identifiers and paths.
fn identifiers(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    // In one go: `//` within a text begins no comment, and a quote within a comment no text.
    let others = Regex::new(r#"(?s)//[^\n]*|'\\?"'|"(?:\\.|[^"\\])*""#).unwrap();
    others.replace_all(code, "").into_owned()
}

#[test]
fn only_the_registry_names_a_protocol() {
    // The testers speak every wire as a stranger does: they name protocols, and by the layers they can use none of
    // their crates.
    let code: Vec<(String, String)> = files("crates", "rs")
        .into_iter()
        .filter(|path| {
            !["conform", "acceptance"].iter().any(|name| shown(path).starts_with(&format!("crates/{name}/")))
        })
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .map(|path| (shown(&path), path))
        .filter(|(name, _)| !name.contains("/tests") && !name.contains("/testkit/") && !name.contains("/testhost/"))
        .map(|(name, path)| (name, identifiers(&fs::read_to_string(path).unwrap())))
        .collect();
    for protocol in PROTOCOLS {
        let word = Regex::new(&format!(r"(?i)\b{protocol}\b|\bforecourt_{protocol}(_\w+)?\b")).unwrap();
        let own = [format!("crates/{protocol}/"), format!("crates/{protocol}-")];
        let is_own = |name: &str| own.iter().any(|own| name.starts_with(own.as_str()));
        let naming = code.iter().filter(|(name, code)| !is_own(name) && word.is_match(code));
        let naming: BTreeSet<&str> = naming.map(|(name, _)| name.as_str()).collect();
        let known = WIRE_WORDS.iter().filter(|(of, _)| of == protocol);
        let known: BTreeSet<&str> = known.flat_map(|(_, files)| files.iter().copied()).chain([REGISTRY]).collect();
        assert_eq!(naming, known, "{protocol}: who names it");
    }
}

#[test]
fn comments_and_texts_name_nothing() {
    assert_eq!(
        identifiers("a(\"agtp://\\\" mcp\", '\"') // a2a\nc\n#[cfg(test)]\nmod tests { nlweb }").trim(),
        "a(, ) \nc"
    );
}

#[test]
fn status_numbers_stay_in_protocols() {
    let number = Regex::new(r"\bStatusCode\b|\bhttp::").unwrap();
    for name in [
        "core",
        "contract",
        "store",
        "loaders",
        "understanding",
        "index",
        "crawler",
        "pages",
        "rules",
        "issuance",
        "audit",
    ] {
        for path in files(&format!("crates/{name}/src"), "rs") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!number.is_match(&text), "{} knows HTTP", shown(&path));
        }
    }
}

/// Whoever verified a proof says what it grants, and an operator who takes the place of a caller to try something out.
/// Everybody else can only narrow that.
#[test]
fn authority_is_granted_where_proofs_are_verified() {
    let granting = Regex::new(r"Authority::(granted|of_evidence)\b").unwrap();
    let verifying = [
        "crates/core/src/authority.rs",
        "crates/identity/src/verifier.rs",
        "crates/agtp/src/answer/caller.rs",
        "crates/admin/src/playground/caller.rs",
    ];
    for path in files("crates", "rs") {
        let name = shown(&path);
        let is_test = name.contains("/tests") || name.contains("/testkit/") || name.contains("/testhost/");
        let granted = granting.is_match(&fs::read_to_string(&path).unwrap());
        assert!(!granted || is_test || verifying.contains(&name.as_str()), "{name} grants authority");
    }
}

/// How many tasks there are of which kind, and whose deliveries wait, for the operator's metrics.
const STORE_METRICS: &str = "forecourt/src/server/store_metrics.rs";
const QUEUED_DELIVERIES: &str = "forecourt/src/server/queued_deliveries.rs";

/// Tasks of everybody are for the operator's own surface, and for nothing that answers callers.
#[test]
fn the_operators_surface_alone_asks_as_the_operator() {
    for path in files("crates", "rs") {
        let name = shown(&path);
        let own = ["admin/", "store/", "forecourt/src/running.rs", "forecourt/src/storage.rs"];
        let allowed = own.iter().chain([&STORE_METRICS, &QUEUED_DELIVERIES]);
        let allowed = allowed.into_iter().any(|own| name.starts_with(&format!("crates/{own}")));
        let is_test = name.contains("/tests");
        let text = fs::read_to_string(&path).unwrap();
        let asks = text.contains("TaskAccess::Operator") || text.contains("StoreReads");
        assert!(!asks || allowed || is_test, "{name} asks as the operator");
    }
}

/// Who has checked, in words of its own wire, that its caller acts for the operator.
const OPERATED_BY_WIRE: &[&str] = &["crates/agtp/src/embedded/confirm.rs", "crates/agtp/src/embedded/lifecycle.rs"];

/// What the operator decides is decided on the operator's own surface, and where a wire has a proof of the operator.
#[test]
fn the_operators_desk_is_the_operators() {
    // However the host is reached: another `operator()` gives nothing that has these methods.
    let deciding = Regex::new(r"\.operator\(\)\s*\.(questions|question|answer|change_lifecycle)\(").unwrap();
    for path in files("crates", "rs") {
        let name = shown(&path);
        let allowed = ["crates/admin/", "crates/host/", "crates/forecourt/src/server/queue.rs"]
            .iter()
            .chain(OPERATED_BY_WIRE)
            .any(|own| name.starts_with(own));
        let decides = deciding.is_match(&fs::read_to_string(&path).unwrap());
        assert!(
            !decides || allowed || name.contains("/tests") || name.ends_with("tidy.rs"),
            "{name} decides as the operator"
        );
    }
}

/// Where the name of a task opens it without a look at who asks: Mentionable REST 5.4.1 makes it a capability. Every
/// other wire asks as its caller.
const TASKS_BY_NAME: &[&str] = &["crates/mentionable/src/rest/task.rs"];

#[test]
fn the_name_of_a_task_opens_it_over_rest_alone() {
    for path in files("crates", "rs") {
        let name = shown(&path);
        let allowed = name.starts_with("crates/host/") || TASKS_BY_NAME.contains(&name.as_str());
        let by_name = fs::read_to_string(&path).unwrap().contains("TaskAccess::ById");
        assert!(!by_name || allowed || name.contains("/tests"), "{name} opens tasks by their names");
    }
}

/// The token of a caller is read where it is exchanged for another one, and nowhere else.
#[test]
fn tokens_of_callers_are_exposed_to_the_exchange_alone() {
    for path in files("crates", "rs") {
        let name = shown(&path);
        let allowed = name == "crates/core/src/credential.rs" || name.starts_with("crates/agents/src/on_behalf_of/");
        let exposes = fs::read_to_string(&path).unwrap().contains("expose_for_exchange");
        assert!(allowed || name.ends_with("tidy.rs") || !exposes, "{name} reads the token of a caller");
    }
}

/// Only the host asks the rules of an agent, and only the host has an agent answer: whoever else did would be
/// another gate. Tests make agents of their own and may ask them.
#[test]
fn one_crate_admits_messages() {
    let admitting =
        Regex::new(r"\.admit\(resident|\bPolicy::admit\b|policy\.(admit|judge)\(|agent\.handle\([a-z]").unwrap();
    for path in files("crates", "rs") {
        let name = shown(&path);
        // What counts the questions of an agent stands behind the gate, and passes on what was admitted.
        let is_behind = ["logged", "unfound"].iter().any(|file| name == format!("crates/questions/src/{file}.rs"));
        let allowed = is_behind || name.starts_with("crates/host/src/") || name == "crates/core/src/gate.rs";
        let is_test = ["/tests", "/testkit/", "/testagents/"].iter().any(|part| name.contains(part));
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let calls = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let admits = calls.filter(|line| admitting.is_match(line)).collect::<Vec<_>>();
        assert!(allowed || is_test || admits.is_empty(), "{name} is a gate of its own: {admits:?}");
    }
}

#[test]
fn one_crate_opens_connections() {
    for path in files("crates", "rs") {
        let name = shown(&path);
        let allowed = name.starts_with("crates/egress/") || name.contains("/tests/") || name.contains("/benches/");
        let text = fs::read_to_string(&path).unwrap();
        assert!(allowed || !text.contains("reqwest::"), "{name} uses an HTTP client of its own");
    }
}

#[test]
fn files_stay_small() {
    let sizes: BTreeMap<_, _> = files("crates", "rs")
        .into_iter()
        .chain(files("benches", "rs"))
        .map(|path| (shown(&path), fs::read_to_string(&path).unwrap().lines().count()))
        .collect();
    for (name, lines) in sizes.iter().filter(|(_, lines)| **lines > LINES_REPORTED) {
        println!("{lines:5} lines  {name}");
    }
    let huge: Vec<_> = sizes.iter().filter(|(_, lines)| **lines > LINES_MAX).collect();
    assert!(huge.is_empty(), "two ideas in one file? {huge:?}");
}

#[test]
fn the_reference_of_settings_is_what_the_types_say() {
    let printed = Command::new(env!("CARGO_BIN_EXE_forecourt")).arg("reference").output().unwrap();
    let kept = fs::read_to_string(root().join("docs/reference/config.md")).unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(
        kept == printed,
        "docs/reference/config.md is out of date; write it again with: forecourt reference > docs/reference/config.md"
    );
}

#[test]
fn the_alerts_of_prometheus_are_those_of_the_program() {
    let printed = Command::new(env!("CARGO_BIN_EXE_forecourt")).args(["reference", "alerts"]).output().unwrap();
    let kept = fs::read_to_string(root().join("deploy/monitoring/alerts.yml")).unwrap();
    assert!(
        kept == String::from_utf8(printed.stdout).unwrap(),
        "alerts.yml is out of date; write it again with: forecourt reference alerts > deploy/monitoring/alerts.yml"
    );
}

#[test]
fn examples_pass_the_check_without_a_warning() {
    // The agents of an embedding program are in its code.
    let embedded = root().join("examples/embed");
    let deployments = files("examples", "toml").into_iter().filter(|path| path.ends_with("forecourt.toml"));
    let deployments = deployments.filter(|path| !path.starts_with(&embedded));
    for settings in deployments {
        let folder = settings.parent().unwrap();
        let data = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_forecourt"))
            .arg("check")
            .arg(folder)
            .arg("--data")
            .arg(data.path())
            // What the README of the example sets.
            .env("UPSTREAM_SPOKE_WORKSHOP_WORKSHOP_KEY", "spanner")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !told.contains("warning:"), "{}: {told}", shown(folder));
    }
}

#[test]
fn fences_around_unsafe_code_stand() {
    for path in files("crates", "toml").into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{} leaves the workspace's lints", shown(&path));
    }
}
