use std::sync::Mutex;

use forecourt_agtp_wire::message::{Message, StatusLine};
use tokio::io::{DuplexStream, duplex};
use tokio::task::JoinHandle;

use super::*;

const PATIENCE: Patience = Patience {
    head: Duration::from_secs(10),
    body: Duration::from_secs(30),
    idle: Duration::from_secs(60),
    write: Duration::from_secs(5),
};

/// Bytes of a large answer: many times what any buffer on its way holds.
const LARGE: usize = 700 * 1024;

/// Answers every request with its path, `/slow` after a minute, `/large` with many bytes.
#[derive(Default)]
struct Paths {
    served: Mutex<Vec<String>>,
}

impl Answer for Paths {
    async fn answer(&self, request: Request) -> Response {
        if request.start.path() == "/slow" {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        self.served.lock().unwrap().push(request.start.path().to_owned());
        let body = if request.start.path() == "/large" { "x".repeat(LARGE) } else { request.start.path().to_owned() };
        Response { body: body.into(), ..Message::new(StatusLine::new(200, "OK")) }
    }

    async fn refuse(&self, refused: ConnectionError) -> Response {
        match refused {
            ConnectionError::Malformed(fault) => {
                Response { body: fault.code().into(), ..Message::new(StatusLine::new(400, "Bad Request")) }
            }
            ConnectionError::Late => Message::new(StatusLine::new(408, "Timeout")),
            ConnectionError::Cut => Message::new(StatusLine::new(400, "Bad Request")),
        }
    }
}

struct Client {
    stream: DuplexStream,
    stop: CancellationToken,
    done: JoinHandle<Vec<String>>,
}

fn connect(buffer: usize) -> Client {
    let (stream, other) = duplex(buffer);
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let done = tokio::spawn(async move {
        let paths = Paths::default();
        speak(other, &paths, Bounds::default(), PATIENCE, stopped).await;
        paths.served.into_inner().unwrap()
    });
    Client { stream, stop, done }
}

impl Client {
    async fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Codes and bodies of the next `count` answers.
    async fn hear(&mut self, count: usize) -> Vec<(u16, String)> {
        let (mut decoder, mut bytes, mut heard) =
            (Decoder::<StatusLine>::new(Bounds::default()), BytesMut::new(), vec![]);
        while heard.len() < count {
            match decoder.decode(&mut bytes).unwrap() {
                Some(answer) => heard.push((answer.start.code, String::from_utf8(answer.body.to_vec()).unwrap())),
                None => assert!(self.stream.read_buf(&mut bytes).await.unwrap() > 0, "closed after {heard:?}"),
            }
        }
        heard
    }

    /// Everything until the other side closes, and what was served.
    async fn rest(mut self) -> (String, Vec<String>) {
        let mut rest = String::new();
        self.stream.read_to_string(&mut rest).await.unwrap();
        drop(self.stream);
        (rest, self.done.await.unwrap())
    }
}

fn served(paths: &[&str]) -> Vec<(u16, String)> {
    paths.iter().map(|path| (200, (*path).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn base_1_requests_are_answered_in_order_on_one_connection() {
    let mut client = connect(1024);
    client
        .say("AGTP/1.0 QUERY /slow\r\n\r\nAGTP/1.0 QUERY /b\r\n\r\nAGTP/1.0 QUERY /c\r\nContent-Length: 2\r\n\r\n{")
        .await;
    assert_eq!(client.hear(2).await, served(&["/slow", "/b"]));
    client.say("}").await;
    assert_eq!(client.hear(1).await, served(&["/c"]));
    client.say("AGTP/1.0 QUERY /d\r\n\r\n").await;
    assert_eq!(client.hear(1).await, served(&["/d"]));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_request_is_answered_once_and_closes() {
    let mut client = connect(1024);
    client.say("AGTP/1.0 QUERY /a\r\n\r\nnonsense AGTP/1.0 QUERY /b\r\n\r\n").await;
    assert_eq!(client.hear(2).await, [served(&["/a"]).remove(0), (400, "invalid-request-line".to_owned())]);
    assert_eq!(client.rest().await, (String::new(), vec!["/a".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn security_0_slow_parts_have_deadlines_of_their_own() {
    for (said, late_after, answer) in [
        ("", PATIENCE.head, ""),
        ("AGTP/1.0 QU", PATIENCE.head, "AGTP/1.0 408 Timeout\r\n\r\n"),
        ("AGTP/1.0 QUERY /\r\nContent-Length: 2\r\n\r\n{", PATIENCE.body, "AGTP/1.0 408 Timeout\r\n\r\n"),
    ] {
        let begun = Instant::now();
        let mut client = connect(1024);
        client.say(said).await;
        let (rest, served) = client.rest().await;
        assert_eq!((rest.as_str(), served.len()), (answer, 0), "{said:?}");
        assert!(begun.elapsed() >= late_after && begun.elapsed() < late_after + Duration::from_secs(2), "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_that_trickle_do_not_move_the_deadline() {
    let begun = Instant::now();
    let mut client = connect(1024);
    for byte in "AGTP/1.0 QUERY /".chars() {
        if client.stream.write_all(byte.to_string().as_bytes()).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let (rest, _) = client.rest().await;
    assert!(rest.starts_with("AGTP/1.0 408"), "{rest}");
    assert!(begun.elapsed() < PATIENCE.head + Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn base_1_an_idle_connection_is_kept_for_a_minute() {
    let mut client = connect(1024);
    client.say("AGTP/1.0 QUERY /a\r\n\r\n").await;
    client.hear(1).await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    client.say("AGTP/1.0 QUERY /b\r\n\r\n").await;
    client.hear(1).await;
    let begun = Instant::now();
    assert_eq!(client.rest().await.0, "");
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_given_up() {
    let mut client = connect(8);
    let begun = Instant::now();
    for byte in "AGTP/1.0 QUERY /a\r\n\r\n".as_bytes() {
        client.stream.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(client.done.await.unwrap(), ["/a"]);
    assert_eq!(begun.elapsed(), PATIENCE.write);
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_request_in_flight_and_begins_none() {
    let mut client = connect(1024);
    client.say("AGTP/1.0 QUERY /slow\r\n\r\n").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.stop.cancel();
    assert_eq!(client.hear(1).await, served(&["/slow"]));
    assert_eq!(client.rest().await, (String::new(), vec!["/slow".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn base_1_an_answer_that_is_there_does_not_wait_for_a_slow_one_behind_it() {
    let mut client = connect(64 * 1024);
    let begun = Instant::now();
    client.say("AGTP/1.0 QUERY /a\r\n\r\nAGTP/1.0 QUERY /slow\r\n\r\n").await;
    assert_eq!(client.hear(1).await, [(200, "/a".to_owned())]);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(client.hear(1).await, [(200, "/slow".to_owned())]);
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn base_2_1_a_request_that_breaks_off_is_a_400() {
    for (said, answer) in [
        ("AGTP/1.0 QU", "AGTP/1.0 400 Bad Request\r\n\r\n"),
        ("AGTP/1.0 QUERY /\r\nContent-Length: 2\r\n\r\n{", "AGTP/1.0 400 Bad Request\r\n\r\n"),
        ("", ""),
    ] {
        let begun = Instant::now();
        let mut client = connect(1024);
        client.say(said).await;
        client.stream.shutdown().await.unwrap();
        let (rest, served) = client.rest().await;
        assert_eq!((rest.as_str(), served.len(), begun.elapsed()), (answer, 0, Duration::ZERO), "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn base_1_large_answers_arrive_whole_and_in_order_however_little_fits_on_the_way() {
    for buffer in [700, 64 * 1024, 2 * LARGE] {
        let mut client = connect(buffer);
        // All of it is said before anything is read.
        client.say(&"AGTP/1.0 DISCOVER /large\r\n\r\nAGTP/1.0 QUERY /b\r\n\r\n".repeat(5)).await;
        let heard = client.hear(10).await;
        assert!(heard.iter().step_by(2).all(|(code, body)| *code == 200 && body.len() == LARGE), "{buffer}");
        assert!(heard.iter().skip(1).step_by(2).all(|answer| *answer == (200, "/b".to_owned())), "{buffer}");
        drop(client.stream);
        assert_eq!(client.done.await.unwrap().len(), 10, "{buffer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_gets_all_of_what_fits_in_its_time() {
    let mut client = connect(64 * 1024);
    client.say("AGTP/1.0 DISCOVER /large\r\n\r\n").await;
    let (begun, mut heard) = (Instant::now(), 0);
    let mut piece = vec![0; 32 * 1024];
    while heard < LARGE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let read = client.stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "closed after {heard} bytes");
        heard += read;
    }
    assert!(begun.elapsed() > Duration::from_secs(2) && begun.elapsed() < PATIENCE.write);
    drop(client.stream);
    assert_eq!(client.done.await.unwrap(), ["/large"]);
}
