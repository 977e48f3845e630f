//! The bytes of a connection of a mail server: each reply has a code and fits a line, and the session ends it. What was
//! taken is within its bounds.

#![no_main]

use std::net::SocketAddr;

use forecourt_core::Handle;
use forecourt_email::lmtp::{Bounds, Envelope, Mailroom, SmtpReply, speak};
use forecourt_fuzz::front::Front;
use libfuzzer_sys::fuzz_target;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Bytes of a reply's line, its end among them. RFC 5321 4.5.3.1.5.
const LINE_BYTES_MAX: usize = 512;
/// Small enough that a fuzzer reaches both.
const BOUNDS: Bounds = Bounds { message_bytes_max: 500, recipients_max: 2 };

thread_local! {
    static FRONT: Front = Front::new(start());
}

fuzz_target!(|bytes: &[u8]| {
    let heard = FRONT.with(|front| front.connection(bytes));
    for line in heard.bytes.split_inclusive(|byte| *byte == b'\n') {
        if !heard.is_whole && !line.ends_with(b"\n") {
            break;
        }
        let text = line.strip_suffix(b"\r\n").unwrap_or_else(|| panic!("no line: {}", line.escape_ascii()));
        assert!(line.len() <= LINE_BYTES_MAX && text.is_ascii() && text.len() >= 4, "{}", line.escape_ascii());
        assert!(text[..3].iter().all(u8::is_ascii_digit) && b" -".contains(&text[3]), "{}", line.escape_ascii());
        assert!((b'2'..=b'5').contains(&text[0]) && !text.contains(&b'\r'), "{}", line.escape_ascii());
    }
});

async fn start() -> SocketAddr {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream, &Everybody, "demo.localhost", BOUNDS, CancellationToken::new()));
        }
    });
    address
}

/// Takes mail for every name that an agent can have.
struct Everybody;

impl Mailroom for Everybody {
    fn agent(&self, address: &str) -> Result<Handle, SmtpReply> {
        let name = address.split('@').next().unwrap_or_default();
        Handle::parse(name).map_err(|_| SmtpReply::refused("5.1.1", format!("no agent is called {address}")))
    }

    async fn take(&self, envelope: Envelope, message: Vec<u8>) -> Vec<SmtpReply> {
        assert!(message.len() <= BOUNDS.message_bytes_max && envelope.recipients.len() <= BOUNDS.recipients_max);
        let words = format!("{} bytes from <{}>", message.len(), envelope.return_path);
        vec![SmtpReply::new(250, "2.0.0", words); envelope.recipients.len()]
    }
}
