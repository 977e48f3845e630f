"""All files of one version of the manual."""

from dataclasses import dataclass
from pathlib import Path

import index
from page import MANUAL, Page, file_name

# Pages that a manual can have: more is a loop.
PAGES_MAX = 500
OWN = ("search.js", "site.css")
ICON = "/assets/forecourt.svg"


@dataclass(frozen=True)
class Edition:
    """What is written: its version, the URL under which it will be read and the one at which it is edited, where there
    are any, and the sources."""

    version: str
    base: str = ""
    edit_base: str = ""
    docs: Path = Path("docs")

    def source(self, name):
        """The file of a page below the root of the repository; `None` where it is made and not written."""
        return f"docs/manual/{name}.md" if name and (self.docs / "manual" / f"{name}.md").is_file() else None


def files(get, edition, parts):
    """The content of each file by its name. `get` gives the bytes at a path of the program."""
    pages, needed = {}, {"forecourt.svg": ICON}
    waiting = [""]
    while waiting:
        name = waiting.pop(0)
        if name in pages:
            continue
        if len(pages) == PAGES_MAX:
            raise ValueError(f"the manual has more than {PAGES_MAX} pages")
        page = Page(name, get(MANUAL + name).decode(), edition)
        pages[name] = page
        needed |= page.files
        waiting += ["" if link == "index" else link for link in page.links]
    written = {file_name(name): page.text.encode() for name, page in pages.items()}
    written |= {name: get(path) for name, path in needed.items()}
    written |= {name: (parts / name).read_bytes() for name in OWN}
    written["manual.css"] = style(pages)
    written[index.FILE] = index.of({file_name(name): page.text for name, page in pages.items() if name})
    return written


def style(pages):
    """The style that all pages have in themselves, once."""
    styles = {"".join(page.style) for page in pages.values()}
    if len(styles) != 1:
        raise ValueError(f"the pages have {len(styles)} different styles")
    return styles.pop().encode()
