//! A session of the gateway, version 10: what is answered to what is heard.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::is_id;
use crate::limits::HEARTBEAT;

/// What is to be told of: messages in servers and to the bot alone, with what they say.
const INTENTS: u64 = (1 << 9) | (1 << 12) | (1 << 15);
/// The code of a connection that ends and whose session goes on: of 1000 and 1001 Discord would end that, too.
pub(super) const GOES_ON: u16 = 4_000;

/// What is sent and heard.
mod op {
    pub(super) const EVENT: u64 = 0;
    pub(super) const HEARTBEAT: u64 = 1;
    pub(super) const IDENTIFY: u64 = 2;
    pub(super) const RESUME: u64 = 6;
    pub(super) const RECONNECT: u64 = 7;
    pub(super) const INVALID: u64 = 9;
    pub(super) const HELLO: u64 = 10;
    pub(super) const ACKNOWLEDGED: u64 = 11;
}

/// One message of the gateway.
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    op: u64,
    #[serde(default)]
    d: Value,
    s: Option<u64>,
    t: Option<String>,
}

/// Where a session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResumePoint {
    /// The session.
    pub(super) session: String,
    /// Where it is connected to.
    pub(super) url: String,
    /// The user that the bot is.
    pub(super) us: String,
    /// The number of the last event that is durable.
    pub(super) number: u64,
}

/// What follows from what was heard.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Nothing,
    /// The first word: with what is answered, and how often the heart beats.
    Greeted {
        reply: Value,
        heartbeat: Duration,
    },
    Reply(Value),
    Event {
        number: u64,
        kind: String,
        data: Value,
    },
    /// The connection is to be given up.
    Ended(Next),
}

/// What to do after a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on with the session.
    Resume,
    /// Begin another one.
    Identify,
    /// Nothing: it can't work. Says why.
    Never(&'static str),
}

/// A session on one connection.
pub(super) struct Session<'a> {
    token: &'a str,
    point: Option<ResumePoint>,
    is_ready: bool,
    /// Whether the last heartbeat was answered.
    is_alive: bool,
}

impl ResumePoint {
    /// What is written down of one.
    pub(super) fn of(state: &Value) -> Option<Self> {
        Self::deserialize(state).ok()
    }

    pub(super) fn to_state(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn of_ready(data: &Value, number: u64) -> Option<Self> {
        let text = |value: &Value| value.as_str().filter(|text| text.len() <= 256).map(str::to_owned);
        Some(Self {
            session: text(&data["session_id"])?,
            url: text(&data["resume_gateway_url"])?,
            us: text(&data["user"]["id"]).filter(|id| is_id(id))?,
            number,
        })
    }
}

impl<'a> Session<'a> {
    /// One that goes on from a point, or begins.
    pub(super) fn new(token: &'a str, point: Option<ResumePoint>) -> Self {
        Self { token, point, is_ready: false, is_alive: true }
    }

    /// Whether Discord knows who we are.
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Where it goes on, once it is known.
    pub(super) fn point(&self) -> Option<ResumePoint> {
        self.point.clone()
    }

    /// The user that the bot is; empty before that is known.
    pub(super) fn us(&self) -> String {
        self.point.as_ref().map(|point| point.us.clone()).unwrap_or_default()
    }

    /// A heartbeat after the event of this number. `None`: the one before was not answered, so nobody is there.
    pub(super) fn beat(&mut self, seen: Option<u64>) -> Option<Value> {
        std::mem::replace(&mut self.is_alive, false).then(|| heartbeat(seen))
    }

    /// Takes what was heard, after the event of the number `seen`.
    pub(super) fn step(&mut self, frame: &mut Frame, seen: Option<u64>) -> Step {
        match frame.op {
            op::HELLO => {
                let millis = frame.d["heartbeat_interval"].as_u64().unwrap_or(*HEARTBEAT.end());
                let heartbeat = Duration::from_millis(millis.clamp(*HEARTBEAT.start(), *HEARTBEAT.end()));
                Step::Greeted { reply: self.greeting(), heartbeat }
            }
            op::HEARTBEAT => Step::Reply(heartbeat(seen)),
            op::ACKNOWLEDGED => {
                self.is_alive = true;
                Step::Nothing
            }
            op::RECONNECT => Step::Ended(self.next()),
            op::INVALID if frame.d == true => Step::Ended(self.next()),
            op::INVALID => Step::Ended(Next::Identify),
            op::EVENT => self.event(frame),
            _ => Step::Nothing,
        }
    }

    fn event(&mut self, frame: &mut Frame) -> Step {
        let (Some(number), Some(kind)) = (frame.s, frame.t.take()) else { return Step::Nothing };
        let data = frame.d.take();
        match kind.as_str() {
            "READY" => {
                let Some(point) = ResumePoint::of_ready(&data, number) else { return Step::Ended(Next::Identify) };
                self.point = Some(point);
                self.is_ready = true;
            }
            "RESUMED" => self.is_ready = true,
            _ => {}
        }
        Step::Event { number, kind, data }
    }

    /// What to do where nothing says otherwise.
    pub(super) fn next(&self) -> Next {
        if self.point.is_some() { Next::Resume } else { Next::Identify }
    }

    /// What to do after Discord closed the connection with this code.
    pub(super) fn next_after(&self, code: Option<u16>) -> Next {
        match code {
            Some(4_004) => Next::Never("the token of the bot is not good: see `bot_token`"),
            Some(4_010) => Next::Never("Discord refused the shard (4010)"),
            Some(4_011) => Next::Never("the bot is in too many servers for one connection: 2,500 are possible (4011)"),
            Some(4_012) => Next::Never("Discord does not speak version 10 of its gateway any more (4012)"),
            Some(4_013) => Next::Never("Discord refused what is to be told of (4013)"),
            Some(4_014) => Next::Never(
                "turn on Message Content Intent on the page *Bot* of the application, then serve again; or write \
                 `mentions = false` (4014)",
            ),
            // The number is not one of the session, or the session is over.
            Some(4_007 | 4_009) => Next::Identify,
            _ => self.next(),
        }
    }

    fn greeting(&self) -> Value {
        match &self.point {
            Some(point) => json!({"op": op::RESUME, "d": {
                "token": self.token, "session_id": point.session, "seq": point.number,
            }}),
            None => json!({"op": op::IDENTIFY, "d": {
                "token": self.token, "intents": INTENTS,
                "properties": {"os": std::env::consts::OS, "browser": "forecourt", "device": "forecourt"},
            }}),
        }
    }
}

fn heartbeat(seen: Option<u64>) -> Value {
    json!({"op": op::HEARTBEAT, "d": seen})
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(value: Value) -> Frame {
        serde_json::from_value(value).unwrap()
    }

    fn ready() -> Value {
        json!({"op": 0, "s": 1, "t": "READY", "d": {
            "session_id": "abc", "resume_gateway_url": "wss://x.discord.gg", "user": {"id": "1"},
        }})
    }

    fn point(number: u64) -> ResumePoint {
        let (session, url) = ("abc".to_owned(), "wss://x.discord.gg".to_owned());
        ResumePoint { session, url, us: "1".to_owned(), number }
    }

    #[test]
    fn a_session_begins_and_goes_on_where_it_was() {
        let mut session = Session::new("t", None);
        let hello = session.step(&mut frame(json!({"op": 10, "d": {"heartbeat_interval": 41_250}})), None);
        let Step::Greeted { reply, heartbeat } = hello else { panic!("no greeting") };
        assert_eq!((&reply["op"], &reply["d"]["intents"], heartbeat.as_millis()), (&json!(2), &json!(37_376), 41_250));
        assert_eq!(session.next(), Next::Identify);
        assert!(matches!(session.step(&mut frame(ready()), None), Step::Event { number: 1, .. }));
        assert!(session.is_ready() && session.us() == "1" && session.point() == Some(point(1)));
        assert_eq!(ResumePoint::of(&point(7).to_state()), Some(point(7)));
        let mut again = Session::new("t", Some(point(7)));
        let Step::Greeted { reply, .. } = again.step(&mut frame(json!({"op": 10, "d": {}})), Some(7)) else { panic!() };
        assert_eq!(reply, json!({"op": 6, "d": {"token": "t", "session_id": "abc", "seq": 7}}));
        assert!(!again.is_ready() && again.us() == "1");
        again.step(&mut frame(json!({"op": 0, "s": 9, "t": "RESUMED", "d": {}})), Some(8));
        assert!(again.is_ready());
    }

    #[test]
    fn a_heart_beats_with_what_was_seen_and_one_beat_without_an_answer_is_the_last() {
        let mut session = Session::new("t", None);
        assert_eq!(session.beat(None), Some(json!({"op": 1, "d": null})));
        assert_eq!(session.step(&mut frame(json!({"op": 11})), None), Step::Nothing);
        assert_eq!(session.beat(Some(7)), Some(json!({"op": 1, "d": 7})));
        assert_eq!(session.beat(Some(8)), None);
        assert_eq!(session.step(&mut frame(json!({"op": 1})), Some(9)), Step::Reply(json!({"op": 1, "d": 9})));
    }

    #[test]
    fn an_interval_is_held_within_its_bounds() {
        for (said, held) in [(0, 100), (99, 100), (100, 100), (300_000, 300_000), (300_001, 300_000)] {
            let hello = json!({"op": 10, "d": {"heartbeat_interval": said}});
            let Step::Greeted { heartbeat, .. } = Session::new("t", None).step(&mut frame(hello), None) else {
                panic!()
            };
            assert_eq!(heartbeat.as_millis(), held);
        }
    }

    #[test]
    fn what_ends_a_connection_says_what_comes_next() {
        let mut known = Session::new("t", Some(point(7)));
        for (said, next) in [
            (json!({"op": 7}), Next::Resume),
            (json!({"op": 9, "d": true}), Next::Resume),
            (json!({"op": 9, "d": false}), Next::Identify),
        ] {
            assert_eq!(known.step(&mut frame(said), None), Step::Ended(next));
        }
        for code in [None, Some(1_000), Some(1_006), Some(4_000), Some(4_001), Some(4_008), Some(4_015)] {
            assert_eq!(known.next_after(code), Next::Resume, "{code:?}");
            assert_eq!(Session::new("t", None).next_after(code), Next::Identify, "{code:?}");
        }
        for code in [4_007, 4_009] {
            assert_eq!(known.next_after(Some(code)), Next::Identify, "{code}");
        }
        for code in [4_004, 4_010, 4_011, 4_012, 4_013, 4_014] {
            assert!(matches!(known.next_after(Some(code)), Next::Never(_)), "{code}");
        }
    }

    #[test]
    fn a_beginning_without_its_session_is_none() {
        for key in ["session_id", "resume_gateway_url", "user"] {
            let mut without = ready();
            without["d"].as_object_mut().unwrap().remove(key);
            let mut session = Session::new("t", None);
            assert_eq!(session.step(&mut frame(without), None), Step::Ended(Next::Identify), "{key}");
        }
    }

    proptest! {
        #[test]
        fn no_frame_panics(op in 0_u64..13, kind in "READY|RESUMED|X", s in proptest::option::of(0_u64..9), d in "[{}\\[\\]\"a:1,]{0,12}") {
            let d: Value = serde_json::from_str(&d).unwrap_or_default();
            let mut session = Session::new("t", Some(point(1)));
            let _ = session.step(&mut Frame { op, d, s, t: Some(kind) }, s);
        }
    }
}
