// Serves a folder like a bucket: only files, with ETags.

import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json" };

export async function serve(folder) {
  const seen = { requests: [], unchanged: 0 };
  const server = http.createServer((request, response) => {
    const name = new URL(request.url, "http://localhost").pathname;
    seen.requests.push(name);
    const file = path.join(folder, name === "/" ? "index.html" : path.normalize(name));
    if (!fs.existsSync(file)) return response.writeHead(404).end();
    const content = fs.readFileSync(file);
    const etag = `"${crypto.createHash("md5").update(content).digest("hex")}"`;
    const headers = { etag, "content-type": TYPES[path.extname(file)] ?? "text/plain" };
    if (request.headers["if-none-match"] !== etag) return response.writeHead(200, headers).end(content);
    seen.unchanged += 1;
    return response.writeHead(304, headers).end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  seen.address = `http://127.0.0.1:${server.address().port}/`;
  seen.close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return seen;
}
