//! Markdown as Discord's.

use forecourt_pages::markdown::Marks;

/// The marks of Discord.
pub(crate) struct DiscordMarkdown;

/// What follows an `@` that is to be text: nobody sees it.
const JOINER: char = '\u{2060}';

impl Marks for DiscordMarkdown {
    /// Every character by which anything can be meant has a backslash before it, and an `@` a joiner behind it: nobody is
    /// mentioned by what an agent says.
    fn text(&self, text: &str) -> String {
        let mut marked = String::with_capacity(text.len() + 8);
        for (at, c) in text.char_indices() {
            let begins_line = matches!(text[..at].chars().next_back(), None | Some('\n'));
            if "\\*_~`|<>[]()#".contains(c) || (begins_line && "-+".contains(c)) {
                marked.push('\\');
            }
            marked.push(c);
            if c == '@' {
                marked.push(JOINER);
            }
        }
        marked
    }

    fn strong(&self, inner: &str) -> String {
        around("**", inner)
    }

    fn emphasis(&self, inner: &str) -> String {
        around("*", inner)
    }

    fn struck(&self, inner: &str) -> String {
        around("~~", inner)
    }

    fn code(&self, literal: &str) -> String {
        format!("`{}`", silent(&literal.replace('`', "ˋ")))
    }

    fn code_block(&self, literal: &str) -> String {
        format!("```\n{}\n```", silent(&literal.replace("```", "ˋˋˋ")))
    }

    /// The angles keep previews away.
    fn link(&self, inner: &str, url: &str) -> String {
        let url: String = url.chars().map(within_angles).collect();
        let label = inner.replace('\n', " ");
        let label = label.trim();
        // Discord leads to web pages alone.
        if url.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("mailto:")) {
            let address = self.text(&url[7..]);
            return if label.is_empty() || label == address { address } else { format!("{label} ({address})") };
        }
        let plain: String = label.chars().filter(|c| *c != '\\' && *c != JOINER).collect();
        match plain.as_str() {
            "" => format!("<{url}>"),
            plain if plain == url => format!("<{url}>"),
            plain if plain.contains("://") => format!("{label} <{url}>"),
            _ => format!("[{label}](<{url}>)"),
        }
    }

    fn heading(&self, inner: &str) -> String {
        self.strong(inner)
    }
}

/// What could end an address between angles, or mention somebody in it, in its escaped form.
fn within_angles(c: char) -> String {
    match c {
        '<' => "%3C".to_owned(),
        '>' => "%3E".to_owned(),
        ' ' => "%20".to_owned(),
        '\\' => "%5C".to_owned(),
        '`' => "%60".to_owned(),
        c => c.to_string(),
    }
}

fn silent(literal: &str) -> String {
    literal.replace('@', &format!("@{JOINER}"))
}

/// A mark does not cross lines, and holds something.
fn around(mark: &str, inner: &str) -> String {
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
        to_blocks(text, &DiscordMarkdown).join("\n\n")
    }

    #[test]
    fn words_links_and_quotes_have_the_marks_of_discord() {
        let text = "# Soup\n\n**a** *b* ~~c~~ `d<e` [page](https://a.example/?x=1&y=2)\n\n> said";
        assert_eq!(marked(text), "**Soup**\n\n**a** *b* ~~c~~ `d<e` [page](<https://a.example/?x=1&y=2>)\n\n> said");
        assert_eq!(marked("https://a.example/b_c"), "<https://a.example/b_c>");
        assert_eq!(marked("snake_case 2 \\* 3"), "snake\\_case 2 \\* 3");
        assert_eq!(marked("[Ann](mailto:ann@a.example)"), format!("Ann (ann@{JOINER}a.example)"));
        assert_eq!(marked("\\# no heading\n\\- no list"), "\\# no heading\n\\- no list");
    }

    #[test]
    fn nobody_is_mentioned_by_an_answer() {
        for text in
            ["@everyone @here", "<@1> <@&2> <#3>", "`@everyone`", "```\n@here\n```", "[@everyone](https://a.example)"]
        {
            let marked = marked(text);
            assert!(!marked.contains("@everyone") && !marked.contains("@here"), "{marked}");
            assert!(!marked.replace("\\<", "").contains("<@"), "{marked}");
        }
        assert_eq!(marked("[you](<@1>) [all](<@&2>)"), "you all");
    }

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        for label in ["https://bank.example/login", "see **bank.example**, now", "bank.example"] {
            let marked = marked(&format!("[{label}](https://evil.example/x)"));
            assert!(marked.ends_with(" (<https://evil.example/x>)"), "{marked}");
        }
        assert_eq!(marked("[A.Example](https://a.example/x)"), "[A.Example](<https://a.example/x>)");
    }

    proptest! {
        #[test]
        fn whatever_begins_with_an_angle_is_an_address(text in "[\\[\\]()<>!@#&:1|a-z/. *_`~^\n\\\\-]{0,60}") {
            let marked = marked(&text);
            prop_assert!(!marked.contains("@everyone") && !marked.contains("@here"));
            // What stands between fences is code, whatever it is.
            for piece in marked.split("```").step_by(2) {
                let all: Vec<char> = piece.chars().collect();
                let mut code = false;
                for (at, c) in all.iter().enumerate() {
                    let escaped = all[..at].iter().rev().take_while(|c| **c == '\\').count() % 2 == 1;
                    code ^= *c == '`' && !escaped;
                    if *c == '<' && !escaped && !code {
                        let rest: String = all[at + 1..].iter().collect::<String>().to_ascii_lowercase();
                        prop_assert!(["http://", "https://"].iter().any(|scheme| rest.starts_with(scheme)), "{}", marked);
                    }
                }
            }
        }
    }
}
