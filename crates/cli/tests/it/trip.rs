//! An agent that knows the manifest alone books a trip over three services, which the host has imported from their
//! OpenAPI documents (3.0, 3.1 and Swagger 2.0) and which answer on this machine: under contracts that it proposes, after
//! it paid for advice, and without what it may not.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::payment::{Chain, PAID, PRICE};
use crate::support::{DOMAIN, Deployment, Ran, Served};

const DOCUMENTS: [&str; 3] = ["flights.yaml", "hotels.yaml", "trains.json"];
const SETTINGS: &str = r#"
domain = "demo.localhost"
name = "Travel desk"
default_agent = "traveller"

[egress]
allow = ["127.0.0.0/8", "::1/128"]
allow_http = true

[agtp.policies]
synthesis_enabled = true

[agtp.synthesis]
policies = ["recipes", "schemas"]

# What is booked stays booked, whoever asks.
[endpoints.methods]
disallow = ["CANCEL"]
"#;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trip").join(name)
}

/// The three services, as one program of their own. Ends when it is dropped.
struct Services {
    child: Child,
    port: String,
}

impl Services {
    fn start() -> Self {
        let mut command = Command::new("python3");
        let mut child = command.arg(file("services.py")).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().to_owned() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// What was done there, in its order.
    fn ledger(&self) -> Value {
        Ran::of(Command::new("curl").args(["-s", "--noproxy", "*", &self.url("ledger")])).json()
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An agent that holds all scopes that the import made up, but for those of tickets where it has none.
fn agent(handle: &str, more: &str) -> String {
    format!(
        "handle = \"{handle}\"\nname = \"{handle}\"\n[backend]\nkind = \"echo\"\n[agtp]\nscopes = [\"flights:read\", \
         \"bookings:write\", \"cities:read\", \"reservations:write\", \"stations:read\"{more}]\n"
    )
}

/// A host with what the services describe, imported by the program.
fn travel_desk(services: &Services) -> Deployment {
    let deployment = Deployment::empty()
        .and("forecourt.toml", SETTINGS)
        .and("agents/traveller.toml", &agent("traveller", ", \"tickets:write\""))
        .and("agents/companion.toml", &agent("companion", ""));
    for document in DOCUMENTS {
        let path = file(document).display().to_string();
        let url = services.url(document.split('.').next().unwrap());
        deployment.run("import", ["openapi", &path, "--out", "endpoints", "--base-url", &url]).fine();
    }
    deployment
}

/// What the agent did at each step, told by itself.
fn visit(served: &Served, handle: &str) -> Vec<Value> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hotel/traveller.py");
    served.deployment.write("hotel_agent.py", &std::fs::read_to_string(example).unwrap());
    let ports: Value = serde_json::from_str(&served.deployment.read(".forecourt/serving.json")).unwrap();
    let (port, id) = (ports["sockets"]["agtp"].to_string(), served.deployment.agent_id(handle));
    let mut command = Command::new("python3");
    command.arg(file("traveller.py")).args([DOMAIN, &port, &served.ca(), &id]);
    command.env("PYTHONPATH", served.deployment.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    Ran::of(&mut command).fine().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn step<'a>(visit: &'a [Value], did: &str) -> &'a Value {
    visit.iter().find(|step| step["did"] == did).unwrap_or_else(|| panic!("{did}: {visit:#?}"))
}

/// The calls of a plan, in its order.
fn calls(step: &Value) -> Vec<&str> {
    step["plan"]["steps"].as_array().unwrap().iter().map(|step| step["call"].as_str().unwrap()).collect()
}

#[test]
fn s10_3_a_trip_over_three_imported_services_is_booked_by_contracts_that_were_proposed() {
    let services = Services::start();
    let served = travel_desk(&services).serve();
    let visit = visit(&served, "traveller");

    let plans = [
        ("BOOK /seats", ["FETCH /flights/{flight_number}", "BOOK /bookings"]),
        ("RESERVE /stays", ["FIND /cities/{city}/hotel", "RESERVE /reservations"]),
        ("BUY /rides", ["FETCH /stations/{station_name}", "BUY /tickets"]),
    ];
    for (did, plan) in plans {
        let leg = step(&visit, did);
        assert_eq!((&leg["status"], &leg["is_under_contract"]), (&json!(200), &json!(true)), "{leg:#}");
        assert_eq!(calls(leg), plan);
        assert_eq!(leg["said"].as_object().unwrap().len(), 1, "what was proposed and nothing more: {leg:#}");
    }
    assert_eq!(step(&visit, "CANCEL /bookings")["status"], 405, "the operator denies the act");
    assert_eq!(step(&visit, "PROPOSE CANCEL /seats")["status"], 463, "under another name, too");
    let done = json!([
        { "path": "/flights/bookings", "given": { "flight_id": "f-1", "passenger": "Ada" } },
        { "path": "/hotels/reservations", "given": { "guest": "Ada", "hotel_id": "h-9", "nights": 2 } },
        { "path": "/trains/tickets", "given": { "station_id": "s-4", "traveller": "Ada" } },
    ]);
    assert_eq!(services.ledger(), done, "each thing was done once, with the ids that the services gave");
}

#[test]
fn s10_7_who_lacks_a_scope_gets_the_other_legs_and_is_told_which_one() {
    let services = Services::start();
    let served = travel_desk(&services).serve();
    let visit = visit(&served, "companion");
    assert_eq!(step(&visit, "BOOK /seats")["status"], 200);
    assert_eq!(step(&visit, "RESERVE /stays")["status"], 200);
    let refused = step(&visit, "PROPOSE BUY /rides");
    assert_eq!(refused["status"], 262, "{refused:#}");
    assert_eq!(refused["said"]["error"]["details"]["missing_scopes"], json!(["tickets:write"]), "{refused:#}");
    assert_eq!(services.ledger().as_array().unwrap().len(), 2, "no ticket was bought");
}

#[test]
fn s10_3_a_trip_pays_for_advice_where_it_is_asked_to_and_goes_on() {
    let Some(chain) = Chain::start() else { return };
    let services = Services::start();
    let served = travel_desk(&services).with("payments", &chain.settings()).and("agents/paid.toml", PAID).serve();
    let (uri, id) = (format!("agtp://{DOMAIN}"), served.deployment.agent_id("paid"));
    let asked = ["EXECUTE", &uri, "--agent-id", &id, "--json", "-d", r#"{"action": "Where to?"}"#];
    let refused = served.deployment.run("agtp", asked);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let refused: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(refused["status"], 262, "{refused:#}");
    assert!(refused["body"].to_string().contains("An answer costs 0.05 USDC."), "{refused:#}");
    assert_eq!(chain.paid(), 0, "a refusal takes nothing");
    chain.pay(&served, &["Where to?", "--yes", "--pay-max", "0.05 USDC"]).fine();
    assert_eq!(chain.paid(), PRICE);
    let visit = visit(&served, "traveller");
    assert_eq!(step(&visit, "BUY /rides")["status"], 200);
    assert_eq!(chain.paid(), PRICE, "paid once");
}
