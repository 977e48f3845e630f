//! A certified OpenID provider, at which anybody signs in by any name: whose name begins with `chief` is of the groups
//! `chiefs` and `staff`, whose begins with `clerk` of `staff`. `dev/sdk/setup` brings it.

use crate::browser::{Browser, ENTER};
use crate::scripts::{RunningScript, client_script, library};
use crate::support::within;
use crate::wire::curl;

/// What goes with the client `forecourt` there.
pub(crate) const SECRET: &str = "a-secret-of-the-test";

/// A provider at which anybody signs in by any name.
pub(crate) struct Provider {
    script: RunningScript,
    pub(crate) issuer: String,
}

impl Provider {
    /// Starts one. `None`, and says so, where there is none.
    pub(crate) fn start() -> Option<Self> {
        let mut command = client_script("oidc_provider.mjs", Some(&library("oidc-provider")?));
        let (script, issuer) = RunningScript::start(command.env("NODE_NO_WARNINGS", "1"));
        Some(Self { script, issuer })
    }

    /// Has it do something, and waits until it has.
    pub(crate) fn tell(&mut self, word: &str) {
        assert_eq!(self.script.tell(word), word);
    }

    /// Signs in as `login` with a browser that is at the provider, and agrees to whatever it is asked for there, until
    /// `is_there`. Every page is answered once: the provider takes no answer twice.
    #[track_caller]
    pub(crate) fn sign_in_with(&self, browser: &Browser, login: &str, is_there: impl Fn() -> bool) {
        browser.find("input[name=login]").r#type(login);
        let mut answered = browser.url();
        browser.find("input[name=password]").r#type(&format!("x{ENTER}"));
        within(&format!("{login} is back from the provider"), || {
            let url = browser.url();
            let is_new = url.starts_with(&self.issuer) && url != answered;
            if is_new && browser.click_if_there("button[type=submit], input[type=submit]") {
                answered = url;
            }
            is_there().then_some(())
        });
    }

    /// Signs in as `login` from where `url` leads; gives where the provider sends the browser back to.
    #[track_caller]
    pub(crate) fn sign_in(&self, url: &str, login: &str) -> String {
        let jar = tempfile::tempdir().unwrap();
        let jar = jar.path().join("jar").display().to_string();
        let (mut url, mut form): (String, Option<String>) = (url.to_owned(), None);
        for _ in 0..12 {
            let mut arguments = vec!["-b", jar.as_str(), "-c", jar.as_str()];
            if let Some(form) = &form {
                arguments.extend(["-d", form.as_str()]);
            }
            let answer = curl(&url, &arguments);
            match answer.field("location") {
                Some(to) if !absolute(&self.issuer, &to).starts_with(&self.issuer) => return to,
                Some(to) => (url, form) = (absolute(&self.issuer, &to), None),
                None if answer.text().contains("name=\"login\"") => {
                    form = Some(format!("prompt=login&login={login}&password=x"));
                }
                None => form = Some("prompt=consent".to_owned()),
            }
        }
        panic!("the provider never comes to an end");
    }
}

fn absolute(issuer: &str, to: &str) -> String {
    if to.starts_with('/') { format!("{issuer}{to}") } else { to.to_owned() }
}
