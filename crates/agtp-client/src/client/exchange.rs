//! Requests and their answers on one connection, without knowing where it leads.

use std::time::Duration;

use bytes::BytesMut;
use forecourt_agtp_wire::codec::{AwaitedPart, Bounds, Decoder, HeadError, encode};
use forecourt_agtp_wire::limits::READ_BYTES;
use forecourt_agtp_wire::message::{Request, Response, StatusLine};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf};
use tokio::time::{Instant, timeout_at};

/// How long a server may take for each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// From a request, or from the answer before, to the first byte of an answer.
    pub(crate) first: Duration,
    /// From the first byte of an answer to its last.
    pub(crate) rest: Duration,
}

/// The answers to the requests that were sent on one connection, and how that ended.
#[derive(Debug)]
pub(super) struct ExchangeOutcome {
    /// The answers, in the order of the requests.
    pub(super) answers: Vec<Response>,
    /// What kept the next answer from coming.
    pub(super) broken: Option<ExchangeError>,
    /// Whether the connection can be used again: every request was taken, every answer is whole, and
    /// nothing follows the last one.
    pub(super) is_clean: bool,
}

/// What kept an answer from coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExchangeError {
    /// The connection ended before a byte of it. `is_taken` is `false` if some of the requests can't have
    /// reached the server.
    Closed { is_taken: bool },
    /// The connection ended within it.
    CutOff,
    /// It took too long.
    Late,
    /// It is no answer.
    Malformed(HeadError),
}

/// Sends `requests` without waiting between them and reads an answer to each. Reading begins at once: a
/// server may answer, or refuse, before it has taken all.
pub(super) async fn exchange<S>(
    stream: &mut S,
    requests: &[Request],
    bounds: Bounds,
    patience: Patience,
) -> ExchangeOutcome
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut bytes = BytesMut::new();
    requests.iter().for_each(|request| encode(request, &mut bytes));
    let (reader, mut writer) = tokio::io::split(stream);
    let write = async {
        writer.write_all(&bytes).await?;
        writer.flush().await
    };
    let mut line = Line { reader, decoder: Decoder::new(bounds), read: BytesMut::new(), patience };
    let mut written = None;
    let (answers, broken) = {
        let read = line.read_all(requests.len());
        tokio::pin!(write, read);
        loop {
            tokio::select! {
                biased;
                done = &mut write, if written.is_none() => written = Some(done.is_ok()),
                done = &mut read => break done,
            }
        }
    };
    let broken = broken.map(|broken| match broken {
        // What was not written whole was not acted on: a request ends with its last byte.
        // Where nobody knows whether all was written (`None`), the server may have acted on it.
        ExchangeError::Closed { .. } => ExchangeError::Closed { is_taken: written != Some(false) },
        other => other,
    });
    // Bytes behind the last answer belong to none: the next request would take them for its own answer.
    let is_clean = broken.is_none() && written == Some(true) && line.read.is_empty();
    ExchangeOutcome { answers, broken, is_clean }
}

struct Line<S> {
    reader: ReadHalf<S>,
    decoder: Decoder<StatusLine>,
    read: BytesMut,
    patience: Patience,
}

impl<S: AsyncRead> Line<S> {
    /// The answers up to the first that does not come.
    async fn read_all(&mut self, count: usize) -> (Vec<Response>, Option<ExchangeError>) {
        let mut answers = Vec::with_capacity(count);
        while answers.len() < count {
            match self.next().await {
                Ok(answer) => answers.push(answer),
                Err(broken) => return (answers, Some(broken)),
            }
        }
        (answers, None)
    }

    async fn next(&mut self) -> Result<Response, ExchangeError> {
        let mut until = Instant::now() + self.patience.first;
        let mut has_begun = false;
        loop {
            if let Some(answer) = self.decoder.decode(&mut self.read).map_err(ExchangeError::Malformed)? {
                return Ok(answer);
            }
            // From the first byte on the answer has its own time, so that one that trickles in does not wait for ever.
            if !has_begun && self.decoder.waits_for(&self.read) != AwaitedPart::Message {
                (until, has_begun) = (Instant::now() + self.patience.rest, true);
            }
            self.read.reserve(READ_BYTES);
            match timeout_at(until, self.reader.read_buf(&mut self.read)).await {
                Ok(Ok(read)) if read > 0 => {}
                Ok(_) if has_begun => return Err(ExchangeError::CutOff),
                Ok(_) => return Err(ExchangeError::Closed { is_taken: true }),
                Err(_) => return Err(ExchangeError::Late),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};

    use super::*;
    use crate::client::RequestBuilder;

    const PATIENCE: Patience = Patience { first: Duration::from_secs(10), rest: Duration::from_secs(5) };

    fn request() -> Request {
        RequestBuilder::new("QUERY", Some("/x")).finish().unwrap()
    }

    async fn exchanged(stream: &mut DuplexStream, requests: &[Request]) -> ExchangeOutcome {
        exchange(stream, requests, Bounds::default(), PATIENCE).await
    }

    /// What comes of one request when the server says `pieces` and then ends, or stays.
    async fn heard(pieces: &[&[u8]], ends: bool) -> ExchangeOutcome {
        let (mut ours, mut theirs) = duplex(64 * 1024);
        let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
        let server = tokio::spawn(async move {
            for piece in pieces {
                theirs.write_all(&piece).await.unwrap();
                tokio::task::yield_now().await;
            }
            if !ends {
                tokio::time::sleep(Duration::from_secs(3600)).await;
            }
        });
        let exchanged = exchanged(&mut ours, &[request()]).await;
        server.abort();
        exchanged
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_may_come_in_pieces() {
        let answer = b"AGTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        for cut in 0..answer.len() {
            let heard = heard(&[&answer[..cut], &answer[cut..]], false).await;
            assert_eq!((heard.answers.len(), heard.broken, heard.is_clean), (1, None, true), "{cut}");
            assert_eq!(&heard.answers[0].body[..], b"hi");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn base_2_1_what_is_no_answer_is_malformed() {
        for (text, error) in [
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], HeadError::Version),
            (b"AGTP/1.0 20 OK\r\n\r\n", HeadError::Line),
            (b"AGTP/1.0 200\r\n\r\n", HeadError::Line),
            (b"AGTP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n", HeadError::Length),
            (
                b"AGTP/1.0 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
                HeadError::Repeated("Content-Length"),
            ),
            (b"AGTP/1.0 200 OK\r\nContent-Length: 99999999\r\n\r\n", HeadError::BodyTooLarge),
            (b"AGTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", HeadError::TransferCoding),
        ] {
            let heard = heard(&[text], false).await;
            assert_eq!((heard.answers.len(), heard.broken), (0, Some(ExchangeError::Malformed(error))), "{text:?}");
        }
        let huge = [b"AGTP/1.0 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(20_000)].concat();
        assert_eq!(heard(&[&huge], false).await.broken, Some(ExchangeError::Malformed(HeadError::FieldsTooLarge)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_ends_early_is_cut_off() {
        for text in [&b"AGTP/1.0 200 OK\r\n"[..], b"A", b"AGTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nhi"] {
            assert_eq!(heard(&[text], true).await.broken, Some(ExchangeError::CutOff), "{text:?}");
        }
        assert_eq!(heard(&[], true).await.broken, Some(ExchangeError::Closed { is_taken: true }));
    }

    #[tokio::test(start_paused = true)]
    async fn slow_answers_are_given_up() {
        let begun = Instant::now();
        assert_eq!(heard(&[], false).await.broken, Some(ExchangeError::Late));
        assert_eq!(begun.elapsed(), PATIENCE.first);
        let begun = Instant::now();
        assert_eq!(heard(&[b"AGTP/1.0 "], false).await.broken, Some(ExchangeError::Late));
        assert_eq!(begun.elapsed(), PATIENCE.rest);
    }

    #[tokio::test(start_paused = true)]
    async fn what_follows_the_answer_makes_the_connection_useless() {
        let heard = heard(&[b"AGTP/1.0 204 No Content\r\n\r\nAGTP/1.0 200 Forged\r\n\r\n"], false).await;
        assert_eq!((heard.answers.len(), heard.broken, heard.is_clean), (1, None, false));
        assert_eq!(heard.answers[0].start.code, 204);
    }

    #[tokio::test(start_paused = true)]
    async fn base_1_pipelined_requests_are_answered_in_order_however_small_the_buffers() {
        let (mut ours, mut theirs) = duplex(16);
        let server = tokio::spawn(async move {
            let (mut decoder, mut read) =
                (Decoder::<forecourt_agtp_wire::message::RequestLine>::new(Bounds::default()), BytesMut::new());
            for code in 200..220 {
                while decoder.decode(&mut read).unwrap().is_none() {
                    assert!(theirs.read_buf(&mut read).await.unwrap() > 0);
                }
                theirs.write_all(format!("AGTP/1.0 {code} OK\r\n\r\n").as_bytes()).await.unwrap();
            }
        });
        let heard = exchanged(&mut ours, &vec![request(); 20]).await;
        server.await.unwrap();
        let codes: Vec<u16> = heard.answers.iter().map(|answer| answer.start.code).collect();
        assert_eq!((codes, heard.broken, heard.is_clean), ((200..220).collect(), None, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_not_written_whole_was_not_taken() {
        let (mut ours, theirs) = duplex(16);
        drop(theirs);
        assert_eq!(exchanged(&mut ours, &[request()]).await.broken, Some(ExchangeError::Closed { is_taken: false }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_before_the_request_was_taken_is_heard() {
        let (mut ours, mut theirs) = duplex(64);
        let server = tokio::spawn(async move {
            theirs.write_all(b"AGTP/1.0 400 Bad Request\r\n\r\n").await.unwrap();
            theirs
        });
        let large = RequestBuilder::new("QUERY", Some("/x")).body("text/plain", vec![b'a'; 1024]).finish().unwrap();
        let heard = exchanged(&mut ours, &[large]).await;
        drop(server.await.unwrap());
        assert_eq!((heard.answers[0].start.code, heard.is_clean), (400, false));
    }
}
