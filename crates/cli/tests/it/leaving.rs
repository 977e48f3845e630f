//! A daemon that is told to stop: unready first, serving on for a while, then gone for whoever comes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::{Deployment, PATIENCE, Served, within};

/// Shorter than what a silent connection would be waited for otherwise (35 s), and long enough for a busy machine.
const SOON: Duration = Duration::from_secs(20);
const ECHO: &str = "GET /~echo?user=hello HTTP/1.1\r\nHost: demo.localhost\r\nAccept: text/markdown\r\n\r\n";

fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", served.http)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Everything until the daemon closes the connection; that it was cut off is the end, too.
fn to_close(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_refused(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err()
}

#[test]
fn a_daemon_that_leaves_is_unready_first_and_serves_for_as_long_as_it_says() {
    let served = Deployment::gatehouse().with("drain", "seconds = 4").serve();
    let mut kept = connect(&served);
    served.operator("/readyz").with_status(200);
    let told = Instant::now();
    served.signal(Signal::SIGTERM);
    within("it is unready", || (served.operator("/readyz").status == 503).then_some(()));
    assert!(served.operator("/readyz").text().contains("told to stop"));
    // Who was connected before, and who comes now, is served and told to come back elsewhere.
    kept.write_all(ECHO.as_bytes()).unwrap();
    let answer = to_close(&mut kept);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close\r\n"), "{answer}");
    let answer = served.curl("/~echo?user=hello", &[]).with_status(200);
    assert_eq!(answer.named("connection"), "close");
    within("its sockets are closed", || (is_refused(served.http) && is_refused(served.https)).then_some(()));
    assert!(told.elapsed() >= Duration::from_secs(4), "{:?}", told.elapsed());
    let (status, log, _) = served.ended();
    assert!(status.success() && log.contains("requests are taken for 4 s yet"), "{log}");
}

#[test]
fn alone_it_refuses_who_comes_at_once_whatever_is_still_open() {
    let served = Deployment::gatehouse().serve();
    let (mut silent, mut idle, mut half) = (connect(&served), connect(&served), connect(&served));
    idle.write_all(ECHO.as_bytes()).unwrap();
    let mut piece = [0; 4096];
    assert!(idle.read(&mut piece).unwrap() > 0);
    let (first, rest) = ECHO.split_at(40);
    half.write_all(first.as_bytes()).unwrap();
    within("the request is seen", || {
        served.operator("/metrics").text().contains("forecourt_http_arriving 1").then_some(())
    });
    let told = Instant::now();
    served.signal(Signal::SIGTERM);
    within("who connects is refused", || is_refused(served.http).then_some(()));
    assert_eq!((to_close(&mut silent), to_close(&mut idle)), (String::new(), String::new()));
    assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
    served.operator("/readyz").with_status(503);
    half.write_all(rest.as_bytes()).unwrap();
    let answer = to_close(&mut half);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close\r\n"), "{answer}");
    assert!(served.ended().0.success());
    assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
}

#[test]
fn a_request_that_stays_half_sent_keeps_the_daemon_for_seconds_and_nobody_waiting() {
    let served = Deployment::gatehouse().serve();
    let mut half = connect(&served);
    let head = "POST /~echo HTTP/1.1\r\nHost: demo.localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n";
    half.write_all(format!("{head}Content-Length: 80\r\n\r\n--x").as_bytes()).unwrap();
    within("the request is seen", || {
        served.operator("/metrics").text().contains("forecourt_http_arriving 1").then_some(())
    });
    let told = Instant::now();
    served.signal(Signal::SIGTERM);
    within("who connects is refused", || is_refused(served.http).then_some(()));
    assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
    assert!(!to_close(&mut half).starts_with("HTTP/1.1 200 "));
    assert!(served.ended().0.success());
    assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
}

#[test]
fn of_several_domains_the_one_that_serves_on_for_longest_has_its_time() {
    let deployment = Deployment::empty();
    for (name, seconds) in [("a", 0), ("b", 2)] {
        let top = format!("domain = \"{name}.localhost\"\n\n[drain]\nseconds = {seconds}\n");
        deployment.write(&format!("{name}/forecourt.toml"), &top);
        let agent = "handle = \"agent\"\nname = \"Agent\"\n\n[backend]\nkind = \"echo\"\n";
        deployment.write(&format!("{name}/agents/agent.toml"), agent);
    }
    let served = deployment.serve();
    within("both are served", || served.operator("/domains").text().contains("b.localhost").then_some(()));
    let told = Instant::now();
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success() && log.contains("requests are taken for 2 s yet"), "{log}");
    assert!(told.elapsed() >= Duration::from_secs(2), "{:?}", told.elapsed());
}
