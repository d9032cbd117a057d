import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { givable, grouped, isOther } from "../../lib/permissions";
import { t } from "../../text";
import { Check, Field } from "../../ui/Field";
import { Shown } from "../../ui/States";
import { meQuery } from "./queries";

/** Chooses permissions, grouped by what they are for. Only those that one has can be given. */
export function Permissions({
  chosen,
  onChange,
}: {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}) {
  const query = useQuery(meQuery);
  const [search, setSearch] = useState("");
  const add = (one: string) => onChange([...new Set([...chosen, one])]);
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-soft">
        {t.access.permissions} · {t.access.chosen(chosen.length)}
      </legend>
      <Field
        label={t.access.findPermission}
        hint={t.access.permissionsHint}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <Shown query={query} rows={3}>
        {(me) => {
          const known = givable(me.permissions, me.granted);
          const groups = grouped(known, chosen, search);
          const other = search.trim();
          return (
            <div className="mt-2 max-h-64 overflow-auto rounded-md border border-line px-3 py-1">
              {groups.map(([area, permissions]) => (
                <fieldset key={area} className="py-1">
                  <legend className="text-xs font-medium text-soft">{t.access.areas[area]}</legend>
                  <div className="grid gap-x-4 sm:grid-cols-2">
                    {permissions.map((one) => (
                      <Check
                        key={one}
                        label={<span className="min-w-0 break-all font-mono text-xs">{one}</span>}
                        checked={chosen.includes(one)}
                        onChange={(event) =>
                          event.target.checked ? add(one) : onChange(chosen.filter((has) => has !== one))
                        }
                      />
                    ))}
                  </div>
                </fieldset>
              ))}
              {isOther(other, [...known, ...chosen]) && (
                <Check label={t.access.otherPermission(other)} checked={false} onChange={() => add(other)} />
              )}
              {groups.length === 0 && /\s/.test(other) && (
                <p className="py-1 text-sm text-soft">{t.access.noPermission}</p>
              )}
            </div>
          );
        }}
      </Shown>
    </fieldset>
  );
}
