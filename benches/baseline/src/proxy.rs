//! A bare reverse proxy: every request to one place on this machine, connections kept.

use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

type Upstream = Client<HttpConnector, Incoming>;

/// Serves for the place at `port`.
///
/// # Errors
/// When the listener breaks.
pub async fn serve(listener: TcpListener, port: u16) -> anyhow::Result<()> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Upstream = Client::builder(TokioExecutor::new()).build(connector);
    let authority = format!("127.0.0.1:{port}");
    loop {
        let io = TokioIo::new(listener.accept().await?.0);
        let (client, authority) = (client.clone(), authority.clone());
        tokio::spawn(async move {
            let forward = service_fn(move |request| forward(client.clone(), authority.clone(), request));
            hyper::server::conn::http1::Builder::new().serve_connection(io, forward).await
        });
    }
}

async fn forward(
    client: Upstream,
    authority: String,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let uri = Uri::builder().scheme("http").authority(authority.as_str()).path_and_query(path).build();
    if let (Ok(uri), Ok(host)) = (uri, HeaderValue::from_str(&authority)) {
        *request.uri_mut() = uri;
        request.headers_mut().insert(HOST, host);
    }
    client.request(request).await
}
