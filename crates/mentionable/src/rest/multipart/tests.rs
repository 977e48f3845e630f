//! The strict reader against public bodies and by properties.

use proptest::prelude::*;

use super::*;

fn read(body: &[u8], boundary: &str) -> Result<Vec<Field>, DecodeError> {
    decode(&Bytes::copy_from_slice(body), boundary)
}

fn part(head: &str, content: &str) -> Result<Vec<Field>, DecodeError> {
    read(format!("--X\r\n{head}\r\n\r\n{content}\r\n--X--\r\n").as_bytes(), "X")
}

/// Names and content of parts; `None` for a body that is to be refused.
type Parts = Option<Vec<(String, Vec<u8>)>>;

/// What a `.yaml` beside a body expects, after its boundary.
fn expected(yaml: &str) -> (String, Parts) {
    let boundary = yaml.lines().find_map(|line| line.strip_prefix("boundary: ")).expect("a boundary").trim();
    if yaml.contains("error:") {
        return (boundary.to_owned(), None);
    }
    let parts = yaml.split("- name: ").skip(1).map(|part| {
        let name = part.lines().next().unwrap_or_default().trim();
        let packed: String = part.split("!!binary |").nth(1).unwrap_or_default().split_whitespace().collect();
        (name.to_owned(), STANDARD.decode(packed).expect("base64"))
    });
    (boundary.to_owned(), Some(parts.collect()))
}

#[test]
fn the_bodies_of_another_reader() {
    let Some(files) = forecourt_testkit::vector_files("multipart") else { return };
    for yaml in files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "yaml")) {
        let (boundary, parts) = expected(&String::from_utf8_lossy(&std::fs::read(&yaml).expect("readable")));
        let body = std::fs::read(yaml.with_extension("http")).expect("a body beside its expectation");
        let found = read(&body, &boundary).ok();
        let found = found.map(|fields| fields.into_iter().map(|f| (f.name, f.bytes.to_vec())).collect::<Vec<_>>());
        // This one declares another boundary than its body has, so it may be refused.
        if yaml.file_stem().is_some_and(|stem| stem != "single_field_blocks") {
            assert_eq!(found, parts, "{}", yaml.display());
        }
    }
}

#[test]
fn boundaries_are_1_to_70_known_characters() {
    let declared =
        |boundary: &str| super::boundary(Some(&format!("Multipart/Form-Data; charset=x; boundary={boundary}")));
    let longest = "a".repeat(BOUNDARY_BYTES_MAX);
    assert_eq!(declared(&longest), Ok(longest));
    for wrong in ["", "\"\"", &"a".repeat(BOUNDARY_BYTES_MAX + 1), "\"a \"", "\"a", "a\u{e9}", "a; boundary=a", "a b"] {
        assert!(matches!(declared(wrong), Err(DecodeError::Multipart(_))), "{wrong}");
    }
    for other in [None, Some(""), Some("text/plain"), Some("multipart/form-datax; boundary=X")] {
        assert_eq!(super::boundary(other), Err(DecodeError::NotMultipart), "{other:?}");
    }
}

#[test]
fn header_fields_of_a_part_have_at_most_8_kib() {
    let padded = |bytes: usize| {
        let fixed = "Content-Disposition: form-data; name=\"user\"\r\nX: ";
        part(&format!("{fixed}{}", "a".repeat(bytes - fixed.len())), "hi")
    };
    assert!(padded(PART_HEAD_BYTES_MAX).is_ok());
    assert!(padded(PART_HEAD_BYTES_MAX + 1).is_err());
}

#[test]
fn a_body_has_at_most_a_thousand_parts() {
    let many = |count: usize| {
        let one = "--X\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
        read(format!("{}--X--", one.repeat(count)).as_bytes(), "X")
    };
    assert_eq!(many(ENTRIES_MAX).map(|fields| fields.len()), Ok(ENTRIES_MAX));
    assert_eq!(many(ENTRIES_MAX + 1), Err(DecodeError::TooManyEntries));
}

#[test]
fn a_name_occurs_once_and_is_unescaped() {
    let named =
        |parameters: &str| part(&format!("Content-Disposition: form-data{parameters}"), "").map(|f| f[0].name.clone());
    assert_eq!(named("; name=\"a\\\"b\\\\c\\d\"").as_deref(), Ok("a\"b\\c\\d"));
    assert_eq!(named(" ; NAME = user ;; filename=\"C:\\x.txt\";").as_deref(), Ok("user"));
    for wrong in [
        "",
        "; name=",
        "; name=\"\"",
        "; name=a; name=a",
        "; name=a; filename=b; filename=b",
        "; name*=utf-8''a",
        "; name=\"a",
        "; name=a b",
    ] {
        assert!(named(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn codings_are_decoded_or_refused() {
    let coded = |coding: &str, content| {
        let head = format!("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: {coding}");
        part(&head, content).map(|fields| fields[0].bytes.clone())
    };
    assert_eq!(coded("Base64", "aG\r\nk="), Ok("hi".into()));
    assert_eq!(coded("binary", "aGk="), Ok("aGk=".into()));
    assert!(coded("base64", "?").is_err() && coded("quoted-printable", "a").is_err());
}

#[test]
fn what_only_looks_like_a_boundary_is_content() {
    for inside in ["--XY", "\r\n--XY\r\n", "\r\n--X-", "\r\n--Xx--\r\n", "\n--X--\n", "\r\n--X\r", "--X--\r\n "] {
        let found = part("Content-Disposition: form-data; name=a", inside);
        // Right after the head, a boundary needs no line end of its own.
        if inside != "--X--\r\n " {
            assert_eq!(
                found.map(|fields| fields[0].bytes.clone()),
                Ok(Bytes::copy_from_slice(inside.as_bytes())),
                "{inside:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..6)) {
        let boundary = "----boundary-that-no-content-has";
        let mut body = Vec::new();
        for (index, content) in contents.iter().enumerate() {
            body.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"n{index}\"\r\n\r\n").bytes());
            body.extend(content);
            body.extend(b"\r\n");
        }
        body.extend(format!("--{boundary}--\r\n").bytes());
        let fields = read(&body, boundary).expect("the body is fine");
        let found: Vec<Vec<u8>> = fields.into_iter().map(|field| field.bytes.to_vec()).collect();
        prop_assert_eq!(found, contents);
    }

    #[test]
    fn no_body_panics(body in "(--X(--)?|\r\n|Content-Disposition: form-data; name=|\"|a|;|\\\\){0,12}") {
        let _ = read(body.as_bytes(), "X");
    }

    #[test]
    fn no_content_type_panics(text in "(multipart/form-data|; ?|boundary=|\"|a|\\\\|=){0,8}") {
        let _ = super::boundary(Some(&text));
    }
}
