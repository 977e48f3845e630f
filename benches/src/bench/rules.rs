//! Twenty rules before an agent, in this process: from the message to its admission.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use forecourt_core::Site;
use forecourt_core::{Domain, Handle, Message, MessageId, Part, Policy, Sender, SystemClock, Timestamp};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{Directory, Host, HostBuilder, HostedAgent};
use forecourt_rules::{BuiltRule, CountryTable, RuleContext, RuleServices, RuleSettings, rules};
use forecourt_store::Memory;
use futures::executor::block_on;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::report::spread;
use crate::run::Run;

const ROUNDS: usize = 20;
const MESSAGES: usize = 20_000;
const MESSAGES_SMOKE: usize = 200;

/// Prints the time that one admission takes.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let domain = Domain::parse("demo.localhost").map_err(|error| anyhow!("{error}"))?;
    let site = Site { base: format!("https://{domain}"), name: domain.to_string(), domain };
    let services = RuleServices::default();
    let runtime = tokio::runtime::Runtime::new()?;
    // Limits count in a host; without one they let everything pass uncounted.
    let _host = runtime.block_on(host(site.clone(), services.clone()))?;
    let (policy, card) = (Policy::new(built(&site, services)?), Arc::new(forecourt_testkit::card("bot")));
    let mut times = Vec::with_capacity(ROUNDS);
    let count = run.of(MESSAGES, MESSAGES_SMOKE);
    for _ in 0..run.rounds(ROUNDS) {
        let messages: Vec<Message> = (0..count).map(message).collect::<anyhow::Result<_>>()?;
        let begin = Instant::now();
        for message in messages {
            ensure!(block_on(policy.admit(card.clone(), message, &[])).is_ok(), "a message is admitted");
        }
        times.push(begin.elapsed().as_secs_f64() * 1e6 / count as f64);
    }
    println!("20 rules  {} µs a message", spread(&times));
    run.keep("µs a message", &times, &[])
}

/// Rules that all let the messages of this bench pass, and look at them for it.
fn built(site: &Site, services: RuleServices) -> anyhow::Result<Vec<BuiltRule>> {
    let lines: String =
        (0..60_000_u32).map(|n| format!("{}.{}.{}.0/24,FR\n", 1 + n / 65_536, n / 256 % 256, n % 256)).collect();
    let identity = json!({"kind": "require_identity", "issuers": ["login.example*"], "subjects": ["x:*"]});
    let deny =
        json!({"kind": "deny", "networks": ["198.51.100.0/24", "203.0.113.0/24"], "subjects": ["x:eve", "x:mal*"]});
    let country = json!({"kind": "deny", "countries": ["XX", "YY"]});
    let window = json!({"kind": "maintenance", "weekly": [{"days": ["sun"], "from": "02:00", "until": "02:01"}]});
    let limit = json!({"kind": "limit", "by": "address", "requests": 4_000_000_000_u32, "per": "1s"});
    let list: Vec<Value> = [identity, deny, country, window, limit].into_iter().cycle().take(20).collect();
    let settings: Vec<RuleSettings> = serde_json::from_value(Value::Array(list))?;
    let context = RuleContext {
        sign_in: None,
        site,
        agent: &bot()?,
        scope: "@bot".to_owned(),
        services,
        countries: Some(Arc::new(CountryTable::parse(&lines)?)),
        offers: &[],
        guards: forecourt_rules::GuardServices::default(),
        clock: Arc::new(SystemClock),
    };
    rules(&settings, &context).map_err(|problems| anyhow!("{problems:?}"))
}

async fn host(site: Site, services: RuleServices) -> anyhow::Result<Arc<Host>> {
    let agent = forecourt_testkit::ScriptedAgent::saying(["hi"]);
    let card = Arc::new(forecourt_testkit::card("bot"));
    let resident = HostedAgent::new(card, agent, Policy::new(Vec::new()), Duration::from_secs(1));
    let directory = Directory::new(vec![resident], &bot()?).map_err(|error| anyhow!("{error}"))?;
    let egress = Arc::new(Egress::builder(EgressConfig::default()).build()?);
    let mut builder = HostBuilder::new(site, directory, Arc::new(Memory::new()), egress);
    builder.rules = services;
    builder.start(CancellationToken::new()).await.map_err(|error| anyhow!("{error}"))
}

fn bot() -> anyhow::Result<Handle> {
    Handle::parse("bot").map_err(|error| anyhow!("{error}"))
}

fn message(n: usize) -> anyhow::Result<Message> {
    let evidence = serde_json::from_value(json!({
        "subject": "x:ada", "issuer": "login.example", "method": "urn:x", "assurance": "oauth",
        "audience": "@bot@demo.localhost", "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "bearer-token"},
    }))?;
    let peer = std::net::Ipv4Addr::from_bits(0x0101_0101 + u32::try_from(n)?);
    let sender = Sender { verified: true, identities: vec![evidence], peer: Some(peer.into()), ..Sender::anonymous() };
    let id = MessageId::parse("m1").ok_or_else(|| anyhow!("an id"))?;
    Ok(Message { sender, ..Message::new(id, bot()?, vec![Part::text("hi")], "bench", Timestamp::UNIX_EPOCH) })
}
