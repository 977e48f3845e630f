//! Where the files of a source can be found by others, and where links between them lead.
//!
//! A source says it with a URL. Files lie under it by their names, unless it has a place in it: `{file}` is
//! the path of a file, `{page}` the path without its ending, and without a last `index` or `README`.

use std::path::Path;

use url::Url;

/// The places that the URL of a source may have.
pub const PLACES: [&str; 2] = ["{file}", "{page}"];
/// Names of files that are the page of their folder.
const FOLDER_PAGES: [&str; 2] = ["index", "readme"];

/// Where a file of a source can be found.
pub(super) fn url_of(base: &str, file: &str) -> String {
    let file = encoded(file);
    if !has_place(base) {
        return format!("{}/{file}", base.trim_end_matches('/'));
    }
    placed(base, &file)
}

/// The URL of a source with a path in its places. The page of the first folder leaves no empty part behind.
fn placed(base: &str, path: &str) -> String {
    let page = page(path);
    let base = if page.is_empty() { base.replace("/{page}/", "/") } else { base.to_owned() };
    base.replace(PLACES[0], path).replace(PLACES[1], page)
}

/// A link in a file, made whole. `None` when it is whole already or leads nowhere.
pub(super) fn resolved(base: &str, file: &str, link: &str) -> Option<String> {
    let link = link.trim();
    // `//host/path` leads to another host, and a whole URL needs nothing.
    if link.is_empty() || link.starts_with("//") || Url::parse(link).is_ok() {
        return None;
    }
    let own = url_of(base, file);
    if link.starts_with('#') {
        return Some(format!("{own}{link}"));
    }
    if !has_place(base) {
        return Url::parse(&own).ok()?.join(link).ok().map(String::from);
    }
    // Links are written between files and have to lead between pages: resolved among files, then put into the pattern.
    let root = Url::parse(base.split('{').next()?).ok()?;
    let target = root.join(&encoded(file)).ok()?.join(link).ok()?;
    let fragment = target.fragment().map(|fragment| format!("#{fragment}")).unwrap_or_default();
    // `../../` may lead out of the source: such a link is no page of it.
    match target.path().strip_prefix(root.path()).filter(|path| target.origin() == root.origin() && is_page(path)) {
        Some(path) => Some(format!("{}{fragment}", placed(base, path))),
        None => Some(target.into()),
    }
}

fn has_place(base: &str) -> bool {
    PLACES.iter().any(|place| base.contains(place))
}

/// A path as URLs have it.
fn encoded(file: &str) -> String {
    let Ok(mut url) = Url::parse("https://host.invalid/") else { return file.to_owned() };
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.clear().extend(file.split('/').filter(|part| !part.is_empty()));
    }
    url.path().trim_start_matches('/').to_owned()
}

/// A path without its ending; that of a folder for the page of it.
fn page(file: &str) -> &str {
    let (folder, name) = match file.rfind('/') {
        Some(at) => file.split_at(at + 1),
        None => ("", file),
    };
    let stem = name.rfind('.').map_or(name, |dot| &name[..dot]);
    match FOLDER_PAGES.contains(&stem.to_ascii_lowercase().as_str()) {
        true => folder.trim_end_matches('/'),
        false => &file[..folder.len() + stem.len()],
    }
}

fn is_page(path: &str) -> bool {
    super::Format::of(Path::new(path)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_under_their_source() {
        assert_eq!(url_of("https://e.org/docs/", "a b/c.md"), "https://e.org/docs/a%20b/c.md");
        assert_eq!(url_of("https://e.org/{page}/", "guide/install.md"), "https://e.org/guide/install/");
        assert_eq!(url_of("https://e.org/{page}.html", "a.b.rst"), "https://e.org/a.b.html");
        assert_eq!(url_of("https://e.org/{page}", "guide/README.md"), "https://e.org/guide");
        assert_eq!(url_of("https://e.org/view?f={file}", "a/b.md"), "https://e.org/view?f=a/b.md");
    }

    #[test]
    fn links_lead_where_their_files_are() {
        let plain = |link: &str| resolved("https://e.org/docs/", "guide/a.md", link);
        assert_eq!(plain("b.md#x").as_deref(), Some("https://e.org/docs/guide/b.md#x"));
        assert_eq!(plain("../../img.png").as_deref(), Some("https://e.org/img.png"));
        assert_eq!(plain("#x").as_deref(), Some("https://e.org/docs/guide/a.md#x"));
        assert_eq!(plain("/top").as_deref(), Some("https://e.org/top"));
        for whole in ["https://other.org/", "mailto:a@e.org", "//e.org/x", ""] {
            assert_eq!(plain(whole), None, "{whole}");
        }
        let paged = |link: &str| resolved("https://e.org/docs/{page}/", "guide/a.md", link);
        assert_eq!(paged("b.md#x").as_deref(), Some("https://e.org/docs/guide/b/#x"));
        assert_eq!(paged("../index.md").as_deref(), Some("https://e.org/docs/"));
        assert_eq!(paged("pic.png").as_deref(), Some("https://e.org/docs/guide/pic.png"));
        assert_eq!(paged("#x").as_deref(), Some("https://e.org/docs/guide/a/#x"));
    }
}
