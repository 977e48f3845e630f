//! Files and links of an answer as `Link` fields (RFC 8288), for the forms whose body is words and nothing else.
//! REST 4.2, 5.3.

use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{File, FileSource, Link, Part};
use http::header::LINK;
use http::{HeaderMap, HeaderValue};
use url::Url;

use super::limits::LINK_BYTES_MAX;

/// Adds a field for each file and link that is at an absolute web address, in their order, at most
/// [`LINK_BYTES_MAX`] in all. Bytes that are in the answer itself have no address: JSON has them.
pub(super) fn add<'a>(head: &mut HeaderMap, parts: impl IntoIterator<Item = &'a Part>) {
    let mut left = LINK_BYTES_MAX;
    for field in parts.into_iter().filter_map(field) {
        let Some(rest) = left.checked_sub(field.len()) else { return };
        left = rest;
        if let Ok(value) = HeaderValue::from_str(&field) {
            head.append(LINK, value);
        }
    }
}

fn field(part: &Part) -> Option<String> {
    match part {
        Part::Link(Link { url, title, .. }) => written(url, "related", None, title.as_deref()),
        Part::File(File { mime, name, source, .. }) => {
            written(address(source)?, "enclosure", Some(mime), name.as_deref())
        }
        Part::Artifact(Artifact { mime, name, content: ArtifactContent::Bytes(source), .. }) => {
            written(address(source)?, "enclosure", Some(mime), name.as_deref())
        }
        _ => None,
    }
}

fn address(source: &FileSource) -> Option<&str> {
    match source {
        FileSource::Url { url, .. } => Some(url),
        FileSource::Inline(_) | FileSource::Kept => None,
    }
}

/// `<url>; rel="related"; type="image/png"; title*=UTF-8''Soup`. `None` when the target is no web address.
fn written(url: &str, relation: &str, mime: Option<&str>, title: Option<&str>) -> Option<String> {
    // Parsed and written again: then there is nothing in it that could end the angles or the line.
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let mut field = format!("<{}>; rel=\"{relation}\"", url.as_str().replace('<', "%3C").replace('>', "%3E"));
    if let Some(mime) = mime.filter(|mime| is_media_type(mime)) {
        field.push_str(&format!("; type=\"{mime}\""));
    }
    if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
        field.push_str("; title*=UTF-8''");
        title.bytes().for_each(|byte| push_extended(&mut field, byte));
    }
    Some(field)
}

/// Type and subtype alone; parameters would need quoting, and no reader of a link needs them.
fn is_media_type(mime: &str) -> bool {
    let is_token =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
    mime.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// One byte of an extended value. RFC 8187 3.2.1.
fn push_extended(field: &mut String, byte: u8) {
    match byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
        true => field.push(char::from(byte)),
        false => field.push_str(&format!("%{byte:02X}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(url: &str, title: Option<&str>) -> Part {
        Part::Link(Link { url: url.to_owned(), title: title.map(str::to_owned), description: None })
    }

    fn fields(parts: &[Part]) -> Vec<String> {
        let mut head = HeaderMap::new();
        add(&mut head, parts);
        head.get_all(LINK).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn rfc_8288_3_files_and_links_are_fields() {
        let source = FileSource::Url { url: "https://a.example/b c.png".into(), expires_at: None };
        let file = Part::File(File {
            id: None,
            name: Some("a\"ü\r\n.png".into()),
            mime: "image/png".into(),
            size_bytes: Some(3),
            source,
        });
        let inline = Part::File(File::inline("image/png", None, "x".into()));
        assert_eq!(
            fields(&[link("https://a.example/", Some("Soup")), file, inline, Part::text("hi")]),
            [
                "<https://a.example/>; rel=\"related\"; title*=UTF-8''Soup",
                "<https://a.example/b%20c.png>; rel=\"enclosure\"; type=\"image/png\"; \
                 title*=UTF-8''a%22%C3%BC%0D%0A.png",
            ]
        );
    }

    #[test]
    fn what_is_no_web_address_is_no_field() {
        for url in ["javascript:alert(1)", "data:text/plain,x", "/here", "mailto:a@b.example", ""] {
            assert_eq!(fields(&[link(url, None)]), [""; 0], "{url}");
        }
    }

    #[test]
    fn the_fields_have_a_bound_together() {
        let one = |bytes: usize| link(&format!("https://a.example/{}", "a".repeat(bytes)), None);
        let frame = fields(&[one(0)])[0].len();
        assert_eq!(fields(&[one(LINK_BYTES_MAX - frame)]).len(), 1);
        assert_eq!(fields(&[one(LINK_BYTES_MAX - frame + 1)]).len(), 0);
        assert_eq!(fields(&[one(LINK_BYTES_MAX - 2 * frame), one(0), one(0)]).len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_ends_a_field(url in "https?://[a-z]{1,3}/\\PC{0,20}", title in "\\PC{0,20}|[\r\n\";,]{0,9}", mime in "\\PC{0,9}") {
            let source = FileSource::Url { url, expires_at: None };
            let file = File { id: None, name: Some(title), mime, size_bytes: None, source };
            for field in fields(&[Part::File(file)]) {
                let (target, rest) = field[1..].split_once('>').unwrap();
                prop_assert!(!target.contains(['<', '"', ' ']), "{}", field);
                prop_assert!(rest.starts_with("; rel=\"enclosure\"") && !rest.contains([',', '<', '>']), "{}", field);
            }
        }
    }
}
