//! `forecourt check`: everything that `serve` would refuse, without listening.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt::Handle;
use forecourt::deployment::{EnvironmentNotices, FILE};
use forecourt::domains::deployment_folders;
use forecourt::server::disagreements;
use forecourt::settings::Listen;
use forecourt::{Running, Storage, identities, inspect};
use forecourt_acceptance::TestFiles;
use forecourt_contract::{Dispatcher, Endpoint};
use forecourt_settings::{KeyMove, Problems, files, rewrite};
use forecourt_synthesis::meaning::{self, EndpointMeanings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::printable::{self, counted};
use super::test::StandInEnvironment;
use super::{connectors, hubs, reach, servers};
use crate::args::Check;
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Characters of a notice; names of files are anybody's.
const NOTICE_CHARS_MAX: usize = 500;

/// What was found to be in order.
struct CheckReport {
    running: Running,
    rules: HashMap<Handle, Vec<String>>,
    endpoints: Arc<Dispatcher>,
    /// Where it would listen.
    listen: Listen,
}

/// Builds everything in memory, and shows what the world would see; or, all that stands in the way.
pub(crate) async fn run(check: &Check) -> Outcome {
    let folders = deployment_folders(&check.place.dir)?;
    if folders.is_empty() || folders == [check.place.dir.clone()] {
        return run_one(check).await;
    }
    let mut outcome = report(beside_each_other(check, &folders));
    for folder in &folders {
        let one = Check { place: check.place.within(folder), ..*check };
        outcome = outcome.and(report(run_one(&one).await));
    }
    outcome
}

/// Tells at once what is wrong, and what follows is told too.
fn report(outcome: Outcome) -> Outcome {
    outcome.map_err(|failure| {
        failure.report();
        failure.said()
    })
}

/// What is wrong with the deployments of one daemon beside each other. What is wrong with each is said apart.
fn beside_each_other(check: &Check, folders: &[PathBuf]) -> Outcome {
    let read = folders.iter().filter_map(|folder| super::load(&check.place.within(folder)).ok());
    let read: Vec<_> = read.collect();
    Ok(disagreements(&read.iter().collect::<Vec<_>>()).into_result(())?)
}

async fn run_one(check: &Check) -> Outcome {
    // Before the rest: what a server turned into is worth knowing of a deployment that does not start, too.
    let (elsewhere, outcome) = match check.connect {
        true => connect(check).await,
        false => (Elsewhere::default(), Ok(())),
    };
    let shown = match find(check).await {
        Ok(found) => show(check, found, &elsewhere),
        Err(failure) if check.json => {
            let mut problems = failure.as_json();
            problems["servers"] = elsewhere.servers;
            problems["hubs"] = elsewhere.hubs;
            problems["connectors"] = elsewhere.connectors;
            problems["networks"] = elsewhere.networks;
            print_json(&problems)?;
            Err(failure.said())
        }
        Err(failure) => Err(failure),
    };
    both(shown, outcome)
}

/// What was found at others, as JSON.
#[derive(Default)]
struct Elsewhere {
    servers: Value,
    hubs: Value,
    connectors: Value,
    networks: Value,
}

/// Asks the servers behind the deployment, the hubs that it follows, the platforms that it is connected to, and for its
/// agents in the networks that they are in.
async fn connect(check: &Check) -> (Elsewhere, Outcome) {
    let (servers, of_servers) = servers::connect(&check.place.dir, check.json).await;
    let (hubs, of_hubs) = hubs::connect(&check.place.dir, check.json).await;
    let (connectors, of_connectors) = connectors::connect(&check.place.dir, check.json).await;
    let (networks, of_networks) = connectors::networks(&check.place.dir, check.json).await;
    let outcome = both(both(of_servers, of_hubs), both(of_connectors, of_networks));
    (Elsewhere { servers, hubs, connectors, networks }, outcome)
}

/// Two outcomes as one. Of two failures the first is told at once.
fn both(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Err(one), Err(other)) => {
            one.report();
            Err(other)
        }
        (one, other) => one.and(other),
    }
}

async fn find(check: &Check) -> Result<CheckReport, Failure> {
    let deployment = super::load(&check.place)?;
    let listen = deployment.listen();
    let (data, file) = (deployment.data_folder().to_path_buf(), deployment.folder().join(FILE));
    let mut problems = inspect::inspect(&deployment);
    let doubts = [deployment.node_notice(), deployment.proxy_notice()];
    doubts.iter().flatten().for_each(|notice| stderrln!("warning: {notice}"));
    let (oversights, code) = (deployment.oversights(), deployment.code_problems().await);
    let moved_keys = deployment.moved_keys();
    let EnvironmentNotices { overrides, secrets } = deployment.environment_notices();
    overrides.iter().for_each(|key| stderrln!("from the environment: {}", printable::line(key, NOTICE_CHARS_MAX)));
    secrets.iter().for_each(|notice| stderrln!("warning: {}", printable::line(notice, NOTICE_CHARS_MAX)));
    let built = problems.absorb(deployment.build());
    problems.extend(oversights);
    problems.extend(code);
    let tests = TestFiles::read(&check.place.dir, &StandInEnvironment::new(), None);
    problems.absorb(tests.map(drop));
    moved(&moved_keys(), check.fix)?;
    let Some(house) = built else { return Err(problems.into()) };
    // `serve` leaves broken endpoints out and starts; a check tells them as problems.
    problems.extend(house.refused_endpoints().clone());
    problems.extend(house.content_problems());
    problems.extend(house.content_errors());
    house.content_notices().iter().for_each(|notice| stderrln!("note: {}", printable::line(notice, NOTICE_CHARS_MAX)));
    house.word_notices().iter().for_each(|notice| stderrln!("warning: {}", printable::line(notice, NOTICE_CHARS_MAX)));
    house.rule_doubts().iter().for_each(|doubt| stderrln!("warning: {doubt}"));
    house.wire_doubts().iter().for_each(|doubt| stderrln!("warning: {}", printable::line(doubt, NOTICE_CHARS_MAX)));
    let endpoints = house.endpoints().clone();
    let doubtful = house.endpoint_notices().to_vec();
    let rules = house.rules().iter().cloned().collect();
    let stop = CancellationToken::new();
    let started = Running::start(house, Storage::Looking(data), stop.clone()).await;
    // Only what is refused at the start matters; nothing is to run on.
    stop.cancel();
    let Some(running) = problems.absorb(started.map_err(|error| error.into_problems(&file))) else {
        return Err(problems.into());
    };
    problems.absorb(tests_of(&check.place.dir, &running));
    let notices = running.identity_notices();
    problems.extend(identities::refused(&notices));
    identities::doubtful(&notices).for_each(|notice| stderrln!("warning: {notice}"));
    doubtful.iter().for_each(|notice| stderrln!("warning: {notice}"));
    Ok(problems.into_result(CheckReport { running, rules, endpoints, listen })?)
}

/// The tests of a deployment, whose agents are known. What is wrong with them on its own was told before.
fn tests_of(dir: &Path, running: &Running) -> Result<(), Problems> {
    let host = running.host();
    let agents: Vec<String> =
        host.directory().iter().map(|resident| resident.card.handle().as_str().to_owned()).collect();
    TestFiles::read(dir, &StandInEnvironment::new(), Some(&agents)).map(drop)
}

/// Tells which keys have their old names; with `fix`, gives them the new ones.
fn moved(moved: &[KeyMove], fix: bool) -> Outcome {
    if !fix {
        moved.iter().for_each(|key| stderrln!("warning: {key}"));
        return Ok(());
    }
    for of_file in moved.chunk_by(|one, next| one.file() == next.file()) {
        let Some(file) = of_file.first().map(KeyMove::file) else { continue };
        let wrong = |reason: String| Failure::yours(format!("{}: {reason}", file.display()));
        let text = files::text_of(file).map_err(|problem| wrong(problem.message().to_owned()))?;
        let rewritten = rewrite(&text, of_file).map_err(wrong)?;
        replace(file, &rewritten).map_err(|error| wrong(error.to_string()))?;
        stderrln!("rewrote {} of {}", counted(of_file.len() as u64, "key"), file.display());
    }
    Ok(())
}

/// Puts a text in the place of a file in one step, so that a crash leaves the old one or the new one.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let beside = file.with_extension("toml.new");
    std::fs::write(&beside, text)?;
    // The settings may hold secrets: the new file is as closed as the old one.
    std::fs::set_permissions(&beside, std::fs::metadata(file)?.permissions())?;
    std::fs::rename(&beside, file)
}

fn show(check: &Check, report: CheckReport, elsewhere: &Elsewhere) -> Outcome {
    let CheckReport { running, rules, endpoints, listen } = report;
    let host = running.host();
    let hubs = reach::for_programs(host.site(), &host.directory().default_agent().card, listen);
    let cards: Vec<_> = host.directory().iter().map(|resident| resident.card.clone()).collect();
    let all: Vec<_> = endpoints.registry.iter().map(|registered| &registered.endpoint).collect();
    if check.json {
        return print_json(&json!({
            "domain": host.site().domain,
            "origin": host.site().base,
            "for_programs": hubs,
            "agents": cards,
            "rules": rules,
            "endpoints": all.iter().map(|endpoint| endpoint.projection()).collect::<Vec<_>>(),
            "servers": elsewhere.servers,
            "hubs": elsewhere.hubs,
            "connectors": elsewhere.connectors,
            "networks": elsewhere.networks,
            "semantic_types": if check.explain { explained(&endpoints) } else { Value::Null },
        }));
    }
    let count = if all.is_empty() { String::new() } else { format!(", {}", counted(all.len() as u64, "endpoint")) };
    stdoutln!("{} is fine: {}{count}", check.place.dir.display(), counted(cards.len() as u64, "agent"));
    hubs.iter().for_each(|hubs| stdoutln!("for programs: {hubs}"));
    for card in cards {
        stdoutln!("\n{}  {}", card.address, card.name);
        for endpoint in &card.endpoints {
            stdoutln!("  {:<12} {}", endpoint.protocol, endpoint.url);
        }
        for rule in rules.get(card.handle()).into_iter().flatten() {
            stdoutln!("  {:<12} {rule}", "rule");
        }
        if !card.via.is_empty() {
            stdoutln!("  {:<12} {}", "passed on to", printable::line(&card.via.join(", "), NOTICE_CHARS_MAX));
        }
    }
    if !all.is_empty() {
        stdoutln!();
    }
    if check.explain {
        meaning::of_host(&endpoints).iter().for_each(|(endpoint, meanings)| explain(endpoint, meanings));
    } else {
        all.iter().for_each(|endpoint| stdoutln!("{}", line(endpoint)));
    }
    Ok(())
}

/// An endpoint with what its members mean.
fn explain(endpoint: &Endpoint, EndpointMeanings { input, output }: &EndpointMeanings) {
    stdoutln!("{}", line(endpoint));
    let said = |side: &str, member: &str, meaning: &str| {
        stdoutln!("  {}", printable::line(&format!("{:<32} {meaning}", format!("{side}.{member}")), NOTICE_CHARS_MAX));
    };
    input.iter().for_each(|(member, meaning)| said("input", member, meaning));
    output.iter().for_each(|(member, meaning)| said("output", member, meaning));
}

fn explained(endpoints: &Dispatcher) -> Value {
    let of = |(endpoint, meanings): (Arc<Endpoint>, EndpointMeanings)| json!({"method": endpoint.method, "path": endpoint.path.as_str(), "members": meanings});
    meaning::of_host(endpoints).into_iter().map(of).collect()
}

/// An endpoint with what a caller must hold.
fn line(endpoint: &Endpoint) -> String {
    let scopes: Vec<&str> = endpoint.required_scopes.iter().map(|scope| scope.as_str()).collect();
    let line = format!("{:<10} {:<32} {}", endpoint.method.as_str(), endpoint.path.as_str(), scopes.join(", "));
    line.trim_end().to_owned()
}
