//! How an agent ends is the same fact over every wire: what a remote agent, a service, a program, a tool and a model come
//! to, asked through two daemons.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, Served};
use crate::wire::Answer;

/// An ending, and what each wire makes of it.
struct Row {
    /// What is asked for.
    asked: &'static str,
    code: &'static str,
    rest: u16,
    a2a: &'static str,
    nlweb: &'static str,
    /// The status, and the code.
    agtp: (u16, &'static str),
}

const fn row(
    asked: &'static str,
    code: &'static str,
    rest: u16,
    a2a: &'static str,
    nlweb: &'static str,
    agtp: u16,
) -> Row {
    Row { asked, code, rest, a2a, nlweb, agtp: (agtp, code) }
}

const AGENT: [Row; 3] = [
    row("sign in", "sign-in-needed", 401, "AUTH_REQUIRED", "SIGN_IN_NEEDED", 401),
    row("no", "declined", 403, "REJECTED", "DECLINED", 403),
    row("fail", "agent-failed", 502, "FAILED", "INTERNAL_ERROR", 500),
];

/// An agent that ends in every way there is.
const FAR: &str = r#"
handle = "far"
name = "Far"
[backend]
kind = "script"
[[backend.rule]]
text = "^done"
events = [{ text = "Done." }]
[[backend.rule]]
text = "^more"
events = [{ question = { text = "Which one?" } }]
[[backend.rule]]
text = "^sign in"
events = [{ sign_in = "Sign in at https://far.example/in first." }]
[[backend.rule]]
text = "^no"
events = [{ decline = "I never do that." }]
[[backend.rule]]
text = "^forbid"
events = [{ policy = { kind = "forbidden", message = "This is not for you." } }]
[[backend.rule]]
text = "^fail"
events = [{ fail = "The oven is cold." }]
"#;

fn agent(handle: &str, backend: &str) -> String {
    format!("handle = \"{handle}\"\nname = \"{handle}\"\n[backend]\n{backend}")
}

/// What an ending looked like over one wire: a status or a state, and the code.
type Seen = (String, Option<String>);

fn seen(state: impl ToString, code: &Value) -> Seen {
    (state.to_string(), code.as_str().map(str::to_owned))
}

fn post(served: &Served, path: &str, more: &[&str], body: &Value) -> Answer {
    let posted = ["-H", "Content-Type: application/json"];
    served.curl(path, &[&posted[..], more, &["-d", &body.to_string()]].concat())
}

fn encoded(text: &str) -> String {
    text.replace(' ', "+")
}

/// REST in JSON. What waits for a sign-in says where.
fn rest(served: &Served, agent: &str, text: &str) -> Seen {
    let path = format!("/~{agent}?user={}", encoded(text));
    let whole = served.curl(&path, &["-H", "Accept: application/json"]);
    for accepted in ["text/markdown", "text/html", "text/event-stream"] {
        let other = served.curl(&path, &["-H", &format!("Accept: {accepted}")]);
        let same = other.status == whole.status || (accepted == "text/event-stream" && other.status == 200);
        assert!(same, "{accepted}: {other:?}");
    }
    assert_eq!(whole.status == 401, whole.field("www-authenticate").is_some(), "{whole:?}");
    assert!(whole.status != 503 || whole.field("retry-after").is_some(), "{whole:?}");
    seen(whole.status, &whole.json()["code"])
}

/// A2A 1.0, at once and as it comes.
fn a2a(served: &Served, agent: &str, text: &str) -> Seen {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]});
    let call = |method: &str| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}});
    let path = format!("/a2a/{agent}");
    let status = |status: &Value| {
        let state = status["state"].as_str().unwrap_or_default().trim_start_matches("TASK_STATE_");
        seen(state, &status["message"]["metadata"]["forecourt/ending"]["code"])
    };
    let whole = post(served, &path, &["-H", "A2A-Version: 1.0"], &call("SendMessage")).json();
    let whole = status(&whole["result"]["task"]["status"]);
    let streamed = post(served, &path, &["-H", "A2A-Version: 1.0"], &call("SendStreamingMessage")).text();
    let events = streamed.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = &events.last().unwrap()["result"];
    let last = [&last["statusUpdate"]["status"], &last["task"]["status"]].into_iter().find(|it| it.is_object());
    assert_eq!(status(last.unwrap()), whole, "{streamed}");
    whole
}

/// A2A 0.3.
fn a2a_old(served: &Served, agent: &str, text: &str) -> Seen {
    let message =
        json!({"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}});
    let answer = post(served, &format!("/a2a/{agent}"), &["-H", "A2A-Version: 0.3"], &call).json();
    let status = &answer["result"]["status"];
    let state = status["state"].as_str().unwrap_or_default().to_uppercase().replace('-', "_");
    seen(state, &status["message"]["metadata"]["forecourt/ending"]["code"])
}

/// NLWeb, at once and as it comes.
fn nlweb(served: &Served, agent: &str, text: &str) -> Seen {
    let path = format!("/~{agent}/ask");
    let whole = post(served, &path, &[], &json!({"query": {"text": text}})).json();
    let code = whole["error"]["code"].as_str().unwrap_or_else(|| whole["_meta"]["response_type"].as_str().unwrap());
    let streamed = json!({"query": {"text": text}, "prefer": {"streaming": true}});
    let streamed = post(served, &path, &["-H", "Accept: text/event-stream"], &streamed).text();
    assert!(whole["error"].is_null() || streamed.contains(&format!("\"code\":\"{code}\"")), "{streamed}");
    seen(code, &whole["_meta"]["forecourt/ending"]["code"])
}

fn mcp(served: &Served, agent: &str, text: &str) -> Seen {
    let name = format!("ask_{agent}");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": {"message": text}, "_meta": meta}});
    let named = format!("mcp-name: {name}");
    let fields = [
        "-H",
        "Accept: application/json, text/event-stream",
        "-H",
        "mcp-protocol-version: 2026-07-28",
        "-H",
        "mcp-method: tools/call",
        "-H",
        &named,
    ];
    let said = post(served, "/mcp", &fields, &call).text();
    let said = said.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&said);
    let result = serde_json::from_str::<Value>(said).unwrap()["result"].clone();
    assert_eq!(result["structuredContent"]["code"], result["_meta"]["forecourt/ending"]["code"], "{result}");
    assert_eq!(result["isError"] == true, result["structuredContent"]["error"].is_string(), "{result}");
    seen(result["structuredContent"]["state"].as_str().unwrap_or_default(), &result["structuredContent"]["code"])
}

fn agtp(served: &Served, agent: &str, text: &str) -> Seen {
    let uri = format!("agtp://{DOMAIN}/agents/{agent}");
    let body = json!({"intent": text}).to_string();
    let ours = served.deployment.agent_id(agent);
    let words = ["QUERY", uri.as_str(), "-d", &body, "--json", "--agent-id", &ours];
    let ran = served.deployment.run("agtp", words);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    seen(&said["status"], &said["body"]["error"]["code"])
}

/// Asks over every wire, and holds what comes to the row.
fn is_told(served: &Served, agent: &str, row: &Row) {
    let Row { asked, code, rest: status, a2a: state, nlweb: word, agtp: (agtp_status, agtp_code) } = row;
    let wanted = |first: &str| (first.to_owned(), Some((*code).to_owned()));
    let about = |wire: &str| format!("@{agent}, {asked:?} over {wire}");
    assert_eq!(rest(served, agent, asked), wanted(&status.to_string()), "{}", about("REST"));
    assert_eq!(a2a(served, agent, asked), wanted(state), "{}", about("A2A"));
    assert_eq!(a2a_old(served, agent, asked), wanted(state), "{}", about("A2A 0.3"));
    assert_eq!(nlweb(served, agent, asked), wanted(word), "{}", about("NLWeb"));
    assert_eq!(mcp(served, agent, asked), wanted(&state.to_lowercase()), "{}", about("MCP"));
    let spelled = (agtp_status.to_string(), Some((*agtp_code).to_owned()));
    assert_eq!(agtp(served, agent, asked), spelled, "{}", about("AGTP"));
}

/// The endings that are answers have no code, and are no errors.
fn is_answered(served: &Served, agent: &str, asked: &str, state: &str, kind: &str) {
    let wanted = |first: &str| (first.to_owned(), None);
    assert_eq!(rest(served, agent, asked), wanted("200"));
    assert_eq!(a2a(served, agent, asked), wanted(state));
    assert_eq!(a2a_old(served, agent, asked), wanted(state));
    assert_eq!(nlweb(served, agent, asked), wanted(kind));
    assert_eq!(mcp(served, agent, asked), wanted(&state.to_lowercase()));
    assert_eq!(agtp(served, agent, asked), wanted("200"));
}

#[test]
fn every_state_of_a_remote_agent_is_the_same_fact_behind_a_second_daemon() {
    let far =
        Deployment::empty().and("forecourt.toml", &format!("domain = \"{DOMAIN}\"\n")).and("agents/far.toml", FAR);
    let far = far.serve();
    let hub = agent("hub", &format!("kind = \"a2a\"\nurl = \"{}\"\n", far.url("/a2a/far")));
    let tool = agent("tool", &format!("kind = \"mcp\"\nurl = \"{}\"\ntool = \"ask_far\"\n", far.url("/mcp")));
    let near = Deployment::empty().and("forecourt.toml", &format!("domain = \"{DOMAIN}\"\n"));
    let near = near.and("agents/hub.toml", &hub).and("agents/tool.toml", &tool).open_to_loopback().serve();
    for (served, agent) in [(&far, "far"), (&near, "hub"), (&near, "tool")] {
        AGENT.iter().for_each(|row| is_told(served, agent, row));
        is_answered(served, agent, "done", "COMPLETED", "answer");
        is_answered(served, agent, "more", "INPUT_REQUIRED", "elicitation");
        // A refusal stays one, with its kind.
        assert_eq!(rest(served, agent, "forbid").0, "403");
        assert_eq!(a2a(served, agent, "forbid"), ("REJECTED".to_owned(), None));
        assert_eq!(nlweb(served, agent, "forbid").0, "FORBIDDEN");
    }
    let metrics = near.operator("/metrics").text();
    for counted in ["ending=\"declined\",cause=\"\"", "ending=\"failed\",cause=\"agent-failed\""] {
        assert!(metrics.contains(counted), "{counted}: {metrics}");
    }
}

#[test]
fn rest5_4_1_a_task_that_came_to_nothing_says_its_code() {
    let far =
        Deployment::empty().and("forecourt.toml", &format!("domain = \"{DOMAIN}\"\n")).and("agents/far.toml", FAR);
    let served = far.serve();
    for (said, code) in
        [("no", "declined"), ("sign in", "sign-in-needed"), ("fail", "agent-failed"), ("forbid", "forbidden")]
    {
        let words = ["--form-string", &format!("user={said}"), "-H", "Prefer: respond-async"];
        let task = served.curl("/~far", &words).with_status(202).named("content-location");
        let status = crate::support::within("it has ended", || {
            let status = served.curl(&task, &[]).json()["status"].clone();
            (status["state"] != "working").then_some(status)
        });
        assert_eq!((&status["state"], &status["code"]), (&json!("failed"), &json!(code)), "{said}");
    }
}

/// A service that answers what its path says: a status, or something broken.
fn service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                let mut line = String::new();
                reader.read_line(&mut line).ok()?;
                let what = line.split(' ').nth(1)?.trim_start_matches('/').split('/').next()?.to_owned();
                let mut length = 0;
                loop {
                    line.clear();
                    reader.read_line(&mut line).ok()?;
                    let field = line.to_ascii_lowercase();
                    length = field.strip_prefix("content-length:").map_or(length, |n| n.trim().parse().unwrap());
                    if line.trim().is_empty() {
                        break;
                    }
                }
                reader.by_ref().take(length).read_to_end(&mut Vec::new()).ok()?;
                let head = match what.as_str() {
                    // It takes the question, and says nothing.
                    "silent" => return reader.read_to_end(&mut Vec::new()).ok(),
                    "cut" => {
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{".to_owned()
                    }
                    status => format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                };
                (&stream).write_all(head.as_bytes()).ok().map(|()| 0)
            });
        }
    });
    port
}

const REFUSED: (&str, u16, &str, u16) = ("upstream-refused", 502, "INTERNAL_ERROR", 500);
const FAILED: (&str, u16, &str, u16) = ("agent-failed", 502, "INTERNAL_ERROR", 500);
const LATE: (&str, u16, &str, u16) = ("timed-out", 504, "TIMEOUT", 503);
const CUT: (&str, u16, &str, u16) = ("cut-off", 502, "INTERNAL_ERROR", 503);
const AWAY: (&str, u16, &str, u16) = ("upstream-unreachable", 502, "SERVICE_UNAVAILABLE", 503);

#[test]
fn what_a_service_behind_an_agent_comes_to_is_told_by_its_cause() {
    let port = service();
    let at = |what: &str| format!("http://127.0.0.1:{port}/{what}");
    let http = |what: &str| format!("kind = \"http\"\nurl = \"{}\"\nfirst_byte_seconds = 1\n", at(what));
    let model = |what: &str| format!("kind = \"model\"\nbase_url = \"{}\"\nmodel = \"m\"\nretries = 0\n", at(what));
    let command = |script: &str| format!("kind = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}]\n");
    let tool = |url: &str| format!("kind = \"mcp\"\nurl = \"{url}\"\ntool = \"t\"\n");
    // Nobody listens on port 1.
    let nobody = "http://127.0.0.1:1/";
    let backends = [
        ("h401", http("401"), REFUSED),
        ("h403", http("403"), REFUSED),
        ("h404", http("404"), REFUSED),
        ("h422", http("422"), REFUSED),
        ("h500", http("500"), FAILED),
        ("h504", http("504"), LATE),
        ("hcut", http("cut"), CUT),
        ("haway", format!("kind = \"http\"\nurl = \"{nobody}\"\nretries = 0\n"), AWAY),
        ("c3", command("exit 3"), CUT),
        ("cerror", command("echo '{\"error\": \"No gas.\"}'"), FAILED),
        ("cnonsense", command("echo nonsense"), FAILED),
        ("t403", tool(&at("403")), REFUSED),
        ("t404", tool(&at("404")), REFUSED),
        ("t500", tool(&at("500")), FAILED),
        ("taway", tool(nobody), AWAY),
    ];
    // A provider that fails again and again is left alone for a while, so these are asked once each.
    let asked_once = [
        ("silent", http("silent"), LATE),
        ("m401", model("401"), REFUSED),
        ("m400", model("400"), REFUSED),
        ("m500", model("500"), FAILED),
        ("m504", model("504"), LATE),
        ("maway", format!("kind = \"model\"\nbase_url = \"{nobody}\"\nmodel = \"m\"\nretries = 0\n"), AWAY),
    ];
    let mut deployment = Deployment::empty().and("forecourt.toml", &format!("domain = \"{DOMAIN}\"\n"));
    for (handle, backend, _) in backends.iter().chain(&asked_once) {
        deployment = deployment.and(&format!("agents/{handle}.toml"), &agent(handle, backend));
    }
    let served = deployment.open_to_loopback().serve();
    for (handle, _, (code, status, word, agtp)) in &backends {
        is_told(&served, handle, &row("hello", code, *status, "FAILED", word, *agtp));
    }
    for (handle, _, (code, status, ..)) in &asked_once {
        let told = served.curl(&format!("/~{handle}?user=hi"), &["-H", "Accept: application/json"]);
        assert_eq!((told.status, told.json()["code"].as_str()), (*status, Some(*code)), "@{handle}: {told:?}");
    }
    // What declines in its own words is taken at them.
    let declines = command("echo '{\"declined\": \"I never do that.\"}'");
    served.deployment.write("agents/declines.toml", &agent("declines", &declines));
    crate::support::within("it is served", || {
        (served.curl("/~declines", &["-H", "Accept: application/json"]).status == 200).then_some(())
    });
    is_told(&served, "declines", &AGENT[1]);
}

#[test]
fn a_person_on_a_terminal_reads_what_the_agent_said_and_what_helps() {
    let far =
        Deployment::empty().and("forecourt.toml", &format!("domain = \"{DOMAIN}\"\n")).and("agents/far.toml", FAR);
    let served = far.serve();
    let data = served.deployment.data().display().to_string();
    for via in ["rest", "a2a", "nlweb"] {
        let ask = |text: &str, code: i32| {
            let words = ["--via", via, "--data", &data, "@far@demo.localhost", text];
            served.deployment.run("ask", words).failed(code)
        };
        let declined = ask("no", 1);
        assert!(declined.contains("I never do that.") && !declined.contains("--token"), "{via}: {declined}");
        let sign_in = ask("sign in", 1);
        assert!(sign_in.contains("https://far.example/in") && !sign_in.contains("--token"), "{via}: {sign_in}");
        assert!(ask("fail", 3).contains("The oven is cold."), "{via}");
    }
}
