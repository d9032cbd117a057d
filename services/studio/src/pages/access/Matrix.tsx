import { PERMISSIONS } from "../../api/permissions";
import type { Api } from "../../api/types";
import { matrixOf, type Share } from "../../lib/permissions";
import { t } from "../../text";
import { type Column, Table } from "../../ui/Table";
import { Granted } from "./Granted";

interface Row {
  role: Api["RoleSummary"];
  shares: Share[];
}

const NONE: Share = { has: [], of: 0 };

function Part({ share: { has, of } = NONE }: { share: Share | undefined }) {
  if (has.length === 0) return <span className="text-soft">–</span>;
  return (
    <span title={has.join("\n")} className={has.length === of ? "font-medium" : "text-soft"}>
      {t.access.shareOf(has.length, of)}
    </span>
  );
}

/** What each role may do, area by area. */
export function Matrix({ roles }: { roles: readonly Api["RoleSummary"][] }) {
  if (roles.length === 0) return null;
  const areas = matrixOf(
    roles.map(({ permissions }) => permissions),
    PERMISSIONS,
  );
  const columns: Column<Row>[] = [
    {
      key: "role",
      head: t.columns.name,
      cell: ({ role }) => (
        <Granted name={role.name} permissions={role.permissions}>
          <span className="font-medium">{role.name}</span>
        </Granted>
      ),
    },
    ...areas.map(
      ([area], at): Column<Row> => ({
        key: area,
        head: t.access.areas[area],
        cell: ({ shares }) => <Part share={shares[at]} />,
      }),
    ),
  ];
  const rows = roles.map((role, at) => ({ role, shares: areas.flatMap(([, shares]) => shares[at] ?? []) }));
  return (
    <section aria-label={t.access.matrix} className="border-t border-line pt-3">
      <h2 className="px-3 font-medium">{t.access.matrix}</h2>
      <p className="px-3 pb-1 text-sm text-soft">{t.access.matrixNote}</p>
      <Table label={t.access.matrix} columns={columns} rows={rows} rowKey={({ role }) => role.id} />
    </section>
  );
}
