//! From keys to steps. All that is wrong is found at once, each with its line.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::limits::ARTIFACT_BYTES_MAX;
use forecourt_core::{Ending, Event, File, FileSource, Link, Part, Progress, Question, SignIn, ToolCall, ToolOutcome};
use forecourt_settings::{Problems, Section};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::placeholder::replace;
use super::policy::PolicyTemplate;
use super::settings::{
    CallSettings, EventSettings, FileSettings, LinkSettings, PolicySettings, QuestionSettings, RuleSettings,
    ScriptSettings, StreamSettings,
};
use super::{Rule, Step};
use crate::limits::{SCRIPT_EVENTS_MAX, SCRIPT_PATTERN_BYTES_MAX, SCRIPT_PATTERN_SIZE_MAX, SCRIPT_RULES_MAX};
use forecourt_agents::backend::Context;
use forecourt_agents::limits::WAIT_TIME_MAX;

/// Reads a whole script.
pub(super) fn rules(mut section: Section, context: &Context) -> Result<Vec<Rule>, Problems> {
    let sections = section.take_list("rule");
    let mut problems = Problems::new();
    problems.absorb(section.read::<ScriptSettings>());
    if sections.len() > SCRIPT_RULES_MAX {
        problems.push(section.problem(None, format!("a script has at most {SCRIPT_RULES_MAX} rules")));
        return Err(problems);
    }
    let rules = sections.into_iter().filter_map(|section| rule(section, context, &mut problems)).collect();
    problems.into_result(rules)
}

fn rule(mut section: Section, context: &Context, problems: &mut Problems) -> Option<Rule> {
    let events = section.take_list("events");
    if events.len() > SCRIPT_EVENTS_MAX {
        problems.push(section.problem(None, format!("a rule has at most {SCRIPT_EVENTS_MAX} events")));
        return None;
    }
    // All events are read although one is wrong, so that the report has every problem of the file.
    let steps: Vec<Option<Step>> = events.iter().map(|event| step(event, context, problems)).collect();
    let RuleSettings { text, message_id, .. } = problems.absorb(section.read())?;
    let text = pattern(&section, "text", text, problems);
    let message_id = pattern(&section, "message_id", message_id, problems);
    let steps: Option<Vec<Step>> = steps.into_iter().collect();
    Some(Rule { text, message_id, steps: steps?.into() })
}

/// Compiles a pattern. Matching takes time linear in the text, whatever the pattern.
fn pattern(section: &Section, key: &str, pattern: Option<String>, problems: &mut Problems) -> Option<Regex> {
    let pattern = pattern?;
    if pattern.len() > SCRIPT_PATTERN_BYTES_MAX {
        let message = format!("`{key}` has more than {SCRIPT_PATTERN_BYTES_MAX} bytes");
        problems.push(section.problem(Some(key), message));
        return None;
    }
    // Both limits bound memory: a pattern of a few bytes can compile into megabytes.
    let compiled =
        RegexBuilder::new(&pattern).size_limit(SCRIPT_PATTERN_SIZE_MAX).dfa_size_limit(SCRIPT_PATTERN_SIZE_MAX).build();
    let broken = |error: regex::Error| {
        // The last line says what is wrong; those before it draw the pattern.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        section.problem(Some(key), format!("`{key}` is no regular expression: {reason}"))
    };
    problems.absorb(compiled.map_err(broken))
}

fn step(section: &Section, context: &Context, problems: &mut Problems) -> Option<Step> {
    let settings: EventSettings = problems.absorb(section.read())?;
    problems.absorb(one_step(settings, context).map_err(|message| section.problem(None, message)))
}

/// The step of an event. Fails unless it has exactly one key.
fn one_step(settings: EventSettings, context: &Context) -> Result<Step, String> {
    let mut steps = all_steps(settings, context);
    match steps.len() {
        0 => Err(format!("an event needs one of {EVENT_KEYS}")),
        1 => steps.remove(0).1,
        _ => {
            let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
            Err(format!("an event is one thing, not `{}`: write one after the other", names.join("` and `")))
        }
    }
}

const EVENT_KEYS: &str =
    "text, wait_ms, progress, tool_call, file, data, link, stream, policy, message, question, sign_in, decline, fail";

/// A key that was given, and the step that it makes.
type GivenStep = (&'static str, Result<Step, String>);

fn all_steps(settings: EventSettings, context: &Context) -> Vec<GivenStep> {
    let host = |text: String| text.replace("{host}", &context.host);
    let is_progress = settings.progress.is_some() || settings.note.is_some();
    let (progress, note) = (settings.progress, settings.note.map(host));
    let steps: [Option<GivenStep>; 14] = [
        settings.text.map(|text| ("text", emit(Event::Text(host(text))))),
        settings.wait_ms.map(|millis| ("wait_ms", wait(millis))),
        is_progress.then(|| ("progress", progress_step(progress, note))),
        settings.tool_call.map(|call| ("tool_call", called(call, context))),
        settings.file.map(|file| ("file", attached(file, context))),
        settings.data.map(|data| ("data", emit(Event::Part(Part::data(hosted(data, context)))))),
        settings.link.map(|link| ("link", linked(link, context))),
        settings.stream.map(|stream| ("stream", repeated(stream, context))),
        settings.policy.map(|policy| ("policy", refused(policy, context))),
        settings.message.map(|text| ("message", emit(Event::Ending(Ending::Message(host(text)))))),
        settings.question.map(|question| ("question", asked(question, context))),
        settings.sign_in.map(|text| ("sign_in", signed_in(&host(text)))),
        settings.decline.map(|reason| ("decline", emit(Event::Ending(Ending::declined(host(reason)))))),
        settings.fail.map(|reason| ("fail", emit(Event::Ending(Ending::failed(host(reason)))))),
    ];
    steps.into_iter().flatten().collect()
}

fn emit(event: Event) -> Result<Step, String> {
    Ok(Step::Emit(event))
}

fn wait(millis: u64) -> Result<Step, String> {
    bounded(millis).map(Step::Wait).ok_or_else(|| format!("`wait_ms` is at most {}", WAIT_TIME_MAX.as_millis()))
}

fn bounded(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis)).filter(|time| *time <= WAIT_TIME_MAX)
}

fn progress_step(fraction: Option<f64>, note: Option<String>) -> Result<Step, String> {
    if fraction.is_some_and(|fraction| !(0.0..=1.0).contains(&fraction)) {
        return Err("`progress` must be between 0 and 1".to_owned());
    }
    emit(Event::Progress(Progress { fraction, note }))
}

fn called(settings: CallSettings, context: &Context) -> Result<Step, String> {
    let outcome = match (settings.result, settings.error) {
        (Some(_), Some(_)) => return Err("a tool call has `result` or `error`, not both".to_owned()),
        (Some(result), None) => ToolOutcome::Result(hosted(result, context)),
        (None, Some(error)) => ToolOutcome::Error(error),
        (None, None) => ToolOutcome::Running,
    };
    let args = hosted(settings.args, context);
    emit(Event::ToolCall(ToolCall { id: settings.id, name: settings.name, args, outcome }))
}

fn attached(settings: FileSettings, context: &Context) -> Result<Step, String> {
    let FileSettings { name, mime, base64, url } = settings;
    let file = match (base64, url) {
        (Some(text), None) => {
            let bytes = STANDARD.decode(text).map_err(|_| "`base64` is not base64")?;
            if bytes.len() > ARTIFACT_BYTES_MAX {
                return Err(format!("a file has at most {ARTIFACT_BYTES_MAX} bytes"));
            }
            File::inline(mime, name, bytes.into())
        }
        (None, Some(url)) => {
            let url = url.replace("{host}", &context.host);
            File { id: None, name, mime, size_bytes: None, source: FileSource::Url { url, expires_at: None } }
        }
        _ => return Err("a file needs `base64` or `url`, and not both".to_owned()),
    };
    emit(Event::Part(Part::File(file)))
}

fn linked(settings: LinkSettings, context: &Context) -> Result<Step, String> {
    let LinkSettings { url, title, description } = settings;
    emit(Event::Part(Part::Link(Link { url: url.replace("{host}", &context.host), title, description })))
}

fn repeated(settings: StreamSettings, context: &Context) -> Result<Step, String> {
    let StreamSettings { text, count, every_ms } = settings;
    let every = bounded(every_ms).ok_or_else(|| format!("`every_ms` is at most {}", WAIT_TIME_MAX.as_millis()))?;
    Ok(Step::Repeat { text: text.replace("{host}", &context.host), count, every })
}

fn refused(settings: PolicySettings, context: &Context) -> Result<Step, String> {
    let template = PolicyTemplate::new(settings, context)?;
    Ok(Step::Refuse(Box::new(template)))
}

fn asked(settings: QuestionSettings, context: &Context) -> Result<Step, String> {
    let text = settings.text.replace("{host}", &context.host);
    let questions = settings.questions.into_iter().map(|question| hosted(question, context)).collect();
    emit(Event::Ending(Ending::Question(Question { text, questions })))
}

fn signed_in(text: &str) -> Result<Step, String> {
    let wanted = SignIn { question: Question::new(text), challenges: Vec::new() };
    emit(Event::Ending(Ending::SignIn(Box::new(wanted))))
}

fn hosted(mut value: Value, context: &Context) -> Value {
    replace(&mut value, "{host}", &context.host);
    value
}
