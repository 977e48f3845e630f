//! `[telemetry]`: what is told to a collector, and which requests are traced.

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};

use forecourt_settings::{Environment, Problem, Problems, Section};
use forecourt_telemetry::{METHODS_MAX, SampledFlag};
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;

/// Spans, and log records, that may wait to be sent, unless it is configured.
const QUEUE_MAX: usize = 2_048;
/// Seconds between two looks at the metrics, unless it is configured.
const METRICS_SECONDS: u32 = 60;
/// Seconds that a collector may take, unless it is configured.
const TIMEOUT_SECONDS: u32 = 10;
/// What is spoken with collectors.
const PROTOCOL: &str = "http/protobuf";
/// The name of the service, unless it is configured.
const SERVICE: &str = "forecourt";

/// `[telemetry]`: traces, metrics and logs for a collector of OpenTelemetry, over OTLP/HTTP. Nothing is traced or sent
/// until there is an `endpoint`. The `OTEL_…` variables of OpenTelemetry override these keys.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetrySettings {
    /// Where the collector takes OTLP over HTTP, such as `http://127.0.0.1:4318`: `/v1/traces`, `/v1/metrics` and
    /// `/v1/logs` are added. `OTEL_EXPORTER_OTLP_ENDPOINT` overrides it, and `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and
    /// its like for one kind alone.
    pub endpoint: Option<String>,
    /// Headers of every request to it, such as `{ authorization = "Bearer ${COLLECTOR_TOKEN}" }`.
    /// `OTEL_EXPORTER_OTLP_HEADERS` adds to them.
    pub headers: BTreeMap<String, String>,
    /// What this service is called there. `OTEL_SERVICE_NAME` overrides it.
    pub service_name: String,
    /// More about this service, such as `{ "deployment.environment.name" = "production" }`. `OTEL_RESOURCE_ATTRIBUTES`
    /// adds to it.
    pub resource: BTreeMap<String, String>,
    /// The share of requests that are traced, 0 to 1. `OTEL_TRACES_SAMPLER` (`always_on`, `always_off`,
    /// `traceidratio`, each with or without `parentbased_`) and `OTEL_TRACES_SAMPLER_ARG` override it.
    pub traces: f64,
    /// Whose word is taken on whether a request is traced, by the flag in its `traceparent`: for everybody else the
    /// share decides. A trace that somebody began goes on here either way.
    pub trust_sampled_flag: SampledFlagTrust,
    /// Whether metrics are sent. They are on the operator's listener either way.
    pub metrics: bool,
    /// Seconds between two sendings of metrics.
    pub metrics_seconds: NonZeroU32,
    /// Whether lines of the log are sent, as `level` in `[log]` has them.
    pub logs: bool,
    /// Spans, and lines of the log, that may wait to be sent. More are dropped and counted.
    pub queue_max: NonZeroUsize,
    /// Seconds that the collector may take for one request.
    pub timeout_seconds: NonZeroU32,
}

/// Whose word is taken on whether a request is traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SampledFlagTrust {
    /// Nobody's.
    Nobody,
    /// That of `trusted_proxies`.
    #[default]
    Proxies,
    /// Everybody's: strangers can have every request of theirs traced.
    Everybody,
}

impl From<SampledFlagTrust> for SampledFlag {
    fn from(trust: SampledFlagTrust) -> Self {
        match trust {
            SampledFlagTrust::Nobody => Self::Nobody,
            SampledFlagTrust::Proxies => Self::Proxies,
            SampledFlagTrust::Everybody => Self::Everybody,
        }
    }
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            headers: BTreeMap::new(),
            service_name: SERVICE.to_owned(),
            resource: BTreeMap::new(),
            traces: 0.1,
            trust_sampled_flag: SampledFlagTrust::default(),
            metrics: true,
            metrics_seconds: NonZeroU32::new(METRICS_SECONDS).unwrap_or(NonZeroU32::MIN),
            logs: false,
            queue_max: NonZeroUsize::new(QUEUE_MAX).unwrap_or(NonZeroUsize::MIN),
            timeout_seconds: NonZeroU32::new(TIMEOUT_SECONDS).unwrap_or(NonZeroU32::MIN),
        }
    }
}

/// Neither the endpoint nor the headers, which may hold secrets.
impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetrySettings").field("traces", &self.traces).finish_non_exhaustive()
    }
}

/// Where each kind of telemetry goes. `None`: nowhere.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SignalUrls {
    /// Spans.
    pub traces: Option<String>,
    /// Metrics.
    pub metrics: Option<String>,
    /// Lines of the log.
    pub logs: Option<String>,
}

/// What `[telemetry]` and the environment come to.
#[derive(Clone)]
pub struct Telemetry {
    /// The section, with what the environment says in the place of what it said.
    pub settings: TelemetrySettings,
    /// Where things go.
    pub urls: SignalUrls,
    /// The headers of every request.
    pub headers: HeaderMap,
    /// The methods of HTTP that are told apart, where the environment names them.
    pub methods: Option<Vec<String>>,
}

impl Telemetry {
    /// Whether anything is sent anywhere.
    pub fn is_on(&self) -> bool {
        self.urls != SignalUrls::default()
    }

    /// Reads the section, and what the environment says.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section, environment: &dyn Environment) -> Result<Self, Problems> {
        let mut settings: TelemetrySettings = section.read()?;
        let mut problems = Problems::new();
        let variable = |name: &str| environment.variable(name).filter(|value| !value.trim().is_empty());
        if !(0.0..=1.0).contains(&settings.traces) {
            problems.push(section.problem(Some("traces"), "`traces` is a share, from 0 to 1"));
        }
        if let Some(pairs) = variable("OTEL_EXPORTER_OTLP_HEADERS") {
            settings.headers.extend(key_values(&pairs));
        }
        if let Some(pairs) = variable("OTEL_RESOURCE_ATTRIBUTES") {
            settings.resource.extend(key_values(&pairs));
        }
        if let Some(name) = settings.resource.remove("service.name") {
            settings.service_name = name;
        }
        // After `OTEL_RESOURCE_ATTRIBUTES`: OpenTelemetry lets `OTEL_SERVICE_NAME` override a `service.name` in it.
        if let Some(name) = variable("OTEL_SERVICE_NAME") {
            settings.service_name = name;
        }
        if let Some(sampler) = variable("OTEL_TRACES_SAMPLER") {
            match share(&sampler, variable("OTEL_TRACES_SAMPLER_ARG")) {
                Some(share) => settings.traces = share,
                None => {
                    problems.push(section.problem(None, "OTEL_TRACES_SAMPLER is not a known sampler").hint(
                        "it is `always_on`, `always_off` or `traceidratio` with a share in OTEL_TRACES_SAMPLER_ARG",
                    ))
                }
            }
        }
        let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| settings.endpoint.clone());
        let is_disabled = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let protocol = variable("OTEL_EXPORTER_OTLP_PROTOCOL").filter(|name| name.trim() != PROTOCOL);
        if let (Some(name), true) = (protocol, base.is_some() && !is_disabled) {
            let text = format!("OTEL_EXPORTER_OTLP_PROTOCOL is `{}`, which is not spoken here", name.trim());
            problems.push(section.problem(None, text).hint(format!(
                "it is `{PROTOCOL}`: have the collector receive that, usually on port 4318, and name it in `endpoint`"
            )));
        }
        let url = |kind: &str, is_wanted: bool, problems: &mut Problems| {
            let own = variable(&format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", kind.to_uppercase()));
            let added = || base.as_deref().map(|base| format!("{}/v1/{kind}", base.trim_end_matches('/')));
            let url = own.or_else(added).filter(|_| is_wanted && !is_disabled)?;
            problems.absorb(checked(section, url))
        };
        let urls = SignalUrls {
            traces: url(
                "traces",
                // A share of 0 still records requests whose flag is trusted.
                settings.traces > 0.0 || settings.trust_sampled_flag != SampledFlagTrust::Nobody,
                &mut problems,
            ),
            metrics: url("metrics", settings.metrics, &mut problems),
            logs: url("logs", settings.logs, &mut problems),
        };
        let headers = problems.absorb(headers(section, &settings.headers)).unwrap_or_default();
        let methods =
            variable("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS").map(|text| methods(section, &text, &mut problems));
        problems.into_result(Self { settings, urls, headers, methods })
    }
}

/// The share that a sampler of the environment stands for.
fn share(sampler: &str, argument: Option<String>) -> Option<f64> {
    match sampler.trim().trim_start_matches("parentbased_") {
        "always_on" => Some(1.0),
        "always_off" => Some(0.0),
        "traceidratio" => match argument {
            Some(text) => text.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share)),
            None => Some(1.0),
        },
        _ => None,
    }
}

/// Pairs as the environment has them: `name=value,name=value`, values escaped as in URLs.
fn key_values(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let unescaped = |text: &str| {
        // In forms `+` is a space; in these variables it is a plus.
        url::form_urlencoded::parse(text.trim().replace('+', "%2B").as_bytes())
            .next()
            .map_or_else(String::new, |(name, _)| name.into_owned())
    };
    text.split(',').filter_map(move |pair| {
        let (name, value) = pair.split_once('=')?;
        // `=` and `&` within a value would end it for the reader of forms.
        let value = value.replace('=', "%3D").replace('&', "%26");
        Some((name.trim().to_owned(), unescaped(&value)))
    })
}

/// A list of methods, which replaces the usual one whole. OpenTelemetry, HTTP.
fn methods(section: &Section, text: &str, problems: &mut Problems) -> Vec<String> {
    let methods: Vec<_> = text.split(',').map(|method| method.trim().to_owned()).collect();
    let are_methods = methods.iter().all(|method| http::Method::from_bytes(method.as_bytes()).is_ok());
    if !are_methods || methods.len() > METHODS_MAX {
        let text = "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS is no list of methods";
        let hint = format!("it is at most {METHODS_MAX} methods with commas between them, such as `GET,POST,QUERY`");
        problems.push(section.problem(None, text).hint(hint));
    }
    methods
}

fn checked(section: &Section, text: String) -> Result<String, Problem> {
    let is_one = url::Url::parse(&text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    });
    // Without its line, which may hold a secret.
    match is_one {
        true => Ok(text),
        false => Err(section
            .problem(None, "the endpoint of [telemetry] is no URL of a collector")
            .hint("write endpoint = \"http://127.0.0.1:4318\"; secrets belong into `headers`")),
    }
}

fn headers(section: &Section, pairs: &BTreeMap<String, String>) -> Result<HeaderMap, Problems> {
    let mut problems = Problems::new();
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        match (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str())) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            // Never the value, which may be a secret.
            _ => problems.push(section.problem(None, format!("`{name}` in `headers` can't be sent as a header"))),
        }
    }
    problems.into_result(headers)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<Telemetry, String> {
        let own: Vec<(String, String)> = variables.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let environment = move |name: &str| own.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let section = Section::parse(Path::new("forecourt.toml"), text, &environment).unwrap();
        Telemetry::read(&section, &environment).map_err(|problems| problems.to_string())
    }

    #[test]
    fn nothing_is_sent_until_somebody_says_where() {
        assert!(!read("", &[]).unwrap().is_on());
        assert!(!read("", &[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_on());
        let on = read("endpoint = \"http://127.0.0.1:4318/\"", &[]).unwrap();
        assert_eq!(on.urls.traces.as_deref(), Some("http://127.0.0.1:4318/v1/traces"));
        assert_eq!((on.urls.metrics.is_some(), on.urls.logs), (true, None));
        assert!(!read("endpoint = \"http://127.0.0.1:4318/\"", &[("OTEL_SDK_DISABLED", "true")]).unwrap().is_on());
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_said_where_something_would_be_sent() {
        let grpc = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        let told = read("endpoint = \"http://127.0.0.1:4317\"", &grpc).err().unwrap();
        assert!(told.contains("`grpc`") && told.contains("4318"), "{told}");
        assert!(read("", &grpc).is_ok());
        assert!(read("endpoint = \"http://a:1\"", &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]).is_ok());
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let text =
            "endpoint = \"http://a:1\"\nlogs = true\nservice_name = \"file\"\n[headers]\nx = \"file\"\ny = \"2\"";
        let read = read(
            text,
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://b:2"),
                ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://c:3/own"),
                ("OTEL_EXPORTER_OTLP_HEADERS", "x=Bearer%20a%3Db, z=1=2"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=one,deployment.environment.name=test"),
                ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
            ],
        )
        .unwrap();
        assert_eq!(read.urls.traces.as_deref(), Some("https://b:2/v1/traces"));
        assert_eq!(read.urls.logs.as_deref(), Some("https://c:3/own"));
        let header = |name: &str| read.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(
            (header("x").as_deref(), header("y").as_deref(), header("z").as_deref()),
            (Some("Bearer a=b"), Some("2"), Some("1=2"))
        );
        assert_eq!((read.settings.service_name.as_str(), read.settings.traces), ("one", 0.25));
        assert_eq!(read.settings.resource["deployment.environment.name"], "test");
        assert!(!format!("{:?}", read.settings).contains("Bearer"));
    }

    #[test]
    fn the_environment_names_methods_within_a_bound() {
        let of = |text: &str| read("", &[("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", text)]).map(|read| read.methods);
        assert_eq!(of("GET, QUERY").unwrap(), Some(vec!["GET".to_owned(), "QUERY".to_owned()]));
        assert_eq!(read("", &[]).unwrap().methods, None);
        let list = |count: usize| vec!["GET"; count].join(",");
        assert!(of(&list(METHODS_MAX)).is_ok());
        for wrong in [list(METHODS_MAX + 1), "GET,,POST".to_owned(), "G T".to_owned()] {
            assert!(of(&wrong).err().unwrap().contains("32"), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        for (text, said) in [
            ("traces = 1.1", "share"),
            ("endpoint = \"localhost:4318\"", "collector"),
            ("endpoint = \"https://user:hunter2@a\"", "headers"),
            ("endpoint = \"https://a\"\nheaders = { \"a b\" = \"hunter2\" }", "`a b`"),
            ("endpiont = \"x\"", "endpoint"),
        ] {
            let problem = read(text, &[]).err().unwrap_or_default();
            assert!(problem.contains(said) && !problem.contains("hunter2"), "{text}: {problem}");
        }
        assert!(read("", &[("OTEL_TRACES_SAMPLER", "jaeger")]).is_err());
        assert!(read("", &[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")]).is_err());
    }
}
