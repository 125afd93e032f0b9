// How a runner talks to an action: by environment variables, and by files that they name.
"use strict";

const fs = require("node:fs");

const input = (name) => (process.env[`INPUT_${name.replace(/ /g, "_").toUpperCase()}`] || "").trim();
const state = (name) => process.env[`STATE_${name}`] || "";

function append(variable, name, value) {
  const file = process.env[variable];
  if (file) fs.appendFileSync(file, `${name}=${value}\n`);
}

const output = (name, value) => append("GITHUB_OUTPUT", name, value);
const saveState = (name, value) => append("GITHUB_STATE", name, value);
const say = (words) => console.log(`seinpaal: ${words}`);

// A line that the runner shows with the job. What stands in it is data, so it is escaped.
function fail(words) {
  const escaped = words.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
  console.log(`::error title=Seinpaal::${escaped}`);
  process.exit(1);
}

module.exports = { input, output, saveState, state, say, fail };
