//! A connection of a mail server, without a socket.

use forecourt_core::Handle;
use forecourt_email::lmtp::{Bounds, Envelope, Mailroom, SmtpReply, speak};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Takes mail for `@chef`, and says what it heard.
struct Chef;

impl Mailroom for Chef {
    fn agent(&self, address: &str) -> Result<Handle, SmtpReply> {
        match address {
            "chef@demo.example" => Ok(Handle::parse("chef").unwrap()),
            _ => Err(SmtpReply::refused("5.1.1", "no such agent here")),
        }
    }

    async fn take(&self, envelope: Envelope, message: Vec<u8>) -> Vec<SmtpReply> {
        let words = format!("{} bytes from <{}>", message.len(), envelope.return_path);
        vec![SmtpReply::new(250, "2.0.0", words); envelope.recipients.len()]
    }
}

/// All that is answered to `said`, after which the client closes its side.
async fn answers(said: &str) -> String {
    let (mut client, server) = tokio::io::duplex(1024 * 1024);
    client.write_all(said.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let bounds = Bounds { message_bytes_max: 100, recipients_max: 2 };
    speak(server, &Chef, "demo.example", bounds, CancellationToken::new()).await;
    let mut heard = String::new();
    client.read_to_string(&mut heard).await.unwrap();
    heard
}

/// The codes of the last lines.
fn codes(heard: &str) -> Vec<&str> {
    heard.lines().filter(|line| line.as_bytes()[3] == b' ').map(|line| &line[..3]).collect()
}

#[tokio::test]
async fn rfc2033_4_2_each_recipient_has_a_reply_of_its_own_and_commands_may_come_together() {
    let heard = answers(
        "LHLO mx\r\nMAIL FROM:<ann@x.example> SIZE=5\r\nRCPT TO:<chef@demo.example>\r\nRCPT TO:<cook@demo.example>\r\n\
         RCPT TO:<chef@demo.example>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n",
    )
    .await;
    assert_eq!(codes(&heard), ["220", "250", "250", "250", "550", "250", "354", "250", "250", "221"], "{heard}");
    assert_eq!(heard.matches("4 bytes from <ann@x.example>").count(), 2, "{heard}");
}

#[tokio::test]
async fn rfc2033_4_1_hello_of_smtp_is_refused() {
    assert_eq!(
        codes(&answers("EHLO mx\r\nHELO mx\r\nMAIL FROM:<a@x.example>\r\n").await),
        ["220", "500", "500", "503"]
    );
}

#[tokio::test]
async fn bounds_are_named_in_their_refusals() {
    let begin = "LHLO mx\r\nMAIL FROM:<>\r\n";
    let one = "RCPT TO:<chef@demo.example>\r\n";
    let heard = answers(&format!("{begin}{}", one.repeat(3))).await;
    assert!(heard.ends_with("452 4.5.3 at most 2 recipients\r\n"), "{heard}");
    let heard = answers("LHLO mx\r\nMAIL FROM:<a@x.example> SIZE=101\r\n").await;
    assert!(heard.ends_with("552 5.3.4 a message may have at most 100 bytes\r\n"), "{heard}");
    let heard = answers(&format!("{begin}{one}DATA\r\n{}\r\n.\r\nNOOP\r\n", "x".repeat(99))).await;
    assert_eq!(codes(&heard)[5..], ["552", "250"], "{heard}");
}

#[tokio::test]
async fn who_says_too_much_that_means_nothing_is_left() {
    let heard = answers(&"WHAT\r\n".repeat(50)).await;
    assert_eq!(codes(&heard).len(), 12, "{heard}");
    assert!(heard.ends_with("421 4.7.0 too many commands that mean nothing\r\n"), "{heard}");
}

#[test]
fn words_of_replies_are_one_line_of_printable_ascii() {
    let line = SmtpReply::new(550, "5.7.1", "a\r\n250 OK\u{202e}é\0").to_line();
    assert_eq!(line, "550 5.7.1 a  250 OK?? \r\n");
}
