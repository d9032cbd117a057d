// What the browser test works with: two definitions, and instances of them.
const value = (type, text, typeName = "Object") => ({ typeName, expression: { type, value: text } });
const way = (from, to, port = "Done") => ({
  source: { activity: from, port },
  target: { activity: to, port: "In" },
});

export const approval = {
  definitionId: "browser-approval",
  name: "Order approval",
  inputs: [
    { name: "Amount", type: "Decimal", isArray: false },
    { name: "Customer", type: "String", isArray: false },
  ],
  variables: [
    { id: "Amount", name: "Amount", typeName: "Decimal", isArray: false, value: "0", searchable: "number" },
  ],
  root: {
    id: "Flowchart1",
    type: "Elsa.Flowchart",
    activities: [
      {
        id: "take",
        name: "take",
        type: "Elsa.SetVariable",
        variable: { id: "Amount", name: "Amount", typeName: "Decimal" },
        value: value("JavaScript", "getInput('Amount') || 5"),
      },
      {
        id: "check",
        name: "check",
        type: "Elsa.FlowDecision",
        condition: value("JavaScript", "variables.Amount > 1000", "Boolean"),
      },
      {
        id: "ask",
        name: "ask",
        type: "Elsa.Event",
        eventName: value("Literal", "OrderApproved", "String"),
      },
      { id: "ship", type: "Elsa.RunTask", taskName: value("Literal", "Ship", "String") },
      { id: "done", type: "Elsa.WriteLine", text: value("Literal", "Shipped", "String") },
    ],
    connections: [
      way("take", "check"),
      way("check", "ask", "True"),
      way("check", "ship", "False"),
      way("ask", "ship"),
      way("ship", "done"),
    ],
  },
};

export const broken = {
  definitionId: "browser-broken",
  name: "Card payment",
  inputs: [],
  variables: [{ id: "Rate", name: "Rate", typeName: "Int32", isArray: false, value: "0" }],
  root: {
    id: "Sequence1",
    type: "Elsa.Sequence",
    activities: [
      { id: "begin", type: "Elsa.WriteLine", text: value("Literal", "Charging", "String") },
      {
        id: "charge",
        type: "Elsa.SetVariable",
        variable: { id: "Rate", name: "Rate", typeName: "Int32" },
        value: value("JavaScript", "missingThing.rate"),
      },
    ],
  },
};

/** Once a day, and not within the next hours, whatever the time is. */
export const NIGHT = `0 0 ${(new Date().getUTCHours() + 12) % 24} * * *`;

/** Starts by itself at that hour. */
export const clock = {
  definitionId: "browser-clock",
  name: "Every night",
  root: {
    id: "Flowchart1",
    type: "Elsa.Flowchart",
    activities: [
      {
        id: "clock",
        type: "Elsa.Cron",
        cronExpression: value("Literal", NIGHT, "String"),
        customProperties: { canStartWorkflow: true },
      },
      { id: "say", type: "Elsa.WriteLine", text: value("Literal", "Good morning", "String") },
    ],
    connections: [way("clock", "say")],
  },
};

export const dropped = {
  ...broken,
  definitionId: "browser-dropped",
  name: "Dropped file",
  root: { id: "w", type: "Elsa.WriteLine", text: value("Literal", "Hello", "String") },
};

/** Removes definitions, with their instances. */
export async function removeMade(call, definitionIds) {
  if (definitionIds.length === 0) return;
  const found = await call("POST", "/workflow-instances/query", { definitionIds, pageSize: 1000 });
  await call("POST", "/bulk-actions/delete/workflow-instances", { ids: found.items.map((one) => one.id) });
  await call("POST", "/bulk-actions/delete/workflow-definitions/by-definition-id", { definitionIds });
}

export function api(server, authorization) {
  return async (method, path, body) => {
    const headers = {
      "Content-Type": "application/json",
      ...(authorization ? { Authorization: authorization } : {}),
    };
    const answer = await fetch(`${server}/elsa/api${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  };
}

/** Publishes the definitions and starts what the lists show. */
export async function prepare(call) {
  for (const definition of [approval, broken, clock]) {
    await call("POST", "/workflow-definitions/import?publish=true", definition);
  }
  const start = (definitionId, input) => call("POST", "/workflow-instances/start", { definitionId, input });
  const failed = await start("browser-broken", {});
  const passed = await start("browser-broken", {});
  const waiting = await start("browser-approval", { Amount: 5000, Customer: "Muster AG" });
  for (let at = 0; at < 3; at += 1)
    await start("browser-approval", { Amount: 10 + at, Customer: "Beispiel" });
  return {
    failed: failed.workflowInstanceId,
    passed: passed.workflowInstanceId,
    waiting: waiting.workflowInstanceId,
  };
}

export async function clean(call) {
  await removeMade(
    call,
    [approval, broken, clock, dropped].map((one) => one.definitionId),
  );
}
