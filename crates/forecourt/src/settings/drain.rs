//! `[drain]`: how a process goes.

use std::time::Duration;

use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use super::StoreSettings;

/// Seconds for which a process may go on serving once it is told to stop.
pub(crate) const SECONDS_MAX: u32 = 300;

/// For how long a node goes on where nothing else is said: three looks of a balancer that looks every 1.5 s.
const NODE: Duration = Duration::from_secs(5);

/// `[drain]`: how the daemon goes once it is told to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrainSettings {
    /// Seconds for which it goes on serving while `/readyz` says 503, so that balancers send nobody any more before
    /// its sockets are closed, 0 to 300. Default: 5 where there is a `url` in `[store]`, 0 for a daemon that is alone.
    pub seconds: Option<u32>,
}

impl DrainSettings {
    /// For how long it goes on serving, with this store.
    pub(crate) fn serves_for(self, store: &StoreSettings) -> Duration {
        let usual = if store.is_shared() { NODE } else { Duration::ZERO };
        self.seconds.map_or(usual, |seconds| Duration::from_secs(seconds.into()))
    }
}

/// Reads `[drain]`.
///
/// # Errors
/// A key that means nothing, or seconds over the bound.
pub(crate) fn read_drain(section: &Section) -> Result<DrainSettings, Problems> {
    let settings: DrainSettings = section.read()?;
    match settings.seconds {
        Some(seconds) if seconds > SECONDS_MAX => {
            let text = format!("`seconds` is {seconds}, and is at most {SECONDS_MAX}");
            Err(section.problem(Some("seconds"), text).into())
        }
        _ => Ok(settings),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<DrainSettings, String> {
        let environment = |_: &str| None;
        let section = Section::parse(Path::new("forecourt.toml"), text, &environment).unwrap();
        read_drain(&section).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_node_leaves_slowly_and_a_daemon_alone_at_once_unless_it_is_said() {
        let alone = StoreSettings::default();
        let key = forecourt_store::StoreKey::from_bytes([7; 32]);
        let node = StoreSettings {
            shared: Some(super::super::SharedStore { url: "postgres://db/forecourt".into(), key }),
            ..StoreSettings::default()
        };
        let of = |text: &str, store: &StoreSettings| read(text).unwrap().serves_for(store).as_secs();
        assert_eq!((of("", &alone), of("", &node)), (0, 5));
        assert_eq!((of("seconds = 7", &alone), of("seconds = 0", &node)), (7, 0));
    }

    #[test]
    fn the_longest_that_may_be_and_a_second_more() {
        assert!(read(&format!("seconds = {SECONDS_MAX}")).is_ok());
        let wrong = read(&format!("seconds = {}", SECONDS_MAX + 1)).unwrap_err();
        assert!(wrong.contains("`seconds` is 301, and is at most 300"), "{wrong}");
    }
}
