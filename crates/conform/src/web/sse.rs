//! This module reads server-sent events that came whole.

/// An event: its name, `message` where it has none, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The events of a stream in their order. Comments, ids and empty events are left out.
pub(crate) fn events(text: &str) -> Vec<Event> {
    // All three ends of a line are allowed, also mixed.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    for block in text.split("\n\n") {
        let mut event = Event { name: "message".to_owned(), data: String::new() };
        let mut has_data = false;
        for line in block.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "event" => event.name = value.to_owned(),
                "data" => {
                    event.data.push_str(if has_data { "\n" } else { "" });
                    event.data.push_str(value);
                    has_data = true;
                }
                _ => {}
            }
        }
        if has_data {
            events.push(event);
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_have_names_and_lines_of_data() {
        let text = ": hello\n\ndata: a\ndata:b\n\nid: 1\n\nevent: end\r\ndata: {}\r\n\r\n";
        let found: Vec<_> = events(text).into_iter().map(|event| (event.name, event.data)).collect();
        assert_eq!(found, [("message".to_owned(), "a\nb".to_owned()), ("end".to_owned(), "{}".to_owned())]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,200}|([a-z:\n\r ]{0,200})") {
            drop(events(&text));
        }
    }
}
