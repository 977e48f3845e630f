//! `forecourt keys api`: what programs send to say who they are.

use std::sync::Arc;

use forecourt::{data_folder, storage};
use forecourt_core::Timestamp;
use forecourt_core::scope::ScopeSet;
use forecourt_host::SystemEntropy;
use forecourt_identity::api_keys::{ApiKeyError, ApiKeyListing, ApiKeyRequest, ApiKeys, CreatedApiKey};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::{ApiKeysWhat, CreateApiKey, ListApiKeys, Place, RevokeApiKey};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Makes, lists or revokes keys.
pub(crate) async fn run(what: &ApiKeysWhat) -> Outcome {
    match what {
        ApiKeysWhat::Create(create) => make(create).await,
        ApiKeysWhat::List(list) => show(list).await,
        ApiKeysWhat::Revoke(revoke) => end(revoke).await,
    }
}

/// The keys of a deployment, whether or not it is being served.
async fn keys_of(place: &Place) -> Result<ApiKeys, Failure> {
    let deployment = super::load(place)?;
    let data = data_folder::make(&place.data_dir())?;
    Ok(ApiKeys::new(Arc::clone(&storage::shared_store(&deployment, &data).await?)))
}

fn failed(error: ApiKeyError) -> Failure {
    match error {
        ApiKeyError::Store(error) => Failure::ours(format!("the store: {error}")),
        error => Failure::yours(error.to_string()),
    }
}

async fn make(create: &CreateApiKey) -> Outcome {
    let now = Timestamp::now();
    let scopes = ScopeSet::parse_all(create.scopes.iter().map(String::as_str));
    let wish = ApiKeyRequest {
        name: create.name.clone(),
        scopes: scopes.map_err(|error| Failure::yours(error.to_string()))?,
        limit: create.limit,
        expires_at: create.expires.as_deref().map(|text| read_end(text, now)).transpose()?,
    };
    let keys = keys_of(&create.place).await?;
    let CreatedApiKey { key, secret } = keys.create(wish, &SystemEntropy, now).await.map_err(failed)?;
    if create.json {
        return print_json(&json!({ "secret": secret.expose(), "key": key }));
    }
    // Alone on standard output, so that it can be taken into a variable.
    stdoutln!("{}", secret.expose());
    stderrln!("This is the only time that the key is shown. Its bearer is {} to policies.", key.subject());
    Ok(())
}

async fn show(list: &ListApiKeys) -> Outcome {
    let all = keys_of(&list.place).await?.list(Timestamp::now()).await.map_err(failed)?;
    if list.json {
        return print_json(&all);
    }
    for listing in &all {
        stdoutln!("{}", line(listing));
    }
    if all.is_empty() {
        stderrln!("There are no API keys. `forecourt keys api create NAME` makes one.");
    }
    Ok(())
}

/// One key, as people read it.
fn line(ApiKeyListing { key, revoked_at, last_used_at }: &ApiKeyListing) -> String {
    let scopes: Vec<&str> = key.scopes.iter().map(forecourt_core::scope::Scope::as_str).collect();
    let mut words = vec![format!("{}  {}", key.id, key.name)];
    words.extend((!scopes.is_empty()).then(|| scopes.join(" ")));
    words.extend(key.limit.map(|limit| limit.to_string()));
    words.extend(key.expires_at.map(|end| format!("expires {end:.0}")));
    words.push(last_used_at.map_or("never used".to_owned(), |used| format!("last used {used:.0}")));
    words.extend(revoked_at.map(|at| format!("revoked {at:.0}")));
    words.join("  ")
}

async fn end(revoke: &RevokeApiKey) -> Outcome {
    let key = keys_of(&revoke.place).await?.revoke(&revoke.key, Timestamp::now()).await.map_err(failed)?;
    stderrln!("The key {} ({}) is refused from now on.", key.name, key.id);
    Ok(())
}

/// When a key ends: after so many hours, days or weeks, on a day, or at a time.
fn read_end(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let wrong =
        || Failure::yours(format!("`{text}` is not a time: use 12h, 90d, 8w, 2027-01-31 or 2027-01-31T12:00:00Z"));
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)].into_iter().find_map(|(unit, hours)| {
        let count: i64 = text.strip_suffix(unit)?.parse().ok()?;
        (1..=100_000).contains(&count).then_some(count * hours)
    });
    if let Some(hours) = hours {
        return now.checked_add(jiff::SignedDuration::from_hours(hours)).map_err(|_| wrong());
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    let day: Date = text.parse().map_err(|_| wrong())?;
    Ok(day.to_zoned(TimeZone::UTC).map_err(|_| wrong())?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_spans_days_and_times() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        for (text, end) in [
            ("12h", "2026-01-02T00:00:00Z"),
            ("90d", "2026-04-01T12:00:00Z"),
            ("1w", "2026-01-08T12:00:00Z"),
            ("2027-01-31", "2027-01-31T00:00:00Z"),
            ("2027-01-31T12:00:00Z", "2027-01-31T12:00:00Z"),
        ] {
            assert_eq!(read_end(text, now).ok(), Some(end.parse().unwrap()), "{text}");
        }
        for text in ["", "0d", "-1d", "d", "soon", "100001w", "90 d"] {
            assert!(read_end(text, now).is_err(), "{text}");
        }
    }
}
