//! Where things are, and the words of ActivityStreams that are used here.

use forecourt_core::{Handle, Site, ids};

/// The media type of what is published, and sent.
pub(crate) const MEDIA_TYPE: &str = "application/activity+json";
/// Whom public things are addressed to. ActivityPub 5.6.
pub(crate) const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";
/// Other spellings of it, which ActivityPub 5.6 has receivers read too.
pub(crate) const PUBLIC_SHORT: [&str; 2] = ["as:Public", "Public"];
/// The context of everything.
pub(crate) const CONTEXT: &str = "https://www.w3.org/ns/activitystreams";
/// The context of keys.
pub(crate) const SECURITY_CONTEXT: &str = "https://w3id.org/security/v1";
/// Where the terms of Mentionable are.
pub(crate) const TERMS: &str = "https://mentionable.dev/ns/v1#";

/// The paths, in the syntax of the router. Actors are below `users`, since there are servers that take the name of an actor
/// from its URL, and know few words before it.
pub(crate) mod routes {
    pub(crate) const ACTOR: &str = "/activitypub/users/{handle}";
    pub(crate) const INBOX: &str = "/activitypub/users/{handle}/inbox";
    pub(crate) const OUTBOX: &str = "/activitypub/users/{handle}/outbox";
    pub(crate) const FOLLOWERS: &str = "/activitypub/users/{handle}/followers";
    pub(crate) const FOLLOWING: &str = "/activitypub/users/{handle}/following";
    pub(crate) const FEATURED: &str = "/activitypub/users/{handle}/featured";
    pub(crate) const NOTE: &str = "/activitypub/users/{handle}/notes/{token}";
    pub(crate) const CREATE: &str = "/activitypub/users/{handle}/notes/{token}/activity";
    pub(crate) const WHOLE: &str = "/activitypub/answers/{token}";
    pub(crate) const FILE: &str = "/activitypub/files/{token}";
    pub(crate) const SHARED_INBOX: &str = "/activitypub/inbox";
    pub(crate) const NODEINFO_LINKS: &str = "/.well-known/nodeinfo";
    pub(crate) const NODEINFO: &str = "/nodeinfo/2.1";
}

/// Where the actor of an agent is.
pub(crate) fn actor(site: &Site, agent: &Handle) -> String {
    site.url(&format!("/activitypub/users/{agent}"))
}

/// Something below an actor.
pub(crate) fn of_actor(site: &Site, agent: &Handle, what: &str) -> String {
    site.url(&format!("/activitypub/users/{agent}/{what}"))
}

/// The name of the key with which an agent signs.
pub(crate) fn key(site: &Site, agent: &Handle) -> String {
    format!("{}#main-key", actor(site, agent))
}

/// Where an answer is.
pub(crate) fn note(site: &Site, agent: &Handle, token: &str) -> String {
    of_actor(site, agent, &format!("notes/{token}"))
}

/// Where an answer is that was too long for a note.
pub(crate) fn whole(site: &Site, token: &str) -> String {
    site.url(&format!("/activitypub/answers/{token}"))
}

/// Where a file of an answer is, for whoever has its token.
pub(crate) fn file(site: &Site, token: &str) -> String {
    site.url(&format!("/activitypub/files/{token}"))
}

/// The inbox that all actors here share.
pub(crate) fn shared_inbox(site: &Site) -> String {
    site.url(routes::SHARED_INBOX)
}

/// The handle of the actor at this URL, if it is one here.
pub(crate) fn agent_at(site: &Site, url: &str) -> Option<Handle> {
    let handle = url.strip_prefix(&site.base)?.strip_prefix("/activitypub/users/")?;
    Handle::parse(handle).ok().filter(|parsed| parsed.as_str() == handle)
}

/// Whose answer is at this URL, and its token, if it is one of ours.
pub(crate) fn note_at<'a>(site: &Site, url: &'a str) -> Option<(Handle, &'a str)> {
    let rest = url.strip_prefix(site.base.as_str())?.strip_prefix("/activitypub/users/")?;
    let (handle, token) = rest.split_once("/notes/")?;
    Some((Handle::parse(handle).ok()?, token)).filter(|(_, token)| ids::is_token(token))
}

/// Whether this names everybody.
pub(crate) fn is_public(reader: &str) -> bool {
    reader == PUBLIC || PUBLIC_SHORT.contains(&reader)
}

#[cfg(test)]
mod tests {
    use forecourt_core::Domain;

    use super::*;

    #[test]
    fn what_is_here_is_found_by_its_url_and_nothing_else_is() {
        let domain = Domain::parse("demo.localhost").unwrap();
        let site = Site { domain, name: String::new(), base: "https://demo.localhost".to_owned() };
        let chef = Handle::parse("chef").unwrap();
        assert_eq!(agent_at(&site, &actor(&site, &chef)), Some(chef.clone()));
        let token = "a".repeat(43);
        assert_eq!(note_at(&site, &note(&site, &chef, &token)), Some((chef, token.as_str())));
        for url in [
            "https://demo.localhost.evil.example/activitypub/users/chef",
            "http://demo.localhost/activitypub/users/chef",
            "https://demo.localhost/activitypub/users/chef/inbox",
            "https://demo.localhost/~chef",
        ] {
            assert_eq!(agent_at(&site, url), None, "{url}");
        }
        assert_eq!(note_at(&site, "https://demo.localhost/activitypub/users/chef/notes/x"), None);
    }
}
