//! Numbers that an answer cites, as links to the results of these numbers, which say it in their own words.

/// The same HTML with each link that is called by the number of a result in brackets, as answers cite, leading to that
/// result. An item can be called by a number alone. `results`: how many there are, numbered from 1.
pub(super) fn cited(html: &str, results: usize) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find("<a ") {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some((words, end)) = words_of(rest) else { break };
        let number = words
            .strip_prefix('[')
            .and_then(|words| words.strip_suffix(']')?.parse().ok())
            .filter(|number| (1..=results).contains(number));
        match number {
            Some(number) => out.push_str(&format!("<a class=\"cite\" href=\"#result-{number}\">{number}</a>")),
            None => out.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The words of the link that HTML begins with, and where it ends. `None` where it does not end.
fn words_of(html: &str) -> Option<(&str, usize)> {
    let from = html.find('>')? + 1;
    let to = from + html[from..].find("</a>")?;
    Some((&html[from..to], to + "</a>".len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_leads_to_its_result_and_other_links_stay() {
        let link = |words: &str| format!("<a href=\"https://a.example/\" rel=\"nofollow\">{words}</a>");
        let html = format!("<p>Soup {}{} and {}, {}.</p>", link("[1]"), link("[2]"), link("[3]"), link("this"));
        let expected = format!(
            "<p>Soup <a class=\"cite\" href=\"#result-1\">1</a><a class=\"cite\" href=\"#result-2\">2</a> and {}, {}.</p>",
            link("[3]"),
            link("this")
        );
        assert_eq!(cited(&html, 2), expected);
        assert_eq!(cited(&html, 0), html);
        // A film that is called "1".
        for name in ["1", "[1", "1]", "[]", "[+1x]"] {
            assert_eq!(cited(&link(name), 2), link(name));
        }
    }

    proptest! {
        #[test]
        fn without_results_every_text_stays(html in "(<a |</a>|>|[a-z0-9\"]){0,12}") {
            prop_assert_eq!(cited(&html, 0), html);
        }
    }
}
