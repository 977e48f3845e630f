//! Which samples of a metric are meant, as Prometheus writes it: a name, and tests of labels in braces.

use crate::openmetrics::{FamilyText, SampleText};

/// A metric, and tests of the labels of its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    /// The name as Prometheus has it, with `_total` behind that of a counter.
    pub(super) metric: String,
    tests: Vec<LabelTest>,
}

/// A test of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LabelTest {
    label: String,
    /// `=`, `!=`, `=~` or `!~`.
    operator: &'static str,
    /// One of these, or none of them.
    values: Vec<String>,
}

impl Selector {
    /// Reads `metric{label="value", other!~"a|b"}`. Alternatives are plain words with `|` between, and no other pattern
    /// is understood.
    ///
    /// # Errors
    /// What is wrong with it, behind its name in a sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (metric, rest) = match text.trim().split_once('{') {
            Some((metric, rest)) => (metric, rest.strip_suffix('}').ok_or("has no `}` at its end")?),
            None => (text.trim(), ""),
        };
        if !is_name(metric) {
            return Err(format!("is no name of a metric: `{metric}`"));
        }
        let mut tests = Vec::new();
        let mut rest = rest.trim();
        while !rest.is_empty() {
            let (test, behind) = test(rest)?;
            tests.push(test);
            rest = behind.trim_start().trim_start_matches(',').trim_start();
        }
        Ok(Self { metric: metric.to_owned(), tests })
    }

    /// The samples that are meant. Of a histogram its buckets.
    pub(super) fn samples<'a>(&'a self, families: &'a [FamilyText]) -> impl Iterator<Item = &'a SampleText> {
        let of_family = move |family: &'a FamilyText| {
            let suffix = self.metric.strip_prefix(family.name.as_str());
            let wanted = match (family.kind.as_str(), suffix) {
                ("histogram", Some("")) => Some("_bucket"),
                (_, suffix) => suffix,
            };
            family.samples.iter().filter(move |sample| Some(sample.suffix.as_str()) == wanted && self.takes(sample))
        };
        families.iter().filter(|family| self.metric.starts_with(&family.name)).flat_map(of_family)
    }

    fn takes(&self, sample: &SampleText) -> bool {
        self.tests.iter().all(|test| {
            let value = sample.label(&test.label);
            test.values.iter().any(|one| one == value) != test.operator.starts_with('!')
        })
    }

    /// As Prometheus reads it, with `suffix` behind the name.
    pub(super) fn written(&self, suffix: &str) -> String {
        // Every program has these: those of others are not meant.
        let own = self.metric.starts_with("process_").then(|| "job=\"forecourt\"".to_owned());
        let tests =
            self.tests.iter().map(|test| format!("{}{}\"{}\"", test.label, test.operator, test.values.join("|")));
        let tests: Vec<String> = own.into_iter().chain(tests).collect();
        let braced = if tests.is_empty() { String::new() } else { format!("{{{}}}", tests.join(",")) };
        format!("{}{suffix}{braced}", self.metric)
    }
}

/// Whether it can be the name of a metric or a label.
pub(super) fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_first) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn test(text: &str) -> Result<(LabelTest, &str), String> {
    let end = text.find(['=', '!']).ok_or_else(|| format!("has no test of a label in `{text}`"))?;
    let (label, rest) = (text[..end].trim(), &text[end..]);
    let operator = ["=~", "!~", "!=", "="].into_iter().find(|one| rest.starts_with(one));
    let operator = operator.ok_or_else(|| format!("has none of =, !=, =~ and !~ in `{text}`"))?;
    let quoted = rest[operator.len()..].trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (value, behind) = quoted.ok_or_else(|| format!("has no quotes around the value of `{label}`"))?;
    if !is_name(label) {
        return Err(format!("has no name of a label in `{label}`"));
    }
    let is_pattern = operator.ends_with('~');
    if value.contains('\\') || (is_pattern && value.contains(|c: char| "^$.*+?()[]{}".contains(c))) {
        return Err(format!("has more than plain words with `|` between as the value of `{label}`"));
    }
    let values = match is_pattern {
        true => value.split('|').map(str::to_owned).collect(),
        false => vec![value.to_owned()],
    };
    Ok((LabelTest { label: label.to_owned(), operator, values }, behind))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::openmetrics::read;

    const TEXT: &str = "# TYPE replies counter\nreplies_total{agent=\"a\",ending=\"failed\"} 3\n\
                        replies_total{agent=\"a\",ending=\"complete\"} 5\n# TYPE wait histogram\n\
                        wait_sum 2\nwait_count 2\nwait_bucket{le=\"1.0\"} 2\n# TYPE up gauge\nup 1\n";

    fn values(selector: &str) -> Vec<f64> {
        let families = read(TEXT);
        Selector::parse(selector).unwrap().samples(&families).map(|sample| sample.value).collect()
    }

    #[test]
    fn samples_are_taken_by_name_and_label() {
        assert_eq!(values("replies_total"), [3.0, 5.0]);
        assert_eq!(values("replies_total{ending=\"failed\"}"), [3.0]);
        assert_eq!(values("replies_total{ending!=\"failed\", agent=\"a\"}"), [5.0]);
        assert_eq!(values("replies_total{ending=~\"failed|complete\"}"), [3.0, 5.0]);
        assert_eq!(values("replies_total{ending!~\"failed|complete\"}"), [0.0; 0]);
        assert_eq!(
            (values("wait"), values("wait_count"), values("up"), values("replies")),
            (vec![2.0], vec![2.0], vec![1.0], vec![])
        );
    }

    #[test]
    fn what_is_no_selector_says_what_is_wrong() {
        for (odd, told) in [
            ("", "no name"),
            ("a b", "no name"),
            ("a{", "no `}`"),
            ("a{b}", "no test"),
            ("a{b=c}", "no quotes"),
            ("a{b=~\".*\"}", "plain words"),
            ("a{b=\"\\\"\"}", "plain words"),
        ] {
            assert!(Selector::parse(odd).unwrap_err().contains(told), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_or_refused(text in "\\PC{0,60}") {
            // What is written of a process has a test more.
            if let Ok(selector) = Selector::parse(&text)
                && !selector.metric.starts_with("process_")
            {
                prop_assert_eq!(Selector::parse(&selector.written("")), Ok(selector));
            }
        }
    }
}
