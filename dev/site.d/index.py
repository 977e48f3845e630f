"""What is searched without a server: the sections of all pages, with their words."""

import json
import re
from html.parser import HTMLParser

FILE = "search-index.js"
# Of the words of one section; what stands behind them isn't found. The longest are tables of settings.
SECTION_CHARS_MAX = 8000
# Of the whole index, which a browser loads once somebody searches.
BYTES_MAX = 1536 * 1024
HEADINGS = {"h1", "h2", "h3"}


class Sections(HTMLParser):
    """The sections of one page: anchor, heading and words of each."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.sections, self.group, self.label = [], "", ""
        self.in_article = self.in_heading = self.in_label = self.is_current = False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "article":
            self.in_article = True
        elif self.in_article and tag in HEADINGS:
            self.in_heading = True
            self.sections.append([attributes.get("id") or "", "", ""])
        elif tag == "p" and attributes.get("class") == "label":
            self.in_label, self.label = True, ""
        elif tag == "a" and "aria-current" in attributes:
            # It is listed below the subject that it belongs to.
            self.group = self.label.strip()

    def handle_endtag(self, tag):
        if tag == "article":
            self.in_article = False
        elif tag in HEADINGS:
            self.in_heading = False
        elif tag == "p":
            self.in_label = False
        if self.in_article:
            self.handle_data(" ")

    def handle_data(self, data):
        if self.in_label:
            self.label += data
        elif self.in_article and self.sections:
            self.sections[-1][1 if self.in_heading else 2] += data


def words(text, chars_max):
    """The text in one line, clipped between two words."""
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= chars_max else text[: chars_max + 1].rpartition(" ")[0] or text[:chars_max]


def of(pages):
    """The index as a script that hands it over, since a page that is read without a server can load nothing else."""
    listed, sections = [], []
    for file, text in pages.items():
        found = Sections(text)
        title = words(found.sections[0][1], 200) if found.sections else file
        for anchor, heading, content in found.sections:
            said = words(content, SECTION_CHARS_MAX)
            sections.append([len(listed), anchor, words(heading, 200), said])
        listed.append([file, title, words(found.group, 200)])
    index = json.dumps({"pages": listed, "sections": sections}, ensure_ascii=False, separators=(",", ":"))
    script = f"manualIndex({index});\n".encode()
    if len(script) > BYTES_MAX:
        raise ValueError(f"the index has {len(script)} bytes, more than {BYTES_MAX}")
    return script


def read(script):
    """The index within the script."""
    return json.loads(script.decode().removeprefix("manualIndex(").removesuffix(");\n"))
