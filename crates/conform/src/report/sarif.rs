//! A report as SARIF 2.1.0, which code scanning shows: a rule for each check that was run, a result for each that is not
//! kept. What is new or gone says so where a run was held against an earlier one.

use serde_json::{Value, json};

use super::{Comparison, Finding, Outcome, Report};

/// The schema that the form is of.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Report {
    /// The report as SARIF.
    pub fn sarif(&self, comparison: Option<&Comparison>) -> Value {
        let rules: Vec<Value> = self.checks.iter().map(rule).collect();
        let is_result = |(_, finding): &(usize, &Finding)| {
            let is_gone = comparison.is_some_and(|comparison| comparison.gone.iter().any(|id| id == finding.id));
            is_gone || matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
        };
        let results = self.checks.iter().enumerate().filter(is_result);
        let results: Vec<Value> = results.map(|(at, finding)| self.result(at, finding, comparison)).collect();
        let driver = json!({"name": "forecourt conform", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": driver },
                "invocations": [{ "executionSuccessful": true }],
                "results": results
            }]
        })
    }

    fn result(&self, at: usize, finding: &Finding, comparison: Option<&Comparison>) -> Value {
        let (kind, level) = match finding.outcome {
            Outcome::Fail => ("fail", "error"),
            Outcome::Warn => ("fail", "warning"),
            Outcome::Pass => ("pass", "none"),
            Outcome::Skip => ("notApplicable", "none"),
        };
        let words = [("", &finding.reason), ("sent:\n", &finding.sent), ("came:\n", &finding.came)];
        let told = words.iter().filter_map(|(name, words)| Some(format!("{name}{}", words.as_ref()?)));
        let text = std::iter::once(format!("{}.", finding.title)).chain(told).collect::<Vec<_>>().join("\n\n");
        let mut result = json!({
            "ruleId": finding.id,
            "ruleIndex": at,
            "kind": kind,
            "level": level,
            "message": { "text": text },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": self.target } } }],
            "partialFingerprints": { "check/v1": finding.id }
        });
        if let Some(comparison) = comparison {
            let has = |list: &[String]| list.iter().any(|id| id == finding.id);
            result["baselineState"] = json!(match () {
                () if has(&comparison.new_failures) || has(&comparison.new_warnings) => "new",
                () if has(&comparison.gone) => "absent",
                () => "unchanged",
            });
        }
        result
    }
}

fn rule(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "shortDescription": { "text": finding.title },
        "defaultConfiguration": { "level": if finding.level == "MUST" { "error" } else { "warning" } },
        "properties": { "protocol": finding.protocol, "section": finding.section, "level": finding.level }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, report};
    use super::*;

    #[test]
    fn what_is_not_kept_is_a_result_with_a_fingerprint_that_stays() {
        let found = report(vec![finding("a", Outcome::Pass), finding("b", Outcome::Fail), finding("c", Outcome::Warn)]);
        let sarif = found.sarif(None);
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let told: Vec<_> =
            results.iter().map(|one| (one["ruleId"].as_str().unwrap(), one["level"].as_str().unwrap())).collect();
        assert_eq!(told, [("b", "error"), ("c", "warning")]);
        assert_eq!(results[0]["partialFingerprints"]["check/v1"], "b");
        assert_eq!(
            sarif["runs"][0]["tool"]["driver"]["rules"][results[0]["ruleIndex"].as_u64().unwrap() as usize]["id"],
            "b"
        );
    }

    #[test]
    fn what_is_new_and_what_is_gone_says_so() {
        let found = report(vec![finding("a", Outcome::Pass), finding("b", Outcome::Fail), finding("c", Outcome::Fail)]);
        let comparison =
            Comparison { new_failures: vec!["b".to_owned()], gone: vec!["a".to_owned()], ..Comparison::default() };
        let sarif = found.sarif(Some(&comparison));
        let states: Vec<_> =
            sarif["runs"][0]["results"].as_array().unwrap().iter().map(|one| &one["baselineState"]).collect();
        assert_eq!(states, ["absent", "new", "unchanged"]);
    }
}
