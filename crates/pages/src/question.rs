//! What an agent asks back, as a form. The shapes are NLWeb's (4.1.3); of an unknown type, words are taken.

use forecourt_core::{Ending, Question, SearchRefinement};
use forecourt_sentences::Sentences;
use serde_json::Value;

use crate::limits::{OPTIONS_MAX, QUESTIONS_MAX};
use crate::query::{ANSWER_PREFIX, DECIDED, EARLIER, FILTER_PREFIX};
use crate::{clean, markdown};

/// A form that asks.
pub(crate) struct QuestionView {
    /// The question in words.
    pub(crate) html: String,
    /// Where the answers go, as a query.
    pub(crate) action: String,
    /// What goes along.
    pub(crate) along: Vec<(String, String)>,
    pub(crate) fields: Vec<Field>,
}

/// One question of the form.
pub(crate) struct Field {
    /// Names it on the page.
    pub(crate) id: usize,
    /// The name that its answer is sent by.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// How a question is answered.
pub(crate) enum Kind {
    /// One of these, or several.
    Choice { several: bool, options: Vec<Choice> },
    /// Words.
    Words { default: String },
    /// A number.
    Number { default: String },
}

/// Something to choose.
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) text: String,
    pub(crate) is_default: bool,
}

impl QuestionView {
    /// What a search asks: each answer becomes a value of the property that the question is named after.
    pub(crate) fn filters(
        ending: &Ending,
        path: &str,
        question: &str,
        earlier: &[String],
        narrowing: &SearchRefinement,
        say: Sentences,
    ) -> Option<Self> {
        let asked = ending.question()?;
        let name = |id: &str| format!("{FILTER_PREFIX}{}", clean::line(id));
        let chosen = narrowing.exactly.iter().map(|(field, value)| (name(field), clean::line(value)));
        let asked_before = earlier.iter().map(|asked| (EARLIER.to_owned(), clean::line(asked)));
        let along =
            [("user".to_owned(), clean::text(question).into_owned())].into_iter().chain(asked_before).chain(chosen);
        // Who has answered is not asked again, even if the answer narrows nothing down.
        let along = along.chain([(DECIDED.0.to_owned(), DECIDED.1.to_owned())]).collect();
        let fields = fields(asked, |id, _| name(id), &YesNo::new(say, ["true", "false"]));
        Some(Self { html: lead(&asked.text, &fields), action: path.to_owned(), along, fields })
    }

    /// What any agent asks: the answers are the next turn of the conversation. When there are several
    /// questions, each is sent along with its answer.
    pub(crate) fn turn(ending: &Ending, path: &str, session: Option<&str>, say: Sentences) -> Option<Self> {
        let asked = ending.question()?;
        let mut fields = fields(asked, |_, text| format!("{ANSWER_PREFIX}{text}"), &YesNo::new(say, ["yes", "no"]));
        if fields.is_empty() {
            let kind = Kind::Words { default: String::new() };
            fields.push(Field { id: 0, name: String::new(), text: say.page_your_answer(), kind });
        }
        // One answer is a turn by itself; only several need their questions sent along.
        if let [only] = fields.as_mut_slice() {
            only.name = "user".to_owned();
        }
        let along = session.map(|session| ("session".to_owned(), session.to_owned())).into_iter().collect();
        Some(Self { html: lead(&asked.text, &fields), action: path.to_owned(), along, fields })
    }
}

/// A yes and a no: what is sent for each, and what it says.
struct YesNo {
    values: [&'static str; 2],
    texts: [String; 2],
}

impl YesNo {
    fn new(say: Sentences, values: [&'static str; 2]) -> Self {
        Self { values, texts: [say.page_yes(), say.page_no()] }
    }
}

/// What is said before the form. Where that holds the one question of the form in words as well, it ends
/// there: the rest says how to answer in words.
fn lead(text: &str, fields: &[Field]) -> String {
    let said = match fields {
        [only] => text.split_once(&only.text).map_or(text, |(before, _)| before),
        _ => text,
    };
    markdown::to_html_below(said.trim())
}

/// The questions that can be asked; one without text or, where there must be some, without options is
/// left out.
fn fields(asked: &Question, name: impl Fn(&str, &str) -> String, truth: &YesNo) -> Vec<Field> {
    let asked = asked.questions.iter().take(QUESTIONS_MAX).enumerate();
    asked.filter_map(|(at, question)| field(at, question, &name, truth)).collect()
}

fn field(at: usize, question: &Value, name: impl Fn(&str, &str) -> String, truth: &YesNo) -> Option<Field> {
    let word = |key: &str| question.get(key).and_then(Value::as_str).filter(|word| !word.trim().is_empty());
    let id = word("id").or(word("name")).unwrap_or_default();
    let text = clean::line(word("text").or(word("question")).or(question.as_str()).or(word("name"))?);
    let kind = kind(question, word("type").unwrap_or_default(), truth)?;
    Some(Field { id: at, name: name(id, &text), text, kind })
}

fn kind(question: &Value, kind: &str, truth: &YesNo) -> Option<Kind> {
    let default = question.get("default").unwrap_or(&Value::Null);
    Some(match kind {
        "single_select" | "multi_select" => {
            let options = options(question.get("options")?, default);
            (!options.is_empty()).then_some(Kind::Choice { several: kind == "multi_select", options })?
        }
        "boolean" => {
            let choice = |at: usize, says: bool| Choice {
                value: truth.values[at].to_owned(),
                text: truth.texts[at].clone(),
                is_default: default.as_bool() == Some(says),
            };
            Kind::Choice { several: false, options: vec![choice(0, true), choice(1, false)] }
        }
        "number" => Kind::Number { default: default.as_f64().map(|_| plain(default)).unwrap_or_default() },
        _ => Kind::Words { default: plain(default) },
    })
}

fn options(options: &Value, default: &Value) -> Vec<Choice> {
    let defaults: Vec<String> = match default {
        Value::Array(values) => values.iter().map(plain).collect(),
        value => vec![plain(value)],
    };
    let words = options.as_array().into_iter().flatten().map(plain).filter(|word| !word.trim().is_empty());
    let choice = |value: String| Choice { text: clean::line(&value), is_default: defaults.contains(&value), value };
    words.take(OPTIONS_MAX).map(choice).collect()
}

/// A value as it is written; nothing of lists and objects.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => clean::text(text).into_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use forecourt_sentences::SpokenLanguage;

    use super::*;

    fn english() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

    fn asked(questions: Value) -> Ending {
        let questions = questions.as_array().cloned().unwrap_or_default();
        Ending::Question(Question { text: "Tell me more.".to_owned(), questions })
    }

    fn form(questions: Value) -> QuestionView {
        QuestionView::turn(&asked(questions), "/~a", Some("s"), english()).unwrap()
    }

    fn defaults(field: &Field) -> Vec<&str> {
        match &field.kind {
            Kind::Choice { options, .. } => {
                options.iter().filter(|option| option.is_default).map(|option| option.value.as_str()).collect()
            }
            Kind::Words { default } | Kind::Number { default } => vec![default],
        }
    }

    #[test]
    fn s4_1_3_every_type_is_a_field_that_keeps_its_default() {
        let form = form(json!([
            {"id": "a", "text": "A?", "type": "single_select", "options": ["x", "y"], "default": "y"},
            {"id": "b", "text": "B?", "type": "multi_select", "options": ["x", 2, "z"], "default": ["x", 2]},
            {"id": "c", "text": "C?", "type": "free_text", "default": "<hi>"},
            {"id": "d", "text": "D?", "type": "number", "default": 2.5},
            {"id": "e", "text": "E?", "type": "boolean", "default": false},
            {"id": "f", "text": "F?", "type": "x-unknown"},
        ]));
        let said: Vec<Vec<&str>> = form.fields.iter().map(defaults).collect();
        assert_eq!(said, [vec!["y"], vec!["x", "2"], vec!["<hi>"], vec!["2.5"], vec!["no"], vec![""]]);
        assert_eq!(form.fields[1].name, "answer.B?");
        assert_eq!(form.along, [("session".to_owned(), "s".to_owned())]);
    }

    #[test]
    fn what_can_not_be_asked_is_left_out_and_words_can_always_be_said() {
        let broken = json!([7, {}, {"id": "a", "text": " "}, {"text": "A?", "type": "single_select"},
            {"text": "A?", "type": "multi_select", "options": []}, {"text": "A?", "type": "single_select", "options": {}}]);
        let form = form(broken);
        assert_eq!((form.fields.len(), form.fields[0].name.as_str()), (1, "user"));
        assert!(QuestionView::turn(&Ending::Complete, "/~a", None, english()).is_none());
    }

    #[test]
    fn answers_to_a_search_choose_values_beside_those_chosen() {
        let narrowing =
            SearchRefinement { exactly: vec![("k".to_owned(), "v".to_owned())], ..SearchRefinement::default() };
        let asked = asked(json!([{"id": "genre", "text": "Which?", "type": "boolean"}]));
        let form = QuestionView::filters(&asked, "/~a", "q", &[], &narrowing, english()).unwrap();
        let along: Vec<(&str, &str)> = form.along.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(along, [("user", "q"), ("filter.k", "v"), ("ask", "no")]);
        assert_eq!(form.fields[0].name, "filter.genre");
        let Kind::Choice { options, .. } = &form.fields[0].kind else { panic!("a choice") };
        assert_eq!(options[0].value, "true");
    }

    #[test]
    fn the_words_end_where_the_form_asks_the_same() {
        let text = "24 films fit. Which genre? For example Drama.".to_owned();
        let asked = |questions: Vec<Value>| Ending::Question(Question { text: text.clone(), questions });
        let genre = json!({"text": "Which genre?", "type": "free_text"});
        let one = QuestionView::turn(&asked(vec![genre.clone()]), "/~a", None, english()).unwrap();
        assert_eq!(one.html.trim(), "<p>24 films fit.</p>");
        let two = QuestionView::turn(&asked(vec![genre.clone(), genre]), "/~a", None, english()).unwrap();
        assert!(two.html.contains("For example"), "{}", two.html);
    }

    #[test]
    fn a_form_is_bounded() {
        let one = json!({"text": "A?", "type": "single_select", "options": vec!["x"; OPTIONS_MAX + 1]});
        let form = form(Value::Array(vec![one; QUESTIONS_MAX + 1]));
        assert_eq!(form.fields.len(), QUESTIONS_MAX);
        let Kind::Choice { options, .. } = &form.fields[0].kind else { panic!("a choice") };
        assert_eq!(options.len(), OPTIONS_MAX);
    }
}
