//! What is written is read, what was changed is not, and `age` itself reads and writes the same.

use std::io::Read;

use forecourt_testkit::CountedEntropy;

use super::*;
use crate::limits::CHUNK_BYTES;

/// A key of nobody's.
const SECRET: &str = "AGE-SECRET-KEY-1MENLNJRGNVFQ7TQNAQEXT2NSSFWLDV6TYCP2T6PCRD092QYF54XQYAKS27";
const PUBLIC: &str = "age1uel7uny0xwe6896dldt342paqz3k56mjuah95emjr5mwuc7vc49sqvl55k";
/// `Hello, age!` for that key, by `age` 1.1.1.
const FOR_KEY: &str = "\
-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSA5RGZCSmRWRTgwMkdrdmND
ZFRoelk0S0NWUVhpQXl1U2EvSG9KMXZqUjNJCmo3SGdIZkorQkJ4Uk1ZT3dEL2ZR
bDVWRU9WOUw5azhGWi9ocjhwejdRamcKLS0tIGJGd1RHSnQ2amNscnIwa1NlOU1S
MnQ1dXRPZG5mWWY1UE1tcENxY0dxUUEKm/jsJOPavYDyVSEBubkIlqTcqO2kFFRl
DfLAovYVVJjENxFtzBGiAKHfmA==
-----END AGE ENCRYPTED FILE-----
";

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned())
}

fn sealed(content: &[u8], locks: Locks<'_>) -> Vec<u8> {
    let mut writer = encrypt(Vec::new(), locks, &CountedEntropy::default()).unwrap();
    // In pieces that fit no chunk.
    content.chunks(10_000).for_each(|piece| writer.write_all(piece).unwrap());
    writer.finish().unwrap()
}

fn opened(file: &[u8], identities: &[Identity]) -> Result<Vec<u8>, AgeError> {
    let (mut reader, mut content) = (decrypt(file, identities)?, Vec::new());
    reader.read_to_end(&mut content)?;
    Ok(content)
}

fn keys() -> (Recipient, Vec<Identity>) {
    let identities = Identity::file(&format!("# created: today\n# public key: {PUBLIC}\n{SECRET}\n")).unwrap();
    (PUBLIC.parse().unwrap(), identities)
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn what_is_written_is_read_at_every_length_around_a_chunk() {
    let (recipient, identities) = keys();
    let locks = [recipient];
    for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
        let file = sealed(&content(length), Locks::Keys(&locks));
        assert!(file.starts_with(MAGIC));
        assert_eq!(opened(&file, &identities).unwrap(), content(length), "{length}");
    }
}

#[test]
fn one_of_several_keys_is_enough_and_another_opens_nothing() {
    let (recipient, identities) = keys();
    let other = Identity::Key(zeroize::Zeroizing::new([7; 32]));
    let others = Recipient([9; 32]);
    let file = sealed(b"x", Locks::Keys(&[others.clone(), recipient]));
    assert_eq!(opened(&file, &[&[other.clone()], identities.as_slice()].concat()).unwrap(), b"x");
    assert!(matches!(opened(&file, &[other]), Err(AgeError::NoKey)));
    assert!(matches!(opened(&file, &[Identity::Passphrase(passphrase("correct horse"))]), Err(AgeError::NoKey)));
    assert!(encrypt(Vec::new(), Locks::Keys(&[]), &CountedEntropy::default()).is_err(), "nobody could read it");
    // A point of low order shares nothing with anybody.
    assert!(encrypt(Vec::new(), Locks::Keys(&[Recipient([0; 32])]), &CountedEntropy::default()).is_err());
}

#[test]
fn a_passphrase_opens_what_it_locked() {
    let right = passphrase("correct horse battery");
    let file = sealed(b"x", Locks::Passphrase(&right));
    assert_eq!(opened(&file, &[Identity::Passphrase(right)]).unwrap(), b"x");
    let wrong = Identity::Passphrase(passphrase("incorrect horse"));
    assert!(matches!(opened(&file, &[wrong.clone()]), Err(AgeError::NoKey)));
    let text = String::from_utf8_lossy(&file).into_owned();
    let line = text.lines().nth(1).unwrap().to_owned();
    let asking = |work: &str| {
        let asked = line.rsplit_once(' ').unwrap().0.to_owned() + " " + work;
        let at = file.windows(line.len()).position(|part| part == line.as_bytes()).unwrap();
        opened(&[&file[..at], asked.as_bytes(), &file[at + line.len()..]].concat(), &[wrong.clone()])
    };
    for work in ["23", "64", "300"] {
        assert!(matches!(asking(work), Err(AgeError::TooMuchWork)), "{work}");
    }
    for work in ["010", "+10", "x"] {
        assert!(matches!(asking(work), Err(AgeError::Damaged)), "{work}");
    }
}

#[test]
fn what_was_changed_cut_off_or_added_to_is_not_read() {
    let (recipient, identities) = keys();
    let file = sealed(&content(2 * CHUNK_BYTES), Locks::Keys(&[recipient]));
    for at in (0..300).chain([file.len() - CHUNK_BYTES, file.len() - 1]) {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(opened(&changed, &identities).is_err(), "{at}");
    }
    let sealed_chunk = CHUNK_BYTES + 16;
    for length in [0, 10, 100, file.len() - 2 * sealed_chunk, file.len() - sealed_chunk, file.len() - 1] {
        assert!(opened(&file[..length], &identities).is_err(), "{length}");
    }
    assert!(opened(&[file.as_slice(), b"x"].concat(), &identities).is_err());
    let (head, chunks) = file.split_at(file.len() - 2 * sealed_chunk);
    let (first, second) = chunks.split_at(sealed_chunk);
    assert!(opened(&[head, second, first].concat(), &identities).is_err(), "in another order");
    // Who reads on after that gets no end that looks like one.
    let mut reader = decrypt(&file[..file.len() - 1], &identities).unwrap();
    let mut all = Vec::new();
    assert!(reader.read_to_end(&mut all).is_err() && reader.read(&mut [0; 8]).is_err());
}

#[test]
fn a_head_has_its_bounds_and_its_version() {
    let identities = keys().1;
    let read = |text: &str| opened(text.as_bytes(), &identities).unwrap_err();
    assert!(matches!(read("age-encryption.org/v2\n"), AgeError::Unknown));
    assert!(matches!(read("something else\n"), AgeError::Damaged));
    let long = format!("age-encryption.org/v1\n-> {}\n", "a".repeat(limits::LINE_BYTES_MAX));
    assert!(matches!(read(&long), AgeError::Damaged));
    let many = format!("age-encryption.org/v1\n{}", "-> a\n\n".repeat(limits::HEAD_BYTES_MAX / 6 + 1));
    assert!(matches!(read(&many), AgeError::Damaged));
    // A passphrase stands alone.
    let file = String::from_utf8_lossy(&bytes_of(FOR_KEY)).into_owned();
    let mixed = file.replacen("-> ", "-> scrypt AAAAAAAAAAAAAAAAAAAAAA 10\n\n-> ", 1);
    assert!(matches!(read(&mixed), AgeError::Damaged));
}

#[test]
fn keys_are_read_whole_and_of_one_kind() {
    assert_eq!(SECRET.parse::<Recipient>(), Err(KeyError::Kind));
    assert_eq!(PUBLIC.replacen('q', "p", 1).parse::<Recipient>(), Err(KeyError::Damaged));
    assert_eq!(bech32::encode("age", &[1; 31]).parse::<Recipient>(), Err(KeyError::Damaged));
    assert_eq!(Identity::file(PUBLIC).unwrap_err(), KeyError::Kind);
    assert_eq!(format!("{:?}", keys().1), "[Identity]");
}

#[test]
fn a_file_of_age_is_read() {
    assert_eq!(opened(&bytes_of(FOR_KEY), &keys().1).unwrap(), b"Hello, age!");
}

/// A file in PEM's clothes.
fn bytes_of(armored: &str) -> Vec<u8> {
    use base64::Engine;
    let lines: String = armored.lines().filter(|line| !line.starts_with("-----")).collect();
    base64::engine::general_purpose::STANDARD.decode(lines).unwrap()
}
