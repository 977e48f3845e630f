//! A daemon that is killed again and again under load, with agents of each kind whose tasks go on: of what was
//! acknowledged nothing fails that need not, nothing is done twice, and who follows hears each thing once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::identity::{believing, token_of};
use crate::support::{Deployment, Served};

mod follower;
mod shop;

use follower::{Followed, begin, follow};
use shop::Shop;

/// How often the daemon is killed, unless the environment says so: 60 are worth five minutes before a release.
const KILLS: u32 = 6;
const KILLS_VARIABLE: &str = "FORECOURT_KILLS";
/// From one kill to the next.
const PERIOD: Duration = Duration::from_secs(5);
/// Callers of each agent at once.
const CALLERS: usize = 3;

/// What an endpoint's file has beside its method, path, meaning and service.
fn endpoint(method: &str, path: &str, impact: &str, is_idempotent: bool, url: &str) -> String {
    format!(
        r#"[endpoint]
method = "{method}"
path = "{path}"
description = "Sees to an order."
input_schema = {{ type = "object", additionalProperties = false, required = ["n"], properties = {{ n = {{ type = "integer" }} }} }}
output_schema = {{ type = "object", required = ["order"], properties = {{ order = {{ type = "integer" }} }} }}
errors = ["upstream_timeout", "upstream_connection_error", "upstream_malformed_response", "upstream_authentication_failed", "upstream_error"]
[endpoint.semantic]
intent = "See to an order."
actor = "agent"
outcome = "The order is seen to."
capability = "transaction"
confidence = 0.9
impact = "{impact}"
is_idempotent = {is_idempotent}
[endpoint.handler]
type = "external_service"
url = "{url}"
method = "POST"
"#
    )
}

fn agent(handle: &str, on_lost: &str, backend: &str) -> String {
    format!("handle = \"{handle}\"\nname = \"{handle}\"\non_lost = \"{on_lost}\"\n[backend]\n{backend}")
}

const LIMITS: &str = "per_address = { burst = 5000, per_second = 1000 }\nstored_bytes_per_caller = 1073741824";

/// The agent that another one fronts: its service does not like to hear things twice.
fn far(shop: &str) -> Served {
    let deployment = Deployment::of_backend(&format!("kind = \"http\"\nurl = \"{shop}/send\"\n"));
    deployment.with("limits", LIMITS).serve()
}

fn near(shop: &str, far: &Served) -> Deployment {
    let model = format!(
        "kind = \"model\"\nbase_url = \"{shop}/v1\"\nmodel = \"tiny\"\nstream = false\nsiblings = false\n\
         endpoints = [\"QUERY /stock/{{n}}\", \"BOOK /orders/{{n}}\"]\n"
    );
    let fronting = format!("kind = \"a2a\"\nurl = \"{}\"\nknows_repeats = true\n", far.url("/a2a/agent"));
    let job = format!("kind = \"http\"\nurl = \"{shop}/work\"\nknows_repeats = true\n");
    let script = "kind = \"script\"\n[[backend.rule]]\ntext = \"^order\"\n\
                  events = [{ text = \"Well\" }, { wait_ms = 400 }, { text = \", \" }, { wait_ms = 400 }, { text = \"fine.\" }]\n";
    Deployment::empty()
        .and("forecourt.toml", &format!("domain = \"demo.localhost\"\n{}", believing()))
        .with("limits", LIMITS)
        .open_to_loopback()
        .and("agents/clerk.toml", &agent("clerk", "attach", &model))
        .and("agents/front.toml", &agent("front", "attach", &fronting))
        .and("agents/worker.toml", &agent("worker", "attach", &job))
        .and("agents/teller.toml", &agent("teller", "restart", script))
        .and(
            "endpoints/look.toml",
            &endpoint("QUERY", "/stock/{n}", "informational", true, &format!("{shop}/look/{{n}}")),
        )
        .and(
            "endpoints/book.toml",
            &endpoint("BOOK", "/orders/{n}", "irreversible", false, &format!("{shop}/book/{{n}}")),
        )
}

fn wanted(agent: &str, order: u64) -> String {
    match agent {
        "clerk" => format!("Let me look. It is there. Booked {order}."),
        "front" => format!("Sent {order}."),
        "worker" => format!("Worked on {order}."),
        _ => "Well, fine.".to_owned(),
    }
}

/// What all callers share.
struct Load {
    port: AtomicU16,
    orders: AtomicU64,
    is_over: AtomicBool,
    /// Tasks that were acknowledged and followed to their end.
    followed: Mutex<Vec<(&'static str, u64, Followed)>>,
}

/// Says that it is over when it is dropped: when a daemon does not open, too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Asks one agent, task after task, and follows each.
fn call(load: &Load, agent: &'static str) {
    while !load.is_over.load(Ordering::SeqCst) {
        // Somebody who is known, as callers of endpoints are; the token is good for less time than this takes.
        let token = format!("Authorization: Bearer {}", token_of("alice"));
        let order = load.orders.fetch_add(1, Ordering::SeqCst);
        match begin(&load.port, &token, agent, &format!("order {order}")) {
            Some(task) => {
                let followed = follow(&load.port, &token, agent, &task);
                load.followed.lock().unwrap().push((agent, order, followed));
            }
            // The daemon is away.
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Kills the daemon so many times; the one that lives at the end.
fn kill_again_and_again(mut served: Served, load: &Load, kills: u32) -> Served {
    for kill in 1..=kills {
        // A little later each time within what is under way.
        let life = PERIOD + Duration::from_millis(u64::from(kill) * 37 % 400);
        thread::sleep(life);
        served = served.killed().serve();
        load.port.store(served.http, Ordering::SeqCst);
    }
    served
}

/// What became of the tasks that were acknowledged.
#[derive(Default)]
struct Verdict {
    /// Those that failed though they need not, or were not heard once.
    bad: Vec<String>,
    /// Those that ended within a call that must not be made twice, and said so.
    honest: usize,
    by_agent: HashMap<&'static str, usize>,
}

fn judged(followed: &[(&'static str, u64, Followed)]) -> Verdict {
    let mut verdict = Verdict::default();
    for (agent, order, heard) in followed {
        *verdict.by_agent.entry(*agent).or_default() += 1;
        let wanted = wanted(agent, *order);
        let is_lost_call = *agent == "clerk" && heard.said.contains("book_orders_n (call_2), and nobody knows");
        match heard.state.as_str() {
            "completed" if heard.said == wanted => {}
            "failed" if is_lost_call => verdict.honest += 1,
            _ => verdict.bad.push(format!("{agent} {order}: {heard:?}")),
        }
        if !heard.wrong.is_empty() || !wanted.starts_with(&heard.text) {
            verdict.bad.push(format!("{agent} {order} was not heard once: {heard:?}"));
        }
    }
    verdict
}

/// Those of a count that are more than one.
fn twice(done: &Mutex<HashMap<u64, usize>>) -> Vec<(u64, usize)> {
    done.lock().unwrap().iter().filter(|(_, count)| **count > 1).map(|(order, count)| (*order, *count)).collect()
}

#[test]
fn of_what_was_acknowledged_nothing_fails_or_is_done_twice_though_the_daemon_is_killed_again_and_again() {
    let kills = std::env::var(KILLS_VARIABLE).ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let shop = Arc::new(Shop::default());
    let origin = shop.open();
    let far = far(&origin);
    let served = near(&origin, &far).serve();
    let load = Load {
        port: AtomicU16::new(served.http),
        orders: AtomicU64::new(1),
        is_over: AtomicBool::new(false),
        followed: Mutex::default(),
    };
    let served = thread::scope(|scope| {
        let load = &load;
        let _over = Over(&load.is_over);
        for agent in ["clerk", "front", "worker", "teller"] {
            for _ in 0..CALLERS {
                scope.spawn(move || call(load, agent));
            }
        }
        kill_again_and_again(served, load, kills)
    });
    let metrics = served.operator("/metrics").text();
    let taken_up = metrics.lines().find(|line| line.starts_with("forecourt_tasks_taken_up_total")).unwrap_or_default();
    let followed = load.followed.into_inner().unwrap();
    let Verdict { bad, honest, by_agent } = judged(&followed);
    eprintln!(
        "{kills} kills, {} acknowledged {by_agent:?}, {honest} ended in a call that is not repeated, {} looked again, \
         {taken_up} in the last life",
        followed.len(),
        twice(&shop.looked).len()
    );
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), followed.len(), bad.join("\n"));
    // What is counted was done at all, for each that says so.
    for (order, heard) in
        followed.iter().filter(|(agent, ..)| *agent == "clerk").map(|(_, order, heard)| (order, heard))
    {
        let is_booked = shop.booked.lock().unwrap().contains_key(order);
        assert!(is_booked || heard.state != "completed", "order {order} says that it is booked: {heard:?}");
    }
    for (what, done) in [("booked", &shop.booked), ("sent", &shop.sent), ("begun", &shop.begun)] {
        let twice = twice(done);
        assert!(twice.is_empty(), "{what} twice: {twice:?}");
    }
    assert_eq!(by_agent.len(), 4, "every agent was asked: {by_agent:?}");
}
