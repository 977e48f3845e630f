//! How often may be asked, and how long a refusal is let rest.

use std::time::Duration;

use jiff::Timestamp;

use crate::limits::{ORDERS_PER_HOUR_MAX, ORDERS_PER_NAME_AND_HOUR_MAX, RETRY_FIRST, RETRY_MAX};
use crate::storage::{AcmeStorage, StorageError, named};

/// How long the orders of an hour count.
const HOUR: Duration = Duration::from_secs(3600);

/// Takes one of the orders that may be made for a name, and in all, within an hour. `false`: there is none left.
pub(crate) async fn take_turn(storage: &dyn AcmeStorage, name: &str, now: Timestamp) -> Result<bool, StorageError> {
    let of_name = named("orders", name);
    let has_one = take_one(storage, &of_name, ORDERS_PER_NAME_AND_HOUR_MAX, now).await?;
    Ok(has_one && take_one(storage, "all-orders", ORDERS_PER_HOUR_MAX, now).await?)
}

async fn take_one(storage: &dyn AcmeStorage, kind: &str, max: usize, now: Timestamp) -> Result<bool, StorageError> {
    // As many claims as orders are allowed, each of which runs out by itself: so the count holds among nodes and over
    // restarts, without a counter.
    for n in 0..max {
        if storage.claim(&format!("{kind}.{n}"), now, after(now, HOUR)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How long is waited after so many failures in a row, the last one included.
pub(crate) fn rest(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(20));
    RETRY_FIRST.saturating_mul(doubled).min(RETRY_MAX)
}

pub(crate) fn after(now: Timestamp, wait: Duration) -> Timestamp {
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_rest_up_to_a_bound() {
        let minutes = [1, 2, 3, 4, 9, 10, 1_000].map(|failures| rest(failures).as_secs() / 60);
        assert_eq!(minutes, [1, 2, 4, 8, 256, 360, 360]);
    }
}
