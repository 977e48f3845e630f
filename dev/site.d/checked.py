"""Whether a folder of pages is whole."""

from html.parser import HTMLParser

import index


class Links(HTMLParser):
    """Where a page leads, and the anchors that it has."""

    def __init__(self, source):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src") and value is not None:
                self.targets.append(value)
            elif key == "id":
                self.anchors.add(value)


def problems(files):
    """What is wrong, in words: links to files and anchors that are not there, pages that can't be searched."""
    pages = {name: Links(body.decode()) for name, body in files.items() if name.endswith(".html")}
    found = []
    for name, page in pages.items():
        for target in page.targets:
            if target.startswith(("https://", "http://", "mailto:")):
                continue
            file, _, anchor = target.partition("#")
            file = file or name
            if file not in files:
                found.append(f"{name} links to {target}: no such file")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                found.append(f"{name} links to {target}: no such heading")
    known = index.read(files[index.FILE])
    searched = {page[0] for page in known["pages"]}
    found += [f"{name} is not in the index" for name in sorted(set(pages) - searched - {"index.html"})]
    for page, anchor, *_ in known["sections"]:
        file = known["pages"][page][0]
        if anchor and anchor not in pages[file].anchors:
            found.append(f"the index leads to {file}#{anchor}: no such heading")
    return found
