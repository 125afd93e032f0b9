// A registry of the packages in a folder, for `npm install` to be tried as its users do: node registry.js FOLDER
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const crypto = require("node:crypto");
const { execFileSync } = require("node:child_process");

const folder = process.argv[2];
const files = fs.readdirSync(folder).filter((file) => file.endsWith(".tgz"));
const packages = new Map(
  files.map((file) => {
    const whole = path.join(folder, file);
    const json = execFileSync("tar", ["-xzOf", whole, "package/package.json"], { encoding: "utf8" });
    const integrity = `sha512-${crypto.createHash("sha512").update(fs.readFileSync(whole)).digest("base64")}`;
    const manifest = JSON.parse(json);
    return [manifest.name, { file, integrity, manifest }];
  }),
);

const server = http.createServer((request, response) => {
  const wanted = decodeURIComponent(request.url.slice(1).split("?")[0]);
  if (files.includes(wanted)) return fs.createReadStream(path.join(folder, wanted)).pipe(response);
  const found = packages.get(wanted);
  if (!found) return response.writeHead(404).end("{}");
  const { file, integrity, manifest } = found;
  const dist = { tarball: `http://${request.headers.host}/${file}`, integrity };
  const versions = { [manifest.version]: { ...manifest, dist } };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name: wanted, "dist-tags": { latest: manifest.version }, versions }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
