//! Small honest servers that do the same work with nothing around it.

mod a2a;
mod agtp;
mod ask;
mod proxy;

pub(crate) use agtp::ANSWER;

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::Stream;
use tokio::net::TcpListener;

/// Serves a baseline until it is killed. A proxy needs the port that it is in front of.
pub(crate) fn serve(name: &str, to: Option<u16>, folder: Option<&std::path::Path>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        println!("listening {port}");
        match name {
            "rest" => axum::serve(listener, Router::new().route("/{agent}", get(echo))).await?,
            "sse" => axum::serve(listener, Router::new().route("/{agent}", get(ticks))).await?,
            "a2a" => axum::serve(listener, a2a::router(port)).await?,
            "agtp" => agtp::serve(listener, folder.context("it answers what a file says")?, true).await?,
            "agtp-plain" => agtp::serve(listener, folder.context("it answers what a file says")?, false).await?,
            "ask" => axum::serve(listener, ask::router(folder.context("answers come from a folder")?)?).await?,
            "proxy" => proxy::serve(listener, to.context("a proxy is in front of something")?).await?,
            "hyper" => hyper(listener).await?,
            other => anyhow::bail!("there is no baseline {other}"),
        }
        Ok(())
    })
}

/// A fixed answer to everything.
async fn hyper(listener: TcpListener) -> anyhow::Result<()> {
    use http_body_util::Full;
    use hyper::service::service_fn;
    loop {
        let io = hyper_util::rt::TokioIo::new(listener.accept().await?.0);
        tokio::spawn(async move {
            let fixed = service_fn(|_| async {
                Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from_static(b"x"))))
            });
            hyper::server::conn::http1::Builder::new().serve_connection(io, fixed).await
        });
    }
}

/// Negotiates between four types and answers what it was told, with the headers that ours has.
async fn echo(Path(agent): Path<String>, Query(query): Query<HashMap<String, String>>, headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("text/html");
    let Some(mime) = negotiate(accept) else { return StatusCode::NOT_ACCEPTABLE.into_response() };
    let text = query.get("user").cloned().unwrap_or_default();
    let handle = agent.trim_start_matches('~');
    let named = [
        ("content-type", mime),
        ("content-language", "en"),
        ("cache-control", "private, max-age=0"),
        ("x-robots-tag", "noindex, nofollow, noarchive"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("vary", "Accept, Accept-Language"),
    ];
    ([("x-mentionable-agent", format!("@{handle}@demo.localhost"))], named, text).into_response()
}

fn negotiate(accept: &str) -> Option<&'static str> {
    const OFFERS: [(&str, &str); 4] = [
        ("text/html", "text/html; charset=utf-8"),
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ];
    let mut best: Option<(f32, &str)> = None;
    for range in accept.split(',') {
        let mut pieces = range.split(';').map(str::trim);
        let wanted = pieces.next().unwrap_or_default();
        let quality = pieces.find_map(|p| p.strip_prefix("q=")).and_then(|q| q.parse().ok()).unwrap_or(1.0);
        let fits = |offer: &str| wanted == "*/*" || wanted == offer;
        if let Some((_, mime)) = OFFERS.iter().find(|(offer, _)| fits(offer))
            && best.is_none_or(|(other, _)| quality > other)
        {
            best = Some((quality, mime));
        }
    }
    best.filter(|(quality, _)| *quality > 0.0).map(|(_, mime)| mime)
}

/// A stream of fragments, a timer each.
async fn ticks() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    Sse::new(async_stream::stream! {
        let mut timer = tokio::time::interval(Duration::from_millis(20));
        for n in 1_u32.. {
            timer.tick().await;
            yield Ok(Event::default().data(format!("tick {n}")));
        }
    })
}
