#!/usr/bin/env node
// Runs the program of the package for this platform.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const platforms = Object.keys(require("./package.json").optionalDependencies);

function fail(text) {
  console.error(`staunch: ${text}`);
  process.exit(1);
}

const header = process.report.getReport().header;
const libc = header.glibcVersionRuntime ? "gnu" : "musl";
const here =
  process.platform === "linux"
    ? `@staunch/linux-${process.arch}-${libc}`
    : `@staunch/${process.platform}-${process.arch}`;
if (!platforms.includes(here)) {
  fail(`there is no ${here}; there are: ${platforms.join(", ")}`);
}
let program;
try {
  program = require.resolve(`${here}/bin/staunch`);
} catch {
  fail(`${here} is not installed; install again without --omit=optional and --no-optional`);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends SIGINT to the program as well.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`cannot run ${program}: ${error.message}`));
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
