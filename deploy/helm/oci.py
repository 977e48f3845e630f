#!/usr/bin/env python3
"""Writes a packed chart as an OCI image layout: what `helm push` puts into a registry, as a folder that any tool for
registries copies there (`skopeo copy oci:FOLDER:VERSION docker://…`, `oras cp --from-oci-layout FOLDER:VERSION …`).

    oci.py CHART.tgz FOLDER"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys
import tarfile

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.cncf.helm.config.v1+json"
CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def metadata(chart):
    """The values of Chart.yaml, which are texts on lines of their own there: no library for YAML is needed."""
    with tarfile.open(chart) as archive:
        text = archive.extractfile("forecourt/Chart.yaml").read().decode()
    values = dict(re.findall(r'^(\w+): "?([^"\n]*)"?$', text, re.MULTILINE))
    if "keywords" in values:
        values["keywords"] = [word.strip() for word in values["keywords"].strip("[]").split(",")]
    return values


def put(folder, data, media_type):
    digest = hashlib.sha256(data).hexdigest()
    blob = folder / "blobs" / "sha256" / digest
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def encoded(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def main(chart, folder):
    folder, about = pathlib.Path(folder), metadata(chart)
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    annotations = {
        "org.opencontainers.image.title": about["name"],
        "org.opencontainers.image.version": about["version"],
        "org.opencontainers.image.description": about["description"],
        "org.opencontainers.image.url": about["home"],
        "org.opencontainers.image.created": moment.isoformat().replace("+00:00", "Z"),
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": put(folder, encoded(about), CONFIG),
        "layers": [put(folder, pathlib.Path(chart).read_bytes(), CONTENT)],
        "annotations": annotations,
    }
    entry = put(folder, encoded(manifest), MANIFEST)
    entry["annotations"] = {"org.opencontainers.image.ref.name": about["version"]}
    (folder / "index.json").write_bytes(encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')


if __name__ == "__main__":
    main(*sys.argv[1:])
