//! The picture of an item.
//!
//! Only https is shown: a picture comes from where its item says, so that its host learns that somebody
//! looks, and nothing on the way should learn it too. It is asked for without a referrer, so that the host
//! does not learn what was searched for, and only once it comes into view. Fetching pictures ourselves
//! would hide the reader better, and would make this host fetch whatever content names.

use serde_json::{Map, Value};

use crate::clean;

/// Characters of an address. Data in an address would be longer, and is not shown either.
const ADDRESS_CHARS_MAX: usize = 2_000;

/// The address of the first picture: a text, an `ImageObject`, or a list of these.
pub(super) fn of(fields: &Map<String, Value>) -> Option<String> {
    ["image", "thumbnailUrl", "thumbnail", "photo"].iter().find_map(|key| address(fields.get(*key)?, 0))
}

fn address(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) => https_url(text),
        Value::Array(values) if depth == 0 => values.iter().find_map(|value| address(value, depth + 1)),
        Value::Object(fields) => {
            let texts =
                ["contentUrl", "thumbnailUrl", "url", "@id"].iter().filter_map(|key| fields.get(*key)?.as_str());
            texts.filter_map(https_url).next()
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn https_url(text: &str) -> Option<String> {
    let url = clean::href(text).filter(|url| url.chars().count() <= ADDRESS_CHARS_MAX)?;
    url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")).then_some(url)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picture(image: Value) -> Option<String> {
        of(json!({ "image": image }).as_object().unwrap())
    }

    #[test]
    fn a_picture_is_said_in_several_ways() {
        let wanted = Some("https://a.example/i.png".to_owned());
        for image in [
            json!("https://a.example/i.png"),
            json!(["https://a.example/i.png", "https://a.example/j.png"]),
            json!({"@type": "ImageObject", "url": "https://a.example/i.png"}),
            json!([{"contentUrl": "https://a.example/i.png"}]),
        ] {
            assert_eq!(picture(image.clone()), wanted, "{image}");
        }
        assert_eq!(
            picture(json!(["http://a.example/i.png", "https://a.example/j.png"])).as_deref(),
            Some("https://a.example/j.png")
        );
    }

    #[test]
    fn what_is_not_https_is_no_picture() {
        for image in [
            json!("http://a.example/i.png"),
            json!("javascript:alert(1)"),
            json!("data:image/png;base64,AAAA"),
            json!("//a.example/i.png"),
            json!("/i.png"),
            json!("https:/"),
            json!(""),
            json!(7),
            json!([[["https://a.example/i.png"]]]),
            json!({"url": {"url": "https://a.example/i.png"}}),
            json!(format!("https://a.example/{}", "x".repeat(ADDRESS_CHARS_MAX))),
        ] {
            assert_eq!(picture(image.clone()), None, "{image}");
        }
    }
}
