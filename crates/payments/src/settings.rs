//! The `[payments]` section of `forecourt.toml`: who checks and settles, on which networks, in which tokens.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::ap2_settings::Ap2Settings;
use crate::card::CardSettings;
use crate::hex::Address;
use crate::limits::{TIMEOUT_SECONDS, TIMEOUT_SECONDS_MAX};
use crate::networks::{CAIP2_PREFIX, chain_by_caip2, chain_by_name, known_by_chain};
use crate::settings_error::SettingsError;

/// `[payments]`: how agents are paid for, with x402, by card and by mandates of AP2.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaymentsSettings {
    /// The facilitator, which checks payments and settles them: the URL to which `/verify`, `/settle` and
    /// `/supported` are added. There is no default, since it is trusted with every payment. On this machine or
    /// in a private network over plain http, open it in `[egress]` with `allow` and `allow_http`.
    pub facilitator: Option<String>,
    /// The address that is paid, unless a network or a rule names another one.
    #[schemars(with = "Option<String>")]
    pub pay_to: Option<Address>,
    /// Seconds for which a payer signs: a payment that is not settled by then can't be. One that would run out before an
    /// answer is surely complete (the agent's `timeout_seconds`, and 60 s to settle) is taken before that answer.
    pub timeout_seconds: u64,
    /// Networks by their x402 version 1 names, such as `base-sepolia`. `base` and `base-sepolia` are known with
    /// USDC and need no table; what is set here overrides what is known.
    pub networks: BTreeMap<String, NetworkSettings>,
    /// Cards, by a provider with a hosted checkout.
    pub card: CardSettings,
    /// Mandates of AP2: payers whose signatures are verified here.
    pub ap2: Ap2Settings,
}

/// `[payments.networks.<name>]`: one network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkSettings {
    /// Its CAIP-2 name, such as `eip155:84532`. Required for networks that x402 has no name for.
    pub id: Option<String>,
    /// The address that is paid on it.
    #[schemars(with = "Option<String>")]
    pub pay_to: Option<Address>,
    /// A JSON-RPC endpoint of the network. With it, a settlement that nobody answered for is looked up on the
    /// chain itself; without it, the facilitator is asked again.
    pub rpc: Option<String>,
    /// A JSON-RPC endpoint of the network that payers' wallets may be told of, by https: with it, the page of a
    /// payment offers to add the network to a wallet that does not know it. Everybody sees it, so it holds no key;
    /// `rpc` is never shown.
    pub wallet_rpc: Option<String>,
    /// The symbol of what fees are paid in on this network, such as `ETH`, for wallets that do not know it. Known for
    /// networks that x402 has a name for.
    pub currency: Option<String>,
    /// Tokens by their symbols, such as `USDC`. Each must know EIP-3009.
    pub assets: BTreeMap<String, AssetSettings>,
}

/// `[payments.networks.<name>.assets.<symbol>]`: one token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssetSettings {
    /// The contract.
    #[schemars(with = "String")]
    pub address: Address,
    /// How many decimals it has: 6 for USDC.
    pub decimals: u8,
    /// Its name as payers sign it (EIP-712), which may differ from its symbol.
    pub name: String,
    /// Its version as payers sign it (EIP-712).
    pub version: String,
    /// Whether it is worth a dollar, so that prices such as `$0.05` mean it. One token of a network at most.
    #[serde(default)]
    pub dollar: bool,
}

impl Default for PaymentsSettings {
    fn default() -> Self {
        Self {
            facilitator: None,
            pay_to: None,
            timeout_seconds: TIMEOUT_SECONDS,
            networks: BTreeMap::new(),
            card: CardSettings::default(),
            ap2: Ap2Settings::default(),
        }
    }
}

/// A network, with what is known of it and what is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Network {
    /// Its name in version 1.
    pub(crate) name: String,
    /// Its number: what follows `eip155:` in CAIP-2.
    pub(crate) chain: u64,
    pub(crate) pay_to: Option<Address>,
    pub(crate) rpc: Option<String>,
    pub(crate) wallet_rpc: Option<String>,
    pub(crate) currency: Option<String>,
    pub(crate) assets: BTreeMap<String, AssetSettings>,
}

impl Network {
    /// Its name in version 2.
    pub(crate) fn caip2(&self) -> String {
        format!("{CAIP2_PREFIX}{}", self.chain)
    }

    /// What people call it; its own name where nobody knows it.
    pub(crate) fn title(&self) -> String {
        known_by_chain(self.chain).map_or_else(|| self.name.clone(), |known| known.title.to_owned())
    }

    /// The symbol of what its fees are paid in.
    pub(crate) fn currency(&self) -> Option<&str> {
        self.currency.as_deref().or_else(|| known_by_chain(self.chain).map(|known| known.currency))
    }
}

/// Networks that need no settings: name, address of USDC, and the name with which that is signed.
const KNOWN: [(&str, &str, &str); 2] = [
    ("base", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USD Coin"),
    ("base-sepolia", "0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC"),
];

impl PaymentsSettings {
    /// Every network, with what is known of it and what is set.
    ///
    /// # Errors
    /// The first network that has no number or one that can't be read, two with the same number, or two tokens
    /// that are a dollar.
    pub(crate) fn networks(&self) -> Result<Vec<Network>, SettingsError> {
        let known = KNOWN.map(|(name, ..)| name);
        let names = known.into_iter().chain(self.networks.keys().map(String::as_str).filter(|n| !known.contains(n)));
        let networks: Vec<_> = names.map(|name| self.network(name)).collect::<Result<_, _>>()?;
        // Two names of one chain would make one signature two payments, with two fingerprints.
        for (at, network) in networks.iter().enumerate() {
            if let Some(twin) = networks[..at].iter().find(|twin| twin.chain == network.chain) {
                let message = format!("the networks `{}` and `{}` have the same id", twin.name, network.name);
                return Err(SettingsError::new(message, "a network has one name: keep one of the two"));
            }
        }
        Ok(networks)
    }

    fn network(&self, name: &str) -> Result<Network, SettingsError> {
        let known = KNOWN.iter().find(|(known, ..)| *known == name);
        let set = self.networks.get(name).cloned().unwrap_or_default();
        let chain = match &set.id {
            Some(id) => chain_by_caip2(id).ok_or_else(|| {
                let hint = format!("write `id` as {CAIP2_PREFIX} and the number of the network");
                SettingsError::new(format!("`{id}` is not the id of a network that x402 `exact` is paid on"), hint)
            })?,
            None => chain_by_name(name).ok_or_else(|| {
                let hint = format!("set `id` in [payments.networks.{name}], such as {CAIP2_PREFIX}84532");
                SettingsError::new(format!("the network `{name}` is not known and has no `id`"), hint)
            })?,
        };
        let mut assets: BTreeMap<_, _> = known.and_then(usdc).into_iter().collect();
        let has_dollar = set.assets.values().any(|asset| asset.dollar);
        // An operator's own dollar replaces the built-in one, or every such network would have two.
        assets.values_mut().for_each(|asset: &mut AssetSettings| asset.dollar &= !has_dollar);
        assets.extend(set.assets.clone());
        if assets.values().filter(|asset| asset.dollar).count() > 1 {
            let message = format!("two tokens of the network `{name}` have `dollar = true`");
            return Err(SettingsError::new(message, "prices in dollars must mean one of them"));
        }
        let NetworkSettings { pay_to, rpc, wallet_rpc, currency, .. } = set;
        Ok(Network { name: name.to_owned(), chain, pay_to, rpc, wallet_rpc, currency, assets })
    }

    /// Fails when the section can't work: it is checked when the deployment is read.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn check(&self) -> Result<(), SettingsError> {
        if !(1..=TIMEOUT_SECONDS_MAX).contains(&self.timeout_seconds) {
            let message = format!("`timeout_seconds` is {}", self.timeout_seconds);
            return Err(SettingsError::new(message, format!("it is between 1 and {TIMEOUT_SECONDS_MAX}")));
        }
        self.card.check()?;
        self.ap2.check(self.facilitator.is_some())?;
        for network in self.networks()? {
            if let Some(url) = network.wallet_rpc.as_deref().filter(|url| !url.starts_with("https://")) {
                let message = format!("`wallet_rpc` of the network `{}` is `{url}`", network.name);
                return Err(SettingsError::new(message, "wallets take an address with https:// alone"));
            }
            if network.wallet_rpc.is_some() && network.currency().is_none() {
                let message = format!("the network `{}` has a `wallet_rpc` and no `currency`", network.name);
                return Err(SettingsError::new(message, "set `currency` to the symbol of what its fees are paid in"));
            }
            for (symbol, asset) in &network.assets {
                crate::Units::from_price("1", asset.decimals).map_err(|error| {
                    SettingsError::new(format!("the token `{symbol}` of `{}`: {error}", network.name), "set `decimals`")
                })?;
            }
        }
        Ok(())
    }
}

fn usdc((_, address, name): &(&str, &str, &str)) -> Option<(String, AssetSettings)> {
    let (address, name, version) = (address.parse().ok()?, (*name).to_owned(), "2".to_owned());
    Some(("USDC".to_owned(), AssetSettings { address, decimals: 6, name, version, dollar: true }))
}
