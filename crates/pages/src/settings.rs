//! The `[pages]` section of `forecourt.toml`: how pages look, and who may embed the search box.

use std::path::{Path, PathBuf};

use forecourt_settings::{Problem, Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::branding::{Branding, Links, Logo};
use crate::colour::{Colours, Palette};
use crate::embed::EmbedOrigins;
use crate::limits::{DESCRIPTION_CHARS_MAX, EMBED_ORIGINS_MAX, LOGO_BYTES_MAX};
use crate::{Pages, clean};

/// The pages of this host, and its search box on other sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PagesSettings {
    /// What this site is, in a sentence or two: on the front page, and where a link to it is shared.
    pub description: Option<String>,
    /// The sites that may embed the search box, as origins: `https://shop.example`, with a port where there is
    /// one. Plain `http://` is taken for this machine alone. At most 100.
    pub embed: Vec<String>,
    /// A picture file, beside this file: SVG, PNG, JPEG, WebP or GIF, at most 256 KiB. In place of the site's name at the
    /// top of its pages.
    pub logo: Option<PathBuf>,
    /// Colours for who reads in light, such as `accent = "#a8321e"`.
    pub colours: Palette,
    /// The same for who reads in the dark. Without them, those of `colours` that can be read there.
    pub colours_dark: Palette,
    /// Where it says who is responsible for the site: a URL, or a path of this host.
    pub imprint: Option<String>,
    /// Where it says what becomes of personal data: a URL, or a path of this host.
    pub privacy: Option<String>,
    /// Whether pages say at their end what they are made with. Default: true.
    pub powered_by: bool,
    /// Whether search engines may list the front page, the agents' pages and the manual, which are then in
    /// `/sitemap.xml`. Answers are never listed. Default: false.
    pub search_engines: bool,
    /// Whether the manual of this program is at `/manual/`, for who works on the site. Default: true.
    pub manual: bool,
}

impl Default for PagesSettings {
    fn default() -> Self {
        Self {
            description: None,
            embed: Vec::new(),
            logo: None,
            colours: Palette::default(),
            colours_dark: Palette::default(),
            imprint: None,
            privacy: None,
            powered_by: true,
            search_engines: false,
            manual: true,
        }
    }
}

impl Pages {
    /// Reads the section, and the logo that it names.
    ///
    /// # Errors
    /// Everything that is wrong in it, each with its line.
    pub fn read(section: &Section) -> Result<Self, Problems> {
        let settings: PagesSettings = section.read()?;
        let mut problems = Problems::new();
        let embed = problems.absorb(embed(section, &settings.embed));
        let logo = match &settings.logo {
            None => Some(None),
            Some(path) => problems.absorb(logo(section, path)).map(Some),
        };
        let colours = problems.absorb(colours(section, &settings));
        for (key, url) in [("imprint", &settings.imprint), ("privacy", &settings.privacy)] {
            if url.as_deref().is_some_and(|url| clean::href(url).is_none()) {
                let text = format!("`{key}` must be a web address, or a path that begins with `/`");
                problems.push(section.problem(Some(key), text));
            }
        }
        if settings.description.as_ref().is_some_and(|text| text.chars().count() > DESCRIPTION_CHARS_MAX) {
            let text = format!("`description` can have at most {DESCRIPTION_CHARS_MAX} characters");
            problems.push(section.problem(Some("description"), text));
        }
        let whole = (|| {
            let links = Links { imprint: settings.imprint.clone(), privacy: settings.privacy.clone() };
            let branding = Branding::new(settings.description.clone(), colours?, logo?, links, settings.powered_by);
            let branding = branding.indexed(settings.search_engines);
            Some(Self { branding, embed: embed?, has_manual: settings.manual })
        })();
        match whole {
            Some(pages) if problems.is_empty() => Ok(pages),
            _ => Err(problems),
        }
    }
}

fn embed(section: &Section, listed: &[String]) -> Result<EmbedOrigins, Problems> {
    let mut problems = Problems::new();
    if listed.len() > EMBED_ORIGINS_MAX {
        problems.push(section.problem(Some("embed"), format!("at most {EMBED_ORIGINS_MAX} sites can be listed")));
    }
    let origins: Vec<String> =
        listed.iter().filter_map(|text| problems.absorb(origin(section, text).map_err(Problems::from))).collect();
    problems.into_result(EmbedOrigins::new(origins))
}

fn origin(section: &Section, text: &str) -> Result<String, Problem> {
    crate::embed::origin(text).ok_or_else(|| {
        let shown = clean::line(text);
        let problem = section.problem(Some("embed"), format!("`{shown}` is not the origin of a site"));
        problem.hint("write `https://shop.example`: scheme, host and, where it is not the usual one, port")
    })
}

fn colours(section: &Section, settings: &PagesSettings) -> Result<Colours, Problems> {
    let mut problems = Problems::new();
    for (table, palette) in [("colours", &settings.colours), ("colours_dark", &settings.colours_dark)] {
        for (key, wrong) in palette.wrong() {
            let text = format!("`{table}.{key}`: `{}` is not a colour", clean::line(wrong));
            problems.push(section.problem(Some(table), text).hint("write it as `#1f6b58`"));
        }
    }
    problems.into_result(Colours::new(&settings.colours, &settings.colours_dark))
}

/// The media types of logos, by the end of the file's name.
const LOGO_TYPES: [(&str, &str); 6] = [
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
];

fn logo(section: &Section, path: &Path) -> Result<Logo, Problem> {
    let file = section.resolve_path(path);
    let wrong = |text: String| section.problem(Some("logo"), text);
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let known = LOGO_TYPES.iter().find(|(known, _)| *known == ending);
    let Some((_, mime)) = known else {
        let problem = wrong(format!("`{}` is no picture that browsers show", path.display()));
        return Err(problem.hint("use a file that ends in .svg, .png, .jpg, .webp or .gif"));
    };
    // Asked before it is read: a wrong path may lead to a file of gigabytes.
    let size = std::fs::metadata(&file).map_err(|error| wrong(format!("`{}`: {error}", path.display())))?.len();
    if size == 0 || size > LOGO_BYTES_MAX {
        return Err(wrong(format!("`{}` has {size} bytes; a logo has 1 to {LOGO_BYTES_MAX}", path.display())));
    }
    let bytes = std::fs::read(&file).map_err(|error| wrong(format!("`{}`: {error}", path.display())))?;
    Ok(Logo { bytes: bytes.into(), mime, ending: known.map_or("", |(ending, _)| ending) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path, text: &str) -> Result<Pages, String> {
        let none = |_: &str| None;
        let mut root = Section::parse(&folder.join("forecourt.toml"), text, &none).map_err(|p| p.to_string())?;
        Pages::read(&root.take_or_empty("pages")).map_err(|problems| problems.to_string())
    }

    #[test]
    fn everything_that_is_wrong_is_said_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[pages]\nembed = [\"shop.example\", \"https://a.example/path\", \"http://shop.example\", \"*\"]\n\
            imprint = \"javascript:alert(1)\"\nlogo = \"missing.png\"\n[pages.colours]\naccent = \"red\"\n";
        let said = read(folder.path(), text).err().unwrap();
        for wanted in
            ["`shop.example` is not the origin", "a.example/path", "`http://shop.example`", "`*`", ":3", ":4", "`red`"]
        {
            assert!(said.contains(wanted), "{wanted} in {said}");
        }
        let said = read(folder.path(), "[pages]\npowerd_by = false\n").err().unwrap();
        assert!(said.contains("powered_by") && said.contains(":2"), "{said}");
    }

    #[test]
    fn a_logo_and_a_list_of_sites_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let logo = |bytes: u64| std::fs::write(folder.path().join("l.png"), vec![0; usize::try_from(bytes).unwrap()]);
        logo(LOGO_BYTES_MAX).unwrap();
        assert!(read(folder.path(), "[pages]\nlogo = \"l.png\"").is_ok());
        logo(LOGO_BYTES_MAX + 1).unwrap();
        assert!(read(folder.path(), "[pages]\nlogo = \"l.png\"").is_err());
        let sites = |count: usize| {
            let listed: Vec<String> = (0..count).map(|n| format!("\"https://s{n}.example\"")).collect();
            read(folder.path(), &format!("[pages]\nembed = [{}]", listed.join(",")))
        };
        assert!(sites(EMBED_ORIGINS_MAX).is_ok());
        assert!(sites(EMBED_ORIGINS_MAX + 1).is_err());
        let described =
            |chars: usize| read(folder.path(), &format!("[pages]\ndescription = \"{}\"", "é".repeat(chars)));
        assert!(described(DESCRIPTION_CHARS_MAX).is_ok());
        assert!(described(DESCRIPTION_CHARS_MAX + 1).is_err());
    }
}
