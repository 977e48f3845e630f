//! The paying side: a key that signs that a token may be moved. EIP-3009, EIP-712; x402 section 6.1.

use forecourt_core::{Entropy, Timestamp};
use k256::ecdsa::SigningKey;
use serde_json::{Map, Value, json};

use crate::hex::{Address, Hex};
use crate::keccak::{address_word, keccak256, word};
use crate::limits::TIMEOUT_SECONDS_MAX;
use crate::networks::{chain_by_caip2, chain_by_name};
use crate::units::Units;
use crate::x402::{Authorization, Requirements};

/// Seconds before now from which an authorization is valid: the payee's clock, or a block's, may be behind ours.
const CLOCK_SKEW_SECONDS: u128 = 600;

/// An Ethereum account that can sign payments. Its key stays in memory and is never printed.
pub struct Wallet {
    key: SigningKey,
    address: Address,
}

/// Why nothing was signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// The key is not 32 bytes in hexadecimal, or no key of this curve.
    #[error("a private key is 0x and 64 hexadecimal digits")]
    Key,
    /// The network is not known by this name.
    #[error("the network `{0}` is not known, so that nothing can be signed for it")]
    Network(String),
    /// The scheme is not `exact`.
    #[error("the scheme `{0}` is not known (known: exact)")]
    Scheme(String),
    /// The offer does not say how its token signs.
    #[error("the offer does not name its token's `{0}`, which is signed with it")]
    Token(&'static str),
    /// The offer asks for a signature that is valid longer than [`TIMEOUT_SECONDS_MAX`].
    #[error("the offer asks for a signature that is good for {0} seconds; at most {TIMEOUT_SECONDS_MAX} are signed")]
    Timeout(u64),
}

impl Wallet {
    /// Reads a private key: `0x` and 64 digits, or the digits alone.
    pub fn from_hex(text: &str) -> Result<Self, WalletError> {
        let text = text.trim();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let bytes: Hex<32> = format!("0x{digits}").parse().map_err(|_| WalletError::Key)?;
        let key = SigningKey::from_slice(&bytes.0).map_err(|_| WalletError::Key)?;
        let point = key.verifying_key().to_sec1_point(false);
        let hash = keccak256(&point.as_bytes()[1..]);
        let mut address = [0; 20];
        address.copy_from_slice(&hash[12..]);
        Ok(Self { key, address: Hex(address) })
    }

    /// The account that pays.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Signs a payment of what `wanted` asks for, with a fresh nonce, and gives it as it stands on the wire.
    /// `resource` is what version 2 repeats of the envelope.
    pub fn pay(
        &self,
        wanted: (&Value, &Requirements),
        resource: Option<&Value>,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<Map<String, Value>, WalletError> {
        let (raw, wanted) = wanted;
        if wanted.scheme() != "exact" {
            return Err(WalletError::Scheme(wanted.scheme().to_owned()));
        }
        let seconds = wanted.max_timeout_seconds();
        // A payee chooses this number; a signature that is good for years could be used long after the caller forgot
        // it.
        if seconds > TIMEOUT_SECONDS_MAX {
            return Err(WalletError::Timeout(seconds));
        }
        let now = u128::try_from(now.as_second()).unwrap_or_default();
        let mut nonce = [0; 32];
        entropy.fill(&mut nonce);
        let authorization = Authorization {
            from: self.address,
            to: wanted.pay_to(),
            value: wanted.amount(),
            valid_after: Units(now.saturating_sub(CLOCK_SKEW_SECONDS)),
            valid_before: Units(now + u128::from(seconds)),
            nonce: Hex(nonce),
        };
        let signature = self.sign(&authorization, wanted)?;
        let exact = json!({"signature": signature, "authorization": authorization});
        let payment = match wanted {
            Requirements::V1(one) => {
                json!({"x402Version": 1, "scheme": one.scheme, "network": one.network, "payload": exact})
            }
            // The raw JSON, unknown members included: the payee compares `accepted` with what it offered.
            Requirements::V2(_) => json!({"x402Version": 2, "accepted": raw, "payload": exact}),
        };
        let Value::Object(mut payment) = payment else { return Ok(Map::new()) };
        if let (Requirements::V2(_), Some(resource)) = (wanted, resource) {
            payment.insert("resource".to_owned(), resource.clone());
        }
        Ok(payment)
    }

    fn sign(&self, authorization: &Authorization, wanted: &Requirements) -> Result<Hex<65>, WalletError> {
        let network = wanted.network();
        // Only numbers from CAIP-2 or the built-in table: a number that the payee could choose would sign for another
        // network.
        let chain = chain_by_caip2(network).or_else(|| chain_by_name(network));
        let chain = chain.ok_or_else(|| WalletError::Network(network.chars().take(64).collect()))?;
        let extra = |key| wanted.extra(key).ok_or(WalletError::Token(key));
        let domain = domain(extra("name")?, extra("version")?, chain, wanted.asset());
        let digest = keccak256(&[&[0x19, 0x01], &domain[..], &message(authorization)[..]].concat());
        let (signature, recovery) = self.key.sign_prehash_recoverable(&digest);
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&signature.to_bytes());
        // Contracts expect 27 or 28 (Ethereum's yellow paper, appendix F); libraries give 0 or 1.
        bytes[64] = 27 + recovery.to_byte();
        Ok(Hex(bytes))
    }
}

/// Never prints the key.
impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wallet").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What a signature is bound to: this token, on this network. EIP-712.
fn domain(name: &str, version: &str, chain: u64, token: Address) -> [u8; 32] {
    let kind = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    let name = keccak256(name.as_bytes());
    let version = keccak256(version.as_bytes());
    keccak256(&[keccak256(kind), name, version, word(chain.into()), address_word(token)].concat())
}

/// What is signed. EIP-3009.
fn message(signed: &Authorization) -> [u8; 32] {
    let kind = b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,\
                 uint256 validBefore,bytes32 nonce)";
    let members = [
        keccak256(kind),
        address_word(signed.from),
        address_word(signed.to),
        word(signed.value.0),
        word(signed.valid_after.0),
        word(signed.valid_before.0),
        signed.nonce.0,
    ];
    keccak256(&members.concat())
}

#[cfg(test)]
mod tests {
    use forecourt_core::Timestamp;

    use super::*;
    use crate::x402::Version;

    /// A nonce that a test can know.
    #[derive(Debug)]
    struct Fixed;

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0xab);
        }
    }

    fn wanted(extra: Value) -> (Value, Requirements) {
        let raw = json!({
            "scheme": "exact", "network": "eip155:84532", "amount": "10000", "maxTimeoutSeconds": 300,
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "extra": extra,
        });
        let read = Requirements::read(Version::V2, &raw).unwrap();
        (raw, read)
    }

    /// Against viem 2.48: the same key, domain and message.
    #[test]
    fn eip712_signatures_are_those_that_others_make() {
        let wallet = Wallet::from_hex("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318").unwrap();
        assert_eq!(wallet.address().to_string(), "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23");
        let (raw, read) = wanted(json!({"name": "USDC", "version": "2"}));
        let now = Timestamp::from_second(1_767_225_600).unwrap();
        let payment = wallet.pay((&raw, &read), None, now, &Fixed).unwrap();
        let signature = "0xd8a506ed8d319d3963d4e22edb9705aa18f2b1942fe55a332648be1ca72202092ee430c3c20b238598e62bf272644c79c9ef46966fb4f0fc4b002297e087d96e1b";
        assert_eq!(payment["payload"]["signature"], signature);
        assert_eq!(payment["accepted"], raw);
    }

    #[test]
    fn what_cannot_be_signed_is_said() {
        assert_eq!(Wallet::from_hex("0x12").unwrap_err(), WalletError::Key);
        assert_eq!(Wallet::from_hex(&"0".repeat(64)).unwrap_err(), WalletError::Key);
        let wallet = Wallet::from_hex(&"1".repeat(64)).unwrap();
        assert!(!format!("{wallet:?}").contains("1111"));
        let (now, fine) = (Timestamp::UNIX_EPOCH, json!({"name": "USDC", "version": "2"}));
        let pay = |(raw, read): (Value, Requirements)| wallet.pay((&raw, &read), None, now, &Fixed).unwrap_err();
        assert_eq!(pay(wanted(json!({"name": "USDC"}))), WalletError::Token("version"));
        let changed = |key: &str, to: Value| {
            let mut raw = wanted(fine.clone()).0;
            raw[key] = to;
            let read = Requirements::read(Version::V2, &raw).unwrap();
            pay((raw, read))
        };
        assert_eq!(changed("network", json!("solana:x")), WalletError::Network("solana:x".to_owned()));
        assert_eq!(changed("scheme", json!("upto")), WalletError::Scheme("upto".to_owned()));
        assert_eq!(changed("maxTimeoutSeconds", json!(86_401)), WalletError::Timeout(86_401));
    }
}
