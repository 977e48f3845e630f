use forecourt_egress::CheckedUrl;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const BYTES_MAX: usize = 2_048;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn filled(url: &str, input: Value) -> Result<String, Violation> {
    Address::parse(url, BYTES_MAX).unwrap().fill(&object(input), &[])
}

#[test]
fn a_url_without_fields_stays_as_it_is() {
    for url in [
        "https://api.example",
        "https://api.example/",
        "https://api.example/v1/",
        "https://api.example//v1",
        "https://api.example?a=1",
        "https://api.example/v1?a=1&b&c=",
        "https://api.example:8443/v%201/~x?q=%7B",
    ] {
        assert_eq!(filled(url, json!({})).as_deref(), Ok(url));
    }
}

#[test]
fn fields_stand_in_segments_and_values() {
    let url = "https://api.example/a-{x}.json/{y_1}?q={x}-{n}&r={gone}&s=1";
    let input = json!({"x": "a b", "y_1": true, "n": 1.5});
    assert_eq!(filled(url, input).as_deref(), Ok("https://api.example/a-a%20b.json/true?q=a%20b-1.5&s=1"));
}

#[test]
fn a_field_of_the_path_names_itself_when_it_is_not_there() {
    assert_eq!(filled("https://api.example/{a}", json!({})).unwrap_err().field, "/a");
}

#[test]
fn s12_3_nothing_in_a_path_leads_up_or_breaks_a_line_even_for_who_decodes_it_first() {
    for wrong in ["..", "a/../../admin", "..\\admin", "a/.", "./a", "a\r\nX: y", "a\0", "\u{7f}"] {
        let found = filled("https://api.example/v1/{a}/x?q={q}", json!({"a": wrong, "q": "1"}));
        assert_eq!(found.unwrap_err().field, "/a", "{wrong:?}");
        assert!(filled("https://api.example/v1?q={q}", json!({"q": wrong})).is_ok(), "{wrong:?}");
    }
    for (fine, shown) in [("a/b", "a%2Fb"), ("a..b", "a..b"), ("%2e%2e", "%252e%252e"), ("a/...", "a%2F...")] {
        assert_eq!(
            filled("https://api.example/{a}", json!({"a": fine})).unwrap(),
            format!("https://api.example/{shown}")
        );
    }
}

#[test]
fn a_url_has_a_bound() {
    let start = "https://api.example/v1?q=".len();
    let at = |bytes: usize| filled("https://api.example/v1?q={q}", json!({"q": "x".repeat(bytes - start)}));
    assert_eq!(at(BYTES_MAX).unwrap().len(), BYTES_MAX);
    assert!(at(BYTES_MAX + 1).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,80}", tail in "[a-z{}/?&=:%.]{0,40}") {
        for url in [text.clone(), format!("https://api.example/{tail}"), format!("https://{text}")] {
            if let Ok(address) = Address::parse(&url, BYTES_MAX) {
                let _ = (address.sample(), address.fields().len());
            }
        }
    }

    #[test]
    fn what_is_filled_in_stays_where_it_was_put(x in "\\PC{0,20}|[./%?#@:\\\\&=;]{0,8}", y in "\\PC{0,20}|[./%?#&=]{0,8}") {
        let filled = filled("https://api.example/v1/{x}/end?q={y}&z=1", json!({"x": x, "y": y}));
        let Ok(url) = filled else {
            prop_assert!(x.is_empty() || x.split(['/', '\\']).any(|piece| matches!(piece, "." | "..")), "{x}");
            return Ok(());
        };
        // As the client reads it, which resolves segments that lead up.
        let target = CheckedUrl::parse(&url).unwrap();
        prop_assert_eq!(target.host(), "api.example");
        let segments: Vec<String> = target.url().path_segments().unwrap().map(|s| percent_decode_str(s).decode_utf8_lossy().into_owned()).collect();
        prop_assert_eq!(segments, ["v1".to_owned(), x, "end".to_owned()]);
        prop_assert_eq!(target.url().query(), Some(&*format!("q={}&z=1", encoded(&y))));
    }
}
