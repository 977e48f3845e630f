//! Small honest servers that do the same work with nothing around it.

mod agtp;

pub(crate) use agtp::ANSWER;

use std::convert::Infallible;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use bench_baseline::ask;
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
            "rest" => axum::serve(listener, bench_baseline::rest::router()).await?,
            "sse" => axum::serve(listener, Router::new().route("/{agent}", get(ticks))).await?,
            "a2a" => axum::serve(listener, bench_baseline::a2a::router(port)).await?,
            "agtp" => agtp::serve(listener, folder.context("it answers what a file says")?, true).await?,
            "agtp-plain" => agtp::serve(listener, folder.context("it answers what a file says")?, false).await?,
            "ask" => axum::serve(listener, ask::router(folder.context("answers come from a folder")?)?).await?,
            "proxy" => bench_baseline::proxy::serve(listener, to.context("a proxy is in front of something")?).await?,
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
