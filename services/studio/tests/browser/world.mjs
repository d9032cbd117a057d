// What every walk begins and ends with: a server, Studio, somebody who is signed in, a browser.
import { parseArgs } from "node:util";
import { api, removeMade } from "./data.mjs";
import { open } from "./page.mjs";
import { serve } from "./serve.mjs";

/** `STAUNCH_USER=name:password` signs in, for a server that asks who one is. */
export function userOf() {
  const [username, ...rest] = (process.env.STAUNCH_USER ?? "").split(":");
  return username && rest.length > 0 ? { username, password: rest.join(":") } : undefined;
}

/** `STUDIO_DIST` is a folder of built files to test; a server without Studio gets those of this folder. */
export async function studioOf(server) {
  if (process.env.STUDIO) return { studio: process.env.STUDIO.replace(/\/$/, "") };
  const answer = process.env.STUDIO_DIST
    ? undefined
    : await fetch(`${server}/studio/`).catch(() => undefined);
  if (answer?.ok && (await answer.text()).includes('id="root"')) return { studio: `${server}/studio` };
  const proxy = await serve(server, 0);
  return { studio: `http://127.0.0.1:${proxy.address().port}/studio`, proxy };
}

export async function signedIn(server, user) {
  if (!user) return api(server);
  const { accessToken } = await api(server)("POST", "/identity/login", user);
  return api(server, `Bearer ${accessToken}`);
}

/** Fills in the form of the login, where a page asks for it. */
export async function enter(page, user) {
  if (!user) return;
  await page.getByLabel("User name").fill(user.username);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("navigation", { name: "Pages" }).first().waitFor();
}

/** The steps of a walk, one after the other; `STEPS=one,other` are some of them. What went wrong is said at the end, and is the exit code. */
export async function walk(steps, { begin, end, isSignedIn = true } = {}) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [given = "http://127.0.0.1:5001", shots = "shots", ...others] = positionals;
  const server = given.replace(/\/$/, "");
  const { studio, proxy } = await studioOf(server);
  const user = userOf();
  const call = await signedIn(server, user);
  const world = { studio, server, others, shots, user, call, made: [] };
  Object.assign(world, await begin?.(world));
  const eyes = await open(new URL(studio).origin, shots);
  let failure;
  try {
    if (user && isSignedIn) {
      eyes.expect(/status of 401/);
      await eyes.page.goto(`${studio}/`);
      await enter(eyes.page, user);
    }
    const wanted = process.env.STEPS?.split(",");
    for (const step of steps.filter(({ name }) => !wanted || wanted.includes(name))) {
      process.stdout.write(`${step.name}\n`);
      await step(eyes, world);
    }
  } catch (error) {
    failure = error;
    await eyes.page.screenshot({ path: `${shots}/failure.png` });
  }
  await eyes.browser.close();
  proxy?.close();
  proxy?.closeAllConnections();
  await removeMade(call, world.made);
  await end?.(world);
  for (const one of [...new Set(eyes.wrong)]) console.error(one);
  if (failure) console.error(failure);
  process.exitCode = failure || eyes.wrong.length > 0 ? 1 : 0;
}
