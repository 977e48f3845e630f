use std::time::{Duration, Instant};

use forecourt_testkit::vectors;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::testing::{Tag, naughty_strings, tags};

#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    section: String,
    markdown: String,
    #[serde(default)]
    html: String,
}

fn cases(path: &str) -> Vec<Case> {
    vectors(path).map(|bytes| serde_json::from_slice(&bytes).expect(path)).unwrap_or_default()
}

/// Our parser with raw HTML switched on and no second layer: what the public examples describe.
fn raw(markdown: &str) -> String {
    let mut options = options();
    options.render.escape = false;
    options.render.r#unsafe = true;
    comrak::markdown_to_html(markdown, &options)
}

/// What a fragment must never hold. The scheme is read as a browser would.
fn check_safe(tag: &Tag) {
    assert!(sanitize::TAGS.contains(&tag.name.as_str()), "{tag:?}");
    for (name, value) in &tag.attributes {
        let allowed = match tag.name.as_str() {
            "a" => ["href", "title", "rel"].contains(&name.as_str()),
            "th" | "td" => name == "align",
            "ol" => name == "start",
            "input" => ["type", "checked", "disabled"].contains(&name.as_str()),
            _ => false,
        };
        assert!(allowed, "{tag:?}");
        assert!(name != "href" || clean::href(value).is_some(), "{tag:?}");
        assert!(name != "rel" || value == "nofollow noopener noreferrer", "{tag:?}");
    }
    assert!(tag.name != "a" || tag.attributes.iter().any(|(name, _)| name == "rel"), "{tag:?}");
}

fn check_fragment(markdown: &str) {
    let html = to_html(markdown);
    assert!(html.len() <= HTML_BYTES_MAX);
    tags(&html).iter().for_each(check_safe);
    assert_eq!(clean::text(&html), html, "hidden characters");
}

/// CommonMark examples that say something else once bare addresses are links, as in GFM.
fn differs_in_gfm(case: &Case) -> bool {
    let bare_address = case.section == "Autolinks" || case.markdown.contains("~");
    bare_address && raw(&case.markdown) != case.html
}

#[test]
fn s4_1_the_commonmark_examples_hold() {
    for case in cases("commonmark/spec.json") {
        if !differs_in_gfm(&case) {
            assert_eq!(raw(&case.markdown), case.html, "{}: {:?}", case.section, case.markdown);
        }
    }
}

/// Footnotes are off (security sheet, section 3), and the parser makes no link of a bare address
/// whose host begins with a picture.
fn is_known_gap(case: &Case) -> bool {
    case.section == "Footnotes" || case.markdown.contains("http://🍄")
}

#[test]
fn s4_1_the_gfm_examples_hold() {
    let cases = cases("gfm/extensions.json").into_iter().chain(cases("gfm/spec-extensions.json"));
    for case in cases.filter(|case| case.html != "<IGNORE>\n") {
        let same = raw(&case.markdown) == case.html;
        assert_eq!(same, !is_known_gap(&case), "{}: {:?}", case.section, case.markdown);
    }
}

#[test]
fn s4_1_the_second_layer_changes_nothing_of_ordinary_markdown() {
    for case in cases("commonmark/spec.json").into_iter().chain(cases("gfm/spec-extensions.json")) {
        let ordinary = !case.html.contains("<img") && rendered(&case.markdown).as_deref() == Some(&case.html);
        if ordinary {
            assert_eq!(to_html(&case.markdown), sanitize::html(&case.html), "{:?}", case.markdown);
        }
    }
}

#[test]
fn s8_2_no_payload_becomes_an_element_or_a_foreign_link() {
    for case in cases("markdown-xss/payloads.json") {
        check_fragment(&case.markdown);
    }
    for text in naughty_strings() {
        check_fragment(&text);
    }
}

#[test]
fn s8_2_raw_html_is_text() {
    assert_eq!(to_html("a <b onclick=x>b</b>"), "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n");
    assert_eq!(to_html("<script>alert(1)</script>").trim(), "&lt;script&gt;alert(1)&lt;/script&gt;");
}

#[test]
fn an_image_is_a_link_and_its_words() {
    let rel = "rel=\"nofollow noopener noreferrer\"";
    assert_eq!(
        to_html("![a *b*](https://x.example/i.png)"),
        format!("<p><a href=\"https://x.example/i.png\" {rel}>a <em>b</em></a></p>\n")
    );
    assert_eq!(to_html("![](/i.png)"), format!("<p><a href=\"/i.png\" {rel}>/i.png</a></p>\n"));
    assert_eq!(to_html("![a](data:image/png;base64,AA==)"), "<p>a</p>\n");
    assert_eq!(to_html("[![a](/i.png)](/b)"), format!("<p><a href=\"/b\" {rel}>a</a></p>\n"));
}

#[test]
fn links_of_other_schemes_are_their_words() {
    for url in [
        "javascript:alert(1)",
        "JaVaScRiPt:x",
        "&#106;avascript:x",
        "java&#10;script:x",
        "&#1;javascript:x",
        "data:text/html,x",
        "vbscript:x",
        "ftp://x.example/",
    ] {
        assert_eq!(to_html(&format!("[a](<{url}>)")), "<p>a</p>\n", "{url}");
    }
}

#[test]
fn overrides_are_taken_out_even_when_written_as_entities() {
    assert_eq!(to_html("a\u{202e}b\0c &#x202e;d&#8297;e"), "<p>abc de</p>\n");
}

#[test]
fn task_lists_and_alignment_survive() {
    assert_eq!(to_html("- [x] a"), "<ul>\n<li><input type=\"checkbox\" checked=\"\" disabled=\"\"> a</li>\n</ul>\n");
    assert!(to_html("|a|\n|:-:|\n|b|").contains("<td align=\"center\">b</td>"));
}

#[test]
fn nesting_is_cut_at_its_bound() {
    let depth = |html: &str| tags(html).iter().filter(|tag| tag.name == "blockquote").count();
    let nested = |n: usize| to_html(&format!("{} a", ">".repeat(n)));
    assert_eq!(depth(&nested(NESTING_MAX - 2)), NESTING_MAX - 2);
    assert_eq!(depth(&nested(NESTING_MAX)), NESTING_MAX);
    assert_eq!(depth(&nested(NESTING_MAX + 1)), NESTING_MAX);
}

#[test]
fn long_text_is_shown_as_it_was_written() {
    let text = format!("*a*{}", "b".repeat(MARKDOWN_BYTES_MAX - 3));
    assert!(to_html(&text).starts_with("<p><em>a</em>b"));
    assert!(to_html(&format!("{text}b")).starts_with("<pre>*a*b"));
}

#[test]
fn rich_text_is_shown_as_it_was_written() {
    // A document, a paragraph, and then a text and a line break for each line.
    let lines = |n: usize| to_html(&"a\n".repeat(n));
    assert!(lines(NODES_MAX / 2 - 1).starts_with("<p>"));
    assert!(lines(NODES_MAX / 2 + 1).starts_with("<pre>"));
}

#[test]
fn output_stays_below_its_bound() {
    let html = to_html(&"<".repeat(2 * HTML_BYTES_MAX));
    assert!(html.len() <= HTML_BYTES_MAX && html.ends_with("…</pre>"));
}

/// Debug builds are some twenty times slower than what serves; the bound is for the latter.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 20 } else { 1 };

fn check_fast(name: &str, markdown: &str) {
    let start = Instant::now();
    check_fragment(markdown);
    let took = start.elapsed();
    assert!(took < Duration::from_millis(500) * SLOWNESS, "{name}: {took:?}");
}

#[test]
fn hostile_text_costs_little() {
    let rows = |lead: &str, n: usize| lead.repeat(n);
    check_fast("brackets", &rows("[", 50_000));
    check_fast("emphasis", &rows("*a_ ", 30_000));
    check_fast("lists", &(0..1500).map(|i| format!("{}* a\n", " ".repeat(i))).collect::<String>());
    check_fast("table", &format!("{}\n{}\n{}", rows("|", 2000), rows("|-", 2000), rows("|a\n", 3000)));
    check_fast("autolinks", &rows("www.", 50_000));
    check_fast("comments", &rows("<!--", 50_000));
    check_fast("cdata", &rows("<![CDATA[", 30_000));
    check_fast("instructions", &rows("<?", 60_000));
    check_fast("strikethrough", &rows("~~a ", 30_000));
    check_fast("setext", &format!("{}==", rows("a\n", 50_000)));
    check_fast("nul", &rows("\0", 100_000));
}

#[test]
fn known_slow_shapes_cost_little() {
    let n = if cfg!(debug_assertions) { MARKDOWN_BYTES_MAX / 8 } else { MARKDOWN_BYTES_MAX };
    let shapes = [
        ("quotes", ">".repeat(n)),
        ("quote lines", format!("{}\n", ">".repeat(500)).repeat(n / 501)),
        ("nested emphasis", format!("{}a{}", "*a **a ".repeat(n / 16), "b** b*".repeat(n / 16))),
        ("closers", "a_ ".repeat(n / 3)),
        ("openers", "_a ".repeat(n / 3)),
        ("link closers", "a]".repeat(n / 2)),
        ("link openers", "[a".repeat(n / 2)),
        ("mismatched", "*a_ ".repeat(n / 4)),
        ("openers in lists", "[ (](".repeat(n / 5)),
        ("images", "![[]()".repeat(n / 6)),
        ("unclosed", "[a](<b".repeat(n / 6)),
        ("unclosed plain", "[a](b".repeat(n / 5)),
        ("backticks", (1..n / 364).map(|i| format!("e{}", "`".repeat(i))).collect()),
        ("references", (0..n / 20).map(|i| format!("[{i}]: /u\n[{i}] ")).collect()),
        ("reference expansion", format!("[a]: /{}\n\n{}", "x".repeat(n / 2), "[a]".repeat(n / 8))),
        ("mail", "a@".repeat(n / 2)),
        ("dots", "a.".repeat(n / 2)),
        ("addresses", "http://a.b ".repeat(n / 11)),
        ("parentheses", format!("http://a.b{}", ")".repeat(n - 10))),
        ("entities", "&a;".repeat(n / 3)),
        ("ampersands", "&".repeat(n)),
        ("spaces", "&nbsp;".repeat(n / 6)),
        ("some entities", format!("{}{}", "&a;".repeat(2000), "a".repeat(n - 6_000))),
        ("angles", "<a".repeat(n / 2)),
        ("declarations", "<!A ".repeat(n / 4)),
        ("bullets", "- ".repeat(n / 2)),
        ("bullet lines", "* a\n  * b\n".repeat(n / 10)),
        ("tasks", "- [x] a\n".repeat(n / 8)),
        ("pipes", "a|b\n-|-\n".repeat(n / 8)),
        ("wide table", format!("{}\n{}\n", "|a".repeat(n / 4), "|-".repeat(n / 4))),
        ("fences", "```\n".repeat(n / 4)),
        ("breaks", "a  \n".repeat(n / 4)),
        ("hash", "# a\n".repeat(n / 4)),
        ("tilde", "~a~~".repeat(n / 4)),
    ];
    for (name, markdown) in shapes {
        check_fast(name, &markdown);
    }
}

/// Text of the characters that mean something to markdown, HTML and URLs.
fn markup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "*",
        "_",
        "~",
        "`",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "!",
        "|",
        "-",
        "#",
        "\n",
        " ",
        "    ",
        "\t",
        ":",
        "/",
        "\\",
        "&",
        "\"",
        "'",
        "=",
        "a",
        "1.",
        "https://a.b",
        "javascript:",
        "data:",
        "<script>",
        "</article>",
        "<!--",
        "-->",
        "<svg onload=x>",
        "&#x6a;",
        "&lt;",
        "www.",
        "a@b.cc",
        "\u{202e}",
        "\0",
        "é",
        "[x]",
        "|-|\n",
        "~~~\n",
        "[a]: /b\n",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_markup_is_safe(text in markup()) {
        check_fragment(&text);
    }

    #[test]
    fn any_text_is_safe(text in any::<String>()) {
        check_fragment(&text);
    }
}
