//! Keys as text. BIP 173, without its bound of length.

use zeroize::Zeroizing;

const LETTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
/// Letters of a checksum.
const CHECKSUM: usize = 6;

/// The part before the last `1`, in small letters, and the bytes behind it. `None`: the text is not whole.
pub(crate) fn decode(text: &str) -> Option<(String, Zeroizing<Vec<u8>>)> {
    let is_mixed = text.bytes().any(|b| b.is_ascii_lowercase()) && text.bytes().any(|b| b.is_ascii_uppercase());
    if is_mixed || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let text = Zeroizing::new(text.to_ascii_lowercase());
    let (prefix, data) = text.rsplit_once('1').filter(|(prefix, _)| !prefix.is_empty())?;
    let place = |letter: u8| LETTERS.iter().position(|known| *known == letter).and_then(|at| u8::try_from(at).ok());
    let values = data.bytes().map(place).collect::<Option<Vec<u8>>>().map(Zeroizing::new)?;
    let payload = values.len().checked_sub(CHECKSUM)?;
    match checksum(prefix, &values) == 1 {
        true => Some((prefix.to_owned(), joined(&values[..payload])?)),
        false => None,
    }
}

/// A text of small letters.
#[cfg(test)]
pub(crate) fn encode(prefix: &str, bytes: &[u8]) -> String {
    let mut values = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            values.push((held >> bits & 31) as u8);
        }
    }
    if bits > 0 {
        values.push((held << (5 - bits) & 31) as u8);
    }
    let whole = [values.as_slice(), &[0; CHECKSUM]].concat();
    let sum = checksum(prefix, &whole) ^ 1;
    values.extend((0..CHECKSUM).map(|at| (sum >> (5 * (CHECKSUM - 1 - at)) & 31) as u8));
    let letters: String = values.into_iter().map(|value| char::from(LETTERS[usize::from(value)])).collect();
    format!("{prefix}1{letters}")
}

fn checksum(prefix: &str, values: &[u8]) -> u32 {
    let high = prefix.bytes().map(|byte| byte >> 5);
    let low = prefix.bytes().map(|byte| byte & 31);
    let all = high.chain([0]).chain(low).chain(values.iter().copied());
    all.fold(1, |sum, value| {
        let top = sum >> 25;
        let shifted = (sum & 0x01ff_ffff) << 5 ^ u32::from(value);
        let chosen = GENERATORS.iter().enumerate().filter(|(bit, _)| top >> bit & 1 == 1);
        chosen.fold(shifted, |sum, (_, generator)| sum ^ generator)
    })
}

/// Groups of five bits as bytes; what is left over must be less than a group, and zero.
fn joined(values: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(values.len() * 5 / 8));
    let (mut held, mut bits) = (0u32, 0);
    for value in values {
        held = (held << 5 | u32::from(*value)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    (bits < 5 && held & ((1 << bits) - 1) == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bip173_examples_are_read_and_written() {
        for good in [
            "A12UEL5L",
            "a12uel5l",
            "?1ezyfcl",
            "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
        ] {
            assert!(decode(good).is_some(), "{good}");
        }
        let (prefix, bytes) = decode("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw").unwrap();
        assert_eq!((prefix.as_str(), bytes.len()), ("abcdef", 20));
        assert_eq!(encode(&prefix, &bytes), "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw");
        for wrong in [
            "pzry9x0s0muk",
            "1pzry9x0s0muk",
            "x1b4n0q5v",
            "li1dgmt3",
            "A1G7SGD8",
            "10a06t8",
            "1qzzfhee",
            "a12UEL5L",
            "a12uel5m",
            "",
        ] {
            assert!(decode(wrong).is_none(), "{wrong}");
        }
    }
}
