//! What the chain itself knows of an authorization: whether it was used, and by which transfer. Read only, over
//! the JSON-RPC of Ethereum's networks. EIP-3009 `authorizationState`, `AuthorizationUsed`.

use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::facilitator::brief;
use crate::hex::{Address, Hex};
use crate::keccak::{address_word, keccak256, word};
use crate::limits::{ANSWER_BYTES_MAX, FINALITY_SECONDS, LOG_BLOCKS_MAX, VERIFY_TIME_MAX};
use crate::x402::Authorization;

/// A network's JSON-RPC endpoint.
pub(crate) struct Chain<'a> {
    egress: Egress,
    url: &'a str,
}

/// What the chain knows of an authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChainFinding {
    /// The money is with the payee.
    Paid {
        /// By which transaction.
        transaction: Option<String>,
    },
    /// The payer used its nonce for another transfer, or cancelled it.
    UsedElsewhere,
    /// It was not used, and can't be any more.
    Expired,
    /// It was not used so far.
    Unused,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(egress: Egress, url: &'a str) -> Self {
        Self { egress, url }
    }

    /// Looks up whether `signed` moved the token `asset`. A nonce that was used proves little by itself, since a
    /// payer may sign it twice: the transfer must be in the logs of the transaction that used it.
    pub(crate) async fn look_up(&self, asset: Address, signed: &Authorization) -> Result<ChainFinding, String> {
        if !self.is_used(asset, signed).await? {
            let block = self.call("eth_getBlockByNumber", json!(["latest", false])).await?;
            let time = quantity(&block["timestamp"]).ok_or("a block without a timestamp")?;
            // The block's clock decides, not ours: the token compares `validBefore` with it. Some time more, since the
            // latest block, in which the authorization is unused, may yet be replaced by one that used it in time.
            let is_over = time > signed.valid_before.0.saturating_add(FINALITY_SECONDS);
            return Ok(if is_over { ChainFinding::Expired } else { ChainFinding::Unused });
        }
        let Some(transaction) = self.transaction_of(asset, signed).await? else {
            return Ok(ChainFinding::UsedElsewhere);
        };
        let receipt = self.call("eth_getTransactionReceipt", json!([transaction])).await?;
        let logs = receipt["logs"].as_array().ok_or("a transaction without logs")?;
        // A payer can sign one nonce twice, for us and for another payee; a used nonce alone would make the second look
        // paid.
        match logs.iter().any(|log| is_transfer(log, asset, signed)) {
            true => Ok(ChainFinding::Paid { transaction: Some(brief(&transaction)) }),
            false => Ok(ChainFinding::UsedElsewhere),
        }
    }

    async fn is_used(&self, asset: Address, signed: &Authorization) -> Result<bool, String> {
        let mut data = keccak256(b"authorizationState(address,bytes32)")[..4].to_vec();
        data.extend(address_word(signed.from));
        data.extend(signed.nonce.0);
        let data: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        let asked = json!([{"to": asset, "data": format!("0x{data}")}, "latest"]);
        let answer = self.call("eth_call", asked).await?;
        // A contract without EIP-3009 answers with no bytes. Read as zero, that would say "not used", and after its
        // time that nothing was taken.
        let state = answer.as_str().and_then(|text| text.parse::<Hex<32>>().ok());
        Ok(state.ok_or("the token does not know EIP-3009")?.0 != [0; 32])
    }

    /// The transaction that used the authorization; `None` when it was cancelled. Fails when neither is among the
    /// latest blocks.
    async fn transaction_of(&self, asset: Address, signed: &Authorization) -> Result<Option<String>, String> {
        let used = Hex(keccak256(b"AuthorizationUsed(address,bytes32)"));
        let cancelled = Hex(keccak256(b"AuthorizationCanceled(address,bytes32)"));
        let latest = quantity(&self.call("eth_blockNumber", json!([])).await?).ok_or("no number of a block")?;
        let asked = json!([{
            "address": asset,
            "fromBlock": format!("0x{:x}", latest.saturating_sub(LOG_BLOCKS_MAX)),
            "toBlock": "latest",
            "topics": [[used, cancelled], Hex(address_word(signed.from)), signed.nonce],
        }]);
        let logs = self.call("eth_getLogs", asked).await?;
        let log = logs.as_array().and_then(|logs| logs.first());
        // The nonce is used, so an event exists; it is only out of reach. An error leaves the settlement open, where
        // `None` would call it cancelled.
        let log = log.ok_or_else(|| format!("no log of it in the latest {LOG_BLOCKS_MAX} blocks"))?;
        let is_used = topic(log, 0) == Some(used);
        Ok(log["transactionHash"].as_str().filter(|_| is_used).map(str::to_owned))
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, String> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let usual = Purpose::Service.deadlines(self.egress.config());
        let within = Deadlines {
            first_byte: VERIFY_TIME_MAX,
            total: VERIFY_TIME_MAX,
            body_bytes_max: ANSWER_BYTES_MAX,
            ..usual
        };
        let request = UpstreamRequest::post(self.url, body.to_string())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .within(within);
        let answer = self.egress.fetch(Purpose::Service, request).await.map_err(|e| e.log_reason())?;
        let mut answer = json::parse(&answer.bytes)?;
        match answer.get("error") {
            Some(error) if !error.is_null() => Err(format!("{method}: {}", brief(&error["message"].to_string()))),
            _ => Ok(answer["result"].take()),
        }
    }
}

/// Whether a log says that the money went where it should.
fn is_transfer(log: &Value, asset: Address, signed: &Authorization) -> bool {
    let wanted = [keccak256(b"Transfer(address,address,uint256)"), address_word(signed.from), address_word(signed.to)];
    let is_asset = log["address"].as_str().and_then(|text| text.parse().ok()) == Some(asset);
    let is_value = log["data"].as_str().and_then(|text| text.parse().ok()) == Some(Hex(word(signed.value.0)));
    is_asset && is_value && wanted.into_iter().enumerate().all(|(at, wanted)| topic(log, at) == Some(Hex(wanted)))
}

fn topic(log: &Value, at: usize) -> Option<Hex<32>> {
    log["topics"][at].as_str()?.parse().ok()
}

/// A number as JSON-RPC writes it.
fn quantity(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}
