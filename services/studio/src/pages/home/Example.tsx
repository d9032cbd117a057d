import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { post } from "../../api/client";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { complain } from "../../ui/notices";
import { Card } from "../../ui/Panel";

/** Publishes the order workflow, if it is not there, and starts an order that waits for a person. */
async function run(): Promise<string> {
  const { default: order } = await import("../../../../staunch/examples/order-approval.json");
  await post<Api["ImportedDefinition"]>("/workflow-definitions/import", order, { publish: true });
  const started = await post<Api["InstanceStatus"]>("/workflow-instances/start", {
    definitionId: order.definitionId,
    correlationId: "1001",
    input: { OrderId: "1001", Amount: 2500 },
  });
  return started.workflowInstanceId;
}

export function Example() {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const id = await run();
      await navigate({ to: "/instances/$id", params: { id } });
    } catch (error) {
      complain(error);
      setBusy(false);
    }
  };
  return (
    <Card title={t.home.exampleTitle}>
      <div className="space-y-3 p-4 text-sm">
        <p>{t.home.exampleText}</p>
        <Button tone="main" icon="instances" busy={busy} onClick={() => void start()}>
          {t.home.exampleStart}
        </Button>
      </div>
    </Card>
  );
}
