//! The rules that a deployment goes by: those that are shipped, and its own.

use super::rule::{AlertRule, AlertSettings};
use super::shipped::shipped;

/// Rules of a deployment, beside those that are shipped.
pub(crate) const ALERT_RULES_MAX: usize = 50;

/// What is wrong with the rules of a deployment.
#[derive(Debug)]
pub(crate) struct AlertProblem {
    /// The key of `[admin]`.
    pub(crate) key: &'static str,
    /// Which of its own rules, counted from 0, where it is one.
    pub(crate) item: Option<usize>,
    /// The other one that it does not go with, of which the line is told behind the text.
    pub(crate) beside: Option<usize>,
    /// What is wrong.
    pub(crate) text: String,
}

impl AlertProblem {
    fn of(key: &'static str, text: String) -> Self {
        Self { key, item: None, beside: None, text }
    }
}

/// The shipped rules that `off` does not name, and a deployment's own ones, or what is wrong with them.
pub(crate) fn check_all(own: &[AlertSettings], off: &[String]) -> Result<Vec<AlertRule>, Vec<AlertProblem>> {
    let mut wrong = Vec::new();
    if own.len() > ALERT_RULES_MAX {
        wrong.push(AlertProblem::of("alert", format!("there are at most {ALERT_RULES_MAX} rules")));
    }
    let mut rules = shipped();
    for name in off {
        if !rules.iter().any(|rule| rule.name == *name) {
            wrong.push(AlertProblem::of("alerts_off", format!("`{name}` is no rule that is shipped")));
        }
    }
    rules.retain(|rule| !off.contains(&rule.name) && !own.iter().any(|own| own.name == rule.name));
    for (item, settings) in own.iter().enumerate() {
        let name = &settings.name;
        let problem = |beside, text| AlertProblem { item: Some(item), beside, ..AlertProblem::of("alert", text) };
        match settings.check() {
            // Rules of one name are neighbours: they are told as one.
            Ok(rule) => {
                let last = rules.iter().rposition(|known| known.name == rule.name);
                rules.insert(last.map_or(rules.len(), |last| last + 1), rule);
            }
            Err((key, text)) => wrong.push(problem(None, format!("`{key}` of the alert `{name}` {text}"))),
        }
        // Rules of one name are one alert.
        let told = |of: &AlertSettings| (of.severity, of.for_seconds);
        if let Some(first) = own[..item].iter().position(|first| first.name == *name)
            && told(&own[first]) != told(settings)
        {
            let text = format!("the alert `{name}` has another `severity` or `for_seconds` than the one of its name");
            wrong.push(problem(Some(first), text));
        }
    }
    if wrong.is_empty() { Ok(rules) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::super::rule::AlertBound;
    use super::super::rule::tests::of;
    use super::*;

    #[test]
    fn own_rules_take_the_place_of_shipped_ones_and_have_a_bound() {
        let names = |rules: &[AlertRule]| rules.iter().filter(|rule| rule.name == "ForecourtSlow").count();
        assert_eq!(names(&check_all(&[], &[]).unwrap()), 1);
        assert_eq!(names(&check_all(&[], &["ForecourtSlow".to_owned()]).unwrap()), 0);
        let slow = AlertSettings { name: "ForecourtSlow".to_owned(), ..of("over = 9") };
        let rules = check_all(&[slow], &[]).unwrap();
        assert_eq!(rules.iter().find(|rule| rule.name == "ForecourtSlow").unwrap().bound, AlertBound::Over(9.0));
        assert!(check_all(&[], &["Nothing".to_owned()]).unwrap_err()[0].text.contains("no rule that is shipped"));
        assert!(check_all(&vec![of("over = 1"); ALERT_RULES_MAX], &[]).is_ok());
        assert!(check_all(&vec![of("over = 1"); ALERT_RULES_MAX + 1], &[]).is_err());
    }

    #[test]
    fn a_shipped_rule_may_be_named_twice_among_those_that_are_off() {
        let off = ["ForecourtSlow".to_owned(), "ForecourtSlow".to_owned()];
        let rules = check_all(&[], &off).unwrap();
        assert!(!rules.is_empty() && rules.iter().all(|rule| rule.name != "ForecourtSlow"));
    }

    #[test]
    fn rules_of_one_name_are_neighbours() {
        let named = |name: &str, lines: &str| AlertSettings { name: name.to_owned(), ..of(lines) };
        let rules = check_all(&[named("A", "over = 1"), named("B", "over = 2"), named("A", "over = 3")], &[]).unwrap();
        let own: Vec<_> = rules[rules.len() - 3..].iter().map(|rule| (rule.name.as_str(), rule.bound)).collect();
        let over = AlertBound::Over;
        assert_eq!(own, [("A", over(1.0)), ("A", over(3.0)), ("B", over(2.0))]);
    }

    #[test]
    fn rules_of_one_name_hurry_alike_and_hold_for_as_long() {
        let other = |lines: &str| check_all(&[of("over = 1"), of("under = 0"), of(lines)], &[]);
        assert!(other("over = 2").is_ok());
        for lines in ["over = 2\nseverity = \"critical\"", "over = 2\nfor_seconds = 60"] {
            let wrong = other(lines).unwrap_err();
            assert_eq!((wrong.len(), wrong[0].item, wrong[0].beside), (1, Some(2), Some(0)), "{lines}");
        }
    }
}
