// The work of the comparison, as Restate does it with its TypeScript SDK.

import http2 from "node:http2";

// Node 20 does not have it, and the SDK needs it.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};

const restate = await import("@restatedev/restate-sdk");

// What a step computes does not matter; that its result is durable before the next one does.
const step = (ctx, number) => ctx.run(`step ${number}`, () => ({ number, at: "done" }));

const plain = restate.service({
  name: "plain",
  handlers: {
    // Nothing durable inside: what accepting and answering costs.
    noop: async (_ctx, input) => input,
    sleep: async (ctx, { millis }) => {
      await ctx.sleep(millis);
      return "awake";
    },
  },
});

const workflow = (name, steps) =>
  restate.workflow({
    name,
    handlers: {
      run: async (ctx) => {
        for (let number = 1; number <= steps; number++) await step(ctx, number);
        return "done";
      },
    },
  });

const waiting = restate.workflow({
  name: "waiting",
  handlers: {
    run: async (ctx) => await ctx.promise("go"),
    go: async (ctx, value) => {
      await ctx.promise("go").resolve(value);
    },
  },
});

const handler = restate.createEndpointHandler({
  services: [plain, workflow("one", 1), workflow("three", 3), waiting],
  logger: () => {},
});
http2.createServer(handler).listen(Number(process.env.PORT), "127.0.0.1");
