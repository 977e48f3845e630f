//! curl, and what it brings back.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::support::PATIENCE;

/// What came back over HTTP.
pub(crate) struct Answer {
    pub(crate) status: u16,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header field, all its lines joined.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let lines = self.fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let lines: Vec<&str> = lines.collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    /// A header field that must be there.
    #[track_caller]
    pub(crate) fn named(&self, name: &str) -> String {
        self.field(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same answer, which must have this status.
    #[track_caller]
    pub(crate) fn with_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let (head, body) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
        let mut lines = head.lines();
        let status: u16 = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
        if (100..200).contains(&status) {
            return Self::read(body);
        }
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        Self { status, fields, body: body.to_vec() }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.status)?;
        for (name, value) in &self.fields {
            writeln!(f, "{name}: {value}")?;
        }
        f.write_char('\n')?;
        f.write_str(&self.text())
    }
}

/// Runs `curl -i URL ARGUMENTS…`. Names under `.localhost` are loopback for curl as they are for us.
#[track_caller]
pub(crate) fn curl(url: &str, arguments: &[&str]) -> Answer {
    let output = raw_curl(&[&["-i", url], arguments].concat());
    Answer::read(&output)
}

/// The same with a server that may be away: `None` when it did not answer to the end.
pub(crate) fn curl_if_there(url: &str, arguments: &[&str]) -> Option<Answer> {
    let mut command = Command::new("curl");
    command.args(["-q", "-sS", "-g", "--noproxy", "*", "--max-time", "10", "-i", url]).args(arguments);
    let output = command.output().expect("curl is installed");
    output.status.success().then(|| Answer::read(&output.stdout))
}

/// Runs curl with these arguments and gives its output. Nobody's proxy or settings get in between.
#[track_caller]
pub(crate) fn raw_curl(arguments: &[&str]) -> Vec<u8> {
    let time = PATIENCE.as_secs().to_string();
    let mut command = Command::new("curl");
    command.args(["-q", "-sS", "-g", "--noproxy", "*", "--max-time", &time]).args(arguments);
    let output = command.output().expect("curl is installed");
    assert!(output.status.success(), "curl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
