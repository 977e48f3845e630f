//! A client of NLWeb in another language that knows the specification and nothing else, in
//! `tests/sdk/nlweb.py`: it needs no library.

use std::process::Command;

use crate::scripts::{client_script, run_checks};
use crate::support::Deployment;

/// An agent whose work becomes a promise, and one that waits until it is given up.
const WORKER: &str = r#"
handle = "worker"
name = "Worker"

[backend]
kind = "script"

[[backend.rule]]
text = "^work"
events = [{ progress = 0.25, note = "counting" }, { text = "One, " }, { wait_ms = 2500 }, { progress = 0.75 },
          { text = "two, " }, { wait_ms = 700 }, { text = "three." }]

[[backend.rule]]
text = "^wait"
events = [{ text = "Waiting." }, { wait_ms = 120000 }]
"#;

/// An agent that asks all five types of questions.
const ASKER: &str = r#"
handle = "asker"
name = "Asker"

[backend]
kind = "script"

[[backend.rule]]
text = "^pasta"
[[backend.rule.events]]
[backend.rule.events.question]
text = "Tell me more."
questions = [
  { id = "sauce", text = "Which sauce?", type = "single_select", options = ["tomato", "cream"] },
  { id = "diet", text = "Any diet?", type = "multi_select", options = ["vegan", "gluten-free", "none"] },
  { id = "wish", text = "Anything else?", type = "free_text" },
  { id = "people", text = "How many people?", type = "number", default = 2 },
  { id = "spicy", text = "Spicy?", type = "boolean" },
]
"#;

/// An agent that gives its items one by one.
const SLOWLY: &str = r#"
handle = "slowly"
name = "Slowly"

[backend]
kind = "script"

[[backend.rule]]
text = "two"
events = [{ data = { name = "one" } }, { wait_ms = 1000 }, { data = { name = "two" } }]
"#;

#[test]
fn who_knows_the_specification_alone_is_understood() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3 here");
        return;
    }
    let kitchen = Deployment::kitchen().with("nlweb", "sync_wait_seconds = 1\n");
    let agents = [("worker", WORKER), ("asker", ASKER), ("slowly", SLOWLY)];
    let deployment = agents
        .into_iter()
        .fold(kitchen, |deployment, (name, agent)| deployment.and(&format!("agents/{name}.toml"), agent));
    let served = deployment.serve();
    run_checks(client_script("nlweb.py", None).env("FORECOURT_URL", served.url("")));
}
