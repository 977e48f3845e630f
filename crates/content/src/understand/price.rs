//! "under $20", "between 10 and 20 euros", "unter 20 Euro", "cheap". A currency has to be named, else it may
//! be anything.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Draft, amount, pattern, within};

pub(super) const PATHS: &[&str] = &["offers.price", "price", "offers.lowPrice", "offers.priceSpecification.price"];

const SIGN: &str = r"([$€£])?\s*";
const NUMBER: &str = r"(\d{1,9}(?:[.,]\d{1,2})?)";
const UNIT: &str = r"\s*(dollars?|bucks|usd|euros?|eur|€|pounds?|gbp|£|chf|pfund|dólares|libras|livres)?";
const MOST: &str = r"(?:under|below|less\s+than|cheaper\s+than|up\s+to|at\s+most|max(?:imum)?|for\s+under|(?:no|not)\s+more\s+than|unter|höchstens|maximal|bis\s+zu|weniger\s+als|(?:à\s+)?moins\s+de|(?:por\s+)?menos\s+de|hasta)";
const LEAST: &str =
    r"(?:over|above|more\s+than|at\s+least|über|ab|mehr\s+als|mindestens|plus\s+de|au\s+moins|más\s+de|al\s+menos)";
/// Of all prices, the part that is cheap, and the part that is dear.
const THIRD: f64 = 1.0 / 3.0;

static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"(?:between|from|zwischen|von|entre|de)";
    pattern(&format!(r"\b{between}\s+{SIGN}{NUMBER}{UNIT}\s*(?:and|to|-|und|bis|et|à|y|a)\s*{SIGN}{NUMBER}{UNIT}"))
});
static AT_MOST: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b{MOST}\s*{SIGN}{NUMBER}{UNIT}")));
static OR_LESS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"{SIGN}{NUMBER}{UNIT}\s+(?:or\s+(?:less|under|cheaper)|max(?:imum)?|tops)\b")));
static AT_LEAST: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b{LEAST}\s*{SIGN}{NUMBER}{UNIT}")));
static CHEAP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:cheap(?:er|est)?|inexpensive|affordable|low[\s-]cost|budget|günstige?[mnrs]?|billige?[mnrs]?|bon\s+marché|pas\s+ch(?:er|ère)s?|barat[oa]s?)\b",
    )
});
static DEAR: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:expensive|luxury|luxurious|high[\s-]end|premium)\b"));

pub(super) fn read(draft: &mut Draft<'_>) {
    let Some(path) = draft.number_path(PATHS) else { return };
    let number = |found: &Captures<'_>, at: usize| amount(found.get(at)?.as_str());
    let at_most = |found: &Captures<'_>, _: &str| {
        has_currency(found, &[1, 3])?;
        let to = number(found, 2)?;
        Some(within(path, None, Some(to), format!("at most {to}")))
    };
    let mut limited = draft.each(&BETWEEN, |found, _| {
        has_currency(found, &[1, 3, 4, 6])?;
        let (from, to) = (number(found, 2)?, number(found, 5)?);
        Some(within(path, Some(from), Some(to), format!("from {from} to {to}")))
    });
    limited |= draft.each(&AT_MOST, at_most) | draft.each(&OR_LESS, at_most);
    limited |= draft.each(&AT_LEAST, |found, _| {
        has_currency(found, &[1, 3])?;
        let from = number(found, 2)?;
        Some(within(path, Some(from), None, format!("at least {from}")))
    });
    limited = limited || relative(draft, path);
    if limited {
        draft.note("Items without a price are left out, and currencies are not converted.");
    }
}

/// What is cheap here, the prices say themselves.
fn relative(draft: &mut Draft<'_>, path: &str) -> bool {
    let known = draft.known;
    let cheap = draft.each(&CHEAP, |_, _| {
        let to = known.quantile(path, THIRD)?;
        Some(within(path, None, Some(to), format!("cheap here: at most {to}")))
    });
    let dear = draft.each(&DEAR, |_, _| {
        let from = known.quantile(path, 1.0 - THIRD)?;
        Some(within(path, Some(from), None, format!("dear here: at least {from}")))
    });
    cheap || dear
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
            ("wine, $20 or less", "wine", "at most 20"),
            ("Wein unter 20 Euro", "Wein", "at most 20"),
            ("vin à moins de 20 €", "vin", "at most 20"),
            ("vino por menos de 20 euros", "vino", "at most 20"),
            ("Wein zwischen 10 und 20 Euro", "Wein", "from 10 to 20"),
            ("cheap wine", "wine", "cheap here: at most 10"),
            ("günstiger Wein", "Wein", "cheap here: at most 10"),
            ("a premium wine", "a wine", "dear here: at least 20"),
            ("cheap wine under $5", "cheap wine", "at most 5"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        assert!(parts("gift under 20").1.is_empty());
        assert!(parts("between 10 and 20 people").1.is_empty());
    }
}
