#!/usr/bin/env node
// Runs the program that this package carries, as if it had been called itself: its streams, its signals, its exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { join } = require("node:path");

const program = spawn(join(__dirname, "bin", "forecourt"), process.argv.slice(2), { stdio: "inherit" });

// A terminal tells both of us; whoever stops this process alone means the program.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) program.kill(signal);
  });
}
program.on("error", (error) => {
  console.error(`error: the program of this package does not start: ${error.message}`);
  process.exit(1);
});
program.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
