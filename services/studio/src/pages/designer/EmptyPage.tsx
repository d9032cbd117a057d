import { Button } from "../../ui/Button";
import { addStateToName } from "./keys";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** What a page without activities says. */
export function EmptyPage() {
  const studio = useStudio();
  const view = useView((state) => state.view);
  if (studio.isLocked) return null;
  const isMachine = view.kind === "machine";
  return (
    <div className="pointer-events-none absolute inset-0 flex flex-col items-center justify-center gap-3 p-6 text-center">
      <p className="text-lg font-medium">{w.emptyTitle}</p>
      <p className="max-w-md text-sm text-soft">
        {isMachine ? w.emptyMachine : view.kind === "empty" ? w.emptySlot : w.emptyText}
      </p>
      <Button
        tone="main"
        icon="plus"
        className="pointer-events-auto"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          if (isMachine) addStateToName(studio, { at: { x: 0, y: 0 } });
          else
            studio.set({
              adding: { screen: { x: box.left, y: box.bottom + 4 }, how: { at: { x: 0, y: 0 } } },
            });
        }}
      >
        {isMachine ? w.addState : w.add}
      </Button>
    </div>
  );
}
