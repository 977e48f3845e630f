//! What the API answers as CSV, for spreadsheets. RFC 4180.

use serde_json::Value;

use super::tables::Table;

/// The rows of a table with a line of headings, without a line end behind it. The headings are the names of the API.
pub(super) fn of(table: &Table, told: &Value) -> String {
    let head = table.columns.iter().map(|(_, key)| (*key).to_owned()).collect::<Vec<_>>().join(",");
    let rows = told[table.rows].as_array().into_iter().flatten();
    let row = |row: &Value| table.columns.iter().map(|(_, key)| field(&row[*key])).collect::<Vec<_>>().join(",");
    [head].into_iter().chain(rows.map(row)).collect::<Vec<_>>().join("\r\n")
}

pub(super) fn field(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => text.as_str(),
        other => return other.to_string(),
    };
    // What callers wrote must not become a formula of whoever opens the file.
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tables::PAYMENTS;
    use super::*;

    #[test]
    fn rfc4180_fields_are_quoted_and_nothing_is_a_formula() {
        let told = json!({"payments": [{"id": 7, "at": "2026-11-30T00:00:00Z", "agent": "shop", "who": "=cmd|' /C calc'",
            "status": "used", "price": "5 \"coins\", all", "rule": "a\nb", "transaction": null}]});
        let lines = of(&PAYMENTS, &told);
        assert_eq!(
            lines,
            "id,at,agent,who,status,price,rule,transaction\r\n7,2026-11-30T00:00:00Z,shop,'=cmd|' /C \
             calc',used,\"5 \"\"coins\"\", all\",\"a\nb\","
        );
        assert_eq!(of(&PAYMENTS, &json!({})).lines().count(), 1);
    }
}
