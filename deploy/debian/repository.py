#!/usr/bin/env python3
"""Makes an apt repository of Debian packages: a folder that a web server gives out as it is.

    repository.py FOLDER HOME [--key KEY] PACKAGE…

HOME is the address at which the folder will be. KEY is a secret key that gpg has: it signs the repository, and its
public half lies beside it, with the file that makes apt know both. Without a key nothing is signed, and apt takes such
a repository only where it is told to trust it. Needs dpkg-deb, and nothing else of Debian's."""
import argparse
import email.utils
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess

SUITE = "stable"
COMPONENT = "main"
SUMS = (("MD5sum", "md5"), ("SHA256", "sha256"))


def control(package):
    """The paragraph of a package, and of which architecture it is."""
    text = subprocess.check_output(["dpkg-deb", "--field", package], text=True).strip()
    return text, next(line.split()[1] for line in text.splitlines() if line.startswith("Architecture:"))


def entry(folder, package):
    """What the list of packages says of one that lies in the pool now."""
    text, architecture = control(package)
    target = folder / "pool" / COMPONENT / "f" / "forecourt" / package.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(package, target)
    data = target.read_bytes()
    lines = [text, f"Filename: {target.relative_to(folder)}", f"Size: {len(data)}"]
    lines += [f"{name}: {hashlib.new(kind, data).hexdigest()}" for name, kind in SUMS]
    return architecture, "\n".join(lines) + "\n"


def write_lists(dist, entries):
    for architecture in sorted({architecture for architecture, _ in entries}):
        lists = dist / COMPONENT / f"binary-{architecture}"
        lists.mkdir(parents=True)
        text = "\n".join(text for of, text in entries if of == architecture).encode()
        (lists / "Packages").write_bytes(text)
        (lists / "Packages.gz").write_bytes(gzip.compress(text, mtime=0))


def release(dist, architectures, moment):
    """What is signed: the sums of all lists."""
    lines = [
        "Origin: Forecourt",
        "Label: Forecourt",
        f"Suite: {SUITE}",
        f"Codename: {SUITE}",
        f"Date: {email.utils.formatdate(moment, usegmt=True)}",
        f"Architectures: {' '.join(architectures)}",
        f"Components: {COMPONENT}",
        "Description: Forecourt makes a domain's agents, APIs and content askable",
    ]
    for name, kind in SUMS:
        lines.append(f"{name}:")
        for path in sorted(dist.rglob("Packages*")):
            data = path.read_bytes()
            lines.append(f" {hashlib.new(kind, data).hexdigest()} {len(data)} {path.relative_to(dist)}")
    return "\n".join(lines) + "\n"


def sign(folder, dist, key):
    gpg = ["gpg", "--batch", "--yes", "--local-user", key, "--digest-algo", "SHA512"]
    subprocess.run([*gpg, "--output", dist / "InRelease", "--clearsign", dist / "Release"], check=True)
    subprocess.run([*gpg, "--output", dist / "Release.gpg", "--armor", "--detach-sign", dist / "Release"], check=True)
    subprocess.run(["gpg", "--batch", "--yes", "--armor", "--output", folder / "forecourt.asc", "--export", key], check=True)


def write_source(folder, home, key):
    """What an administrator puts into /etc/apt/sources.list.d."""
    trust = "Signed-By: /etc/apt/keyrings/forecourt.asc" if key else "Trusted: yes"
    source = f"Types: deb\nURIs: {home}\nSuites: {SUITE}\nComponents: {COMPONENT}\n{trust}\n"
    (folder / "forecourt.sources").write_text(source)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("home")
    parser.add_argument("--key")
    parser.add_argument("packages", nargs="+", type=pathlib.Path, metavar="PACKAGE")
    words = parser.parse_args()
    # Made beside the one that is there, so that a failure leaves that as it was.
    folder = words.folder.with_name(words.folder.name + ".part")
    shutil.rmtree(folder, ignore_errors=True)
    dist = folder / "dists" / SUITE
    entries = [entry(folder, package) for package in sorted(words.packages)]
    write_lists(dist, entries)
    architectures = sorted({architecture for architecture, _ in entries})
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    (dist / "Release").write_text(release(dist, architectures, moment))
    if words.key:
        sign(folder, dist, words.key)
    write_source(folder, words.home, words.key)
    shutil.rmtree(words.folder, ignore_errors=True)
    folder.rename(words.folder)


if __name__ == "__main__":
    main()
