//! The operator's metrics, read back from the text in which they are exposed: whatever anybody counts is sent too, under
//! the same name, and is counted once.

/// A family of metrics.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FamilyText {
    /// Without the suffixes of its samples.
    pub(crate) name: String,
    pub(crate) help: String,
    /// `counter`, `gauge`, `histogram`, `info`…
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) samples: Vec<SampleText>,
}

/// One line with a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampleText {
    /// What its name has behind that of the family: `_total`, `_bucket`, or nothing.
    pub(crate) suffix: String,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: f64,
}

impl SampleText {
    /// The value of a label; empty where there is none.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// Reads a text of our own making. Lines that can't be read are left out.
pub(crate) fn read(text: &str) -> Vec<FamilyText> {
    let mut families: Vec<FamilyText> = Vec::new();
    for line in text.lines() {
        if let Some(about) = line.strip_prefix("# ") {
            let mut words = about.splitn(3, ' ');
            let (Some(what), Some(name)) = (words.next(), words.next()) else { continue };
            let said = words.next().unwrap_or_default().to_owned();
            if families.last().is_none_or(|family| family.name != name) {
                families.push(FamilyText { name: name.to_owned(), ..FamilyText::default() });
            }
            let Some(family) = families.last_mut() else { continue };
            match what {
                "HELP" => family.help = said,
                "TYPE" => family.kind = said,
                "UNIT" => family.unit = said,
                _ => {}
            }
            continue;
        }
        let Some(family) = families.last_mut() else { continue };
        if let Some(sample) = line.strip_prefix(family.name.as_str()).and_then(sample) {
            family.samples.push(sample);
        }
    }
    // A family that was described and never counted has nothing to send.
    families.retain(|family| !family.samples.is_empty());
    families
}

/// A line behind the name of its family.
fn sample(line: &str) -> Option<SampleText> {
    let end = line.find(['{', ' '])?;
    let (suffix, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.trim_start().split(' ').next()?.parse().ok()?;
    Some(SampleText { suffix: suffix.to_owned(), labels, value })
}

/// Labels up to their closing brace, and what follows it.
fn labels(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    let mut rest = text;
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, value) = rest.trim_start_matches(',').split_once("=\"")?;
        let mut unescaped = String::new();
        let mut characters = value.char_indices();
        let end = loop {
            match characters.next()? {
                (at, '"') => break at,
                (_, '\\') => match characters.next()?.1 {
                    'n' => unescaped.push('\n'),
                    other => unescaped.push(other),
                },
                (_, other) => unescaped.push(other),
            }
        };
        labels.push((name.to_owned(), unescaped));
        rest = &value[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::EncodeLabelSet;
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::family::Family;
    use prometheus_client::metrics::histogram::Histogram;
    use prometheus_client::registry::{Registry, Unit};

    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
    struct Labels {
        what: String,
        other: &'static str,
    }

    #[test]
    fn what_is_exposed_is_read_back_whole() {
        let mut registry = Registry::with_prefix("own");
        let counted = Family::<Labels, Counter>::default();
        let odd = "a \"b\" \\ {c},\nd=\"e\"";
        counted.get_or_create(&Labels { what: odd.to_owned(), other: "x" }).inc_by(7);
        registry.register("things", "Things by what they are", counted);
        let histogram = Histogram::new([0.5, 1.0]);
        [0.1, 0.7, 9.0].iter().for_each(|value| histogram.observe(*value));
        registry.register_with_unit("wait", "How long", Unit::Seconds, histogram);
        registry.register("nothing", "Never counted", Family::<Labels, Counter>::default());
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let families = read(&text);
        assert_eq!(
            families.iter().map(|family| family.name.as_str()).collect::<Vec<_>>(),
            ["own_things", "own_wait_seconds"]
        );
        assert_eq!((families[0].kind.as_str(), families[0].help.as_str()), ("counter", "Things by what they are."));
        let expected = vec![("what".to_owned(), odd.to_owned()), ("other".to_owned(), "x".to_owned())];
        assert_eq!(families[0].samples, [SampleText { suffix: "_total".to_owned(), labels: expected, value: 7.0 }]);
        let values: Vec<_> = families[1].samples.iter().map(|sample| (sample.suffix.as_str(), sample.value)).collect();
        assert_eq!(values[..2], [("_sum", 9.8), ("_count", 3.0)]);
        assert_eq!(values[2..], [("_bucket", 1.0), ("_bucket", 2.0), ("_bucket", 3.0)]);
        assert_eq!((families[1].kind.as_str(), families[1].unit.as_str()), ("histogram", "seconds"));
    }

    #[test]
    fn what_can_not_be_read_is_left_out() {
        for odd in ["", "# EOF", "# TYPE", "# TYPE a counter\na_total{b=\"c} 1\n", "# TYPE a gauge\na x\n", "a 1"] {
            assert_eq!(read(odd), [], "{odd:?}");
        }
    }
}
