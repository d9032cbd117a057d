import { useState } from "react";
import { useAddress } from "../../app/address";
import { fromAddress, toAddress } from "../../lib/filters";
import { NAME_MAX, readViews, type SavedView, withoutView, withView, writeViews } from "../../lib/views";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { complain } from "../../ui/notices";

/** Everything that a filter can have, so that what a view does not name is taken away. */
const NOTHING = toAddress(fromAddress({}));

function Naming({ onSave, onClose }: { onSave: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <Dialog title={t.views.save} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSave(name);
          onClose();
        }}
      >
        <Field
          label={t.columns.name}
          hint={t.views.hint}
          maxLength={NAME_MAX}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button type="submit" tone="main" disabled={!name.trim()}>
            {t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Filters under a name. */
export function Views() {
  const [search, change] = useAddress();
  const [views, setViews] = useState(() => readViews(localStorage));
  const [isNaming, setNaming] = useState(false);
  const keep = (next: SavedView[]) => {
    setViews(next);
    try {
      writeViews(localStorage, next);
    } catch (error) {
      complain(error);
    }
  };
  const here = toAddress({ ...fromAddress(search), page: 0 });
  const mine = views.find((view) => JSON.stringify({ ...NOTHING, ...view.search }) === JSON.stringify(here));
  return (
    <>
      <Menu
        label={t.views.label}
        word={mine?.name ?? t.views.label}
        icon="list"
        items={[
          ...views.map((view) => ({
            word: view.name,
            act: () => change({ ...NOTHING, ...view.search }, true),
          })),
          { word: t.views.save, act: () => setNaming(true) },
          mine && {
            word: t.views.remove(mine.name),
            danger: true,
            act: () => keep(withoutView(views, mine.name)),
          },
        ]}
      />
      {isNaming && (
        <Naming
          onSave={(name) => keep(withView(views, { name, search: here }))}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  );
}
