//! Every bench still works: one round of it over little, in the build that the tests are, with the daemon of the same
//! build. No ratio is judged.

use std::path::Path;
use std::process::Command;

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

/// A test for each bench, so that they run side by side, and the list of them all.
macro_rules! smoke {
    ($($test:ident: $name:literal,)*) => {
        const TESTED: &[&str] = &[$($name),*];
        $(#[test]
        fn $test() {
            smoke($name);
        })*
    };
}

smoke! {
    rest: "rest",
    search: "search",
    search_million: "search-million",
    retrieval: "retrieval",
    loading: "loading",
    ask: "ask",
    ask_million: "ask-million",
    sse: "sse",
    idle: "idle",
    tasks: "tasks",
    tasks_postgres: "tasks-postgres",
    nodes: "nodes",
    traces: "traces",
    start: "start",
    agents_10000: "agents-10000",
    jwt: "jwt",
    rules: "rules",
    contracts: "contracts",
    contract_call: "contract-call",
    a2a: "a2a",
    a2a_proxy: "a2a-proxy",
    a2a_many: "a2a-many",
    a2a_streams: "a2a-streams",
    a2a_push: "a2a-push",
    mcp: "mcp",
    mcp_proxy: "mcp-proxy",
    agtp: "agtp",
    agtp_new: "agtp-new",
    agtp_plain: "agtp-plain",
    agtp_dispatch: "agtp-dispatch",
    agtp_manifest: "agtp-manifest",
    agtp_idle: "agtp-idle",
    records: "records",
}

fn smoke(name: &str) {
    let daemon = Path::new(BENCH).with_file_name("forecourt");
    assert!(daemon.exists(), "the daemon is missing: cargo build -p forecourt-cli");
    let ran = Command::new(BENCH).args(["--smoke", name]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    println!("{said}");
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_bench_has_a_smoke_test() {
    let listed = Command::new(BENCH).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().collect::<Vec<_>>(), TESTED);
}
