//! `forecourt health`: whether the daemon of a deployment is well, for probes where there is no other program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use forecourt_client::serving::Serving;

use crate::args::Health;
use crate::output::{Failure, Outcome, stdoutln};

/// How long the daemon may take to answer.
const TIME_MAX: Duration = Duration::from_secs(4);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;
/// Where a daemon listens that has not said anything else.
const ADMIN_PORT: u16 = 9080;

/// Asks, and passes the answer on.
pub(crate) async fn run(health: &Health) -> Outcome {
    let written = Serving::of_data(&health.place.data_dir()).and_then(|serving| serving.admin);
    let admin = written.unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, ADMIN_PORT)));
    let path = if health.ready { "/readyz" } else { "/healthz" };
    let asked = tokio::task::spawn_blocking(move || ask(admin, path)).await;
    let away = |error: std::io::Error| {
        Failure::unreachable(format!("nobody answers at {admin}: {error}"))
            .hint("is it served? name its data folder with --data DIR if it has another one")
    };
    let (status, words) = asked.map_err(|error| Failure::ours(error.to_string()))?.map_err(away)?;
    match status {
        200 => stdoutln!("{words}"),
        _ => return Err(Failure::yours(words)),
    }
    Ok(())
}

/// The status and the text of one answer. Plain and short: the listener is this machine's own.
fn ask(admin: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&admin, TIME_MAX)?;
    stream.set_read_timeout(Some(TIME_MAX))?;
    stream.set_write_timeout(Some(TIME_MAX))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n")?;
    read(BufReader::new(stream.take(ANSWER_BYTES_MAX)))
}

fn read(mut answer: impl BufRead) -> std::io::Result<(u16, String)> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("that is no answer of a daemon"))?;
    // The headers are skipped up to the empty line.
    while line.trim_end() != "" {
        line.clear();
        if answer.read_line(&mut line)? == 0 {
            break;
        }
    }
    let mut words = String::new();
    answer.read_to_string(&mut words)?;
    Ok((status, words.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_words() {
        let answer = |text: &str| read(text.as_bytes()).ok();
        assert_eq!(answer("HTTP/1.1 200 OK\r\na: b\r\n\r\nok\n"), Some((200, "ok".to_owned())));
        assert_eq!(answer("HTTP/1.1 503 X\r\n\r\nnot ready: x\n"), Some((503, "not ready: x".to_owned())));
        assert_eq!(answer("HTTP/1.1 200 OK\r\n"), Some((200, String::new())));
        assert_eq!(answer("nonsense"), None);
        assert_eq!(answer(""), None);
    }
}
