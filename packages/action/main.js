// Gets in, and leaves behind a `seinpaal run` that holds the permit until the job ends.
"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { spawn, spawnSync } = require("node:child_process");
const { input, output, saveState, fail, say } = require("./runner.js");

// Longer than any job may take. The post step ends it.
const SECONDS = "3000000";

function program() {
  const named = input("program");
  if (named) return named;
  const found = (process.env.PATH || "")
    .split(path.delimiter)
    .map((folder) => path.join(folder, "seinpaal"))
    .find((file) => fs.existsSync(file));
  return found || installed();
}

function installed() {
  const folder = path.join(process.env.RUNNER_TEMP || os.tmpdir(), "seinpaal");
  const wanted = `seinpaal@${input("version") || "latest"}`;
  say(`installing ${wanted}`);
  const npm = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder, wanted];
  fs.mkdirSync(folder, { recursive: true });
  const done = spawnSync("npm", npm, { stdio: ["ignore", "inherit", "inherit"] });
  if (done.status !== 0) fail(`cannot install ${wanted}; put the program into PATH, or name it with "program"`);
  return path.join(folder, "node_modules", ".bin", "seinpaal");
}

// What `seinpaal run` is called with. The store goes by the environment, where `ps` does not show it.
function words() {
  const flag = (name, option = `--${name}`) => (input(name) ? [option, input(name)] : []);
  const mark = (name) => (input(name) === "true" ? [`--${name}`] : []);
  return [
    ["run", "--events", "3"],
    flag("limit"),
    mark("shared").concat(mark("exclusive")),
    mark("shared").length || mark("exclusive").length ? [] : flag("permits"),
    flag("wait"),
    flag("priority"),
    flag("ttl"),
    label("repository", "GITHUB_REPOSITORY"),
    label("run", "GITHUB_RUN_ID"),
    label("job", "GITHUB_JOB"),
    ["--", input("name"), "sleep", SECONDS],
  ].flat();
}

function label(key, variable) {
  const value = process.env[variable];
  return value ? ["--label", `${key}=${value}`] : [];
}

// The events so far. A line that is not whole yet does not count.
function events(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function main() {
  if (!input("name")) fail('give a name: with: { name: "what the job uses" }');
  const folder = fs.mkdtempSync(path.join(process.env.RUNNER_TEMP || os.tmpdir(), "seinpaal-"));
  const [told, said] = ["events", "words"].map((name) => path.join(folder, name));
  const open = (file) => fs.openSync(file, "a", 0o600);
  const env = { ...process.env };
  if (input("store")) env.SEINPAAL_STORE = input("store");
  // A group of its own, so that what ends this step does not end it; files, so that nobody has to read along.
  const holder = spawn(program(), words(), {
    detached: true,
    env,
    stdio: ["ignore", open(said), open(said), open(told)],
  });
  saveState("pid", holder.pid || "");
  saveState("folder", folder);
  holder.on("error", (error) => fail(`cannot start seinpaal: ${error.message}`));
  holder.on("exit", (status, signal) => fail(why(said, status ?? signal)));
  // The job was cancelled while it waits: it leaves the line.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => holder.kill("SIGTERM"));
  const line = setInterval(() => look(told, holder, line), 50);
}

let lastPosition;

function look(told, holder, line) {
  const all = events(told);
  const acquired = all.find((event) => event.event === "acquired");
  const place = all.filter((event) => event.event === "position").pop();
  if (!acquired && place && place.position !== lastPosition) {
    lastPosition = place.position;
    say(`waiting for ${input("name")}, ${lastPosition - 1} ahead`);
  }
  if (!acquired) return;
  clearInterval(line);
  for (const key of ["ticket", "fence", "waited_ms"]) output(key, acquired[key]);
  output("slot", acquired.slots[0]);
  say(`got slot ${acquired.slots[0]} of ${acquired.limit} of ${acquired.name} after ${acquired.waited_ms} ms`);
  holder.removeAllListeners("exit");
  holder.unref();
  process.exit(0);
}

function why(said, status) {
  const words = fs.readFileSync(said, "utf8").trim();
  return words || `no permit was had (${status})`;
}

main();
