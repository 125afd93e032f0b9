// Gives the permit back when the job ends, and fails the job if the permit was lost before.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { state, fail, say } = require("./runner.js");

// `run` itself waits at most this long for the store, and for its command.
const END_TIMEOUT_MS = 10_000;

// Whether the process is still the holder that the main step started, and not another with its number.
function lives(pid) {
  try {
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.includes("--events") && words.includes("run");
  } catch {
    return false;
  }
}

async function ended(pid, withinMs) {
  const until = Date.now() + withinMs;
  while (lives(pid) && Date.now() < until) await new Promise((after) => setTimeout(after, 50));
  return !lives(pid);
}

async function main() {
  const [pid, folder] = [Number(state("pid")), state("folder")];
  if (!pid || !folder) return;
  const events = () => fs.readFileSync(path.join(folder, "events"), "utf8");
  const had = events().includes('"acquired"');
  const lost = had && !lives(pid);
  if (lives(pid)) process.kill(pid, "SIGTERM");
  if (!(await ended(pid, END_TIMEOUT_MS))) {
    process.kill(pid, "SIGKILL");
    say("the permit is given back when its lease ends: seinpaal did not end in time");
  } else if (had && !lost) {
    say("gave the permit back");
  }
  const words = fs.readFileSync(path.join(folder, "words"), "utf8").trim();
  fs.rmSync(folder, { recursive: true, force: true });
  if (lost) fail(`the permit was lost before the job ended: ${words || "see the store"}`);
}

main();
