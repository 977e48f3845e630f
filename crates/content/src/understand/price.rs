//! "under $20", "between 10 and 20 euros". A currency has to be named, else it may be anything.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Draft, amount, within};

const PATHS: &[&str] = &["offers.price", "price", "offers.lowPrice", "offers.priceSpecification.price"];

const SIGN: &str = r"([$€£])?\s*";
const NUMBER: &str = r"(\d{1,9}(?:[.,]\d{1,2})?)";
const UNIT: &str = r"\s*(dollars?|bucks|usd|euros?|eur|€|pounds?|gbp)?";

static BETWEEN: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(?:between|from)\s+{SIGN}{NUMBER}\s*(?:and|to|-)\s*{SIGN}{NUMBER}{UNIT}")));
static AT_MOST: LazyLock<Regex> = LazyLock::new(|| {
    let most = r"(?:under|below|less\s+than|cheaper\s+than|up\s+to|at\s+most|max(?:imum)?|for\s+under|(?:no|not)\s+more\s+than)";
    pattern(&format!(r"\b{most}\s*{SIGN}{NUMBER}{UNIT}"))
});
static AT_LEAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(?:over|above|more\s+than|at\s+least)\s*{SIGN}{NUMBER}{UNIT}")));

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}

pub(super) fn read(draft: &mut Draft<'_>) {
    let Some(path) = draft.number_path(PATHS) else { return };
    let number = |found: &Captures<'_>, at: usize| amount(found.get(at)?.as_str());
    let mut limited = draft.each(&BETWEEN, |found, _| {
        has_currency(found, &[1, 3, 5])?;
        let (from, to) = (number(found, 2)?, number(found, 4)?);
        Some(within(path, Some(from), Some(to), format!("from {from} to {to}")))
    });
    limited |= draft.each(&AT_MOST, |found, _| {
        has_currency(found, &[1, 3])?;
        let to = number(found, 2)?;
        Some(within(path, None, Some(to), format!("at most {to}")))
    });
    limited |= draft.each(&AT_LEAST, |found, _| {
        has_currency(found, &[1, 3])?;
        let from = number(found, 2)?;
        Some(within(path, Some(from), None, format!("at least {from}")))
    });
    if limited {
        draft.note("Items without a price are left out, and currencies are not converted.");
    }
}

fn has_currency(found: &Captures<'_>, groups: &[usize]) -> Option<()> {
    groups.iter().any(|group| found.get(*group).is_some()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::parts;

    #[test]
    fn prices_need_a_currency() {
        for (text, left, limit) in [
            ("gift under $20", "gift", "at most 20"),
            ("gift up to 19.99 euros", "gift", "at most 19.99"),
            ("gift between $10 and $20", "gift", "from 10 to 20"),
            ("gift from 10 to 20 dollars", "gift", "from 10 to 20"),
            ("wine over €50", "wine", "at least 50"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        assert!(parts("gift under 20").1.is_empty());
        assert!(parts("between 10 and 20 people").1.is_empty());
    }
}
