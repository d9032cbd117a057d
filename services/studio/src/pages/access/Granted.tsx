import { type ReactNode, useState } from "react";
import { PERMISSIONS } from "../../api/permissions";
import { matrixOf } from "../../lib/permissions";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

/** The permissions as they were given, and what they allow, area by area. */
export function GrantedList({ permissions }: { permissions: readonly string[] }) {
  if (permissions.length === 0) return <p className="text-sm text-soft">{t.access.emptyRole}</p>;
  // One that stands for several allows more than its name says.
  const wide = permissions.filter((one) => one.includes("*"));
  const areas = matrixOf([permissions], PERMISSIONS).flatMap(([area, [share]]) =>
    share && share.has.length > 0 ? [{ area, share }] : [],
  );
  return (
    <dl className="max-h-96 space-y-3 overflow-auto text-sm">
      {wide.length > 0 && (
        <div>
          <dt className="text-xs font-medium text-soft">{t.access.areas.all}</dt>
          <dd className="font-mono text-xs break-all">{wide.join(", ")}</dd>
        </div>
      )}
      {areas.map(({ area, share }) => (
        <div key={area}>
          <dt className="text-xs font-medium text-soft">
            {t.access.areas[area]} · {t.access.shareOf(share.has.length, share.of)}
          </dt>
          {share.has.map((one) => (
            <dd key={one} className="font-mono text-xs break-all">
              {one}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

/** Opens the names of the permissions that somebody or something has. */
export function Granted({
  name,
  permissions,
  children,
}: {
  name: string;
  permissions: readonly string[];
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        title={t.access.permissionsOf(name)}
        onClick={() => setOpen(true)}
        className="link inline-block max-w-full truncate text-left align-middle leading-6"
      >
        {children}
      </button>
      {isOpen && (
        <Dialog title={t.access.permissionsOf(name)} onClose={() => setOpen(false)}>
          <GrantedList permissions={permissions} />
          <div className="mt-5 flex justify-end">
            <Button onClick={() => setOpen(false)}>{t.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
