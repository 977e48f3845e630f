"""Counts the lines of each agent, without blank lines and comments: `count.py`."""

from pathlib import Path

ARMS = {
    "forecourt-agent, Python": [
        "forecourt-python/shirts.py",
        "forecourt-python/agents/shirts.toml",
        "forecourt-python/forecourt.toml",
    ],
    "forecourt-agent, TypeScript": [
        "forecourt-typescript/shirts.mjs",
        "forecourt-typescript/agents/shirts.toml",
        "forecourt-typescript/forecourt.toml",
    ],
    "a2a-sdk": ["with_a2a_sdk.py"],
    "fasta2a": ["with_fasta2a.py"],
    "FastMCP": ["with_fastmcp.py"],
}


def lines(file: Path) -> int:
    comment = "//" if file.suffix == ".mjs" else "#"
    said = (line.strip() for line in file.read_text().splitlines())
    return sum(1 for line in said if line and not line.startswith(comment))


for name, files in ARMS.items():
    counts = [lines(Path(__file__).parent / file) for file in files]
    print(f"{name:30}{sum(counts):4}  {', '.join(f'{file} {count}' for file, count in zip(files, counts))}")
