//! An answer in words, for protocols that carry text.

use forecourt_core::{CollectedReply, Ending, Part};
use serde_json::Value;

/// What an answer says: blocks of Markdown with blank lines between them. `None` where there is nothing to tell, since
/// the work was cancelled. A refusal is told in other ways.
pub fn answer_in_words(reply: &CollectedReply) -> Option<String> {
    let mut blocks: Vec<String> = reply.parts.iter().filter_map(part_in_words).collect();
    match &reply.ending {
        // The message is among the parts already.
        Ending::Complete | Ending::Message(_) | Ending::Refused(_) => {}
        Ending::Question(question) => blocks.push(question.in_words()),
        Ending::SignIn(wanted) => blocks.push(wanted.question.in_words()),
        Ending::Declined { reason } => blocks.push(reason.clone()),
        Ending::Failed { reason, .. } => blocks.push(format!("The question could not be answered: {reason}")),
        Ending::Canceled => return None,
    }
    blocks.retain(|block| !block.trim().is_empty());
    match blocks.is_empty() {
        true => Some("There is no answer.".to_owned()),
        false => Some(blocks.join("\n\n")),
    }
}

/// What of a part can be told in words. `None` for files and tool calls.
pub fn part_in_words(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.content.clone()),
        Part::Link(link) => Some(match &link.title {
            Some(title) => format!("{title}\n{}", link.url),
            None => link.url.clone(),
        }),
        Part::Data(data) => {
            let text = |key: &str| data.data.get(key).and_then(Value::as_str);
            let name = text("name").or_else(|| text("headline"))?;
            Some(text("url").map_or_else(|| format!("- {name}"), |url| format!("- {name}\n  {url}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::reply::Question;

    use super::*;

    #[test]
    fn every_ending_is_told_in_words_but_a_cancelled_one() {
        let of = |ending| answer_in_words(&CollectedReply::new(vec![Part::text("So far.")], ending));
        assert_eq!(of(Ending::Complete).unwrap(), "So far.");
        assert_eq!(of(Ending::Question(Question::new("Which?"))).unwrap(), "So far.\n\nWhich?");
        assert_eq!(of(Ending::failed("it broke")).unwrap(), "So far.\n\nThe question could not be answered: it broke");
        // What an agent says in one message is among the parts as well.
        assert_eq!(of(Ending::Message("So far.".to_owned())).unwrap(), "So far.");
        assert_eq!(of(Ending::Canceled), None);
        assert_eq!(answer_in_words(&CollectedReply::new(Vec::new(), Ending::Complete)).unwrap(), "There is no answer.");
    }
}
