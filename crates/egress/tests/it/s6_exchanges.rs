//! Security sheet, section 6, steps 4 to 7: connections, redirects and hostile servers.

use std::sync::Arc;
use std::time::Duration;

use forecourt_egress::limits::{
    AT_ONCE_PER_HOST_MAX, ATTACHMENT_REDIRECTS_MAX, DOCUMENT_BYTES_MAX, HEAD_BYTES_MAX, HEAD_FIELDS_MAX,
};
use forecourt_egress::{Deadlines, Egress, EgressConfig, EgressError, Purpose, Refusal, UpstreamRequest};
use forecourt_testkit::vectors;
use http::HeaderMap;
use serde_json::Value;

use crate::support::{Act, Answer, OPENED, Prepared, Server};

const NAME: &str = "public.example";

fn resolver() -> Arc<Prepared> {
    Arc::new(Prepared::default().with_opened(NAME))
}

fn ok(body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Act::text(format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}"))]
}

fn redirect(status: &str, location: &str) -> Vec<Act> {
    vec![Act::text(format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"))]
}

fn head_then(head: &str, act: Act) -> Vec<Act> {
    vec![Act::text(format!("HTTP/1.1 200 OK\r\n{head}\r\n")), act]
}

/// Short enough for a test, long enough for a busy machine.
fn short() -> Deadlines {
    let base = Purpose::Attachment.deadlines(&EgressConfig::default());
    Deadlines { first_byte: Duration::from_millis(700), total: Duration::from_millis(900), ..base }
}

async fn fetch(server: &Server, resolver: Arc<Prepared>, deadlines: Option<Deadlines>) -> Result<String, EgressError> {
    let request =
        UpstreamRequest { deadlines, ..UpstreamRequest::get(format!("https://{NAME}:{}/start", server.port())) };
    let fetched = server.client(resolver).fetch(Purpose::Attachment, request).await?;
    Ok(String::from_utf8_lossy(&fetched.bytes).into_owned())
}

#[tokio::test]
async fn a_document_arrives_with_its_declared_type_and_nothing_of_ours_leaves() {
    let body = "<html>not a picture</html>";
    let png = format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = Server::tls(NAME, vec![vec![Act::text(png)]]).await;
    let url = format!("https://{NAME}:{}/a.png#part", server.port());
    let fetched = server.client(resolver()).get(Purpose::Attachment, &url).await.unwrap();
    assert_eq!((fetched.mime.as_str(), fetched.bytes.as_ref()), ("image/png", body.as_bytes()));
    let seen = server.seen().join("").to_ascii_lowercase();
    assert!(seen.starts_with("get /a.png http/1.1\r\n"), "{seen}");
    assert!(seen.contains("accept-encoding: identity\r\n") && seen.contains("user-agent: forecourt/"), "{seen}");
    for field in ["cookie:", "referer:", "authorization:", "#part"] {
        assert!(!seen.contains(field), "{seen}");
    }
}

#[tokio::test]
async fn only_a_platform_is_told_another_name_of_the_client() {
    for (purpose, told) in
        [(Purpose::Platform, "user-agent: bot (x)\r\n"), (Purpose::Attachment, "user-agent: forecourt/")]
    {
        let server = Server::tls(NAME, vec![ok("here")]).await;
        let request = UpstreamRequest::get(format!("https://{NAME}:{}/", server.port()));
        let request = request.header(http::header::USER_AGENT, http::HeaderValue::from_static("bot (x)"));
        server.client(resolver()).fetch(purpose, request).await.unwrap();
        let seen = server.seen().join("").to_ascii_lowercase();
        assert!(seen.contains(told), "{seen}");
    }
}

#[tokio::test]
async fn the_checked_address_is_dialled_and_the_name_is_looked_up_once() {
    let server = Server::tls(NAME, vec![ok("here")]).await;
    let second = Answer::Addresses(vec!["127.0.0.1".parse().unwrap()]);
    let resolver = Arc::new(Prepared::default().with(NAME, [Answer::Addresses(vec![OPENED]), second]));
    assert_eq!(fetch(&server, resolver.clone(), None).await.unwrap(), "here");
    assert_eq!(resolver.count(), 1);
}

#[tokio::test]
async fn a_certificate_of_another_name_or_of_an_unknown_authority_is_no_answer() {
    let other = Server::tls("other.example", vec![ok("secret")]).await;
    assert!(matches!(fetch(&other, resolver(), None).await, Err(EgressError::Unconnected(_))));
    let server = Server::tls(NAME, vec![ok("secret")]).await;
    let client = Egress::builder(crate::support::opened()).resolver(resolver()).build().unwrap();
    let url = format!("https://{NAME}:{}/", server.port());
    assert!(matches!(client.get(Purpose::Attachment, &url).await, Err(EgressError::Unconnected(_))));
    assert!(other.seen().is_empty() && server.seen().is_empty());
}

#[tokio::test]
async fn redirects_do_as_the_vectors_say() {
    let Some(bytes) = vectors("ssrf/redirects.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        redirect_case(&case).await;
    }
}

async fn redirect_case(case: &Value) {
    // The server does not know its port before it is bound, so a redirect to itself is relative.
    let mut scripts: Vec<Vec<Act>> = Vec::new();
    for step in case["chain"].as_array().unwrap() {
        let (status, place) = step.as_str().unwrap().split_once(' ').unwrap();
        scripts.push(match place.strip_prefix("Refresh:") {
            Some(refresh) => head_then(&format!("Content-Length: 2\r\nRefresh: {refresh}\r\n"), Act::text("hi")),
            None if case["id"] == "redir-att-loop" => redirect(status, "/again"),
            None => redirect(status, place),
        });
    }
    let follows = case["expect"] == "follow_and_recheck";
    scripts.extend(follows.then(|| ok("followed")));
    let length = scripts.len();
    let server = Server::tls(NAME, scripts).await;
    let mut resolver = Prepared::default().with_opened(NAME);
    for (name, addresses) in case["dns"].as_object().into_iter().flatten() {
        let addresses = addresses.as_array().unwrap().iter().map(|a| a.as_str().unwrap().parse().unwrap()).collect();
        resolver = resolver.with(name, [Answer::Addresses(addresses)]);
    }
    let resolver = Arc::new(resolver);
    let url = format!("https://{NAME}:{}/start", server.port());
    let client = server.client(resolver.clone());
    match case["expect"].as_str().unwrap() {
        "no_follow_delivery_failed" => {
            let purpose = if case["surface"] == "webhook" { Purpose::Webhook } else { Purpose::Callback };
            let delivered = client.post(purpose, &url, HeaderMap::new(), "{}".into()).await.unwrap();
            assert!(!delivered.is_success() && server.seen().len() == 1, "{case}");
        }
        "block" => {
            let found = client.get(Purpose::Attachment, &url).await;
            assert!(matches!(found, Err(EgressError::Refused(_))), "{case}: {found:?}");
            assert!(server.seen().len() <= ATTACHMENT_REDIRECTS_MAX + 1, "{case}");
        }
        "no_follow" => assert_eq!(client.get(Purpose::Attachment, &url).await.unwrap().bytes, "hi", "{case}"),
        "follow_and_recheck" => {
            assert_eq!(client.get(Purpose::Attachment, &url).await.unwrap().bytes, "followed", "{case}");
            assert_eq!((server.seen().len(), resolver.count()), (length, length), "{case}");
        }
        other => panic!("unknown expectation {other}"),
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_a_fourth_is_not() {
    for (count, fits) in [(ATTACHMENT_REDIRECTS_MAX, true), (ATTACHMENT_REDIRECTS_MAX + 1, false)] {
        let mut scripts = vec![redirect("302", "/next"); count];
        scripts.push(ok("end"));
        let server = Server::tls(NAME, scripts).await;
        let found = fetch(&server, resolver(), None).await;
        assert_eq!(found.is_ok(), fits, "{count}: {found:?}");
    }
}

#[tokio::test]
async fn nothing_meant_for_the_first_server_goes_behind_a_redirect() {
    let server = Server::tls(NAME, vec![redirect("307", "/next"), ok("end")]).await;
    let request = UpstreamRequest::get(format!("https://{NAME}:{}/", server.port()))
        .header(http::header::AUTHORIZATION, "Bearer secret".parse().unwrap())
        .header(http::header::ACCEPT, "image/*".parse().unwrap());
    server.client(resolver()).fetch(Purpose::Attachment, request).await.unwrap();
    let seen = server.seen();
    assert!(seen[0].contains("Bearer secret") && !seen[1].contains("Bearer"), "{seen:?}");
    assert!(seen[1].contains("image/*"), "{seen:?}");
}

#[tokio::test]
async fn documents_and_webfinger_follow_as_few_redirects_as_they_should() {
    for (purpose, redirects, fits) in
        [(Purpose::Document, 1, false), (Purpose::WebFinger, 1, true), (Purpose::WebFinger, 2, false)]
    {
        let mut scripts = vec![redirect("302", "/next"); redirects];
        scripts.push(ok("{}"));
        let server = Server::tls(NAME, scripts).await;
        let url = format!("https://{NAME}:{}/", server.port());
        let found = server.client(resolver()).get(purpose, &url).await;
        assert_eq!(found.is_ok(), fits, "{purpose:?} {redirects}: {found:?}");
    }
}

#[tokio::test]
async fn hostile_bodies_are_cut() {
    let pause = Duration::from_millis(5);
    let big = vec![b'x'; 64 * 1024];
    let chunk = [format!("{:x}\r\n", big.len()).into_bytes(), big.clone(), b"\r\n".to_vec()].concat();
    let hostile = [
        ("infinite", head_then("Transfer-Encoding: chunked\r\n", Act::Forever(chunk, Duration::ZERO))),
        ("slow drip", head_then("Transfer-Encoding: chunked\r\n", Act::Forever(b"1\r\nx\r\n".to_vec(), pause))),
        ("huge declared", head_then("Content-Length: 99999999999\r\n", Act::Hang)),
        ("gzip", head_then("Content-Encoding: gzip\r\nContent-Length: 2\r\n", Act::text("hi"))),
        ("nested", head_then("Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n", Act::text("hi"))),
        ("brotli", head_then("Content-Encoding: br\r\nContent-Length: 2\r\n", Act::text("hi"))),
        ("huge head", vec![Act::text(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1024 * 1024)))]),
        ("103 flood", vec![Act::Forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec(), pause)]),
        ("no head", vec![Act::Hang]),
        ("breaks off", head_then("Content-Length: 10\r\n", Act::text("hi"))),
        ("not http", vec![Act::text("SSH-2.0-OpenSSH\r\n")]),
    ];
    for (name, script) in hostile {
        let server = Server::tls(NAME, vec![script]).await;
        let found = fetch(&server, resolver(), Some(short())).await;
        assert!(found.is_err(), "{name}: {} bytes", found.unwrap_or_default().len());
        assert_eq!(found.unwrap_err().to_string(), "that URL can't be reached from here", "{name}");
    }
}

#[tokio::test]
async fn a_length_that_lies_ends_the_body_where_it_says() {
    let more = "x".repeat(10 * 1024 * 1024);
    let server = Server::tls(NAME, vec![head_then("Content-Length: 10\r\n", Act::text(more))]).await;
    assert_eq!(fetch(&server, resolver(), None).await.unwrap().len(), 10);
}

#[tokio::test]
async fn a_body_with_two_framings_is_refused_or_chunked() {
    let head = "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n";
    let server = Server::tls(NAME, vec![head_then(head, Act::text("2\r\nhi\r\n0\r\n\r\n"))]).await;
    if let Ok(body) = fetch(&server, resolver(), None).await {
        assert_eq!(body, "hi");
    }
}

#[tokio::test]
async fn cookies_are_forgotten_and_challenges_not_met() {
    let first = "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n";
    let second = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n";
    let server = Server::tls(NAME, vec![vec![Act::text(first)], vec![Act::text(second)]]).await;
    let client = server.client(resolver());
    let url = format!("https://{NAME}:{}/", server.port());
    assert!(client.get(Purpose::Document, &url).await.is_ok());
    let found = client.get(Purpose::Document, &url).await;
    assert!(matches!(found, Err(EgressError::Status(status)) if status == 401), "{found:?}");
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|request| !request.to_ascii_lowercase().contains("cookie")), "{seen:?}");
}

#[tokio::test]
async fn bodies_and_heads_are_taken_up_to_their_bounds() {
    for (length, fits) in [(DOCUMENT_BYTES_MAX, true), (DOCUMENT_BYTES_MAX + 1, false)] {
        let server = Server::tls(NAME, vec![ok(&"x".repeat(length))]).await;
        let url = format!("https://{NAME}:{}/", server.port());
        let found = server.client(resolver()).get(Purpose::Document, &url).await;
        assert_eq!(found.is_ok(), fits, "{length}");
    }
    let framing = "content-length".len() + "2".len() + 4 + "x".len() + 4;
    for (length, fits) in [(HEAD_BYTES_MAX - framing, true), (HEAD_BYTES_MAX - framing + 1, false)] {
        let head = format!("Content-Length: 2\r\nX: {}\r\n", "x".repeat(length));
        let server = Server::tls(NAME, vec![head_then(&head, Act::text("hi"))]).await;
        let found = fetch(&server, resolver(), None).await;
        assert_eq!(found.is_ok(), fits, "{length}");
    }
}

#[tokio::test]
async fn a_head_has_at_most_a_hundred_fields() {
    for (count, fits) in [(HEAD_FIELDS_MAX, true), (HEAD_FIELDS_MAX + 1, false)] {
        let head = format!("Content-Length: 2\r\n{}", "X: y\r\n".repeat(count - 1));
        let server = Server::tls(NAME, vec![head_then(&head, Act::text("hi"))]).await;
        let found = fetch(&server, resolver(), None).await;
        assert_eq!(found.is_ok(), fits, "{count}: {found:?}");
    }
}

#[tokio::test]
async fn a_closed_port_and_a_refused_address_sound_the_same() {
    let server = Server::tls(NAME, vec![ok("x")]).await;
    let client = server.client(resolver());
    let closed = client.get(Purpose::Attachment, &format!("https://{NAME}:1/")).await.unwrap_err();
    let refused = client.get(Purpose::Attachment, "https://10.0.0.1/").await.unwrap_err();
    assert_eq!(closed.to_string(), refused.to_string());
    assert_ne!(closed.log_reason(), refused.log_reason());
}

#[tokio::test]
async fn a_delivery_is_settled_by_its_head_however_much_follows() {
    let endless = head_then("Transfer-Encoding: chunked\r\n", Act::Forever(b"1\r\nx\r\n".to_vec(), Duration::ZERO));
    let huge = head_then("Content-Length: 99999999999\r\n", Act::Hang);
    for script in [endless, huge] {
        let server = Server::tls(NAME, vec![script]).await;
        let url = format!("https://{NAME}:{}/hook", server.port());
        let delivered = server.client(resolver()).post(Purpose::Webhook, &url, HeaderMap::new(), "body".into()).await;
        assert!(delivered.unwrap().is_success());
        assert!(server.seen()[0].starts_with("POST /hook HTTP/1.1\r\n") && server.seen()[0].ends_with("body"));
    }
}

#[tokio::test]
async fn one_host_is_called_four_times_at_once_and_gives_turns_back() {
    let server = Server::tls(NAME, vec![head_then("Content-Length: 2\r\n", Act::Hang)]).await;
    let client = server.client(resolver());
    let url = format!("https://{NAME}:{}/", server.port());
    let mut held = Vec::new();
    for _ in 0..AT_ONCE_PER_HOST_MAX {
        held.push(client.send(Purpose::RemoteAgent, UpstreamRequest::get(url.as_str())).await.unwrap());
    }
    let fifth = UpstreamRequest::get(url.as_str()).within(short());
    assert!(matches!(client.send(Purpose::RemoteAgent, fifth).await, Err(EgressError::Busy)));
    held.pop();
    assert!(client.send(Purpose::RemoteAgent, UpstreamRequest::get(url.as_str())).await.is_ok());
}

#[tokio::test]
async fn a_backend_streams_over_plain_http_without_being_opened() {
    let server = Server::plain(vec![ok("data: 1\n\n")]).await;
    let client = Egress::builder(EgressConfig::default()).build().unwrap();
    let request = UpstreamRequest::post(format!("http://{}/v1/chat", server.address), "{}");
    let answer = client.send_upstream(request).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body.collect().await.unwrap(), "data: 1\n\n");
}

#[tokio::test]
async fn a_redirect_of_a_backend_is_handed_on_and_not_followed() {
    let server = Server::plain(vec![redirect("302", "http://10.0.0.1/")]).await;
    let client = Egress::builder(EgressConfig::default()).build().unwrap();
    let answer = client.send_upstream(UpstreamRequest::get(format!("http://{}/", server.address))).await.unwrap();
    assert_eq!((answer.status.as_u16(), server.seen().len()), (302, 1));
}

#[tokio::test]
async fn a_document_of_a_plain_server_is_refused() {
    let server = Server::plain(vec![ok("{}")]).await;
    let found = server.client(resolver()).get(Purpose::Document, &format!("http://{}/", server.address)).await;
    assert!(matches!(found, Err(EgressError::Refused(Refusal::Scheme))), "{found:?}");
}
