//! Markdown as mrkdwn.

use forecourt_pages::markdown::Marks;

/// The marks of Slack.
pub(crate) struct Mrkdwn;

impl Marks for Mrkdwn {
    /// The three characters by which anything can be meant are entities: nobody is mentioned by what an agent says.
    fn text(&self, text: &str) -> String {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    }

    fn strong(&self, inner: &str) -> String {
        around('*', inner)
    }

    fn emphasis(&self, inner: &str) -> String {
        around('_', inner)
    }

    fn struck(&self, inner: &str) -> String {
        around('~', inner)
    }

    fn code(&self, literal: &str) -> String {
        format!("`{}`", self.text(&literal.replace('`', "ˋ")))
    }

    fn code_block(&self, literal: &str) -> String {
        format!("```\n{}\n```", self.text(&literal.replace("```", "ˋˋˋ")))
    }

    fn link(&self, inner: &str, url: &str) -> String {
        let url = self.text(&url.replace('|', "%7C"));
        // A label that could end the link, or is the address itself, is left out.
        let label = inner.replace(['|', '\n'], " ");
        match label.trim() {
            "" => format!("<{url}>"),
            label if label == url => format!("<{url}>"),
            label if label.contains(['<', '>']) => format!("{label} <{url}>"),
            label => format!("<{url}|{label}>"),
        }
    }
}

/// A mark does not cross lines in Slack.
fn around(mark: char, inner: &str) -> String {
    let line = |line: &str| match line.trim() {
        "" => String::new(),
        line => format!("{mark}{line}{mark}"),
    };
    inner.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use forecourt_pages::markdown::to_blocks;
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str) -> String {
        to_blocks(text, &Mrkdwn).join("\n\n")
    }

    #[test]
    fn nobody_is_mentioned_by_an_answer() {
        for text in
            ["<!channel> <!everyone> <@U1> <#C1>", "`<!here>`", "```\n<!here>\n```", "[x](https://a.example/<!here>)"]
        {
            let marked = marked(text);
            assert!(!marked.contains("<!") && !marked.contains("<@") && !marked.contains("<#"), "{marked}");
        }
        // An address that is none would be a mention.
        assert_eq!(marked("[you](!channel) [all](<!subteam^S1>) [him](@U1) [there](#C1)"), "you all him there");
        let label = marked("[<!here|x>](https://a.example)");
        assert!(!label.contains("<!"), "{label}");
    }

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        for label in ["https://bank.example/login", "see **bank.example**, now", "bank.example"] {
            let marked = marked(&format!("[{label}](https://evil.example/x)"));
            assert!(marked.ends_with(" (<https://evil.example/x>)"), "{marked}");
        }
        for url in ["https://bank.example@evil.example", "https://bank.example:x@evil.example"] {
            assert!(marked(&format!("[bank.example]({url})")).ends_with("@evil.example>)"), "{url}");
        }
        for (text, link) in [
            ("[A.Example](https://a.example/x)", "<https://a.example/x|A.Example>"),
            ("[Soup. 2.1](https://a.example/x)", "<https://a.example/x|Soup. 2.1>"),
            ("[a@b.example](mailto:a@b.example)", "<mailto:a@b.example|a@b.example>"),
        ] {
            assert_eq!(marked(text), link);
        }
    }

    proptest! {
        #[test]
        fn whatever_begins_with_an_angle_is_an_address(text in "[\\[\\]()<>!@#|a-z:/. *_`~^\n-]{0,60}") {
            for (at, _) in marked(&text).match_indices('<') {
                let rest = marked(&text)[at + 1..].to_ascii_lowercase();
                prop_assert!(["http://", "https://", "mailto:"].iter().any(|scheme| rest.starts_with(scheme)), "{rest}");
            }
        }
    }

    #[test]
    fn words_links_and_quotes_have_the_marks_of_slack() {
        let text = "**a** *b* ~~c~~ [page](https://a.example/?x=1&y=2)\n\n> said";
        assert_eq!(marked(text), "*a* _b_ ~c~ <https://a.example/?x=1&amp;y=2|page>\n\n> said");
        assert_eq!(marked("https://a.example"), "<https://a.example>");
    }
}
