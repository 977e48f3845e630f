"""Versions beside each other in one folder, and the files above them."""

import html
import json
import re
import shutil
from pathlib import Path

import index

LATEST = "latest"
VERSION = re.compile(r"\d+\.\d+")
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'"


def of_program(said):
    """`0.2` of `forecourt 0.2.0 (…)`: corrections change no page."""
    found = re.match(r"\S+ (\d+\.\d+)\.", said)
    if not found:
        raise ValueError(f"the program does not say its version: {said!r}")
    return found[1]


def number(version):
    return tuple(map(int, version.split(".")))


def publish(out, version, files, base):
    """Puts a version in its place, the newest one at `latest/` too, and writes what stands above them."""
    out.mkdir(parents=True, exist_ok=True)
    there = {folder.name for folder in out.iterdir() if VERSION.fullmatch(folder.name) and is_ours(folder)}
    newest = max(there | {version}, key=number)
    places = [out / name for name in [version] + [LATEST] * (version == newest)]
    for folder in places:
        if folder.exists() and not is_ours(folder):
            raise ValueError(f"{folder} holds something else: move it away first")
    for folder in places:
        replace(folder, files)
    every = sorted(there | {version}, key=number, reverse=True)
    pages = {name: sorted(file.name for file in (out / name).glob("*.html")) for name in every}
    listed = [{"name": name, "pages": pages[name]} for name in every]
    write(out / "versions.json", json.dumps({"latest": newest, "versions": listed}, indent=1) + "\n")
    write(out / "index.html", redirect())
    write(out / "404.html", missing(base))
    robots = "User-agent: *\nAllow: /\n"
    (out / "sitemap.xml").unlink(missing_ok=True)
    if base:
        robots += f"\nSitemap: {base}sitemap.xml\n"
        write(out / "sitemap.xml", sitemap(base, pages[newest]))
    write(out / "robots.txt", robots)


def is_ours(folder):
    return (folder / index.FILE).is_file()


def replace(folder, files):
    """Writes a folder whole before it takes the place of the one that was there."""
    fresh, old = (folder.with_name(f".{kind}-{folder.name}") for kind in ("new", "old"))
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    fresh.mkdir()
    for name, body in files.items():
        (fresh / name).write_bytes(body)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def write(file, text):
    fresh = Path(f"{file}.new")
    fresh.write_text(text)
    fresh.rename(file)


def document(head, body):
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"{head}</head>\n<body>\n{body}</body>\n</html>\n"
    )


def redirect():
    head = f'<title>Forecourt</title>\n<link rel="icon" href="{LATEST}/forecourt.svg">\n<meta http-equiv="refresh" content="0; url={LATEST}/index.html">\n'
    return document(head, f'<p><a href="{LATEST}/index.html">The manual of Forecourt</a></p>\n')


def missing(base):
    """The page for paths that are not there. It is read at any depth, so that only `base` leads back from it."""
    at = f"{html.escape(base)}{LATEST}/"
    styles = "".join(f'<link rel="stylesheet" href="{at}{name}">\n' for name in ("manual.css", "site.css"))
    icon = f'<link rel="icon" href="{at}forecourt.svg">\n'
    head = f'<title>No such page · Forecourt</title>\n<meta name="robots" content="noindex">\n{icon}{styles}'
    body = (
        "<main>\n<h1>No such page</h1>\n<p>It may have moved, or be of another version.</p>\n"
        f'<p><a href="{at}index.html">All pages of the manual</a></p>\n</main>\n'
    )
    return document(head, body)


def sitemap(base, pages):
    urls = "".join(f"<url><loc>{html.escape(base)}{LATEST}/{page}</loc></url>\n" for page in pages)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}</urlset>\n"
    )
