//! A passphrase to a key, at a price. RFC 7914, with blocks of 1 KiB and one lane, as `age` uses it.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;
use zeroize::Zeroizing;

/// Words of one block: 2 · r · 16, where r is 8.
const WORDS: usize = 256;

type Block = [u32; WORDS];

/// The key of a passphrase, after work of 2 to the power of `work` blocks. `None`: there is no memory for them.
pub(crate) fn key(passphrase: &[u8], salt: &[u8], work: u8) -> Option<Zeroizing<[u8; 32]>> {
    let once = NonZeroU32::MIN;
    let mut bytes = Zeroizing::new([0u8; WORDS * 4]);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, once, salt, passphrase, bytes.as_mut());
    let mut block = Zeroizing::new([0; WORDS]);
    for (word, four) in block.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*four);
    }
    mix(&mut block, 1usize.checked_shl(work.into())?)?;
    for (four, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(block.iter()) {
        *four = word.to_le_bytes();
    }
    let mut key = Zeroizing::new([0; 32]);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, once, bytes.as_ref(), passphrase, key.as_mut());
    Some(key)
}

/// RFC 7914 5: `count` is a power of two.
fn mix(block: &mut Block, count: usize) -> Option<()> {
    let mut seen: Vec<Block> = Vec::new();
    seen.try_reserve_exact(count).ok()?;
    for _ in 0..count {
        seen.push(*block);
        *block = mixed(block);
    }
    for _ in 0..count {
        // Integerify: the last 64 bytes as a number, of which more than the first word is never needed.
        let earlier = &seen[block[WORDS - 16] as usize & (count - 1)];
        block.iter_mut().zip(earlier).for_each(|(word, other)| *word ^= other);
        *block = mixed(block);
    }
    Some(())
}

/// RFC 7914 4.
fn mixed(block: &Block) -> Block {
    let mut out = [0; WORDS];
    let mut last = [0; 16];
    last.copy_from_slice(&block[WORDS - 16..]);
    for (at, part) in block.as_chunks::<16>().0.iter().enumerate() {
        last.iter_mut().zip(part).for_each(|(word, other)| *word ^= other);
        salsa(&mut last);
        // Even ones first, then odd ones.
        let place = (at / 2 + at % 2 * (WORDS / 32)) * 16;
        out[place..place + 16].copy_from_slice(&last);
    }
    out
}

/// Salsa20/8. RFC 7914 3.
fn salsa(words: &mut [u32; 16]) {
    const COLUMNS: [[usize; 4]; 4] = [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]];
    const ROWS: [[usize; 4]; 4] = [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]];
    let mut x = *words;
    for _ in 0..4 {
        for [a, b, c, d] in COLUMNS.into_iter().chain(ROWS) {
            x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
            x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
            x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
            x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
        }
    }
    words.iter_mut().zip(x).for_each(|(word, mixed)| *word = word.wrapping_add(mixed));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn rfc7914_8_salsa() {
        let input = "7e879a214f3ec9867ca940e641718f26baee555b8c61c1b50df846116dcd3b1dee24f319df9b3d8514121e4b5ac5aa3276021d2909c74829edebc68db8b8c25e";
        let output = "a41f859c6608cc993b81cacb020cef05044b2181a2fd337dfd7b1c6396682f29b4393168e3c9e6bcfe6bc5b7a06d96bae424cc102c91745c24ad673dc7618f81";
        let bytes: Vec<u8> = (0..64).map(|at| u8::from_str_radix(&input[2 * at..2 * at + 2], 16).unwrap()).collect();
        let mut words = [0; 16];
        for (word, four) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*four);
        }
        salsa(&mut words);
        assert_eq!(hex(&words.map(u32::to_le_bytes).concat()), output);
    }

    #[test]
    fn rfc7914_12_a_passphrase() {
        // The fourth of its vectors has our blocks and one lane; of 64 bytes, the first 32.
        let key = key(b"pleaseletmein", b"SodiumChloride", 14).unwrap();
        assert_eq!(hex(key.as_ref()), "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2");
    }
}
