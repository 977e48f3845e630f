//! This module has the crawlers that are known by name: those of the file beside it, and those of the operator.

use std::collections::HashMap;

use forecourt_core::{Bot, BotPurpose};
use http::HeaderMap;
use http::header::USER_AGENT;
use serde::Deserialize;

use super::settings::{BotSettings, KnownBotSettings};
use crate::limits::{BOT_NAME_CHARS_MAX, KNOWN_BOTS_MAX, USER_AGENT_BYTES_READ_MAX};

/// The crawlers that the program knows.
const OWN: &str = include_str!("known.toml");

/// Crawlers that are known by name.
#[derive(Debug, Clone)]
pub struct KnownBots {
    /// Each once, the names of the longest first: of two in one `User-Agent` the longer one counts.
    bots: Vec<KnownBotSettings>,
    /// Their places, by their names in lower case.
    places: HashMap<Vec<u8>, usize>,
}

#[derive(Deserialize)]
struct KnownBotsFile {
    bot: Vec<KnownBotSettings>,
}

impl KnownBots {
    /// Those of the program and those of `settings`. Fails with which entry of the operator's is wrong, and how.
    pub fn new(settings: &BotSettings) -> Result<Self, (usize, String)> {
        if settings.known.len() > KNOWN_BOTS_MAX {
            return Err((KNOWN_BOTS_MAX, format!("{KNOWN_BOTS_MAX} crawlers are known by name at most")));
        }
        if let Some((at, problem)) = settings.known.iter().enumerate().find_map(|(at, bot)| Some((at, wrong(bot)?))) {
            return Err((at, problem));
        }
        let mut bots = settings.known.clone();
        for own in own() {
            if !bots.iter().any(|bot| bot.name.eq_ignore_ascii_case(&own.name)) {
                bots.push(own);
            }
        }
        Ok(Self::of(bots))
    }

    fn of(mut bots: Vec<KnownBotSettings>) -> Self {
        bots.sort_by_key(|bot| std::cmp::Reverse(bot.name.len()));
        let mut places = HashMap::with_capacity(bots.len());
        for (place, bot) in bots.iter().enumerate() {
            places.entry(bot.name.to_ascii_lowercase().into_bytes()).or_insert(place);
        }
        Self { bots, places }
    }

    /// Each of them, the longest name first.
    pub fn iter(&self) -> impl Iterator<Item = &KnownBotSettings> {
        self.bots.iter()
    }

    /// The crawler that a request says that it comes from. `None` for everybody who names none of these: nobody is
    /// guessed to be one.
    pub fn named(&self, headers: &HeaderMap) -> Option<Bot> {
        let agent = headers.get(USER_AGENT)?.as_bytes();
        let agent = &agent[..agent.len().min(USER_AGENT_BYTES_READ_MAX)];
        // Names are whole words, so that each word is looked up once: every request comes by here.
        let words = agent.split(|byte| !is_of_name(*byte)).filter(|word| !word.is_empty());
        let place = words.filter_map(|word| self.place(word)).min()?;
        let bot = &self.bots[place];
        let (name, product) = (bot.name.clone(), Some(bot.name.clone()));
        Some(Bot { name, product, purpose: bot.purpose, is_verified: false })
    }

    /// The place of a name, in any case.
    fn place(&self, word: &[u8]) -> Option<usize> {
        let mut lower = [0; BOT_NAME_CHARS_MAX];
        let lower = lower.get_mut(..word.len())?;
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        self.places.get(&*lower).copied()
    }

    /// The crawler whose signature agent at `host` was verified.
    pub fn verified(&self, host: &str) -> Bot {
        let known = self.bots.iter().find(|bot| bot.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)));
        let product = known.map(|bot| bot.name.clone());
        let purpose: Option<BotPurpose> = known.and_then(|bot| bot.purpose);
        Bot { name: host.to_owned(), product, purpose, is_verified: true }
    }
}

impl Default for KnownBots {
    fn default() -> Self {
        Self::of(own())
    }
}

fn own() -> Vec<KnownBotSettings> {
    // The file is part of the program: a test reads it, too.
    toml::from_str::<KnownBotsFile>(OWN).map(|file| file.bot).unwrap_or_default()
}

/// What is wrong with an entry of the operator's.
fn wrong(bot: &KnownBotSettings) -> Option<String> {
    if bot.name.is_empty() || bot.name.len() > BOT_NAME_CHARS_MAX || !bot.name.bytes().all(is_of_name) {
        let text = "is a product of `User-Agent`: letters, digits, `-`, `_` and `.`";
        return Some(format!("`name` {text}, at most {BOT_NAME_CHARS_MAX}"));
    }
    let host = bot.hosts.iter().find(|host| forecourt_core::Domain::parse(host).is_err())?;
    Some(format!("`hosts`: `{host}` is no host name"))
}

/// Whether a name may have this byte.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn named(agent: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_str(agent).unwrap());
        KnownBots::default().named(&headers).map(|bot| bot.name)
    }

    #[test]
    fn the_programs_own_crawlers_can_be_read_and_each_is_named_once() {
        let bots = own();
        assert!(bots.len() > 20, "{}", bots.len());
        for bot in &bots {
            assert_eq!(wrong(bot), None, "{}", bot.name);
            assert!(bot.purpose.is_some() && !bot.operator.is_empty(), "{}", bot.name);
            assert_eq!(bots.iter().filter(|other| other.name.eq_ignore_ascii_case(&bot.name)).count(), 1);
        }
    }

    #[test]
    fn a_crawler_is_known_by_the_product_that_it_names() {
        let chatgpt =
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot";
        let google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
        assert_eq!(named(chatgpt).as_deref(), Some("ChatGPT-User"));
        assert_eq!(named(google).as_deref(), Some("Googlebot"));
        assert_eq!(named("gptbot").as_deref(), Some("GPTBot"));
        assert_eq!(named("GPTBot, ChatGPT-User").as_deref(), Some("ChatGPT-User"), "the longer one");
        assert_eq!(named("Mozilla/5.0 (compatible; Bingbot/2.0)").as_deref(), Some("Bingbot"));
    }

    #[test]
    fn nobody_is_guessed_to_be_a_crawler() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        for agent in [firefox, "curl/8.5.0", "", "bot", "NotGPTBot/1.0", "GPTBots/1.0", "my-GPTBot", "some crawler"] {
            assert_eq!(named(agent), None, "{agent}");
        }
    }

    #[test]
    fn a_user_agent_is_read_up_to_its_bound() {
        let filled = |len: usize| format!("{} GPTBot", "x".repeat(len - " GPTBot".len()));
        assert_eq!(named(&filled(USER_AGENT_BYTES_READ_MAX)).as_deref(), Some("GPTBot"));
        assert_eq!(named(&filled(USER_AGENT_BYTES_READ_MAX + 1)), None);
    }

    #[test]
    fn an_operator_adds_crawlers_and_takes_the_place_of_known_ones() {
        let bot = |name: &str, hosts: &[&str]| KnownBotSettings {
            name: name.to_owned(),
            operator: "Us".to_owned(),
            purpose: Some(BotPurpose::Archive),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        let with = |known: Vec<KnownBotSettings>| KnownBots::new(&BotSettings { known, ..BotSettings::default() });
        let bots = with(vec![bot("gptbot", &["bot.example"]), bot("Ours", &[])]).unwrap();
        assert_eq!(bots.iter().filter(|bot| bot.name.eq_ignore_ascii_case("GPTBot")).count(), 1);
        let verified = bots.verified("bot.example");
        assert_eq!((verified.name.as_str(), verified.product.as_deref()), ("bot.example", Some("gptbot")));
        assert_eq!(verified.purpose, Some(BotPurpose::Archive));
        assert_eq!(bots.verified("other.example").product, None);
        assert_eq!(with(vec![bot("two words", &[])]).unwrap_err().0, 0);
        assert_eq!(with(vec![bot("a", &[]), bot("b", &["no host"])]).unwrap_err().0, 1);
        assert!(with(vec![bot(&"a".repeat(BOT_NAME_CHARS_MAX), &[])]).is_ok());
        assert!(with(vec![bot(&"a".repeat(BOT_NAME_CHARS_MAX + 1), &[])]).is_err());
        let many = |count: usize| (0..count).map(|n| bot(&format!("b{n}"), &[])).collect();
        assert!(with(many(KNOWN_BOTS_MAX)).is_ok());
        assert!(with(many(KNOWN_BOTS_MAX + 1)).is_err());
    }

    proptest! {
        #[test]
        fn any_user_agent_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                headers.insert(USER_AGENT, value);
            }
            let _ = KnownBots::default().named(&headers);
        }
    }
}
