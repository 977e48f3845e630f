//! Paths over HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use forecourt_backends::echo::Echo;
use forecourt_server::{
    AllowedHosts, FrontSettings, HttpLimits, Listener, ListenerContext, Metrics, Route, RouteClasses, TrustedProxies,
};
use forecourt_surface::Protocol;
use forecourt_testhost::{Blueprint, ServerBlueprint, resident};
use forecourt_testkit::card;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::{Question, WORDS};

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What a path is asked at a port.
type Ask = fn(port: u16) -> String;

/// Serves a baseline.
pub(super) async fn axum(router: Router, ask: Ask) -> anyhow::Result<Question> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(question(address, ask))
}

/// Serves a bare proxy before a server.
pub(super) async fn proxy(server: SocketAddr, ask: Ask) -> anyhow::Result<Question> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    let address = listener.local_addr()?;
    tokio::spawn(bench_baseline::proxy::serve(listener, server.port()));
    Ok(question(address, ask))
}

/// A server of MCP on a thread of its own, where nothing is counted.
pub(super) fn elsewhere() -> anyhow::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(ANYWHERE)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async { axum::serve(TcpListener::from_std(listener)?, bench_baseline::mcp::router()).await })
    });
    Ok(address)
}

/// Serves one protocol of ours with all that stands in front of it, as the daemon puts it together, and `server` behind
/// it.
pub(super) async fn ours(
    protocol: &'static Protocol,
    path: &'static str,
    server: Option<SocketAddr>,
    ask: Ask,
) -> anyhow::Result<Question> {
    let echo = resident(card("echo"), Arc::new(Echo), Vec::new());
    let mut mounted = Blueprint { residents: vec![echo], ..Blueprint::default() }.start(Some(protocol)).await;
    mounted.servers.extend(server.map(|address| ServerBlueprint {
        name: "far".to_owned(),
        // Its tools are called here as they are there, so that a proxy is asked the same.
        section: format!("url = \"http://{address}/mcp\"\nprefix = \"\"\n"),
        rules: Vec::new(),
    }));
    let router = mounted.router(protocol).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let listener = Listener::plain(ANYWHERE).await?;
    let address = listener.address();
    let metrics = Arc::new(Metrics::default());
    let name = "demo.localhost";
    let hosts = AllowedHosts::new([name], true).labelled([(name.to_owned(), metrics.domain(name))]);
    let front = ListenerContext::new(FrontSettings {
        hosts: hosts.naming_plain_origins(),
        proxies: TrustedProxies::default(),
        limits: HttpLimits::default(),
        metrics,
        classes: RouteClasses::new([(protocol.name, path)]),
        entropy: mounted.entropy.clone(),
        hsts: None,
        leaving: Default::default(),
    });
    tokio::spawn(async move {
        let _held_until_the_end = mounted;
        listener.serve(front, Daemon(router), CancellationToken::new()).await;
    });
    Ok(question(address, ask))
}

/// Answers as the daemon's shared listeners do: smaller for clients that can read that.
struct Daemon(Router);

impl Route for Daemon {
    fn route(&self, _: &mut Request<Body>) -> Result<Router, Box<Response<Body>>> {
        Ok(self.0.clone())
    }

    fn compresses(&self) -> bool {
        true
    }
}

fn question(address: SocketAddr, ask: Ask) -> Question {
    Question { address, request: ask(address.port()), expects: WORDS.to_owned() }
}

/// `GET` of markdown.
pub(super) fn rest(port: u16) -> String {
    format!(
        "GET /~echo?user={} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nAccept: text/markdown, text/html;q=0.5\r\n\
         User-Agent: bench\r\n\r\n",
        WORDS.replace(' ', "%20")
    )
}

/// `SendMessage` of 1.0.
pub(super) fn a2a(port: u16) -> String {
    let body = json!({
        "jsonrpc": "2.0",
        "id": "7c0ffee0-0000-4000-8000-000000000001",
        "method": "SendMessage",
        "params": {
            "message": {
                // As clients name them: a message that may be one that is sent again.
                "messageId": "9b2f0e1c-8e57-4b6c-9f0e-3f8f5a1f2c11",
                "role": "ROLE_USER",
                "parts": [{"text": WORDS}],
            },
        },
    });
    post(port, "/a2a/echo", "A2A-Version: 1.0\r\n", &body.to_string())
}

/// `tools/call` of 2026-07-28: a tool of ours.
pub(super) fn mcp(port: u16) -> String {
    tools_call(port, "/mcp/echo", "ask_echo")
}

/// The same: a tool of the server, at the path that it has on its own too.
pub(super) fn server(port: u16) -> String {
    tools_call(port, "/mcp", bench_baseline::mcp::TOOL)
}

fn tools_call(port: u16, path: &str, tool: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    });
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {"message": WORDS}, "_meta": meta},
    });
    let head = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    post(port, path, &head, &body.to_string())
}

fn post(port: u16, path: &str, head: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{head}User-Agent: bench\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
