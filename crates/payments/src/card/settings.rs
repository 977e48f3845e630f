//! `[payments.card]`: the provider of card payments, and what it is told and believed by.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings_error::SettingsError;

/// Secrets of notices that are believed at once: the one in use, and those that it follows or is followed by.
const WEBHOOK_SECRETS_MAX: usize = 4;

/// `[payments.card]`: cards, by a provider with Stripe's interface. Off without `secret_key`.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CardSettings {
    /// The secret key of the account, best as `"${STRIPE_KEY}"` or `"${file:stripe.key}"`. A restricted key needs to
    /// write Checkout Sessions, PaymentIntents and Refunds.
    pub secret_key: Option<String>,
    /// The secrets with which the provider signs what it sends to `/pay/events/card`, best as `"${…}"`; several while
    /// one is replaced by another, at most 4. Without any, nothing that it sends is believed, and it is asked instead.
    pub webhook_secrets: Vec<String>,
    /// The URL to which `/v1/checkout/sessions` and the like are added. By http it needs `allow` and `allow_http` in
    /// `[egress]`.
    pub api: String,
    /// The origin of the pages on which people pay: they are sent nowhere else. Another one where the account has a
    /// domain of its own for them.
    pub checkout_origin: String,
}

impl Default for CardSettings {
    fn default() -> Self {
        Self {
            secret_key: None,
            webhook_secrets: Vec::new(),
            api: "https://api.stripe.com".to_owned(),
            checkout_origin: "https://checkout.stripe.com".to_owned(),
        }
    }
}

/// Never prints a secret.
impl std::fmt::Debug for CardSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { api, checkout_origin, .. } = self;
        f.debug_struct("CardSettings")
            .field("api", api)
            .field("checkout_origin", checkout_origin)
            .finish_non_exhaustive()
    }
}

impl CardSettings {
    /// Whether cards are taken.
    pub fn is_on(&self) -> bool {
        self.secret_key.is_some()
    }

    /// Fails when the section can't work.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let wrong = |message: &str, hint: &str| Err(SettingsError::new(format!("card: {message}"), hint));
        let is_blank = |text: &String| text.trim().is_empty() || text.chars().any(|c| c.is_control() || c == ' ');
        if self.secret_key.as_ref().is_some_and(is_blank) {
            return wrong("`secret_key` is empty, or holds what no key does", "copy it from the provider's dashboard");
        }
        // A publishable key stands on web pages, and can do nothing of what is needed.
        if self.secret_key.as_ref().is_some_and(|key| key.starts_with("pk_")) {
            return wrong("`secret_key` is a publishable key", "take the secret or a restricted one: sk_… or rk_…");
        }
        if self.secret_key.is_none() && !self.webhook_secrets.is_empty() {
            return wrong("`webhook_secrets` are set, and `secret_key` is not", "set `secret_key` as well");
        }
        if self.webhook_secrets.iter().any(is_blank) {
            return wrong("one of `webhook_secrets` is empty", "copy it from the provider's dashboard: whsec_…");
        }
        if self.webhook_secrets.len() > WEBHOOK_SECRETS_MAX {
            let message = format!("`webhook_secrets` has {} entries", self.webhook_secrets.len());
            return wrong(&message, &format!("at most {WEBHOOK_SECRETS_MAX} are believed at once"));
        }
        let is_url = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        if !is_url(&self.api) {
            return wrong(&format!("`api` is `{}`", self.api), "write it as https://api.stripe.com");
        }
        let origin = self.checkout_origin.split_once("://").map(|(_, host)| host).unwrap_or_default();
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
        // It goes into the policy of the page, where a blank or a `;` would begin something else.
        if !is_url(&self.checkout_origin) || origin.is_empty() || !origin.chars().all(is_host) {
            let message = format!("`checkout_origin` is `{}`", self.checkout_origin);
            return wrong(&message, "write scheme and host alone, such as https://checkout.stripe.com");
        }
        Ok(())
    }

    /// Whether people may be sent to `url`.
    pub(crate) fn is_checkout(&self, url: &str) -> bool {
        let rest = url.strip_prefix(&self.checkout_origin);
        rest.is_some_and(|rest| rest.starts_with('/') && !url.chars().any(char::is_control))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl Fn(&mut CardSettings)) -> Result<(), String> {
        let mut settings = CardSettings { secret_key: Some("sk_test_x".to_owned()), ..CardSettings::default() };
        change(&mut settings);
        settings.check().map_err(|error| error.message)
    }

    #[test]
    fn what_can_not_work_is_said() {
        assert_eq!(with(|_| {}), Ok(()));
        let many = |count: usize| with(|settings| settings.webhook_secrets = vec!["whsec_a".to_owned(); count]);
        assert_eq!(many(WEBHOOK_SECRETS_MAX), Ok(()));
        for (wrong, named) in [
            (with(|settings| settings.secret_key = Some(" ".to_owned())), "`secret_key`"),
            (with(|settings| settings.secret_key = Some("pk_live_x".to_owned())), "publishable"),
            (with(|settings| settings.webhook_secrets = vec![String::new()]), "`webhook_secrets`"),
            (many(WEBHOOK_SECRETS_MAX + 1), "5 entries"),
            (with(|settings| settings.api = "api.stripe.com".to_owned()), "`api`"),
            (
                with(|settings| settings.checkout_origin = "https://a.example; img-src *".to_owned()),
                "`checkout_origin`",
            ),
            (with(|settings| settings.checkout_origin = "https://a.example/x".to_owned()), "`checkout_origin`"),
        ] {
            assert!(wrong.as_ref().is_err_and(|message| message.contains(named)), "{wrong:?} {named}");
        }
        let alone = CardSettings { webhook_secrets: vec!["whsec_a".to_owned()], ..CardSettings::default() };
        assert!(alone.check().is_err());
    }

    #[test]
    fn people_are_sent_to_the_checkout_alone() {
        let settings = CardSettings::default();
        assert!(settings.is_checkout("https://checkout.stripe.com/c/pay/cs_1"));
        for url in ["https://checkout.stripe.com.evil.example/c", "http://checkout.stripe.com/c", "javascript:a", ""] {
            assert!(!settings.is_checkout(url), "{url}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let secret = Some("sk_test_hush".to_owned());
        let settings =
            CardSettings { secret_key: secret, webhook_secrets: vec!["whsec_hush".into()], ..Default::default() };
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
