#!/usr/bin/env node
// Runs the program as if it had been called itself: its streams, its signals, its exit code. It is in the package for
// this kind of machine, which npm installs beside this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const machine = `${process.platform}-${process.arch}`;

function find() {
  try {
    return require.resolve(`forecourt-${machine}/bin/forecourt`);
  } catch {
    console.error(
      `error: the package forecourt-${machine} is not installed\n` +
        "  hint: install forecourt again without --omit=optional; machines without a package build it from source",
    );
    process.exit(1);
  }
}

const program = spawn(find(), process.argv.slice(2), { stdio: "inherit" });

// A terminal tells both of us; whoever stops this process alone means the program.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) program.kill(signal);
  });
}
program.on("error", (error) => {
  console.error(`error: the program of forecourt-${machine} does not start: ${error.message}`);
  process.exit(1);
});
program.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
