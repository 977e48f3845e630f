//! Three nodes on one PostgreSQL and one NATS, against one node on the same: what they answer a second in all.
//!
//! Everything runs on this machine, so nothing is gained by more of them; what is told is what sharing costs.

use std::time::Duration;

use anyhow::Context;
use forecourt_testkit::nats::NatsServer;
use forecourt_testkit::postgres::PostgresServer;

use crate::arm::{Arm, ECHO_AGENT, OPEN_LIMITS};
use crate::load::{Asked, Visit, visit_all};
use crate::report::{judge, median, shuffled};
use crate::run::Run;

const ROUNDS: usize = 10;
const VISIT: Duration = Duration::from_secs(2);

/// Whose answers come in pieces, which makes each a task over A2A: begun, told of and ended in the store.
const TELLER_AGENT: &str = "handle = \"teller\"\nname = \"Teller\"\n[backend]\nkind = \"script\"\n\
    [[backend.rule]]\ntext = \"^hello\"\nevents = [{ text = \"well, \" }, { text = \"hello\" }]\n";

/// What is sent: its name, its text, and what an answer holds.
const LOADS: [(&str, &str, &str); 4] = [
    (
        "durable tasks, a caller each",
        "POST /a2a/teller/message:send HTTP/1.1\r\nHost: demo.localhost\r\nA2A-Version: 1.0\r\n\
         Content-Type: application/json\r\nContent-Length: 79\r\n\r\n\
         {\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello you\"}]}}",
        "TASK_STATE_COMPLETED",
    ),
    ("questions", "GET /~echo?user=hello HTTP/1.1\r\nHost: demo.localhost\r\nAccept: text/markdown\r\n\r\n", "hello"),
    (
        "conversations",
        "POST /a2a/echo/message:send HTTP/1.1\r\nHost: demo.localhost\r\nA2A-Version: 1.0\r\n\
         Content-Type: application/json\r\nContent-Length: 79\r\n\r\n\
         {\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello you\"}]}}",
        "hello you",
    ),
    (
        "durable tasks of one caller",
        "POST /a2a/teller/message:send HTTP/1.1\r\nHost: demo.localhost\r\nA2A-Version: 1.0\r\n\
         Content-Type: application/json\r\nContent-Length: 79\r\n\r\n\
         {\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello you\"}]}}",
        "TASK_STATE_COMPLETED",
    ),
];

/// Nodes of one deployment, and the ports at which they are asked in turn.
struct Group {
    name: &'static str,
    nodes: Vec<Arm>,
}

impl Group {
    fn start(name: &'static str, count: usize, store: &str, bus: &str) -> anyhow::Result<Self> {
        let key = "5e".repeat(32);
        let shared = format!("[store]\nurl = \"{store}\"\nkey = \"{key}\"\n[bus]\nurl = \"{bus}\"\n");
        // All callers are one here.
        let limits = OPEN_LIMITS.replace("[limits]\n", "[limits]\nstored_bytes_per_caller = 4294967296\n");
        let settings = format!("public_url = \"https://demo.localhost\"\n{limits}{shared}");
        let files = [
            ("forecourt.toml", settings.as_str()),
            ("agents/echo.toml", ECHO_AGENT),
            ("agents/teller.toml", TELLER_AGENT),
        ];
        let nodes = (0..count).map(|_| Arm::forecourt(name, &files)).collect::<anyhow::Result<_>>()?;
        Ok(Self { name, nodes })
    }

    fn visit(&self, asked: &Asked, time: Duration) -> anyhow::Result<Visit> {
        let ports: Vec<u16> = self.nodes.iter().map(|node| node.port).collect();
        visit_all(&ports, asked, time)
    }
}

/// Each load on one node, on one node again, and on three.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let (Some(postgres), Some(nats)) = (PostgresServer::start_durable(), NatsServer::start()) else {
        println!("skipped: PostgreSQL (15 or later) or nats-server is not installed");
        return Ok(());
    };
    let start = |name, count| Group::start(name, count, &postgres.fresh(), &nats.url());
    let groups = [start("one node", 1)?, start("one node again", 1)?, start("three nodes", 3)?];
    for (name, text, holds) in LOADS {
        let asked = Asked::of(text.to_owned(), holds);
        let asked = if name.ends_with("a caller each") { asked.each_apart() } else { asked };
        let mut rates = vec![Vec::new(); groups.len()];
        for group in &groups {
            group.visit(&asked, run.visit(VISIT / 4)).with_context(|| format!("{name}, {}", group.name))?;
        }
        for round in 0..run.rounds(ROUNDS) {
            for index in shuffled(groups.len(), round) {
                let visit = groups[index].visit(&asked, run.visit(VISIT))?;
                rates[index].push(visit.requests as f64 / visit.elapsed.as_secs_f64());
            }
        }
        println!("{name}: {:.0} a second at one node", median(&rates[0]));
        judge(run, &format!("{name}, "), "a second", &groups.each_ref().map(|group| group.name), &rates)?;
    }
    Ok(())
}
