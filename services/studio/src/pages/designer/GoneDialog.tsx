import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import type { Saving } from "./saving";
import { w } from "./words";

/** The definition was removed while somebody edits it: nothing is lost, and it can be made anew. */
export function GoneDialog({ saving, onClose }: { saving: Saving; onClose: () => void }) {
  return (
    <Dialog title={w.gone} onClose={onClose}>
      <p className="text-sm">{w.goneText}</p>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{w.notNow}</Button>
        <Button
          tone="main"
          onClick={() => {
            onClose();
            void saving.anew();
          }}
        >
          {w.saveAnew}
        </Button>
      </div>
    </Dialog>
  );
}
