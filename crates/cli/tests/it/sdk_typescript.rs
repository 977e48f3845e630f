//! The library for agents in TypeScript (`sdk/typescript`): its own tests, and an agent of it behind the daemon.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripts::{library, run_checks};
use crate::support::{Deployment, Ran, Served, within};

/// An agent that asks back, calls, makes a file and tells what it used.
const AGENT: &str = r#"
import { agent } from "forecourt-agent";

export default agent(async function* tailor(message, ctx) {
  console.log("this is no line of the protocol");
  yield `A ${message.text}. `;
  const size = await ctx.ask("Which size?", { options: ["S", { value: "M", title: "Medium" }] });
  await ctx.file("pattern.txt", `${message.text} in ${size}`);
  ctx.usage({ model: "scissors-1", input: 120, output: 40 });
  ctx.state.sold = (ctx.state.sold ?? 0) + 1;
  yield `${size} it is, number ${ctx.state.sold}.`;
});
"#;

/// The library, built in a folder of its own. `None`, and it is said, without its dependencies.
pub(crate) fn built() -> Option<TempDir> {
    let dependencies = library("agent-typescript")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/typescript");
    let folder = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(&source).into_iter().filter_entry(is_source).map(Result::unwrap) {
        let target = folder.path().join(entry.path().strip_prefix(&source).unwrap());
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(target).unwrap(),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
    symlink(dependencies.canonicalize().unwrap().join("node_modules"), folder.path().join("node_modules")).unwrap();
    run_checks(compiler(folder.path()).args(["--project", "."]));
    // As npm leaves programs behind.
    fs::set_permissions(folder.path().join("dist/cli.js"), fs::Permissions::from_mode(0o755)).unwrap();
    Some(folder)
}

/// Whether it is the library's own, and neither a dependency nor what was built of it.
fn is_source(entry: &walkdir::DirEntry) -> bool {
    !matches!(entry.file_name().to_str(), Some("node_modules" | "dist" | "build"))
}

fn compiler(folder: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg("node_modules/typescript/bin/tsc").current_dir(folder);
    command
}

#[test]
fn the_library_compiles_strictly_and_keeps_its_own_tests() {
    let Some(folder) = built() else { return };
    run_checks(compiler(folder.path()).args(["--project", "test"]));
    let mut tests: Vec<PathBuf> =
        fs::read_dir(folder.path().join("build")).unwrap().map(|entry| entry.unwrap().path()).collect();
    tests.retain(|path| path.to_string_lossy().ends_with(".test.js"));
    assert!(tests.len() > 6, "{tests:?}");
    let mut command = Command::new("node");
    command.arg("--test").args(tests).current_dir(folder.path());
    if let Some(mastra) = library("mastra") {
        command.env("FORECOURT_MASTRA", mastra.canonicalize().unwrap());
    }
    run_checks(&mut command);
}

#[test]
fn what_is_published_needs_nothing_else() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/typescript");
    let read = |name: &str| fs::read_to_string(source.join(name)).unwrap();
    let package: Value = serde_json::from_str(&read("package.json")).unwrap();
    assert_eq!(package.get("dependencies"), None);
    let version = package["version"].as_str().unwrap();
    assert!(read("src/version.ts").contains(&format!("VERSION = \"{version}\"")));
    // No place from which packages came: whoever installs has a registry of their own.
    assert!(!read("package-lock.json").contains("\"resolved\""));
}

/// A deployment whose agent is a worker of the library.
fn served(library: &Path) -> Served {
    let program = library.join("dist/cli.js").display().to_string();
    let deployment = Deployment::of_backend(&format!(
        "kind = \"command\"\ncommand = [\"node\", \"{program}\", \"tailor.mjs\"]\nmode = \"worker\"\n"
    ));
    let deployment = deployment.with("admin", "token = \"operator-0123456789abcdef\"");
    deployment.write("tailor.mjs", AGENT);
    fs::create_dir(deployment.path().join("node_modules")).unwrap();
    symlink(library, deployment.path().join("node_modules/forecourt-agent")).unwrap();
    deployment.serve()
}

#[test]
fn an_agent_asks_back_and_goes_on_over_rest_and_a2a() {
    let Some(folder) = built() else { return };
    let served = served(folder.path());
    let ask = |query: &str| served.curl(&format!("/~agent?{query}"), &["-H", "Accept: application/json"]).json();
    let first = ask("user=coat");
    let session = first["session"].as_str().unwrap();
    assert_eq!(text(&first["parts"]), "A coat. \n\nWhich size? (S, Medium)");
    let second = ask(&format!("session={session}&user=medium"));
    assert_eq!(text(&second["parts"]), "M it is, number 1.");
    assert!(second["parts"].to_string().contains("pattern.txt"), "{second}");
    ask(&format!("session={session}&user=hat"));
    assert_eq!(text(&ask(&format!("session={session}&user=S"))["parts"]), "S it is, number 2.");

    let asked = send(&served, json!({"messageId": "a", "role": "ROLE_USER", "parts": [{"text": "coat"}]}));
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked}");
    let message = json!({"messageId": "b", "role": "ROLE_USER", "parts": [{"text": "S"}], "taskId": asked["id"],
        "contextId": asked["contextId"]});
    let answered = send(&served, message);
    assert_eq!(answered["status"]["state"], "TASK_STATE_COMPLETED", "{answered}");
    let artifacts = answered["artifacts"].to_string();
    assert!(artifacts.contains("S it is, number 1.") && artifacts.contains("pattern.txt"), "{artifacts}");

    // Records are written behind the answers.
    within("usage of a model is told", || {
        let usage = served.deployment.run("admin", ["usage", "--json"]).fine();
        usage.contains("scissors-1").then_some(())
    });
}

/// What a task has come to, behind a message.
#[track_caller]
fn send(served: &Served, message: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let arguments = ["-H", "A2A-Version: 1.0", "-H", "Content-Type: application/json", "-d", &call.to_string()];
    served.curl("/a2a/agent", &arguments).json()["result"]["task"].clone()
}

/// The text of parts.
fn text(parts: &Value) -> String {
    let texts = parts.as_array().into_iter().flatten().filter_map(|part| part["content"].as_str());
    texts.collect()
}

/// Asks a whole deployment, and one that is not there.
const SITE: &str = r#"
import assert from "node:assert/strict";
import { HostError, host } from "forecourt-agent/testing";

const h = await host("site");
const first = await h.ask("helper", "count these words");
assert.equal(first.text, "You said 3 words: count these words");
assert.match((await h.ask(undefined, "hello", { session: first.session })).text, /^You said 1 words/);
const refused = await h.ask("gate", "pay");
assert.deepEqual([refused.status, refused.refusal.kind], [402, "payment_required"]);
const tool = await h.ask("@gate", "tool");
assert.equal(tool.toolCalls[0].name, "search");
assert.equal((await h.ask("gate", "file")).files[0].name, "pixel.png");
assert.equal((await h.ask("gate", "fail")).code, "agent-failed");
assert.deepEqual([...h.agents].sort(), ["gate", "helper"]);
await h.close();
await assert.rejects(host("nowhere"), HostError);
"#;

#[test]
fn a_whole_deployment_is_asked_from_typescript() {
    let Some(folder) = built() else { return };
    let site = Deployment::empty();
    site.run("init", ["site", "--with", "python"]).fine();
    site.write("site/agents/gate.toml", &Deployment::gatehouse().read("agents/gate.toml"));
    site.write("ask.mjs", SITE);
    fs::create_dir(site.path().join("node_modules")).unwrap();
    symlink(folder.path(), site.path().join("node_modules/forecourt-agent")).unwrap();
    let mut asking = Command::new("node");
    asking.arg("ask.mjs").current_dir(site.path()).env("FORECOURT", site.program());
    Ran::of(&mut asking).fine();
}
