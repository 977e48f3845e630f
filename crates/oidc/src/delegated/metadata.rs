//! What a resource and its authorization server say of themselves. RFC 9728, RFC 8414.

use forecourt_core::json;
use forecourt_egress::UpstreamRequest;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::client::check_issuer;
use crate::exchange::Exchange;

/// What a resource says of itself, as far as it is used here. RFC 9728 2.
#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// What an authorization server says of itself, as far as it is used here. RFC 8414 2.
#[derive(Debug, Clone, Deserialize)]
pub struct AuthorizationServer {
    /// What it calls itself.
    pub issuer: String,
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    authorization_response_iss_parameter_supported: Option<bool>,
    /// What the resource calls itself, and the scopes that it knows.
    #[serde(skip)]
    pub(super) resource: String,
    #[serde(skip)]
    pub(super) resource_scopes: Vec<String>,
}

impl AuthorizationServer {
    /// Whether what came back is of this server. RFC 9207 2.4.
    pub fn is_of_issuer(&self, issuer: Option<&str>) -> bool {
        let required = self.authorization_response_iss_parameter_supported == Some(true);
        issuer.map_or(!required, |issuer| issuer == self.issuer)
    }

    /// Fails with what of it does not hold.
    fn check(&self, issuer: &str) -> Result<(), String> {
        // To the letter (RFC 8414 3.3): otherwise one server could speak for another.
        if self.issuer != issuer {
            return Err(format!("the authorization server {issuer} calls itself {:?}", self.issuer));
        }
        let is_plain = issuer.starts_with("http://");
        let endpoints = [Some(&self.authorization_endpoint), Some(&self.token_endpoint)];
        let further = [self.registration_endpoint.as_ref(), self.revocation_endpoint.as_ref()];
        let mut endpoints = endpoints.into_iter().chain(further).flatten();
        if !endpoints.all(|url| url.scheme() == "https" || (is_plain && url.scheme() == "http")) {
            return Err("it has an endpoint that is not https".to_owned());
        }
        match self.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            true => Ok(()),
            // MCP 2025-11-25, authorization code protection: without it, nothing ties a code to who asked for it.
            false => Err("it does not say that it knows PKCE with S256".to_owned()),
        }
    }
}

/// The authorization server of a resource, by what both say. With `issuer` that one, which must be among those of the
/// resource. The reason of a failure is for the operator's log.
pub(super) async fn discover(
    exchange: &Exchange,
    resource: &Url,
    issuer: Option<&str>,
) -> Result<AuthorizationServer, String> {
    let own = resource_metadata(exchange, resource).await?;
    let issuer = match issuer {
        Some(wanted) if own.authorization_servers.iter().any(|known| known == wanted) => wanted,
        Some(wanted) => return Err(format!("the resource does not name {wanted} as its authorization server")),
        None => own.authorization_servers.first().ok_or("the resource names no authorization server")?.as_str(),
    };
    check_issuer(issuer).map_err(|wrong| format!("the issuer {issuer:?} {wrong}"))?;
    let parsed = Url::parse(issuer).map_err(|error| error.to_string())?;
    let mut last = String::new();
    for url in server_urls(&parsed) {
        match document(exchange, &url).await {
            Ok(said) => {
                let mut server: AuthorizationServer =
                    serde_json::from_value(said).map_err(|error| format!("{url} can't be read: {error}"))?;
                server.check(issuer)?;
                (server.resource, server.resource_scopes) = (own.resource, own.scopes_supported);
                return Ok(server);
            }
            Err(reason) => last = reason,
        }
    }
    Err(last)
}

/// RFC 9728 3.1: below the well-known path, with the resource's own path behind it, else without.
async fn resource_metadata(exchange: &Exchange, resource: &Url) -> Result<ResourceMetadata, String> {
    let mut last = String::new();
    for (url, identifier) in resource_urls(resource) {
        let said = match document(exchange, &url).await {
            Ok(said) => said,
            Err(reason) => {
                last = reason;
                continue;
            }
        };
        let own: ResourceMetadata =
            serde_json::from_value(said).map_err(|error| format!("{url} can't be read: {error}"))?;
        // RFC 9728 3.3: a token for another resource must not be fetched in the name of this one.
        return match is_same(&own.resource, &identifier) || is_same(&own.resource, resource.as_str()) {
            true => Ok(own),
            false => Err(format!("{url} speaks of another resource, {:?}", own.resource)),
        };
    }
    Err(last)
}

/// Whether two identifiers of a resource are one: a slash at the end is no difference.
fn is_same(one: &str, other: &str) -> bool {
    one.strip_suffix('/').unwrap_or(one) == other.strip_suffix('/').unwrap_or(other)
}

/// Where a resource may say what it is, each with what it then has to call itself.
fn resource_urls(resource: &Url) -> Vec<(Url, String)> {
    let path = resource.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut url = resource.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path);
        url
    };
    let well_known = "/.well-known/oauth-protected-resource";
    let mut urls = vec![(at(&format!("{well_known}{path}")), resource.as_str().to_owned())];
    if !path.is_empty() {
        urls.push((at(well_known), at("/").to_string()));
    }
    urls
}

/// Where an authorization server may say what it is. RFC 8414 3.1, OpenID Connect Discovery 4.1, in the order of MCP.
fn server_urls(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/').to_owned();
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    };
    let mut urls = vec![at(format!("/.well-known/oauth-authorization-server{path}"))];
    urls.push(at(format!("/.well-known/openid-configuration{path}")));
    if !path.is_empty() {
        urls.push(at(format!("{path}/.well-known/openid-configuration")));
    }
    urls
}

async fn document(exchange: &Exchange, url: &Url) -> Result<Value, String> {
    let answer = exchange.ask(UpstreamRequest::get(url.as_str())).await;
    let answer = answer.map_err(|error| format!("{url}: {}", error.log_reason()))?;
    match answer.is_ok() {
        true => json::parse(&answer.body).map_err(|error| format!("{url}: {error}")),
        false => Err(format!("{url} answered {}", answer.status())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(changes: Value) -> AuthorizationServer {
        let mut said = json!({
            "issuer": "https://id.example", "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token", "code_challenge_methods_supported": ["S256"],
        });
        said.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(said).unwrap()
    }

    #[test]
    fn rfc8414_3_3_a_server_speaks_for_itself_alone_and_over_https() {
        let check = |changes: Value| server(changes).check("https://id.example").is_ok();
        assert!(check(json!({})));
        assert!(!check(json!({"issuer": "https://id.example/"})));
        assert!(!check(json!({"issuer": "https://evil.example"})));
        assert!(!check(json!({"token_endpoint": "http://id.example/token"})));
        assert!(!check(json!({"revocation_endpoint": "http://id.example/revoke"})));
        assert!(!check(json!({"code_challenge_methods_supported": ["plain"]})));
        assert!(!check(json!({"code_challenge_methods_supported": []})));
    }

    #[test]
    fn rfc9207_2_4_who_says_that_it_names_itself_must() {
        let named = server(json!({"authorization_response_iss_parameter_supported": true}));
        assert!(named.is_of_issuer(Some("https://id.example")) && !named.is_of_issuer(None));
        assert!(!named.is_of_issuer(Some("https://evil.example")));
        let silent = server(json!({}));
        assert!(silent.is_of_issuer(None) && !silent.is_of_issuer(Some("https://evil.example")));
    }

    #[test]
    fn rfc9728_3_1_well_known_paths_keep_the_resources_own() {
        let of = |url: &str| resource_urls(&Url::parse(url).unwrap());
        let urls: Vec<String> = of("https://a.example/mcp/x?y=1").into_iter().map(|(url, _)| url.to_string()).collect();
        let root = "https://a.example/.well-known/oauth-protected-resource";
        assert_eq!(urls, [format!("{root}/mcp/x"), root.to_owned()]);
        assert_eq!(of("https://a.example/").len(), 1);
        let servers = server_urls(&Url::parse("https://id.example/t1").unwrap());
        let servers: Vec<&str> = servers.iter().map(Url::as_str).collect();
        assert_eq!(
            servers,
            [
                "https://id.example/.well-known/oauth-authorization-server/t1",
                "https://id.example/.well-known/openid-configuration/t1",
                "https://id.example/t1/.well-known/openid-configuration"
            ]
        );
        assert!(is_same("https://a.example/mcp/", "https://a.example/mcp"));
        assert!(!is_same("https://a.example/mcp", "https://a.example"));
    }
}
