import type { Session } from "../api/session";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Button } from "../ui/Button";

interface Props {
  /** Whose changes they are. */
  former: Session;
  /** Signs in as that one instead. */
  onBack: () => void;
  onDrop: () => void;
}

/** Says that somebody else has unsaved changes on the page, and shows or gives away nothing of them. */
export function Lost({ former, onBack, onDrop }: Props) {
  const name = former.kind === "user" ? visible(former.name) : "";
  const who = { user: name, key: t.login.formerKey, none: t.login.formerNone }[former.kind];
  const back = { user: t.login.backAs(name), key: t.login.backWithKey, none: t.login.without }[former.kind];
  return (
    <div role="alert" className="space-y-2 rounded-md border border-waiting p-3 text-sm">
      <p>{t.login.lost(who)}</p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onBack}>{back}</Button>
        <Button tone="danger" onClick={onDrop}>
          {t.login.dropThem}
        </Button>
      </div>
    </div>
  );
}
