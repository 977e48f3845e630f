//! What a page has a wallet in a browser sign for an offer: EIP-3009, as typed data of EIP-712.
//!
//! It is made here from the host's own offer, and signed as it is: a page adds who pays and until when. What comes back
//! is a payment as any other, and is held against the stored offer as any other.

use forecourt_core::policy::AcceptedPayment;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::hex::{Address, Hex, Nonce};
use crate::keccak::keccak256;
use crate::limits::{TIMEOUT_SECONDS_MAX, WALLET_REQUESTS_MAX};
use crate::matching::chain_of;
use crate::networks::known_by_chain;
use crate::settings::{AssetSettings, Network, PaymentsSettings};
use crate::settings_error::SettingsError;
use crate::units::Units;
use crate::x402::{PaymentRequired, Requirements, Version, envelopes};

/// What a nonce is made of beside the state, so that the hash of a state means nothing else.
const NONCE_DOMAIN: &[u8] = b"forecourt payment page";

/// The networks of a deployment, as payers know them.
#[derive(Debug, Clone)]
pub struct PaymentNetworks(Vec<Network>);

/// One way to pay, as a wallet in a browser is asked for it. As JSON it is what the page's script reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletRequest {
    /// The network as a person reads it, such as `Base`.
    pub network: String,
    /// Its number.
    pub chain: u64,
    /// The token.
    pub token: Address,
    /// The symbol of the token; `None` for one that this deployment does not know.
    pub symbol: Option<String>,
    /// Its decimals, where it is known.
    pub decimals: Option<u8>,
    /// The name and the version that the token signs with.
    pub domain: (String, String),
    /// Who is paid.
    pub pay_to: Address,
    /// What is paid, in the token's smallest unit.
    pub amount: Units,
    /// Seconds for which the signature is good.
    pub seconds: u64,
    /// What makes it usable once. The same for every wallet and tab in which one page is paid, so that the token itself
    /// lets an account pay a page once.
    pub nonce: Nonce,
    /// Whether more than the amount may be paid, which becomes credit.
    pub may_pay_more: bool,
    /// The payment as it is handed in, without what is signed.
    pub payment: Map<String, Value>,
    /// What `wallet_addEthereumChain` is given, where the deployment says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add: Option<Value>,
}

impl Default for PaymentNetworks {
    /// Those that are known without settings.
    fn default() -> Self {
        Self(PaymentsSettings::default().networks().unwrap_or_default())
    }
}

impl PaymentNetworks {
    /// The networks as `settings` say.
    ///
    /// # Errors
    /// What is wrong with them, and what to do.
    pub fn new(settings: &PaymentsSettings) -> Result<Self, SettingsError> {
        Ok(Self(settings.networks()?))
    }

    pub(crate) fn all(&self) -> &[Network] {
        &self.0
    }

    /// What people call the networks on which may be paid, each once, in the order of the offers.
    pub fn titles(&self, accepted: &[AcceptedPayment]) -> Vec<String> {
        let mut titles: Vec<String> = Vec::new();
        for (_, wanted) in ways(accepted) {
            let title = chain_of(&self.0, wanted.network()).and_then(|chain| self.title(chain));
            titles.extend(title.filter(|title| !titles.contains(title)));
        }
        titles
    }

    /// What is asked for, such as `0.05 USDC`, by the first way whose token is known here.
    pub fn price(&self, accepted: &[AcceptedPayment]) -> Option<String> {
        ways(accepted).iter().find_map(|(_, wanted)| {
            let (symbol, asset) = self.token(chain_of(&self.0, wanted.network())?, wanted)?;
            Some(format!("{} {symbol}", wanted.amount().to_price(asset.decimals)))
        })
    }

    /// The ways of `accepted` that a wallet can sign, each network and token once, at most [`WALLET_REQUESTS_MAX`].
    /// `state` is that of the page. `takes_more`: what is paid over the price is credit, which version 1 alone can say.
    pub fn wallet_requests(&self, accepted: &[AcceptedPayment], state: &str, takes_more: bool) -> Vec<WalletRequest> {
        let nonce = Hex(keccak256(&[NONCE_DOMAIN, state.as_bytes()].concat()));
        let preferred = if takes_more { Version::V1 } else { Version::V2 };
        let mut requests: Vec<WalletRequest> = Vec::new();
        let (first, others): (Vec<_>, Vec<_>) =
            ways(accepted).into_iter().partition(|(_, wanted)| wanted.version() == preferred);
        for (offered, wanted) in first.into_iter().chain(others) {
            let Some(request) = self.request(&offered, &wanted, nonce, takes_more) else { continue };
            let is_known = |other: &WalletRequest| (other.chain, other.token) == (request.chain, request.token);
            if !requests.iter().any(is_known) && requests.len() < WALLET_REQUESTS_MAX {
                requests.push(request);
            }
        }
        requests
    }

    fn request(
        &self,
        offered: &OfferedWay,
        wanted: &Requirements,
        nonce: Nonce,
        takes_more: bool,
    ) -> Option<WalletRequest> {
        let seconds = wanted.max_timeout_seconds();
        let chain = chain_of(&self.0, wanted.network()).filter(|_| seconds <= TIMEOUT_SECONDS_MAX)?;
        let domain = (wanted.extra("name")?.to_owned(), wanted.extra("version")?.to_owned());
        let network = self.0.iter().find(|network| network.chain == chain);
        let token = self.token(chain, wanted);
        Some(WalletRequest {
            // Nobody is asked to sign for a network that can't be named to them.
            network: self.title(chain)?,
            chain,
            token: wanted.asset(),
            symbol: token.map(|(symbol, _)| symbol.clone()),
            decimals: token.map(|(_, asset)| asset.decimals),
            domain,
            pay_to: wanted.pay_to(),
            amount: wanted.amount(),
            seconds,
            nonce,
            may_pay_more: takes_more && wanted.version() == Version::V1,
            payment: payment(offered, wanted)?,
            add: network.and_then(addition),
        })
    }

    fn title(&self, chain: u64) -> Option<String> {
        let of_settings = self.0.iter().find(|network| network.chain == chain).map(Network::title);
        of_settings.or_else(|| known_by_chain(chain).map(|known| known.title.to_owned()))
    }

    /// The symbol of a token, and what is set for it.
    fn token(&self, chain: u64, wanted: &Requirements) -> Option<(&String, &AssetSettings)> {
        let network = self.0.iter().find(|network| network.chain == chain)?;
        network.assets.iter().find(|(_, asset)| asset.address == wanted.asset())
    }
}

/// A way to pay as JSON, to the byte, with what version 2 repeats of its envelope.
struct OfferedWay {
    raw: Value,
    resource: Option<Value>,
}

/// The ways of x402 `exact` among `accepted`.
fn ways(accepted: &[AcceptedPayment]) -> Vec<(OfferedWay, Requirements)> {
    let of_envelope = |payload: &Map<String, Value>| {
        let resource = payload.get("resource").cloned();
        let ways = PaymentRequired::read(payload).map(|envelope| envelope.accepts).unwrap_or_default();
        let exact = ways.into_iter().filter(|(_, wanted)| wanted.scheme() == "exact");
        exact.map(|(raw, wanted)| (OfferedWay { raw, resource: resource.clone() }, wanted)).collect::<Vec<_>>()
    };
    envelopes(accepted).flat_map(of_envelope).collect()
}

fn payment(offered: &OfferedWay, wanted: &Requirements) -> Option<Map<String, Value>> {
    let payment = match wanted {
        Requirements::V1(one) => json!({"x402Version": 1, "scheme": one.scheme, "network": one.network}),
        Requirements::V2(_) => json!({"x402Version": 2, "accepted": offered.raw}),
    };
    let Value::Object(mut payment) = payment else { return None };
    if let (Requirements::V2(_), Some(resource)) = (wanted, &offered.resource) {
        payment.insert("resource".to_owned(), resource.clone());
    }
    Some(payment)
}

/// What a wallet that does not know a network is told of it. EIP-3085.
fn addition(network: &Network) -> Option<Value> {
    let (url, symbol) = (network.wallet_rpc.as_deref()?, network.currency()?);
    Some(json!({
        "chainId": format!("0x{:x}", network.chain),
        "chainName": network.title(),
        // Every network of this kind counts its own currency with 18 decimals.
        "nativeCurrency": {"name": symbol, "symbol": symbol, "decimals": 18},
        "rpcUrls": [url],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::{Price, offers};

    fn settings() -> PaymentsSettings {
        serde_json::from_value(json!({
            "facilitator": "https://f.example", "pay_to": "0x209693bc6afc0c5328ba36faf03c514ef312287c",
            "networks": {
                "base": {"wallet_rpc": "https://base.example", "rpc": "https://base.example/secret-key"},
                "lab": {"id": "eip155:4242", "currency": "LAB", "assets": {"EUR": {
                    "address": "0x036cbd53842c5426634e7929541ec2318f3dcf7e", "decimals": 2, "name": "Euro",
                    "version": "1",
                }}},
            },
        }))
        .unwrap()
    }

    fn offered(price: &str, network: &str) -> Vec<AcceptedPayment> {
        let price = Price { price, network: Some(network), pay_to: None };
        offers(&settings(), price, "https://demo.example/~a", "An answer").unwrap()
    }

    fn networks() -> PaymentNetworks {
        PaymentNetworks::new(&settings()).unwrap()
    }

    #[test]
    fn a_wallet_is_asked_for_exactly_what_was_offered_once() {
        let accepted = offered("0.05 USDC", "base");
        let [request] = &networks().wallet_requests(&accepted, "state", false)[..] else { panic!() };
        assert_eq!((request.amount, request.chain, request.network.as_str()), (Units(50_000), 8_453, "Base"));
        assert_eq!((request.symbol.as_deref(), request.decimals), (Some("USDC"), Some(6)));
        assert_eq!(request.domain, ("USD Coin".to_owned(), "2".to_owned()));
        assert_eq!(request.payment["accepted"], accepted[1].payload["accepts"][0]);
        assert_eq!(request.payment["resource"], accepted[1].payload["resource"]);
        assert!(!request.may_pay_more);
        assert_eq!(networks().titles(&accepted), ["Base"]);
        assert_eq!(networks().price(&accepted).as_deref(), Some("0.05 USDC"));
    }

    #[test]
    fn credit_is_bought_in_the_version_that_takes_more_than_the_price() {
        let [request] = &networks().wallet_requests(&offered("0.05 USDC", "base"), "state", true)[..] else { panic!() };
        assert!(request.may_pay_more);
        assert_eq!(request.payment["x402Version"], 1);
        let second = &offered("0.05 USDC", "base")[1..];
        assert!(
            !networks().wallet_requests(second, "state", true)[0].may_pay_more,
            "version 2 takes exactly the price"
        );
    }

    #[test]
    fn one_page_has_one_nonce_and_another_page_another() {
        let nonce = |state| networks().wallet_requests(&offered("0.05 USDC", "base"), state, false)[0].nonce;
        assert_eq!(nonce("a"), nonce("a"));
        assert_ne!(nonce("a"), nonce("b"));
    }

    #[test]
    fn a_wallet_is_told_of_a_network_by_the_address_that_may_be_seen() {
        let requests = networks().wallet_requests(&offered("0.05 USDC", "base"), "s", false);
        let add = requests[0].add.as_ref().unwrap();
        assert_eq!((&add["rpcUrls"][0], &add["chainId"]), (&json!("https://base.example"), &json!("0x2105")));
        assert!(!serde_json::to_string(&requests).unwrap().contains("secret-key"));
        let lab = networks().wallet_requests(&offered("2 EUR", "lab"), "s", false);
        assert_eq!((lab[0].network.as_str(), lab[0].chain, &lab[0].add), ("lab", 4_242, &None));
    }

    #[test]
    fn what_wallets_are_told_is_checked_with_the_settings() {
        let with = |network: Value| {
            let mut settings = settings();
            settings.networks.insert("lab".to_owned(), serde_json::from_value(network).unwrap());
            settings.check().map_err(|error| error.message)
        };
        let plain = with(json!({"id": "eip155:4242", "currency": "LAB", "wallet_rpc": "http://lab.example"}));
        assert!(plain.unwrap_err().contains("wallet_rpc"));
        let unnamed = with(json!({"id": "eip155:4242", "wallet_rpc": "https://lab.example"}));
        assert!(unnamed.unwrap_err().contains("no `currency`"));
        assert!(with(json!({"id": "eip155:4242", "currency": "LAB", "wallet_rpc": "https://lab.example"})).is_ok());
    }

    #[test]
    fn ways_are_bounded_and_what_no_wallet_signs_is_left_out() {
        let many = |count: usize| {
            let way = |n: usize| {
                json!({
                    "scheme": "exact", "network": "eip155:8453", "amount": "1", "asset": format!("0x{n:040x}"),
                    "payTo": format!("0x{:040x}", 1), "maxTimeoutSeconds": 60, "extra": {"name": "N", "version": "1"},
                })
            };
            let payload = json!({"x402Version": 2, "accepts": (0..count).map(way).collect::<Vec<_>>()});
            let Value::Object(payload) = payload else { panic!() };
            let accepted = [AcceptedPayment { scheme: "x402.exact".to_owned(), payload }];
            networks().wallet_requests(&accepted, "s", false).len()
        };
        assert_eq!(
            (many(WALLET_REQUESTS_MAX), many(WALLET_REQUESTS_MAX + 1)),
            (WALLET_REQUESTS_MAX, WALLET_REQUESTS_MAX)
        );
        let mut unsigned = offered("0.05 USDC", "base");
        for envelope in &mut unsigned {
            envelope.payload["accepts"][0]["extra"] = json!({});
        }
        assert!(networks().wallet_requests(&unsigned, "s", false).is_empty());
        let mut elsewhere = offered("0.05 USDC", "base");
        for envelope in &mut elsewhere {
            envelope.payload["accepts"][0]["network"] = json!("eip155:99999");
        }
        assert!(networks().wallet_requests(&elsewhere, "s", false).is_empty(), "a network without a name");
        assert!(networks().titles(&elsewhere).is_empty(), "and no number in its place");
    }
}
