//! A response, whole: `_meta` and content, in the words of its version. NLWeb 4.

use forecourt_core::findings::LeftOut;
use forecourt_core::limits::FULL_RETRY;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{AnswerUsage, Ending, FailureCause, Findings, Language, LazyJson, PolicyPart, Question};
use forecourt_pages::questions_without;
use forecourt_sentences::Sentences;
use forecourt_surface::ending::put_code;
use forecourt_surface::refusal;
use forecourt_surface::usage::{USAGE_KEY, usage_json};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api_error::{ApiError, code};
use crate::from_wire::STATE;
use crate::item::present;
use crate::section::NlwebSettings;
use crate::wire::{Dialect, Format, Style};

/// The version of the envelope around refusals. PolicyPart 4.1.
const POLICY_VERSION: &str = "v0.1";

/// What a response is, and what goes beside its content.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) about: About,
    pub(crate) outcome: Outcome,
}

/// What goes into `_meta` whatever the content is.
#[derive(Debug, Clone)]
pub(crate) struct About {
    pub(crate) style: Style,
    /// What the caller sends along next time.
    pub(crate) session: Map<String, Value>,
    /// The caller's name for the request.
    pub(crate) request_id: Option<String>,
    /// What the caller should know about how the request was understood.
    pub(crate) notes: Vec<String>,
    /// The question, where it is known.
    pub(crate) question: String,
    /// The limits that hold for every item.
    pub(crate) applied: Vec<String>,
    /// Of each of them, the question without it, where the question says it.
    pub(crate) without: Vec<Option<String>>,
    /// Filters that meant nothing here.
    pub(crate) ignored: Vec<String>,
    /// Limits that were not understood or can't be checked, in the caller's words.
    pub(crate) not_understood: Vec<String>,
    /// Items that don't state what a limit asks about, by that limit.
    pub(crate) left_out: Vec<LeftOut>,
    /// The question as it was searched for, where earlier turns added something.
    pub(crate) decontextualized: Option<String>,
    /// What a search says of how its answer was made.
    pub(crate) search_notes: Vec<String>,
    /// The language of the answer, where it is known.
    pub(crate) language: Option<Language>,
    /// Milliseconds since the request came.
    pub(crate) millis: Option<u64>,
    /// What models used for the answer, where the caller may see that.
    pub(crate) usage: AnswerUsage,
}

/// The content of a response, by its type. NLWeb 4.1.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// 4.1.1: items in their order, and the answer in words.
    Answer { results: Vec<LazyJson>, said: String },
    /// 4.1.2
    Promise(Promise),
    /// 4.1.3
    Elicitation(Question),
    /// 4.1.4
    Failure { code: String, message: String, status: StatusCode, retry_after: Option<u64> },
    /// 4.1.4, of an agent that was asked.
    Unanswered { ending: Box<Ending>, message: String },
    /// 4.1.4, as a refusal.
    Refused { part: Box<PolicyPart>, message: String },
}

/// A promise: the token to check on it by, and how far the work has come. NLWeb 4.1.2.
#[derive(Debug, Clone)]
pub(crate) struct Promise {
    pub(crate) token: String,
    /// Seconds.
    pub(crate) estimated_time: Option<u64>,
    pub(crate) message: Option<String>,
    /// Between 0 and 1.
    pub(crate) progress: Option<f64>,
}

impl About {
    /// About a request of which nothing is known but how to answer it.
    pub(crate) fn plain(style: Style) -> Self {
        Self {
            style,
            session: Map::new(),
            request_id: None,
            notes: Vec::new(),
            question: String::new(),
            applied: Vec::new(),
            without: Vec::new(),
            ignored: Vec::new(),
            not_understood: Vec::new(),
            left_out: Vec::new(),
            decontextualized: None,
            search_notes: Vec::new(),
            language: None,
            millis: None,
            usage: AnswerUsage::default(),
        }
    }
}

impl About {
    /// Takes over what a search says about its answer, if one says something: the last it says holds.
    pub(crate) fn tell(&mut self, findings: Option<&Findings>) {
        let Some(findings) = findings else { return };
        self.applied = findings.applied.iter().map(|limit| limit.words.clone()).collect();
        self.without = questions_without(&self.question, findings);
        self.ignored.clone_from(&findings.ignored);
        self.not_understood.clone_from(&findings.not_understood);
        self.left_out.clone_from(&findings.left_out);
        self.decontextualized.clone_from(&findings.decontextualized);
        self.search_notes.clone_from(&findings.notes);
    }
}

/// The words of the host for a caller of a language.
pub(crate) fn sentences(language: Option<&Language>) -> Sentences {
    Sentences::for_caller(language, &Language::english())
}

impl Outcome {
    /// A fault, told to a caller of a language.
    pub(crate) fn fault(fault: &ApiError, language: Option<&Language>) -> Self {
        let retry_after = match fault {
            ApiError::Unavailable(seconds) => Some(*seconds),
            ApiError::Full(_) => Some(FULL_RETRY.as_secs()),
            _ => None,
        };
        let message = fault.message(sentences(language));
        Self::Failure { code: fault.code().to_owned(), message, status: fault.status(), retry_after }
    }

    /// A failure of the application: the request itself was fine. NLWeb 7.4.
    pub(crate) fn failure(code: &str, message: impl Into<String>) -> Self {
        Self::Failure { code: code.to_owned(), message: message.into(), status: StatusCode::OK, retry_after: None }
    }

    /// The status of HTTP. NLWeb 7.4; design 23.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            // NLWeb 7.4: what an agent comes to is an answer to the request.
            Self::Answer { .. } | Self::Elicitation(_) | Self::Unanswered { .. } => StatusCode::OK,
            // Design 22: the answer is not there yet.
            Self::Promise(_) => StatusCode::ACCEPTED,
            Self::Failure { status, .. } => *status,
            Self::Refused { part, .. } => refusal::status(&part.kind),
        }
    }

    /// Whether nothing came of the request.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Failure { .. } | Self::Unanswered { .. } | Self::Refused { .. })
    }

    /// The type of the response. NLWeb 4; design 24.
    pub(crate) fn kind(&self, dialect: Dialect) -> &'static str {
        let (now, old) = match self {
            Self::Answer { .. } => ("answer", "Answer"),
            Self::Promise(_) => ("promise", "Promise"),
            Self::Elicitation(_) => ("elicitation", "Elicitation"),
            Self::Failure { .. } | Self::Unanswered { .. } | Self::Refused { .. } => ("failure", "Failure"),
        };
        if dialect == Dialect::V0_55 { now } else { old }
    }

    /// The content fields beside `_meta`.
    pub(crate) fn content(&self, style: Style) -> Map<String, Value> {
        match self {
            Self::Answer { results, said } => match style.format {
                Format::ConversationalSearch => present([("results", Some(json!(results)))]),
                Format::ChatgptApp => present([
                    ("content", Some(json!([{"type": "text", "text": said}]))),
                    ("structuredData", Some(json!(results))),
                ]),
            },
            Self::Promise(promise) => present([("promise", Some(promise.to_value().into()))]),
            Self::Elicitation(question) => present([("elicitation", Some(elicitation(question)))]),
            Self::Failure { code, message, .. } => error(code, message),
            Self::Unanswered { ending, message } => error(ending_code(ending), message),
            Self::Refused { part, message } => error(&refused_code(&part.kind), message),
        }
    }
}

/// An answer as it is written. NLWeb 4.1.1.
#[derive(Serialize)]
struct AnswerBody<'a> {
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
    results: &'a [LazyJson],
}

impl Promise {
    fn to_value(&self) -> Map<String, Value> {
        present([
            ("token", Some(self.token.clone().into())),
            ("estimated_time", self.estimated_time.map(Value::from)),
            ("message", self.message.clone().map(Value::from)),
            ("progress", self.progress.map(Value::from)),
        ])
    }
}

fn error(code: &str, message: &str) -> Map<String, Value> {
    present([("error", Some(json!({"code": code, "message": message})))])
}

fn elicitation(question: &Question) -> Value {
    let text = (!question.text.is_empty()).then(|| question.text.clone().into());
    let questions = (!question.questions.is_empty()).then(|| json!(question.questions));
    present([("text", text), ("questions", questions)]).into()
}

/// The code of an ending without an answer. What NLWeb has no code for stands in `_meta` by its own name.
pub(crate) fn ending_code(ending: &Ending) -> &'static str {
    match ending {
        Ending::SignIn(_) => code::SIGN_IN_NEEDED,
        Ending::Declined { .. } => code::DECLINED,
        Ending::Canceled => code::CANCELLED,
        Ending::Failed { cause, .. } => match cause {
            FailureCause::TimedOut => code::TIMEOUT,
            FailureCause::OverBound => code::TOKEN_LIMIT,
            FailureCause::Unreachable | FailureCause::NodeLost => code::SERVICE_UNAVAILABLE,
            FailureCause::Agent | FailureCause::UpstreamRefused | FailureCause::CutOff => code::INTERNAL_ERROR,
        },
        Ending::Complete | Ending::Message(_) | Ending::Question(_) | Ending::Refused(_) => code::INTERNAL_ERROR,
    }
}

/// The one code that NLWeb has; the others are the kinds themselves.
fn refused_code(kind: &RefusalKind) -> String {
    match kind {
        RefusalKind::TooManyRequests { .. } => code::RATE_LIMITED.to_owned(),
        other => other.name().to_ascii_uppercase(),
    }
}

impl Response {
    /// The whole response as JSON: the content fields and `_meta`.
    pub(crate) fn to_value(&self, settings: &NlwebSettings) -> Value {
        let mut object = self.outcome.content(self.about.style);
        object.insert("_meta".to_owned(), self.meta(settings).into());
        object.into()
    }

    /// The whole response as text. Items are written as they were kept.
    pub(crate) fn to_text(&self, settings: &NlwebSettings) -> String {
        let Outcome::Answer { results, .. } = &self.outcome else { return self.to_value(settings).to_string() };
        if self.about.style.format != Format::ConversationalSearch {
            return self.to_value(settings).to_string();
        }
        // Writing JSON to memory does not fail.
        serde_json::to_string(&AnswerBody { meta: self.meta(settings), results }).unwrap_or_default()
    }

    /// The `_meta` of a finished response. NLWeb 4.
    pub(crate) fn meta(&self, settings: &NlwebSettings) -> Map<String, Value> {
        let Style { dialect, format, .. } = self.about.style;
        let is_answer = matches!(self.outcome, Outcome::Answer { .. });
        let mut meta = self.about.beginning(self.outcome.kind(dialect), is_answer, settings);
        meta.extend(present([
            ("processing_time_ms", self.about.millis.map(Value::from)),
            ("forecourt/applied_limits", (!self.about.applied.is_empty()).then(|| json!(self.about.applied))),
            ("forecourt/without", self.about.without.iter().any(Option::is_some).then(|| json!(self.about.without))),
            ("forecourt/ignored_filters", (!self.about.ignored.is_empty()).then(|| json!(self.about.ignored))),
            ("not_understood", (!self.about.not_understood.is_empty()).then(|| json!(self.about.not_understood))),
            ("left_out", (!self.about.left_out.is_empty()).then(|| json!(self.about.left_out))),
            (USAGE_KEY, usage_json(&self.about.usage)),
        ]));
        if let Outcome::Unanswered { ending, .. } = &self.outcome {
            put_code(&mut meta, ending);
        }
        if let Outcome::Refused { part, .. } = &self.outcome {
            meta.insert("mentionable".to_owned(), json!({"policy": {"v": POLICY_VERSION, "part": part}}));
            if let Some(state) = part.state() {
                // What the caller sends along next time, so that who did what was asked for just asks again.
                let session = meta.entry("session_context").or_insert_with(|| json!({}));
                session[STATE] = state.expose().into();
            }
        }
        debug_assert!(!is_answer || meta["response_format"] == format.name(dialect));
        meta
    }
}

impl About {
    /// What `_meta` holds from the beginning on.
    pub(crate) fn beginning(&self, kind: &str, is_answer: bool, settings: &NlwebSettings) -> Map<String, Value> {
        let Style { dialect, format, .. } = self.style;
        let widget = settings.output_template.clone().filter(|_| is_answer && format == Format::ChatgptApp);
        let notes: Vec<&String> = self.notes.iter().chain(&self.search_notes).collect();
        let accessible = widget.is_some().then_some(settings.widget_accessible);
        present([
            ("response_type", Some(kind.into())),
            ("response_format", is_answer.then(|| format.name(dialect).into())),
            ("version", Some(dialect.version().into())),
            ("session_context", (!self.session.is_empty()).then(|| self.session.clone().into())),
            ("request_id", self.request_id.clone().map(Value::from)),
            ("openai/outputTemplate", widget.map(Value::from)),
            ("openai/widgetAccessible", accessible.map(Value::from)),
            ("decontextualized_query", self.decontextualized.clone().map(Value::from)),
            ("forecourt/notes", (!notes.is_empty()).then(|| json!(notes))),
        ])
    }
}
