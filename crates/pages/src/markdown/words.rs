//! Words of Markdown: text that means nothing else in it, and links whose words hide where they lead.

/// Text as words of Markdown, whatever it holds: on one line.
pub fn literal(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 8);
    for c in text.chars().filter(|c| !c.is_control()) {
        if c.is_ascii_punctuation() {
            words.push('\\');
        }
        words.push(c);
    }
    words
}

/// Whether a label names a host that its link does not lead to: who reads `bank.example` must see where it goes.
pub fn names_another_host(label: &str, url: &str) -> bool {
    let mut named = label.split_whitespace().map(|word| host(word.trim_matches(|c: char| !c.is_alphanumeric())));
    let is_end = |end: &str| end.chars().all(char::is_alphabetic) && !ends_a_file(end);
    let ends_like_one = |name: &str| name.rsplit_once('.').is_some_and(|(_, end)| is_end(end));
    named.any(|name| ends_like_one(name) && !name.eq_ignore_ascii_case(host(url)))
}

/// Whether a name with this end is a file's, such as `report.pdf`, and no host's: none of these is a top-level domain.
fn ends_a_file(end: &str) -> bool {
    const ENDS: [&str; 29] = [
        "avif", "bmp", "css", "csv", "doc", "docx", "epub", "flac", "gif", "gz", "htm", "html", "ics", "jpeg", "jpg",
        "json", "odt", "ods", "pdf", "png", "pptx", "svg", "tiff", "txt", "wav", "webp", "xls", "xlsx", "xml",
    ];
    ENDS.iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// What stands before the path of an address, with or without its scheme.
fn host(address: &str) -> &str {
    let bare = ["https://", "http://", "mailto:"].into_iter().find_map(|scheme| address.strip_prefix(scheme));
    bare.unwrap_or(address).split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_nothing_in_markdown() {
        assert_eq!(literal("a[b](c)_1.txt\n"), "a\\[b\\]\\(c\\)\\_1\\.txt");
        let name = "<b>*x* `y` ![z](https://a.example) ~~&amp; #1.";
        let html = crate::markdown::to_html(&literal(name));
        assert!(html.contains("&lt;b&gt;*x* `y` ![z](https://a.example) ~~&amp;amp; #1."), "{html}");
    }

    #[test]
    fn a_label_that_names_another_host_is_found() {
        for (label, url, hides) in [
            ("https://bank.example/login", "https://evil.example/x", true),
            ("see bank.example, now", "https://evil.example/x", true),
            ("bank.example", "https://bank.example@evil.example", true),
            ("A.Example", "https://a.example/x", false),
            ("Soup. 2.1", "https://a.example/x", false),
            ("a@b.example", "mailto:a@b.example", false),
            ("the report.pdf of May", "https://a.example/1", false),
            ("Photo.JPEG", "https://a.example/1", false),
            ("bank.example/report.pdf", "https://evil.example/report.pdf", true),
            ("report.zip", "https://evil.example/x", true),
        ] {
            assert_eq!(names_another_host(label, url), hides, "{label} {url}");
        }
    }
}
