#!/usr/bin/env python3
"""Writes the formula of Homebrew for the archives of a release.

    formula.py VERSION HOME BASE FOLDER > forecourt.rb

HOME is the page of the project, BASE the address at which the files of FOLDER are given out. Machines for which there
is no archive get no block, and Homebrew says so to whoever has one."""
import hashlib
import pathlib
import sys

SYSTEMS = (("macos", "on_macos"), ("linux", "on_linux"))
MACHINES = (("aarch64", "on_arm"), ("x86_64", "on_intel"))
HEAD = """class Forecourt < Formula
  desc "Makes agents, APIs and content of a domain askable, over five open protocols"
  homepage "{home}"
  version "{version}"
  license "Apache-2.0"
"""
TAIL = """
  def install
    bin.install "forecourt"
    generate_completions_from_executable(bin/"forecourt", "completions")
    system bin/"forecourt", "man", "--out", man1
  end

  def post_install
    (var/"lib/forecourt").mkpath
    system bin/"forecourt", "init", etc/"forecourt" unless (etc/"forecourt/forecourt.toml").exist?
  end

  service do
    run [opt_bin/"forecourt", "serve", etc/"forecourt", "--data", var/"lib/forecourt"]
    keep_alive true
    log_path var/"log/forecourt.log"
    error_log_path var/"log/forecourt.log"
  end

  test do
    system bin/"forecourt", "init", testpath/"site"
    assert_match version.to_s, shell_output("#{bin}/forecourt --version")
    system bin/"forecourt", "check", testpath/"site"
  end
end"""


def blocks(version, base, folder):
    for system, on_system in SYSTEMS:
        inside = []
        for machine, on_machine in MACHINES:
            archive = folder / f"forecourt-{version}-{machine}-{system}.tar.gz"
            if archive.exists():
                digest = hashlib.sha256(archive.read_bytes()).hexdigest()
                inside.append(f'    {on_machine} do\n      url "{base}/{archive.name}"\n      sha256 "{digest}"\n    end')
        if inside:
            yield f"\n  {on_system} do\n" + "\n".join(inside) + "\n  end"


def main(version, home, base, folder):
    of_machines = list(blocks(version, base, pathlib.Path(folder)))
    if not of_machines:
        sys.exit(f"{folder} has no archive of {version}: make one with `dev/package static`")
    print(HEAD.format(home=home, version=version), end="")
    print("\n".join(of_machines))
    print(TAIL)


if __name__ == "__main__":
    main(*sys.argv[1:])
