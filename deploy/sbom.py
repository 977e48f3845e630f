#!/usr/bin/env python3
"""Writes what the program is made of: a CycloneDX 1.6 list of every crate that is compiled into it, with its licence.

    sbom.py VERSION > forecourt-VERSION.cdx.json

From cargo's own resolution of the lock file; crates that only tests or builds need are left out."""
import json
import subprocess
import sys

version = sys.argv[1]
command = ["cargo", "metadata", "--format-version", "1", "--locked"]
host = next(line.split()[1] for line in subprocess.check_output(["rustc", "-vV"], text=True).splitlines() if line.startswith("host:"))
metadata = json.loads(subprocess.check_output([*command, "--filter-platform", host]))
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
root = next(id for id, package in packages.items() if package["name"] == "forecourt-cli")


def needed(id):
    """What is compiled into a crate: neither what its tests nor what its build script need."""
    for dependency in nodes[id]["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


def name(id):
    package = packages[id]
    return f"pkg:cargo/{package['name']}@{package['version']}"


found, waiting = {root}, [root]
while waiting:
    for id in needed(waiting.pop()):
        if id not in found:
            found.add(id)
            waiting.append(id)

components = []
for id in sorted(found - {root}, key=name):
    package = packages[id]
    component = {"type": "library", "bom-ref": name(id), "name": package["name"], "version": package["version"], "purl": name(id)}
    if package.get("license"):
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    components.append(component)
dependencies = [{"ref": name(id), "dependsOn": sorted(name(other) for other in set(needed(id)))} for id in sorted(found, key=name)]
json.dump(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": name(root), "name": "forecourt", "version": version}},
        "components": components,
        "dependencies": dependencies,
    },
    sys.stdout,
    indent=1,
)
print()
