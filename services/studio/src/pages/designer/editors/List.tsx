import { Button } from "../../../ui/Button";
import { w } from "../words";
import { focusAdded } from "./added";

interface Props {
  label: string;
  items: readonly string[];
  onChange: (items: string[]) => void;
}

/** A list of texts, one below the other. */
export function ListEditor({ label, items, onChange }: Props) {
  return (
    <div data-rows="" className="space-y-1">
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what names an item
        <div key={at} className="flex gap-1">
          <input
            data-first=""
            aria-label={`${label} ${at + 1}`}
            className="h-8 w-full min-w-0 rounded-md border border-line-strong/60 bg-raised px-2 text-sm"
            value={item}
            onChange={(event) => onChange(items.with(at, event.target.value))}
          />
          <Button
            tone="quiet"
            icon="close"
            label={w.removeItem(item)}
            onClick={() => onChange(items.toSpliced(at, 1))}
          />
        </div>
      ))}
      <Button
        icon="plus"
        aria-label={`${label}: ${w.addItem}`}
        onClick={(event) => {
          onChange([...items, ""]);
          focusAdded(event.currentTarget);
        }}
      >
        {w.addItem}
      </Button>
    </div>
  );
}
