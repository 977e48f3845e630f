//! Paths over AGTP without TLS, whose cost is the library's and not ours.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use forecourt_agtp::PROTOCOL;
use forecourt_backends::echo::Echo;
use forecourt_server::{Metrics, StreamListener, StreamSettings};
use forecourt_surface::Surface;
use forecourt_testhost::{Blueprint, resident};
use forecourt_testkit::card;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Question, WORDS};

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Connections open at once: one is used.
const CONNECTIONS_MAX: usize = 8;
/// What the text server answers: as many bytes as ours does.
const ANSWER: &str = "AGTP/1.0 200 OK\r\nContent-Type: application/vnd.agtp+json\r\nTask-ID: task-1\r\n\
    Request-ID: 0197a1b2-0000-7000-8000-000000000001\r\nServer-ID: demo.localhost\r\nContent-Length: 60\r\n\r\n\
    {\"status\":200,\"result\":{\"text\":\"hello from the other side\"}}\r\n";

/// Serves the text server.
pub(super) async fn text() -> anyhow::Result<Question> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        bench_baseline::text::answers(stream, ANSWER.as_bytes()).await
    });
    Ok(question(address, &"0".repeat(64)))
}

/// Serves ours.
pub(super) async fn ours() -> anyhow::Result<Question> {
    let echo = resident(card("echo"), Arc::new(Echo), Vec::new());
    let section = "plaintext = \"127.0.0.1:1\"\n".to_owned();
    let mounted = Blueprint { residents: vec![echo], section, ..Blueprint::default() }.start(Some(&PROTOCOL)).await;
    let wrong = |problems| anyhow::anyhow!("{problems:?}");
    let surfaces = mounted.open(&PROTOCOL).map_err(wrong)?.surfaces(&mounted.mount).map_err(wrong)?;
    let speak = surfaces.into_iter().find_map(|surface| match surface {
        Surface::Stream { speak, .. } => Some(speak),
        Surface::Http(_) | Surface::OwnHttp { .. } | Surface::Background(_) => None,
    });
    let speak = speak.context("AGTP is spoken on a stream")?;
    // The caller is the agent itself: known here by the identity that the host made for it.
    let id = mounted.mount.agents.hosted().first().context("the agent has an identity")?.agent_id.to_string();
    let listener = StreamListener::plain(ANYWHERE).await?;
    let address = listener.address();
    let settings = StreamSettings {
        connections_max: CONNECTIONS_MAX,
        connections_per_address_max: CONNECTIONS_MAX,
        handshake_time: Duration::from_secs(10),
        drain_time: Duration::from_secs(1),
        metrics: Arc::new(Metrics::default()),
        protocol: PROTOCOL.name,
        entropy: mounted.entropy.clone(),
    };
    tokio::spawn(async move {
        let _held_until_the_end = mounted;
        listener.serve(settings, speak, CancellationToken::new()).await;
    });
    Ok(question(address, &id))
}

fn question(address: SocketAddr, agent_id: &str) -> Question {
    let body = format!("{{\"intent\":\"{WORDS}\"}}");
    let request = format!(
        "AGTP/1.0 QUERY /\r\nAgent-ID: {agent_id}\r\nTask-ID: task-1\r\n\
         Request-ID: 0197a1b2-0000-7000-8000-000000000001\r\nContent-Type: application/vnd.agtp+json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    Question { address, request, expects: WORDS.to_owned() }
}
