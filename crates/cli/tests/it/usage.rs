//! What language models used for an answer: told over the wires to those who may see it, to the operator always, and to
//! nobody else.

use serde_json::{Value, json};

use crate::admin::{TOKEN, api};
use crate::receiver::Receiver;
use crate::support::{Deployment, Served, within};
use crate::wire::Answer;

const QUESTION: &str = "sesame-question";
const KEY: &str = "forecourt/usage";
/// 200 tokens at 1, 100 of the cache at 0.5 and 20 written at 2, for a million each.
const COST: f64 = 0.00029;

/// A provider that counts, for so many requests.
fn provider(requests: usize) -> Receiver {
    let usage = json!({"prompt_tokens": 300, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 100}});
    let answer = json!({"choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}], "usage": usage});
    Receiver::answering(vec![answer; requests])
}

/// `@agent` in front of it, with `more` in its file.
fn serve(provider: &Receiver, price: &str, more: &str) -> Served {
    let backend = format!(
        "kind = \"model\"\nbase_url = \"{}\"\nmodel = \"tiny\"\nstream = false\n{price}",
        provider.webhook_url()
    );
    let deployment = Deployment::of_backend(&backend).with("admin", &format!("token = \"{TOKEN}\""));
    let agent = deployment.read("agents/agent.toml");
    deployment.write("agents/agent.toml", &format!("{more}{agent}"));
    deployment.serve()
}

const PRICE: &str = "price = { input = 1.0, cached_input = 0.5, output = 2.0 }\n";

/// What proves that somebody is the program `NAME`.
fn proof(served: &Served) -> String {
    let key = served.deployment.run("keys", ["api", "create", "nightly"]).fine();
    format!("Authorization: Bearer {}", key.trim())
}

const WIRES: [&str; 4] = ["A2A", "A2A stream", "MCP", "NLWeb"];

fn ask(served: &Served, wire: &str, proof: Option<&str>) -> Answer {
    let posted = ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"];
    let proof: Vec<&str> = proof.into_iter().flat_map(|proof| ["-H", proof]).collect();
    let post = |path: &str, more: &[&str], body: Value| {
        served.curl(path, &[&posted[..], more, &proof, &["-d", &body.to_string()]].concat()).with_status(200)
    };
    let a2a = |method: &str| {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": QUESTION}]});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}});
        post("/a2a/agent", &["-H", "A2A-Version: 1.0"], call)
    };
    match wire {
        "A2A" => a2a("SendMessage"),
        "A2A stream" => a2a("SendStreamingMessage"),
        "MCP" => {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "ask_agent", "arguments": {"message": QUESTION}, "_meta": meta}});
            let named =
                ["-H", "mcp-protocol-version: 2026-07-28", "-H", "mcp-method: tools/call", "-H", "mcp-name: ask_agent"];
            post("/mcp", &named, call)
        }
        _ => post("/~agent/ask", &[], json!({"query": {"text": QUESTION}, "prefer": {"streaming": false}})),
    }
}

/// What an answer says of it, wherever it stands.
fn told(text: &str) -> Option<Value> {
    let parsed: Vec<Value> = match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect(),
    };
    parsed.iter().find_map(found)
}

fn found(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) => fields.get(KEY).cloned().or_else(|| fields.values().find_map(found)),
        Value::Array(items) => items.iter().find_map(found),
        _ => None,
    }
}

#[track_caller]
fn assert_told(usage: &Value) {
    let model = json!({"model": "tiny", "requests": 1, "input_tokens": 300, "cached_tokens": 100, "output_tokens": 20,
        "cost": COST});
    assert_eq!(*usage, json!({"models": [model], "cost": COST}));
}

#[test]
fn who_proved_who_it_is_sees_it_over_every_wire_and_a_stranger_over_none() {
    let provider = provider(2 * WIRES.len());
    let served = serve(&provider, PRICE, "");
    let proof = proof(&served);
    for wire in WIRES {
        let answer = ask(&served, wire, Some(&proof)).text();
        assert_told(&told(&answer).unwrap_or_else(|| panic!("{wire} tells nothing: {answer}")));
        let answer = ask(&served, wire, None).text();
        assert!(
            answer.contains("Fine.") && !answer.contains("forecourt/usage") && !answer.contains("tiny"),
            "{answer}"
        );
    }
}

/// Asks in the background, and gives the task when it is done.
fn task(served: &Served, proof: Option<&str>) -> (String, Value) {
    let proof: Vec<&str> = proof.into_iter().flat_map(|proof| ["-H", proof]).collect();
    let asked = ["-F", &format!("user={QUESTION}"), "-H", "Prefer: respond-async"];
    let path = served.curl("/~agent", &[&asked[..], &proof].concat()).with_status(202).named("content-location");
    let done = within("it is done", || {
        let task = served.curl(&path, &[]).json();
        (task["status"]["state"] == "completed").then_some(task)
    });
    (path, done)
}

#[test]
fn a_task_is_shown_with_it_to_its_owner_and_by_its_id_alone_only_where_that_was_set() {
    let provider = provider(4);
    let served = serve(&provider, PRICE, "");
    let proof = proof(&served);
    let (path, by_id) = task(&served, Some(&proof));
    assert_eq!(told(&by_id.to_string()), None, "whoever knows an id need not be its owner");
    let id = path.strip_prefix("/tasks/").unwrap();
    let read =
        |proof: &[&str]| served.curl(&format!("/a2a/agent/tasks/{id}"), &[&["-H", "A2A-Version: 1.0"], proof].concat());
    assert_told(&told(&read(&["-H", &proof]).with_status(200).text()).expect("the owner sees it"));
    assert_eq!(read(&[]).status, 404);

    let open = serve(&provider, PRICE, "show_usage = \"everybody\"\n");
    assert_told(&task(&open, None).1["metadata"][KEY]);
    let closed = serve(&provider, "", "show_usage = \"nobody\"\n");
    let proof = self::proof(&closed);
    let (path, _) = task(&closed, Some(&proof));
    let id = path.strip_prefix("/tasks/").unwrap();
    let answer = closed.curl(&format!("/a2a/agent/tasks/{id}"), &["-H", "A2A-Version: 1.0", "-H", &proof]).text();
    assert!(answer.contains("Fine.") && told(&answer).is_none(), "{answer}");
    // Without a price there is no cost, and that is no cost of nothing.
    let used = within("it is in the audit", || {
        let told = api(&closed, "/usage", &[]).json()["answers"][0]["models"][0].clone();
        told.is_object().then_some(told)
    });
    assert_eq!((&used["output_tokens"], &used["cost"]), (&json!(20), &Value::Null));
}

#[test]
fn the_operator_is_told_by_whom_and_what_it_cost_and_never_what_was_said() {
    let provider = provider(3);
    let served = serve(&provider, PRICE, "");
    let proof = proof(&served);
    served.curl(&format!("/~agent?user={QUESTION}"), &["-H", "Accept: text/event-stream"]).with_status(200);
    let (_, _) = task(&served, Some(&proof));
    let answers = within("both are in the audit", || {
        let told = api(&served, "/usage", &[]).with_status(200).json();
        (told["answers"].as_array().unwrap().len() == 2).then_some(told)
    });
    let [of_owner, of_stranger] = [&answers["answers"][0], &answers["answers"][1]];
    assert!(of_owner["who"].as_str().unwrap().contains("nightly"), "{of_owner}");
    assert!(of_stranger["who"].as_str().unwrap().contains("127.0.0"), "{of_stranger}");
    assert_eq!((&of_stranger["via"], &of_stranger["cost"]), (&json!("rest"), &json!(COST)));
    assert_eq!(api(&served, "/usage?agent=nobody", &[]).json()["answers"], json!([]));
    assert_eq!(api(&served, "/refusals", &[]).json()["records"], json!([]), "nobody was refused");
    let task = api(&served, "/tasks", &[]).json()["tasks"][0]["task"].as_str().unwrap().to_owned();
    let task = api(&served, &format!("/tasks/{task}"), &[]).json();
    assert_eq!((&task["usage"][0]["model"], &task["usage"][0]["cached_tokens"]), (&json!("tiny"), &json!(100)));
    let listed = served.deployment.run("admin", ["usage"]).fine();
    assert!(listed.contains("tiny") && listed.contains("0.00029"), "{listed}");
    let audited = served.deployment.run("audit", ["--json"]).fine();
    let records: Vec<Value> = audited.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(|record| record["kind"] == "model_usage" && record["usage"][0]["cost_micros"] == 290));
    assert!(served.deployment.run("audit", [""; 0]).fine().contains("tiny: 300 tokens read, 100 of them cached"));
    for text in [answers.to_string(), listed, audited] {
        assert!(!text.contains(QUESTION) && !text.contains("Fine."), "{text}");
    }
}

#[test]
fn the_operator_is_told_how_far_a_budget_lasts_and_what_a_caller_cost() {
    let provider = provider(2);
    let budget = "budget.tokens_per_day = 100000\nbudget.cost_per_month = 10.0\nbudget.caller_tokens_per_day = 90000\n";
    let served = serve(&provider, PRICE, budget);
    ask(&served, "A2A", None);
    let budgets = within("it is settled", || {
        let told = api(&served, "/costs", &[]).with_status(200).json();
        (told["budgets"][0]["used"] == 320.0).then(|| told["budgets"].as_array().unwrap().clone())
    });
    assert_eq!(budgets.len(), 3, "{budgets:?}");
    assert_eq!((&budgets[0]["left"], &budgets[0]["budget"]), (&json!(99_680.0), &json!("budget.tokens_per_day")));
    assert_eq!((&budgets[1]["unit"], &budgets[1]["used"]), (&json!("money"), &json!(COST)));
    assert_eq!((&budgets[2]["used"], &budgets[2]["most"]), (&Value::Null, &json!(90_000.0)));
    let callers = within("it is in the audit", || {
        let told = api(&served, "/costs", &[]).json()["callers"].clone();
        (told != json!([])).then_some(told)
    });
    assert_eq!((&callers[0]["tokens"], &callers[0]["cost"]), (&json!(320), &json!(COST)), "{callers}");
    let shown = served.deployment.run("admin", ["costs"]).fine();
    assert!(shown.contains("budget.caller_tokens_per_day") && !shown.contains(QUESTION), "{shown}");
}
