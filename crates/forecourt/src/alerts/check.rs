//! The rules that a deployment goes by: those that are shipped, and its own.

use super::rule::{AlertRule, AlertSettings};
use super::shipped::shipped;

/// Rules of a deployment, beside those that are shipped.
pub(crate) const ALERT_RULES_MAX: usize = 50;

/// The shipped rules that `off` does not name, and a deployment's own ones, or what is wrong with which key.
pub(crate) fn check_all(own: &[AlertSettings], off: &[String]) -> Result<Vec<AlertRule>, Vec<(&'static str, String)>> {
    let mut wrong = Vec::new();
    if own.len() > ALERT_RULES_MAX {
        wrong.push(("alert", format!("there are at most {ALERT_RULES_MAX} rules")));
    }
    let mut rules = shipped();
    for name in off {
        match rules.iter().any(|rule| rule.name == *name) {
            true => rules.retain(|rule| rule.name != *name),
            false => wrong.push(("alerts_off", format!("`{name}` is no rule that is shipped"))),
        }
    }
    rules.retain(|rule| !own.iter().any(|own| own.name == rule.name));
    for settings in own {
        match settings.check() {
            Ok(rule) => rules.push(rule),
            Err((key, text)) => wrong.push(("alert", format!("`{key}` of the alert `{}` {text}", settings.name))),
        }
    }
    if wrong.is_empty() { Ok(rules) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::super::rule::AlertBound;
    use super::*;

    fn of(lines: &str) -> AlertSettings {
        let text = format!("name = \"A\"\nmetric = \"a_total\"\nsummary = \"s\"\n{lines}");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn own_rules_take_the_place_of_shipped_ones_and_have_a_bound() {
        let names = |rules: &[AlertRule]| rules.iter().filter(|rule| rule.name == "ForecourtSlow").count();
        assert_eq!(names(&check_all(&[], &[]).unwrap()), 1);
        assert_eq!(names(&check_all(&[], &["ForecourtSlow".to_owned()]).unwrap()), 0);
        let slow = AlertSettings { name: "ForecourtSlow".to_owned(), ..of("over = 9") };
        let rules = check_all(&[slow], &[]).unwrap();
        assert_eq!(rules.iter().find(|rule| rule.name == "ForecourtSlow").unwrap().bound, AlertBound::Over(9.0));
        assert!(check_all(&[], &["Nothing".to_owned()]).unwrap_err()[0].1.contains("no rule that is shipped"));
        assert!(check_all(&vec![of("over = 1"); ALERT_RULES_MAX], &[]).is_ok());
        assert!(check_all(&vec![of("over = 1"); ALERT_RULES_MAX + 1], &[]).is_err());
    }
}
