//! The text of a message as Discord writes it, into plain text.

/// What is read of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// As a person reads it, without mentions of the connector.
    pub(crate) words: String,
    /// Whether the connector is mentioned.
    pub(crate) mentions_us: bool,
    /// Whether it begins with a mention of somebody else.
    pub(crate) is_for_others: bool,
}

/// What the ids in a text mean.
pub(crate) struct Names<'a> {
    /// The user that the connector is.
    pub(crate) us: &'a str,
    /// The roles that it has.
    pub(crate) our_roles: &'a [String],
    /// What a user is called.
    pub(crate) user: &'a dyn Fn(&str) -> Option<String>,
}

/// Something between angles that Discord shows as something else.
enum Token<'a> {
    User(&'a str),
    Role(&'a str),
    Channel(&'a str),
    /// An emoji or a command, by its name.
    Named(&'a str),
    /// Anything else, such as a time.
    Other,
}

/// Reads a text.
pub(crate) fn read(text: &str, names: &Names<'_>) -> ReadText {
    let mut read = ReadText { words: String::with_capacity(text.len()), mentions_us: false, is_for_others: false };
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        read.words.push_str(&rest[..at]);
        let inner = rest[at + 1..].find('>').map(|end| &rest[at + 1..at + 1 + end]);
        let Some((inner, token)) = inner.and_then(|inner| Some((inner, token(inner)?))) else {
            read.words.push('<');
            rest = &rest[at + 1..];
            continue;
        };
        match token {
            Token::User(id) if !names.us.is_empty() && id == names.us => read.mentions_us = true,
            Token::Role(id) if names.our_roles.iter().any(|role| role == id) => read.mentions_us = true,
            Token::User(id) => {
                read.is_for_others |= read.words.trim().is_empty() && !read.mentions_us;
                // Without its `@`: a person is no agent of the same name.
                let name = (names.user)(id).unwrap_or_else(|| id.to_owned());
                read.words.push_str(name.trim_start_matches('@'));
            }
            Token::Role(id) => {
                read.is_for_others |= read.words.trim().is_empty() && !read.mentions_us;
                read.words.push_str(id);
            }
            Token::Channel(id) => read.words.push_str(&format!("#{id}")),
            Token::Named(name) => read.words.push_str(name),
            Token::Other => {}
        }
        rest = &rest[at + inner.len() + 2..];
    }
    read.words.push_str(rest);
    read.words = read.words.trim().to_owned();
    read
}

fn token(inner: &str) -> Option<Token<'_>> {
    let id = |text: &str| crate::ids::is_id(text);
    if let Some(user) = inner.strip_prefix("@!").or_else(|| inner.strip_prefix('@')).filter(|user| id(user)) {
        return Some(Token::User(user));
    }
    if let Some(role) = inner.strip_prefix("@&").filter(|role| id(role)) {
        return Some(Token::Role(role));
    }
    if let Some(channel) = inner.strip_prefix('#').filter(|channel| id(channel)) {
        return Some(Token::Channel(channel));
    }
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
    if let Some((name, of)) = inner.strip_prefix('/').and_then(|command| command.rsplit_once(':')) {
        return (is_name(name) && id(of)).then_some(Token::Named(name));
    }
    if inner.strip_prefix("t:").is_some_and(|time| !time.is_empty() && !time.contains(char::is_whitespace)) {
        return Some(Token::Other);
    }
    let emoji = inner.strip_prefix("a:").or_else(|| inner.strip_prefix(':'))?;
    let (name, of) = emoji.rsplit_once(':')?;
    (is_name(name) && id(of)).then_some(Token::Named(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> ReadText {
        let user = |id: &str| (id == "7").then(|| "@Ann".to_owned());
        read(text, &Names { us: "1", our_roles: &["2".to_owned()], user: &user })
    }

    #[test]
    fn mentions_and_tokens_are_read_as_a_person_does() {
        for (text, words, mentions_us, is_for_others) in [
            ("<@1> @chef how long?", "@chef how long?", true, false),
            ("<@!1>, hi", ", hi", true, false),
            ("<@&2> hi", "hi", true, false),
            ("<@&3> hi", "3 hi", false, true),
            ("<@7> look", "Ann look", false, true),
            ("<@1> ask <@7> and <@8>", "ask Ann and 8", true, false),
            ("in <#5> <:soup:6> <a:spin:6> </ask:9> <t:160:R>", "in #5 soup spin ask", false, false),
            ("a < b <@x> <b> <@1", "a < b <@x> <b> <@1", false, false),
            ("<<@1>", "<", true, false),
            ("@everyone", "@everyone", false, false),
        ] {
            let read = of(text);
            let said = (read.words.as_str(), read.mentions_us, read.is_for_others);
            assert_eq!(said, (words, mentions_us, is_for_others), "{text}");
        }
        let nobody = |_: &str| None;
        assert!(!read("<@1>", &Names { us: "", our_roles: &[], user: &nobody }).mentions_us);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[<>@!&#:/at1-9 x.ä]{0,80}|.{0,200}") {
            prop_assert!(of(&text).words.len() <= text.len() + 8);
        }
    }
}
