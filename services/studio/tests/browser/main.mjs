// node tests/browser/main.mjs http://127.0.0.1:5001 shots
// Walks through Studio on a real server. A server that does not serve Studio itself gets the built files beside it.
import { api, clean, prepare } from "./data.mjs";
import { open } from "./page.mjs";
import { serve } from "./serve.mjs";
import { steps } from "./walk.mjs";

const [, , given = "http://127.0.0.1:5001", shots = "shots"] = process.argv;
const server = given.replace(/\/$/, "");

async function studioOf() {
  const answer = await fetch(`${server}/studio/`).catch(() => undefined);
  if (answer?.ok && (await answer.text()).includes('id="root"')) return { studio: `${server}/studio` };
  const proxy = await serve(server, 0);
  return { studio: `http://127.0.0.1:${proxy.address().port}/studio`, proxy };
}

/** `STAUNCH_USER=name:password` signs in, for a server that asks who one is. */
async function userOf() {
  const [username, password] = (process.env.STAUNCH_USER ?? "").split(":");
  if (!username || !password) return {};
  const { accessToken } = await api(server)("POST", "/identity/login", { username, password });
  return { user: { username, password }, authorization: `Bearer ${accessToken}` };
}

const { studio, proxy } = await studioOf();
const { user, authorization } = await userOf();
const call = api(server, authorization);
await clean(call).catch(() => undefined);
const made = await prepare(call);
const eyes = await open(new URL(studio).origin, shots);
let failure;
try {
  for (const step of steps) {
    process.stdout.write(`${step.name}\n`);
    await step(eyes, { studio, user, call, ...made });
  }
} catch (error) {
  failure = error;
  await eyes.page.screenshot({ path: `${shots}/failure.png` });
}
await eyes.browser.close();
proxy?.close();
proxy?.closeAllConnections();
await clean(call);
for (const one of [...new Set(eyes.wrong)]) console.error(one);
if (failure) console.error(failure);
process.exitCode = failure || eyes.wrong.length > 0 ? 1 : 0;
