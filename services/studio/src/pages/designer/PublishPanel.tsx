import { useQuery } from "@tanstack/react-query";
import { nodesQuery } from "../../api/queries";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/States";
import { Refusal } from "./drawer/Problems";
import type { Publication } from "./saving";
import { w } from "./words";

export function Close({ onClose }: { onClose: () => void }) {
  return (
    <div className="mt-5 flex justify-end">
      <Button onClick={onClose}>{t.close}</Button>
    </div>
  );
}

/** What became of a publication: every node says whether it starts the new version. */
export function PublishPanel({ publication, onClose }: { publication: Publication; onClose: () => void }) {
  const nodes = useQuery(nodesQuery);
  const { saved, error } = publication;
  if (!saved && error === undefined) {
    return (
      <Dialog title={w.publishing} onClose={onClose}>
        <Loading rows={2} />
      </Dialog>
    );
  }
  if (!saved) {
    return (
      <Dialog title={w.publishFailed} onClose={onClose}>
        <Refusal error={error} onGo={onClose} />
        <Close onClose={onClose} />
      </Dialog>
    );
  }
  const executors = (nodes.data?.items ?? []).filter((node) => node.roles.includes("executor"));
  const isUnconfirmed = saved.everywhere === false && saved.missing.length === 0;
  return (
    <Dialog title={w.published(saved.version)} onClose={onClose}>
      {isUnconfirmed ? (
        <p className="text-sm text-waiting">{w.unconfirmed}</p>
      ) : saved.missing.length === 0 ? (
        <p className="text-sm">{w.everywhere(saved.ms)}</p>
      ) : (
        <p className="text-sm text-waiting">
          {w.missing} {saved.missing.join(", ")}
        </p>
      )}
      <ul className="mt-3 space-y-1">
        {(isUnconfirmed ? [] : executors).map((node) => {
          const lacks = saved.missing.includes(node.node);
          return (
            <li
              key={node.node}
              className={`flex items-center gap-2 text-sm ${lacks ? "text-waiting" : "text-finished"}`}
            >
              <Icon name={lacks ? "clock" : "check"} />
              <span className="font-mono text-xs text-ink">{node.node}</span>
              {lacks ? w.nodeLacks : w.nodeHas}
            </li>
          );
        })}
      </ul>
      {saved.warnings.length > 0 && (
        <>
          <h3 className="mt-4 text-sm font-medium">{w.warnings}</h3>
          <ul className="mt-1 list-disc pl-5 text-sm">
            {saved.warnings.map((one) => (
              <li key={w.fault(one.fault)}>{w.fault(one.fault)}</li>
            ))}
          </ul>
        </>
      )}
      <Close onClose={onClose} />
    </Dialog>
  );
}
