//! What serde says of a value that it does not take, in the words of whoever writes settings.

/// What a message of serde says of a key, as the rest of a sentence that begins with it: what the value has to be, and
/// what it is. `None` for messages that say something else.
pub(crate) fn in_words(message: &str) -> Option<String> {
    match mistaken(message) {
        Some((given, expected)) => Some(format!("has to be {}, and is {}", wanted(expected), found(given))),
        None => {
            message.starts_with("data did not match any variant").then(|| "is none of what this key takes".to_owned())
        }
    }
}

/// The same without the value, which may be a secret. `None` where it is not known where a message tells it.
pub(crate) fn without_value(message: &str) -> Option<String> {
    mistaken(message).map(|(_, expected)| format!("has to be {}", wanted(expected)))
}

/// What was given and what was expected, of a message that says both.
fn mistaken(message: &str) -> Option<(&str, &str)> {
    let starts = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start))?;
    // A text that was given may hold the words, so the last are serde's own; of its lists of choices there is one.
    rest.rsplit_once(", expected ").or_else(|| rest.rsplit_once(", there are no variants"))
}

/// What a type takes.
fn wanted(expected: &str) -> String {
    let words = match expected {
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "str" => "a text in quotes",
        "a character" => "one character in quotes",
        "a sequence" => "a list",
        "a map" | "map" => "a table",
        "string or map" => "a text or a table",
        "map with a single key" => "a table with one key",
        "fewer elements in array" => "a shorter list",
        "fewer elements in map" => "a table with fewer keys",
        "unit" | "newtype variant" => "without a value",
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "u128" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "a nonzero u8" => "a whole number from 1 to 255",
        "a nonzero u16" => "a whole number from 1 to 65535",
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "a whole number of at least 1",
        _ if is_type(expected) => "a table",
        _ => return expected.to_owned(),
    };
    words.to_owned()
}

/// Whether a type of ours is named, which means nothing to whoever writes settings.
fn is_type(expected: &str) -> bool {
    ["struct ", "internally tagged enum ", "adjacently tagged enum ", "variant of enum "]
        .iter()
        .any(|kind| expected.starts_with(kind))
}

/// What was given instead.
fn found(given: &str) -> String {
    let value = |kinds: &[&str]| kinds.iter().find_map(|kind| given.strip_prefix(kind)).map(str::to_owned);
    match given {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        "unit value" | "null" | "Option value" => "empty".to_owned(),
        _ => match value(&["integer ", "floating point ", "boolean ", "character "]) {
            Some(value) => value,
            // As it is written in the file, and marked as other values are.
            None => value(&["string "]).map_or_else(|| given.to_owned(), |text| format!("`{text}`")),
        },
    }
}

/// The words for a table with keys, as [`in_words`] gives them on.
pub(crate) fn table_with(keys: &[&str]) -> String {
    match keys {
        [] => "a table".to_owned(),
        [one] => format!("a table with `{one}`"),
        [some @ .., last] if keys.len() <= KEYS_MAX => {
            let some: Vec<String> = some.iter().map(|key| format!("`{key}`")).collect();
            format!("a table with {} and `{last}`", some.join(", "))
        }
        [first, second, ..] => format!("a table with keys such as `{first}` and `{second}`"),
    }
}

/// Keys of a table that are all named.
const KEYS_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_says_is_said_in_words() {
        for (serde, words) in [
            (
                "invalid value: integer `0`, expected a nonzero u32",
                "has to be a whole number of at least 1, and is `0`",
            ),
            ("invalid type: integer `3`, expected struct Rate", "has to be a table, and is `3`"),
            ("invalid type: string \"a\", expected a boolean", "has to be true or false, and is `\"a\"`"),
            (
                "invalid type: string \", expected x\", expected u16",
                "has to be a whole number from 0 to 65535, and is `\", expected x\"`",
            ),
            ("invalid type: sequence, expected a string", "has to be a text in quotes, and is a list"),
            (
                "invalid type: floating point `1.5`, expected u64",
                "has to be a whole number of at least 0, and is `1.5`",
            ),
            ("invalid length 3, expected fewer elements in array", "has to be a shorter list, and is 3"),
            ("unknown variant `blue`, expected `red` or `green`", "has to be `red` or `green`, and is `blue`"),
            (
                "unknown variant `blue`, expected one of `red`, `green`",
                "has to be one of `red`, `green`, and is `blue`",
            ),
            ("data did not match any variant of untagged enum Way", "is none of what this key takes"),
        ] {
            assert_eq!(in_words(serde).as_deref(), Some(words));
        }
        assert_eq!(in_words("`12x` is no duration"), None);
    }

    #[test]
    fn a_secret_is_not_said() {
        assert_eq!(
            without_value("invalid type: string \"s3cr3t\", expected u16").unwrap(),
            "has to be a whole number from 0 to 65535"
        );
        assert_eq!(without_value("`s3cr3t` is no port"), None);
    }

    #[test]
    fn a_table_is_told_with_its_keys() {
        assert_eq!(table_with(&["a"]), "a table with `a`");
        assert_eq!(table_with(&["a", "b", "c", "d"]), "a table with `a`, `b`, `c` and `d`");
        assert_eq!(table_with(&["a", "b", "c", "d", "e"]), "a table with keys such as `a` and `b`");
        assert_eq!(table_with(&[]), "a table");
    }
}
