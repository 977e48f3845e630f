"""What is measured: by reading what was built, and by building."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import rlib
from bodies import Workspace

# What is named of what a crate grew by.
NAMED = 8
# Bytes from which on a function is remembered, and where.
REMEMBERED = 1024
SEEN = "weigh.json"


def now():
    """What holds in ./dev/test, and the crates that were read for it."""
    workspace = Workspace(read(built("test", "--workspace", "--no-run")))
    crates = workspace.crates.values()
    foreign = {crate.name: workspace.weight(crate) for crate in crates}
    values = {
        "packages": {"locked": packages()},
        "tests": {"programs": programs()},
        "code": {crate.name: crate.code() for crate in crates},
        "async": {name: bytes for name, bytes in foreign.items() if bytes},
    }
    return values, workspace


def packages():
    """Packages in Cargo.lock."""
    return len(tomllib.loads(Path("Cargo.lock").read_text())["package"])


def programs():
    """Programs that `cargo test` builds: integration tests, and the unit tests of libraries and binaries."""
    metadata = json.loads(output("cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"))
    targets = [target for package in metadata["packages"] for target in package["targets"]]
    return sum(target["test"] for target in targets)


def built(*words, environment=None):
    """Builds, which does nothing where everything is built, and gives the libraries of our crates by name."""
    command = ["cargo", *words, "--locked", "--quiet", "--message-format=json-render-diagnostics"]
    found = {}
    for line in output(*command, environment=environment).splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or message["profile"]["test"]:
            continue
        files = [file for file in message["filenames"] if file.endswith(".rlib")]
        if files and "lib" in message["target"]["kind"] and message["package_id"].startswith("path+"):
            found[message["target"]["name"]] = files[0]
    return found


def read(libraries):
    """The crates in these libraries, read side by side."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(rlib.read, libraries.keys(), libraries.values()))


def output(*command, environment=None):
    ran = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return ran.stdout.decode()


def newcomers(workspace, growth, before):
    """What a crate that grew has more of: foreign bodies that it polls, or functions. Against what was seen here when
    all was well; where that is not known, the largest there are."""
    crate = workspace.crates.get(growth.name)
    if crate is None:
        return []
    if growth.table == "async":
        polled = workspace.foreign(crate).items()
        now = {workspace.path(body): sum(below.values()) for body, below in polled}
    else:
        now = functions(workspace, crate)
    seen = before.get(growth.table, {}).get(growth.name, {})
    more = sorted(((size - seen.get(path, 0), path) for path, size in now.items()), reverse=True)
    told = "more" if seen else "bytes"
    return [f"{size:>9,} {told}: {path}" for size, path in more[:NAMED] if size > 0]


def functions(workspace, crate):
    """Bytes by path: of all instances of a generic function together."""
    sizes = Counter()
    for symbol, size in crate.sizes.items():
        sizes[workspace.path(symbol)] += size
    return sizes


def remember(workspace):
    """Writes down what there is while all is well, so that what comes later can be named. Small functions are left
    out: there are very many."""
    crates = workspace.crates.values()
    large = {crate.name: {path: size for path, size in functions(workspace, crate).items() if size >= REMEMBERED}
             for crate in crates}
    polled = {crate.name: {workspace.path(body): sum(below.values())
                           for body, below in workspace.foreign(crate).items()} for crate in crates}
    (target() / SEEN).write_text(json.dumps({"code": large, "async": polled}))


def last_seen():
    file = target() / SEEN
    return json.loads(file.read_text()) if file.exists() else {}


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", "target"))


def steps():
    """Seconds of the last ./dev/test by step, as it wrote them down."""
    file = target() / "steps.tsv"
    if not file.exists():
        sys.exit(f"{file} is missing: ./dev/test writes it")
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    return {name: int(seconds) for name, seconds in rows}


def clean_builds():
    """What the build of the README takes from nothing, and that of packages after it."""
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"the machine is busy (load {load:.1f}): CPU seconds say less then", file=sys.stderr)
    values = {"build": {}}
    with tempfile.TemporaryDirectory(prefix="weigh-", dir=target().resolve().parent) as folder:
        environment = {**os.environ, "CARGO_TARGET_DIR": folder}
        for profile in ("release", "dist"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            libraries = built("build", "--profile", profile, environment=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            values["build"][f"{profile}-cpu-seconds"] = round(spent)
            values["build"][f"{profile}-binary"] = (Path(folder) / profile / "forecourt").stat().st_size
            print(f"{profile}: {spent:.0f} s of CPU, {values['build'][f'{profile}-binary']:,} bytes")
            if profile == "release":
                # Read before it is linked anew: the other profile's objects hold no machine code.
                workspace = Workspace(read(libraries))
                values["build-code"] = {crate.name: crate.code() for crate in workspace.crates.values()}
                weights = {crate.name: workspace.weight(crate) for crate in workspace.crates.values()}
                values["build-async"] = {name: weight for name, weight in weights.items() if weight}
    return values
