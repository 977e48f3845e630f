//! The rules that hold where nothing else is said, as data: the same that Prometheus is given.

use serde::Deserialize;

use super::rule::{AlertRule, AlertSettings};

#[derive(Deserialize)]
struct ShippedRules {
    alert: Vec<AlertSettings>,
}

/// All of them, in the order of their file. Rules of the same name are one, any part of which is enough.
pub(super) fn shipped() -> Vec<AlertRule> {
    let read: Result<ShippedRules, _> = toml::from_str(include_str!("shipped.toml"));
    read.map_or_else(|_| Vec::new(), |read| read.alert.iter().filter_map(|one| one.check().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_rule_is_one() {
        let read: ShippedRules = toml::from_str(include_str!("shipped.toml")).unwrap();
        for settings in &read.alert {
            settings.check().unwrap_or_else(|wrong| panic!("{}: {wrong:?}", settings.name));
        }
        assert!(shipped().len() == read.alert.len() && read.alert.len() > 15);
    }
}
