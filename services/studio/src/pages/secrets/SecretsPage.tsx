import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { reads } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { List, SearchField } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { attempt } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { DescribeSecret, NewSecret, RotateSecret } from "./forms";
import { endLines } from "./lines";

const PAGE_SIZE = 50;
type Secret = Api["SecretSummary"];
type Asked = { deed: "describe" | "rotate" | "revoke" | "delete"; secret: Secret } | { deed: "new" };

async function test(name: string): Promise<void> {
  const answer = await post<Api["SecretTested"]>(`/secrets/${id(name)}/test`, {});
  if (!answer.succeeded) throw new Error(answer.error ?? t.secrets.testFailed);
}

/** Secrets by name; their values are never shown. */
export function SecretsPage() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  const page = pageOf(search);
  const query = useQuery({
    queryKey: ["secrets", search.q, page],
    queryFn: ({ signal }) =>
      get<Api["Paged_SecretSummary"]>("/secrets", { search: search.q, page, pageSize: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
  });
  const reload = () => client.invalidateQueries({ queryKey: ["secrets"] });
  const close = () => setAsked(undefined);
  const mayWrite = can("write:secrets");
  const columns: Column<Secret>[] = [
    {
      key: "name",
      head: t.columns.name,
      cell: (row) => <code className="font-mono text-xs font-medium">{row.name}</code>,
    },
    { key: "about", head: t.columns.description, cell: (row) => row.description || "–" },
    { key: "type", head: t.secrets.type, cell: (row) => row.typeName },
    {
      key: "state",
      head: t.filters.state,
      cell: (row) => (
        <Badge tone={row.status === "Active" ? "good" : "warn"}>{t.server[row.status] ?? row.status}</Badge>
      ),
    },
    { key: "version", head: t.columns.version, end: true, cell: (row) => row.version },
    { key: "updated", head: t.columns.updated, cell: (row) => <Time at={row.updatedAt ?? row.createdAt} /> },
    { key: "until", head: t.access.until, cell: (row) => <Time at={row.expiresAt} /> },
    {
      key: "menu",
      head: <span className="sr-only">{t.actions}</span>,
      end: true,
      className: "!overflow-visible",
      cell: (row) => (
        <Menu
          label={t.access.actionsOf(row.name)}
          tone="quiet"
          items={[
            can("test:secrets") && {
              word: t.secrets.test,
              act: () => void attempt(() => test(row.name), t.secrets.tested(row.name)),
            },
            mayWrite && {
              word: t.secrets.describe,
              act: () => setAsked({ deed: "describe", secret: row }),
            },
            mayWrite && { word: t.secrets.rotate, act: () => setAsked({ deed: "rotate", secret: row }) },
            mayWrite && {
              word: t.secrets.revoke,
              danger: true,
              act: () => setAsked({ deed: "revoke", secret: row }),
            },
            can("delete:secrets") && {
              word: t.deeds.delete,
              danger: true,
              act: () => setAsked({ deed: "delete", secret: row }),
            },
          ]}
        />
      ),
    },
  ];
  return (
    <Page
      title={t.rail.secrets}
      note={t.secrets.note}
      actions={
        mayWrite && (
          <Button tone="main" icon="plus" onClick={() => setAsked({ deed: "new" })}>
            {t.secrets.make}
          </Button>
        )
      }
    >
      <SearchField
        className="max-w-md"
        label={t.filters.text}
        value={search.q ?? ""}
        hint={t.secrets.searchHint}
        onSearch={(q) => change({ q, page: undefined })}
      />
      <Card>
        <List
          query={query}
          rows={({ items }) => items}
          paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
          empty={search.q ? t.secrets.noMatch : t.secrets.nothing}
          emptyHint={search.q ? t.secrets.noMatchHint : t.secrets.nothingHint}
          label={t.rail.secrets}
          columns={columns}
          rowKey={(row) => row.name}
        />
      </Card>
      <CopyCommands commands={{ staunch: "staunch secret ls", ...reads("/secrets", { search: search.q }) }} />
      {asked?.deed === "new" && <NewSecret onClose={close} />}
      {asked?.deed === "rotate" && <RotateSecret secret={asked.secret} onClose={close} />}
      {asked?.deed === "describe" && <DescribeSecret secret={asked.secret} onClose={close} />}
      {(asked?.deed === "revoke" || asked?.deed === "delete") && (
        <Confirm
          title={t.secrets.titles[asked.deed](asked.secret.name)}
          verb={t.secrets.titles[asked.deed](asked.secret.name)}
          act={async () => {
            const path = `/secrets/${id(asked.secret.name)}`;
            await (asked.deed === "revoke" ? post(`${path}/revoke`, {}) : del(path));
            await reload();
          }}
          onClose={close}
        >
          <p>{t.secrets.consequences[asked.deed]}</p>
          <CopyCommands commands={endLines(asked.deed, asked.secret.name)} />
        </Confirm>
      )}
    </Page>
  );
}
