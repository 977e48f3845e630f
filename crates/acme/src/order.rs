//! One order: from an account to a chain and its key.

use std::sync::Arc;
use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, Identifier, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256};

use crate::challenges::{Challenges, Proof};
use crate::error::OrderError;
use crate::limits::ORDER_TIME_MAX;

/// How often the authority is asked how far it is.
const POLLING: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(100)).backoff(1.5).timeout(Duration::from_secs(60));

/// Orders a certificate for a name, proving it by a challenge of this kind. The chain and its key, both PEM.
pub(crate) async fn order(
    account: &Account,
    name: &str,
    kind: ChallengeType,
    challenges: &Arc<Challenges>,
) -> Result<(String, String), OrderError> {
    let late = |_| OrderError::Unreachable(format!("the order took longer than {} s", ORDER_TIME_MAX.as_secs()));
    tokio::time::timeout(ORDER_TIME_MAX, ordered(account, name, kind, challenges)).await.map_err(late)?
}

async fn ordered(
    account: &Account,
    name: &str,
    kind: ChallengeType,
    challenges: &Arc<Challenges>,
) -> Result<(String, String), OrderError> {
    let identifiers = [Identifier::Dns(name.to_owned())];
    let mut order = account.new_order(&NewOrder::new(&identifiers)).await?;
    let proofs = prove(&mut order, name, kind, challenges).await?;
    if order.poll_ready(&POLLING).await? == OrderStatus::Invalid {
        return Err(why_invalid(&mut order).await);
    }
    // The proofs stay until the authority has looked, and not longer than that.
    drop(proofs);
    let making = |error: rcgen::Error| OrderError::Failed(format!("no certificate can be asked for: {error}"));
    // A fresh key for each certificate: one that leaked is of no use after the next renewal.
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(making)?;
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(making)?;
    // Names stand in the alternative names alone; authorities ignore a common name or refuse a long one.
    params.distinguished_name = DistinguishedName::new();
    let request = params.serialize_request(&key).map_err(making)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&POLLING).await?;
    Ok((chain, key.serialize_pem()))
}

/// Sets up what the authority will ask for, and lets it ask.
async fn prove(
    order: &mut Order,
    name: &str,
    kind: ChallengeType,
    challenges: &Arc<Challenges>,
) -> Result<Vec<Proof>, OrderError> {
    let mut proofs = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        match authorization.status {
            // Proven lately, for an order before: authorities remember that for a while.
            AuthorizationStatus::Valid => continue,
            AuthorizationStatus::Pending => {}
            status => return Err(OrderError::Failed(format!("the authority calls {name} {status:?}"))),
        }
        let mut challenge = authorization.challenge(kind.clone()).ok_or_else(|| {
            OrderError::Failed(format!("the authority offers no {kind:?} for {name}: set `challenge` in [tls.acme]"))
        })?;
        let answer = challenge.key_authorization();
        proofs.push(match kind {
            ChallengeType::TlsAlpn01 => challenges.prove_tls(name, answer.digest().as_ref())?,
            _ => challenges.prove_http(&challenge.token, answer.as_str()).await?,
        });
        challenge.set_ready().await?;
    }
    Ok(proofs)
}

/// What the authority met when it asked.
async fn why_invalid(order: &mut Order) -> OrderError {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.clone()) {
            return Error::Api(problem).into();
        }
    }
    OrderError::Refused { reason: "it could not prove the name and does not say why".to_owned(), no_account: false }
}
