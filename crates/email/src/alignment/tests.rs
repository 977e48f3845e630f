//! Signatures of others, with a DNS server that knows their keys.

use std::net::{Ipv4Addr, SocketAddr};

use forecourt_testkit::vectors;
use tokio::net::UdpSocket;

use super::*;

/// Answers questions for TXT with these records, and that there is no such name for others.
async fn names(records: Vec<(String, String)>) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
            let answer = answer(&buffer[..length], &records);
            let _ = socket.send_to(&answer, peer).await;
        }
    });
    address
}

/// RFC 1035 4: the head and the question of the query, and a record or none.
fn answer(query: &[u8], records: &[(String, String)]) -> Vec<u8> {
    let (mut at, mut name) = (12, String::new());
    while query[at] != 0 {
        let length = usize::from(query[at]);
        name.push_str(std::str::from_utf8(&query[at + 1..=at + length]).unwrap());
        name.push('.');
        at += length + 1;
    }
    let question = &query[12..at + 5];
    let text = records.iter().find(|(known, _)| name.eq_ignore_ascii_case(&format!("{known}."))).map(|(_, text)| text);
    let mut answer = query[..2].to_vec();
    answer.extend([0x84, if text.is_some() { 0x80 } else { 0x83 }, 0, 1, 0, u8::from(text.is_some()), 0, 0, 0, 0]);
    answer.extend(question);
    if let Some(text) = text {
        let pieces: Vec<u8> = text
            .as_bytes()
            .chunks(200)
            .flat_map(|piece| std::iter::once(piece.len() as u8).chain(piece.iter().copied()))
            .collect();
        answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 1, 0]);
        answer.extend((pieces.len() as u16).to_be_bytes());
        answer.extend(pieces);
    }
    answer
}

/// A vector: its records, and its message with CRLF.
fn read(text: &str) -> (Vec<(String, String)>, Vec<u8>) {
    let text = text.replace("\r\n", "\n");
    let (records, message) = text.split_once("\n\n").unwrap();
    let records = records.lines().filter_map(|line| line.split_once(' '));
    let records = records.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    (records, message.replace('\n', "\r\n").into_bytes())
}

async fn checked(records: Vec<(String, String)>, message: &[u8], author: &str) -> Alignment {
    let authenticator = Authenticator::new(Some(names(records).await)).unwrap();
    let mut head = AuthenticatedMessage::parse(message).unwrap();
    authenticator.check(&mut head, &Mailbox::parse(author).unwrap()).await
}

#[tokio::test]
async fn the_examples_of_the_rfcs_hold_and_one_changed_byte_fails() {
    for (file, author, selector) in
        [("001.txt", "joe@football.example.com", "brisbane"), ("002.txt", "joe@football.example.com", "newengland")]
    {
        let Some(bytes) = vectors(&format!("dkim/{file}")) else { continue };
        let (mut records, message) = read(&String::from_utf8(bytes).unwrap());
        // The second one is signed by the parent domain: a policy says that the two are one.
        records.push(("_dmarc.example.com".to_owned(), "v=DMARC1; p=reject".to_owned()));
        let Alignment::Aligned(signer) = checked(records.clone(), &message, author).await else { panic!("{file}") };
        assert_eq!(signer.selector, selector, "{file}");
        assert!(signer.by_dmarc);
        assert_eq!(signer.is_exact, signer.domain == "football.example.com");
        let text = String::from_utf8(message).unwrap();
        for changed in
            [text.replace("hungry", "hungrY"), text.replace("Is dinner", "is dinner").replace("Joe SixPack", "Joe")]
        {
            let alignment = checked(records.clone(), changed.as_bytes(), author).await;
            assert!(matches!(alignment, Alignment::None(_)), "{file}: {alignment:?}");
        }
        let alignment = checked(records.clone(), text.as_bytes(), "joe@evil.example").await;
        assert!(matches!(alignment, Alignment::None(_)), "{file}: {alignment:?}");
    }
}

#[tokio::test]
async fn without_a_policy_only_the_very_domain_counts() {
    let Some(bytes) = vectors("dkim/001.txt") else { return };
    let (records, message) = read(&String::from_utf8(bytes).unwrap());
    let Alignment::Aligned(signer) = checked(records, &message, "joe@football.example.com").await else {
        panic!("the domain itself signed")
    };
    assert!(!signer.by_dmarc && signer.is_exact);
    let Some(bytes) = vectors("dkim/002.txt") else { return };
    let (records, message) = read(&String::from_utf8(bytes).unwrap());
    let alignment = checked(records, &message, "joe@football.example.com").await;
    assert!(matches!(alignment, Alignment::None(_)), "{alignment:?}");
}

#[test]
fn signatures_are_fresh_for_a_week() {
    let age = i64::try_from(SIGNATURE_AGE_MAX.as_secs()).unwrap();
    let skew = i64::try_from(CLOCK_SKEW_MAX.as_secs()).unwrap();
    let now = 1_000_000_000;
    assert!(is_fresh(now, now) && is_fresh(now - age, now) && is_fresh(now + skew, now));
    assert!(!is_fresh(now - age - 1, now) && !is_fresh(now + skew + 1, now));
}
