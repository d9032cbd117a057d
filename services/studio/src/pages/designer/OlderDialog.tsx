import { membersOf } from "../../model/json";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import type { Opened } from "./api";
import type { Saving } from "./saving";
import { useStudio } from "./store";
import { w } from "./words";

/** An old version is saved: says what becomes of the newer one, before it is done. */
export function OlderDialog({
  latest,
  saving,
  onClose,
}: {
  latest: Opened;
  saving: Saving;
  onClose: () => void;
}) {
  const studio = useStudio();
  const held = membersOf(latest.doc) ?? {};
  const newest = Number(held.version ?? 0);
  const mine = Number(membersOf(studio.get().saved)?.version ?? 0);
  return (
    <Dialog title={w.older(mine, newest)} onClose={onClose}>
      <p className="text-sm">{held.isPublished === true ? w.olderKeeps(newest) : w.olderDraft(newest)}</p>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{w.notNow}</Button>
        <Button
          onClick={() => {
            onClose();
            saving.setConflict(latest);
          }}
        >
          {w.compareFirst}
        </Button>
        <Button
          tone="main"
          onClick={() => {
            onClose();
            void saving.again(latest.etag);
          }}
        >
          {w.saveAsDraft}
        </Button>
      </div>
    </Dialog>
  );
}
