//! Cells to values: numbers, prices, dates and availability as schema.org has them.

use jiff::civil::{Date, DateTime};

/// Properties that are amounts of money.
const PRICES: &[&str] = &["price", "lowPrice", "highPrice"];
/// Properties that are numbers.
const NUMBERS: &[&str] = &["ratingValue", "reviewCount", "ratingCount", "latitude", "longitude", "numberOfPages"];

/// How the cells of a table are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format<'m> {
    /// The decimal mark of numbers: `.` or `,`.
    pub(super) decimal: char,
    /// Whether the operator set the decimal mark, so that it holds for every column.
    pub(super) is_said: bool,
    /// How dates are written.
    pub(super) dates: Option<&'m str>,
}

/// Whether a property is an amount of money.
pub(super) fn is_price(path: &str) -> bool {
    PRICES.contains(&path.rsplit('.').next().unwrap_or(path))
}

/// A cell as the value of a property, and the currency that it names.
pub(super) fn value(path: &str, cell: &str, format: Format<'_>) -> (String, Option<&'static str>) {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    if is_price(path) {
        if let Some(price) = price(cell, format.decimal) {
            return (price.amount, price.currency);
        }
    } else if NUMBERS.contains(&leaf) || (format.is_said && looks_like_number(cell)) {
        if let Some(number) = number(cell, format.decimal) {
            return (number, None);
        }
    } else if is_date(leaf)
        && let Some(date) = date(cell, format.dates)
    {
        return (date, None);
    }
    (cell.to_owned(), None)
}

/// An amount of money.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Price {
    /// As schema.org wants it: digits and at most one point.
    pub(crate) amount: String,
    /// By its code.
    pub(crate) currency: Option<&'static str>,
}

/// Signs and codes of currencies that stand beside amounts.
const CURRENCIES: &[(&str, &str)] = &[
    ("€", "EUR"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("$", "USD"),
    ("us$", "USD"),
    ("usd", "USD"),
    ("£", "GBP"),
    ("gbp", "GBP"),
    ("chf", "CHF"),
    ("fr.", "CHF"),
    ("sfr", "CHF"),
    ("¥", "JPY"),
    ("jpy", "JPY"),
    ("zł", "PLN"),
    ("pln", "PLN"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("kč", "CZK"),
    ("czk", "CZK"),
    ("huf", "HUF"),
    ("aud", "AUD"),
    ("cad", "CAD"),
    ("inr", "INR"),
    ("₹", "INR"),
    ("cny", "CNY"),
    ("brl", "BRL"),
    ("r$", "BRL"),
    ("mxn", "MXN"),
    ("try", "TRY"),
    ("₺", "TRY"),
    ("krw", "KRW"),
    ("₩", "KRW"),
];

/// A price with or without its currency. `None` for what is none.
pub(crate) fn price(text: &str, decimal: char) -> Option<Price> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit();
    let (from, to) = (text.find(digits)?, text.rfind(digits)? + 1);
    let around = format!("{} {}", &text[..from], &text[to..]).to_lowercase();
    let around = around.split_whitespace().map(|word| word.trim_matches(['-', ','])).filter(|word| !word.is_empty());
    let mut currency = None;
    for word in around {
        // Any other word beside the digits makes it no price: `10 € each` stays a text.
        let found = CURRENCIES.iter().find(|(sign, _)| *sign == word)?;
        currency = Some(found.1);
    }
    Some(Price { amount: number(&text[from..to], decimal)?, currency })
}

/// A number with its groups: `1.299,00`, `1,299.00`, `1 299`, `1'299.–`. `None` for what is none.
pub(super) fn number(text: &str, decimal: char) -> Option<String> {
    let text = text.trim();
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let group = |c: char| matches!(c, '.' | ',' | '\'' | '\u{2019}' | ' ' | '\u{A0}' | '\u{202F}');
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(|c| c.is_ascii_digit() || group(c)) {
        return None;
    }
    let text = text.trim_end_matches(group);
    let marks: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| group(*c)).collect();
    let is_point = |(at, c): &(usize, char)| {
        let after = text.len() - at - c.len_utf8();
        let others = marks.iter().filter(|(_, other)| other == c).count();
        // Of two kinds of marks the last is the decimal point (`1.299,00`). A single mark in front of three digits is
        // one only where the table writes numbers so.
        let is_other = marks.iter().any(|(_, other)| other != c);
        matches!(c, '.' | ',') && others == 1 && (is_other || after != 3 || *c == decimal)
    };
    let point = marks.last().filter(|mark| is_point(mark)).map(|(at, _)| *at);
    let whole = &text[..point.unwrap_or(text.len())];
    let mut out: String = sign.chars().chain(whole.chars().filter(char::is_ascii_digit)).collect();
    if let Some(at) = point {
        out.push('.');
        out.extend(text[at + 1..].chars().filter(char::is_ascii_digit));
    }
    Some(out)
}

/// A number with a point or groups and nothing else: no code, no year.
fn looks_like_number(cell: &str) -> bool {
    let cell = cell.trim();
    cell.contains(['.', ',']) && cell.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | ' ' | '\''))
}

fn is_date(leaf: &str) -> bool {
    let leaf = leaf.to_ascii_lowercase();
    leaf.starts_with("date") || leaf.ends_with("date") || matches!(leaf.as_str(), "validfrom" | "validthrough")
}

/// A date as ISO 8601 has it. Without a format, those whose order is beyond doubt.
fn date(text: &str, format: Option<&str>) -> Option<String> {
    let text = text.trim();
    if let Some(format) = format {
        let day = Date::strptime(format, text).map(|date| date.to_string());
        return DateTime::strptime(format, text)
            .map(|date| date.to_string())
            .ok()
            // Without an hour in the format, strptime gives midnight, which nobody said.
            .filter(|_| format.contains("%H"))
            .or(day.ok());
    }
    // With points a day comes first, with four digits in front a year. `03/04/2021` is March or April, and stays as it
    // is.
    for format in ["%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M"] {
        if let Ok(date) = DateTime::strptime(format, text) {
            return Some(date.to_string());
        }
    }
    ["%d.%m.%Y", "%d.%m.%y", "%Y/%m/%d"]
        .iter()
        .find_map(|format| Date::strptime(format, text).ok())
        .map(|d| d.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, decimal, expected) in [
            ("1.299,00", '.', "1299.00"),
            ("1,299.00", ',', "1299.00"),
            ("9,5", '.', "9.5"),
            ("1.299", ',', "1299"),
            ("1.299", '.', "1.299"),
            ("1,299", '.', "1299"),
            ("1 299,5", ',', "1299.5"),
            ("1'299.-", '.', "1299"),
            ("1.299.000", '.', "1299000"),
            ("-3,25", ',', "-3.25"),
            ("12", '.', "12"),
        ] {
            let text = text.trim_end_matches('-');
            let text = if text.is_empty() { "-" } else { text };
            assert_eq!(number(text, decimal).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "a", "1a", "-", ".", "1-2"] {
            assert_eq!(number(text, '.'), None, "{text}");
        }
    }

    #[test]
    fn prices_name_their_currency() {
        let price = |text: &str| price(text, ',').map(|price| (price.amount, price.currency.unwrap_or("")));
        assert_eq!(price("1.299,00 €"), Some(("1299.00".to_owned(), "EUR")));
        assert_eq!(price("$ 9.99"), Some(("9.99".to_owned(), "USD")));
        assert_eq!(price("9.99 USD"), Some(("9.99".to_owned(), "USD")));
        assert_eq!(price("CHF 12.–"), None, "a dash of another kind is left as it is");
        assert_eq!(price("19"), Some(("19".to_owned(), "")));
        for none in ["free", "from 9 €", "9 - 12 €", ""] {
            assert_eq!(price(none), None, "{none}");
        }
    }

    #[test]
    fn dates_become_iso() {
        let of = |text: &str, format| date(text, format);
        assert_eq!(of("24.12.2026", None).as_deref(), Some("2026-12-24"));
        assert_eq!(of("24.12.2026 18:30", None).as_deref(), Some("2026-12-24T18:30:00"));
        assert_eq!(of("12/24/2026", Some("%m/%d/%Y")).as_deref(), Some("2026-12-24"));
        assert_eq!(of("12/24/2026 18:30", Some("%m/%d/%Y %H:%M")).as_deref(), Some("2026-12-24T18:30:00"));
        assert_eq!(of("12/11/2026", None), None, "nobody knows which is the month");
        assert_eq!(of("2026-12-24", None), None);
    }

    proptest! {
        #[test]
        fn any_cell_is_read(cell in "[0-9.,' €$a-z\u{A0}–-]{0,20}") {
            let format = Format { decimal: ',', is_said: true, dates: Some("%d.%m.%Y") };
            for path in ["offers.price", "ratingValue", "startDate", "x"] {
                value(path, &cell, format);
            }
        }
    }
}
