//! What a reload does with each section of `forecourt.toml`: it is taken up, or refused with a word. None is ignored.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use forecourt_testkit::free_port;
use serde_json::json;

use crate::support::{DOMAIN, Deployment, FREE_PORTS, Served, within};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";

/// What comes of a change.
enum Then {
    /// It is served, and nothing that this test looks at tells it.
    Applied,
    /// It is served, and this is another one than before.
    Changes(Box<dyn Fn(&Served) -> String>),
    /// It is refused, and nothing has changed: it needs a restart.
    NeedsRestart(&'static str),
    /// It is refused, and nothing has changed: there is something wrong with it.
    Wrong(&'static str),
}

fn changes(look: impl Fn(&Served) -> String + 'static) -> Then {
    Then::Changes(Box::new(look))
}

/// A section, a change of it, and what comes of that. `top` goes before all tables.
struct Row {
    section: &'static str,
    top: String,
    table: String,
    then: Then,
}

fn row(section: &'static str, table: impl Into<String>, then: Then) -> Row {
    Row { section, top: String::new(), table: table.into(), then }
}

fn top(line: impl Into<String>, then: Then) -> Row {
    Row { section: "forecourt.toml", top: line.into(), table: String::new(), then }
}

fn body(path: &'static str) -> Then {
    changes(move |served| served.curl(path, &["-H", "Accept: text/html,application/json"]).text())
}

fn status(path: &'static str) -> Then {
    changes(move |served| served.curl(path, &[]).status.to_string())
}

fn operator(path: &'static str) -> Then {
    changes(move |served| {
        let answer = of_operator(served, path, &[]);
        format!("{} {}", answer.status, answer.text())
    })
}

fn of_operator(served: &Served, path: &str, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    curl(&format!("http://127.0.0.1:{}{path}", served.admin), &[&["-H", &authorization], words].concat())
}

/// Whether somebody listens on a port of this machine.
fn opens(port: u16) -> Then {
    changes(move |_| TcpStream::connect(("127.0.0.1", port)).is_ok().to_string())
}

/// What an MCP client is told when it begins.
fn instructions(served: &Served) -> String {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let words =
        ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-d", &begin];
    served.curl("/mcp", &words).with_status(200).text().split("instructions").nth(1).unwrap_or_default().to_owned()
}

fn rows() -> Vec<Row> {
    let listen = free_port();
    vec![
        top("name = \"Renamed\"", body("/.well-known/agent-card.json")),
        top("default_agent = \"gate\"", Then::Applied),
        top("public_url = \"https://elsewhere.example\"", Then::NeedsRestart("elsewhere.example")),
        top(
            "trusted_proxies = [\"127.0.0.0/8\"]",
            changes(|served| {
                let named = served.curl("/~agent?user=hi", &["-H", "X-Request-Id: 0123456789abcdef"]);
                (named.named("x-request-id") == "0123456789abcdef").to_string()
            }),
        ),
        row("forecourt.toml [[domain]]", "[[domain]]\npath = \"elsewhere\"", Then::Wrong("domain")),
        row("forecourt.toml [listen]", format!("[listen]\nhttp = \"127.0.0.1:{listen}\""), opens(listen)),
        row(
            "forecourt.toml [tls]",
            "[tls.acme]\nenabled = true\ndirectory = \"https://127.0.0.1:1/dir\"",
            changes(|served| served.operator("/readyz").text().contains("no certificate").to_string()),
        ),
        row("forecourt.toml [tls]", "[tls]\ncert = \"none.pem\"\nkey = \"none.pem\"", Then::Wrong("none.pem")),
        row("forecourt.toml [tls]", "[tls]\nhsts_seconds = 60", Then::Applied),
        row(
            "forecourt.toml [admin]",
            format!(
                "[admin]\ntoken = \"{TOKEN}\"\nwebhook = \"http://10.0.0.1/\"\nwebhook_secret = \"0123456789abcdef0123\""
            ),
            Then::Wrong("webhook"),
        ),
        row("forecourt.toml [store]", "[store]\nsize_max = 33554432", Then::NeedsRestart("store.size_max")),
        row("forecourt.toml [bus]", "[bus]\nurl = \"nats://127.0.0.1:4222\"", Then::Wrong("url")),
        row("forecourt.toml [questions]", "[questions]\nlog = true", operator("/questions")),
        row("forecourt.toml [limits]", "[limits]\nper_session = { per_second = 1, burst = 1 }", Then::Applied),
        row(
            "forecourt.toml [limits]",
            "[limits]\ntasks_running_max = 7",
            Then::NeedsRestart("limits.tasks_running_max"),
        ),
        row(
            "forecourt.toml [http]",
            "[http]\nhead_bytes_max = 8192",
            changes(|served| served.curl(&format!("/~agent?user={}", "x".repeat(9000)), &[]).status.to_string()),
        ),
        row("forecourt.toml [egress]", "[egress]\nattachment_bytes = 1", Then::Applied),
        row("forecourt.toml [egress]", "[egress]\nca_files = [\"none.pem\"]", Then::Wrong("none.pem")),
        row(
            "forecourt.toml [identity]",
            "[[identity.bearer]]\nissuer = \"https://i.example\"\naudience = [\"us\"]\n\n[[identity.bearer.keys]]\njwk_file = \"none.json\"",
            Then::Wrong("none.json"),
        ),
        row(
            "forecourt.toml [[policy]]",
            "[[policy]]\nkind = \"require_identity\"\nagents = [\"agent\"]",
            status("/~agent?user=hi"),
        ),
        row("forecourt.toml [payments]", "[payments]\nfacilitator = \"https://facilitator.example\"", Then::Applied),
        row("forecourt.toml [pages]", "[pages]\ndescription = \"A place of tests.\"", body("/")),
        row("forecourt.toml [geo]", "[geo]\ncountries_file = \"none.csv\"", Then::Wrong("none.csv")),
        row("forecourt.toml [log]", "[log]\nlevel = \"warn\"", Then::Applied),
        row("forecourt.toml [log]", "[log]\nformat = \"json\"", Then::NeedsRestart("log.format")),
        row("forecourt.toml [log]", "[log]\naccess_file = \"access.log\"", Then::NeedsRestart("log.access_file")),
        row("forecourt.toml [log]", "[log]\naccess_files_kept = 1", Then::NeedsRestart("log.access_files_kept")),
        row("forecourt.toml [metrics]", "[metrics]\nlisten = \"127.0.0.1:0\"", Then::Applied),
        row("forecourt.toml [metrics]", "[metrics]\nlisten = \"0.0.0.0:0\"", Then::Wrong("listen")),
        row(
            "forecourt.toml [reload]",
            "[reload]\nwatch = true",
            changes(|served| of_operator(served, "/reload", &[]).json()["watch"].to_string()),
        ),
        row("forecourt.toml [drain]", "[drain]\nseconds = 1", Then::Applied),
        row(
            "forecourt.toml [telemetry]",
            "[telemetry]\nendpoint = \"http://127.0.0.1:4318\"",
            Then::NeedsRestart("telemetry.endpoint"),
        ),
        row(
            "forecourt.toml [mentionable]",
            "[mentionable]\npolicy_header = true",
            changes(|served| served.curl("/~gate?user=hi", &[]).field("x-mentionable-policy").is_some().to_string()),
        ),
        row("forecourt.toml [a2a]", "[a2a]\norganization = \"Somebody Else\"", body("/.well-known/agent-card.json")),
        row("forecourt.toml [nlweb]", "[nlweb]\nsync_wait_seconds = 1", Then::Applied),
        row("forecourt.toml [mcp]", "[mcp]\ninstructions = \"Ask about tests.\"", changes(instructions)),
        row(
            "forecourt.toml [agtp]",
            "[agtp.agents]\ndisclosure = \"private\"",
            changes(|served| {
                format!("{:?}", served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}/agents")]).stdout)
            }),
        ),
        row("forecourt.toml [activitypub]", "[activitypub]\nenabled = true", status("/nodeinfo/2.1")),
        row("forecourt.toml [email]", "[email]\nhtml = false", Then::Applied),
        row("forecourt.toml [endpoints]", "[endpoints]\ncatalog = \"none.json\"", Then::Wrong("none.json")),
        row("forecourt.toml [functions]", "[functions]\nworkers = 2", Then::Applied),
    ]
}

/// The sections of the reference that are of `forecourt.toml`.
fn documented() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/config.md");
    let text = fs::read_to_string(file).unwrap();
    let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    headings.filter(|heading| heading.starts_with("forecourt.toml")).map(str::to_owned).collect()
}

#[test]
fn every_section_is_taken_up_or_refused_with_a_word() {
    let rows = rows();
    for section in documented() {
        assert!(rows.iter().any(|row| row.section == section), "what does a reload do with {section}?");
    }
    let http = free_port();
    let deployment = Deployment::of_backend("kind = \"script\"\n\n[[backend.rule]]\nevents = [{ text = \"hi\" }]\n");
    let gate = "handle = \"gate\"\nname = \"Gate\"\n\n[backend]\nkind = \"echo\"\n\n[[policy.rules]]\nkind = \"require_identity\"\n";
    let text = |row: &Row| {
        let admin =
            if row.table.contains("[admin]") { String::new() } else { format!("[admin]\ntoken = \"{TOKEN}\"\n\n") };
        let reload = if row.table.contains("[reload]") { "" } else { "[reload]\nwatch = false\n\n" };
        let listen = format!("[listen]\nhttp = \"127.0.0.1:{http}\"\n\n");
        let listen = if row.table.contains("[listen]") { "" } else { &listen };
        let domain = if row.table.contains("[[domain]]") { "" } else { "domain = \"demo.localhost\"\n" };
        format!("{domain}{}\n\n{admin}{reload}{listen}{}\n", row.top, row.table)
    };
    let before = text(&row("forecourt.toml", "", Then::Applied));
    let deployment = deployment.and("agents/gate.toml", gate).and("forecourt.toml", &before);
    let served = deployment.serve_on(&FREE_PORTS[2..]);
    let reload = || of_operator(&served, "/reload", &["-X", "POST"]);
    for row in &rows {
        let what = format!("{} {} {}", row.section, row.top, row.table);
        let look = || match &row.then {
            Then::Changes(look) => look(&served),
            _ => String::new(),
        };
        let was = look();
        served.deployment.write("forecourt.toml", &text(row));
        let answer = reload();
        let said = answer.text();
        match &row.then {
            Then::Applied => assert_eq!(answer.status, 200, "{what}: {said}"),
            Then::Changes(_) => {
                assert_eq!(answer.status, 200, "{what}: {said}");
                within(&what, || (look() != was).then_some(()));
            }
            Then::NeedsRestart(key) => {
                assert_eq!(answer.status, 409, "{what}: {said}");
                assert!(said.contains(key) && said.contains("restart"), "{what}: {said}");
            }
            Then::Wrong(word) => {
                assert_eq!(answer.status, 422, "{what}: {said}");
                assert!(said.contains(word), "{what}: {said}");
            }
        }
        served.deployment.write("forecourt.toml", &before);
        let answer = reload();
        assert_eq!(answer.status, 200, "{what}, put back: {}", answer.text());
        within(&format!("{what}, put back"), || (look() == was).then_some(()));
    }
}

#[test]
fn an_address_that_was_given_up_can_be_had_again_at_once() {
    let ports = [free_port(), free_port()];
    let deployment = Deployment::of_backend("kind = \"echo\"\n");
    let text = |port: u16| {
        let own = format!("[admin]\ntoken = \"{TOKEN}\"\n\n[reload]\nwatch = false\n");
        format!("domain = \"demo.localhost\"\n\n{own}\n[listen]\nhttp = \"127.0.0.1:{port}\"\n")
    };
    let served = deployment.and("forecourt.toml", &text(ports[0])).serve_on(&FREE_PORTS[2..]);
    for port in [ports[1], ports[0], ports[1], ports[0]] {
        served.deployment.write("forecourt.toml", &text(port));
        of_operator(&served, "/reload", &["-X", "POST"]).with_status(200);
    }
}

#[test]
fn what_is_counted_goes_on_after_a_reload() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let backend = format!("kind = \"http\"\nurl = \"http://{}/\"\n", receiver.local_addr().unwrap());
    drop(receiver);
    let deployment =
        Deployment::of_backend(&backend).with("admin", &format!("token = \"{TOKEN}\"")).with("reload", "watch = false");
    let served = deployment.serve();
    let asked = || {
        let text = served.operator("/metrics").text();
        let lines =
            text.lines().filter(|line| line.starts_with("forecourt_egress_requests_total{purpose=\"upstream\""));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    served.curl("/~agent?user=hi", &[]);
    let before = asked();
    assert!(before > 0, "an attempt is counted");
    of_operator(&served, "/reload", &["-X", "POST"]).with_status(200);
    served.curl("/~agent?user=hi", &[]);
    assert!(asked() > before, "and so is one after a reload");
}
