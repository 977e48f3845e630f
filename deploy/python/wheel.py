#!/usr/bin/env python3
"""Writes a wheel that carries the program: `pip install` and `uvx` put it into the path.

    wheel.py PROGRAM VERSION PLATFORM FOLDER README HOME

PLATFORM is a tag of wheels, such as manylinux_2_36_x86_64, or several with dots in between. HOME is the repository, to
whose files of this version links of README lead. Nothing but Python's own library is used, and the same program gives the
same bytes (SOURCE_DATE_EPOCH)."""
import base64
import hashlib
import os
import re
import sys
import time
import zipfile

program, version, platform, folder, readme, home = sys.argv[1:]
name = f"forecourt-{version}"
moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]

# An index shows README on a page of its own, where a link to a file beside it leads nowhere.
text = open(readme, encoding="utf-8").read()
for mark, way in (("!", "raw"), ("", "blob")):
    text = re.sub(rf"({mark}\[[^\]]*\])\((?![a-z]+:|#)", rf"\1({home}/{way}/v{version}/", text)

metadata = f"""Metadata-Version: 2.1
Name: forecourt
Version: {version}
Summary: Makes a domain's agents, APIs and content askable, over five open protocols
License: Apache-2.0
Project-URL: Homepage, {home}
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{text}"""
tags = "Wheel-Version: 1.0\nGenerator: forecourt\nRoot-Is-Purelib: false\n"
tags += "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
files = [
    (f"{name}.data/scripts/forecourt", open(program, "rb").read(), 0o755),
    (f"{name}.dist-info/METADATA", metadata.encode(), 0o644),
    (f"{name}.dist-info/WHEEL", tags.encode(), 0o644),
]


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data, _ in files)
record += f"{name}.dist-info/RECORD,,\n"
files.append((f"{name}.dist-info/RECORD", record.encode(), 0o644))

wheel = f"{folder}/{name}-py3-none-{platform}.whl"
method = zipfile.ZIP_STORED if os.environ.get("QUICK") else zipfile.ZIP_DEFLATED
with zipfile.ZipFile(wheel + ".part", "w", method, compresslevel=9) as archive:
    for path, data, mode in files:
        entry = zipfile.ZipInfo(path, moment)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = method
        archive.writestr(entry, data)
os.rename(wheel + ".part", wheel)
print(wheel)
