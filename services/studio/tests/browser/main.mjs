// node tests/browser/main.mjs http://127.0.0.1:5001 shots
// Walks through Studio on a real server, with a login where the server asks for it.
import { clean, prepare } from "./data.mjs";
import { steps } from "./walk.mjs";
import { walk } from "./world.mjs";

await walk(steps, {
  isSignedIn: false,
  begin: async ({ call }) => {
    await clean(call).catch(() => undefined);
    return prepare(call);
  },
  end: ({ call }) => clean(call),
});
