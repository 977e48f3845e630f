//! Who this host is at a provider.

/// Who this host is at a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSettings {
    /// The provider's issuer, to the letter.
    pub issuer: String,
    /// Our name there.
    pub client_id: String,
    /// The secret that goes with it. Without one this is a public client.
    pub client_secret: Option<String>,
    /// What is asked for, `openid` included.
    pub scopes: Vec<String>,
}

/// Never prints the secret.
impl std::fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSettings").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// What is asked for where nobody says otherwise.
pub fn usual_scopes() -> Vec<String> {
    ["openid", "profile", "email"].map(str::to_owned).to_vec()
}

/// These scopes with `openid`, without which a provider gives no ID token.
pub fn with_openid(scopes: &[String]) -> Vec<String> {
    let mut scopes = scopes.to_vec();
    if !scopes.iter().any(|scope| scope == "openid") {
        scopes.insert(0, "openid".to_owned());
    }
    scopes
}

/// Whether a text can be an issuer. OpenID Connect Discovery 3: https, no query, no fragment. On this machine it may
/// be plain.
///
/// # Errors
/// What would be right.
pub fn check_issuer(issuer: &str) -> Result<(), String> {
    let url = url::Url::parse(issuer).map_err(|error| format!("is not a URL: {error}"))?;
    let is_here = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    };
    match url.scheme() {
        "https" => {}
        "http" if is_here => {}
        _ => return Err("must begin with https://; http:// is for a provider on this machine alone".to_owned()),
    }
    match url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none() {
        true => Ok(()),
        false => Err("an issuer has no user, no query and no fragment".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_https_or_on_this_machine() {
        for issuer in ["https://a.example", "https://a.example/realms/b", "http://127.0.0.1:9000", "http://localhost:1"]
        {
            assert_eq!(check_issuer(issuer), Ok(()), "{issuer}");
        }
        for issuer in [
            "http://a.example",
            "http://10.0.0.1",
            "ftp://a.example",
            "a.example",
            "https://a.example?x=1",
            "https://a.example#x",
            "https://u:p@a.example",
            "http://localhost.evil.example",
        ] {
            assert!(check_issuer(issuer).is_err(), "{issuer}");
        }
    }

    #[test]
    fn an_id_token_is_always_asked_for_and_no_secret_printed() {
        assert_eq!(with_openid(&["email".to_owned()]), ["openid", "email"]);
        assert_eq!(with_openid(&usual_scopes()), usual_scopes());
        let client = ClientSettings {
            issuer: "https://a.example".to_owned(),
            client_id: "us".to_owned(),
            client_secret: Some("hush".to_owned()),
            scopes: usual_scopes(),
        };
        assert!(!format!("{client:?}").contains("hush"));
    }
}
