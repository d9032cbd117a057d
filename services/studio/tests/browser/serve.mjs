// Serves the built files as the server does, with its policy, and passes everything else on to it.
// node tests/browser/serve.mjs http://127.0.0.1:5001 5902
import { readFile } from "node:fs/promises";
import http from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = process.env.STUDIO_DIST ?? fileURLToPath(new URL("../../dist/", import.meta.url));
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html" };
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

async function file(response, name) {
  const path = normalize(join(DIST, name));
  if (!path.startsWith(DIST)) throw new Error("outside");
  const body = await readFile(path);
  response.writeHead(200, {
    "Content-Type": `${TYPES[extname(path)] ?? "application/octet-stream"}; charset=utf-8`,
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
  });
  response.end(body);
}

function pass(request, response, server) {
  const to = new URL(request.url, server);
  // The server takes changes from pages of its own origin only.
  const headers = { ...request.headers, host: to.host };
  if (headers.origin) headers.origin = to.origin;
  const passed = http.request(to, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.writeHead(502).end());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
}

export function serve(server, port) {
  const proxy = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
      if (pathname.startsWith("/studio/assets/")) await file(response, pathname.slice("/studio/".length));
      else if (pathname === "/" || pathname === "/studio" || pathname.startsWith("/studio/"))
        await file(response, "index.html");
      else pass(request, response, server);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => proxy.listen(port, "127.0.0.1", () => resolve(proxy)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , server = "http://127.0.0.1:5001", port = "5902"] = process.argv;
  await serve(server, Number(port));
  console.log(`http://127.0.0.1:${port}/`);
}
