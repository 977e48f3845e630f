"""A page as the program serves it, rewritten to stand in a folder: links are relative, and what only the program can
answer is left out."""

import html
import re
from html.parser import HTMLParser

MANUAL = "/manual/"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# What asks the program, leads to its other pages, or speaks of the place that it was served at.
LEFT_OUT = {("form", None), ("nav", "bar"), ("footer", "foot")}
# Pages load what lies beside them, and nothing else.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
HEAD = (
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    '<link rel="icon" href="forecourt.svg">\n<link rel="stylesheet" href="manual.css">\n'
    '<link rel="stylesheet" href="site.css">\n<script src="search.js" defer></script>\n'
)
BAR = """
<header class="bar">
<a class="site" href="index.html">Forecourt</a>
<form class="find" role="search" hidden>
<label for="find" class="unseen">Search the manual</label>
<input id="find" type="search" placeholder="Search the manual" autocomplete="off" maxlength="200" aria-controls="found">
<ul id="found" hidden></ul>
<p id="told" class="unseen" role="status"></p>
</form>
<p class="version"><label for="version">Version</label> <output id="version">{version}</output></p>
</header>
"""


class Page(HTMLParser):
    """One page. `text` is the page rewritten, `style` the style that it had in itself, `files` the paths at the program of
    what it needs by the names that they have in the folder."""

    def __init__(self, name, source, edition):
        super().__init__(convert_charrefs=False)
        self.name, self.edition = name, edition
        self.written, self.style, self.files, self.links = [], [], {}, []
        self.skipped, self.in_style = [], False
        self.feed(source)
        self.close()
        self.text = "".join(self.written)
        if not self.text.rstrip().endswith("</html>"):
            raise ValueError(f"{MANUAL}{name} is no whole page")

    # ---- what is read ----

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if self.skipped:
            self.skipped += [tag] * (tag not in VOID)
            return
        if (tag, None) in LEFT_OUT or (tag, attributes.get("class")) in LEFT_OUT:
            self.skipped = [tag]
            return
        if tag == "style":
            self.in_style = True
        elif not self.is_of_the_host(tag, attributes):
            if (tag, attributes.get("class")) == ("nav", "sides"):
                self.edit_link()
            self.written.append(self.rewritten(tag, attributes))
            if tag == "body":
                self.written.append(BAR.format(version=html.escape(self.edition.version)))

    def handle_endtag(self, tag):
        if self.skipped:
            if tag in self.skipped:
                del self.skipped[len(self.skipped) - 1 - self.skipped[::-1].index(tag):]
        elif tag == "style":
            self.in_style = False
        else:
            if tag == "head":
                self.written.append(HEAD + self.canonical())
            self.written.append(f"</{tag}>")

    def handle_data(self, data):
        if self.in_style:
            self.style.append(data)
        elif not self.skipped:
            self.written.append(data)

    def handle_entityref(self, name):
        self.handle_data(f"&{name};")

    def handle_charref(self, name):
        self.handle_data(f"&#{name};")

    def handle_decl(self, decl):
        self.written.append(f"<!{decl}>")

    # ---- what is written ----

    @staticmethod
    def is_of_the_host(tag, attributes):
        """Whether it speaks of where the page was served: for search engines and for who shares a link."""
        name = attributes.get("name") or attributes.get("property")
        is_alternate = tag == "link" and attributes.get("rel") == "alternate"
        return is_alternate or (tag == "meta" and name in ("robots", "og:url"))

    def rewritten(self, tag, attributes):
        for key in ("href", "src"):
            if attributes.get(key) is not None:
                attributes[key] = self.target(attributes[key], key == "src")
        said = "".join(
            f" {key}" if value is None else f' {key}="{html.escape(value)}"' for key, value in attributes.items()
        )
        return f"<{tag}{said}>"

    def target(self, url, is_file):
        """A link as it is from a page of the folder."""
        if url.startswith("#") or re.match(r"(https?:|mailto:)", url):
            if is_file:
                raise ValueError(f"{MANUAL}{self.name} loads {url} from elsewhere")
            return url
        path, mark, anchor = url.partition("#")
        path = path.partition("?")[0]
        if path.startswith("/assets/") or path.endswith(".svg"):
            name = path.rsplit("/", 1)[-1]
            self.files[name] = path if path.startswith("/") else MANUAL + path
            return name
        if not re.fullmatch(r"/manual/[a-z0-9-]*", path):
            raise ValueError(f"{MANUAL}{self.name} links to {url}, which only the program answers")
        name = path.removeprefix(MANUAL) or "index"
        self.links.append(name)
        return f"{name}.html{mark}{anchor}"

    def canonical(self):
        base = self.edition.base
        return f'<link rel="canonical" href="{html.escape(base)}latest/{file_name(self.name)}">\n' if base else ""

    def edit_link(self):
        file = self.edition.source(self.name)
        if self.edition.edit_base and file:
            url = html.escape(self.edition.edit_base + file)
            self.written.append(f'<p class="meta edit"><a href="{url}">Edit this page</a></p>\n')


def file_name(name):
    """The file of a page; the one without a name is the list of all."""
    return f"{name or 'index'}.html"
