import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button, buttonClass } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { followDrops } from "../../ui/drops";
import { Select } from "../../ui/Field";
import { Icon } from "../../ui/Icon";
import { List, SearchField } from "../../ui/List";
import { complain, notify } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { faultedColumn, runningColumn, starterColumn, useRunning } from "./columns";
import { DefinitionsBulk, PublishedDialog } from "./DefinitionsBulk";
import { ImportDialog } from "./ImportDialog";
import { type Imported, importFiles, wrongFiles } from "./importing";
import { LabelsPanel } from "./LabelsPanel";
import { idsOf, LabelChip, LabelFilter, useLabels, withIds } from "./labels";
import { listLines } from "./lines";
import { liveColumn, useLive } from "./live";
import type { Published } from "./publishing";
import { savedAt } from "./saved";

const PAGE_SIZE = 50;
type Row = Api["DefinitionSummary"];

const COLUMNS: Column<Row>[] = [
  {
    key: "name",
    head: t.columns.name,
    className: "!max-w-64 max-2xl:!max-w-40",
    cell: (row) => (
      <Link
        to="/definitions/$id"
        params={{ id: row.definitionId }}
        className="link inline-block max-w-full truncate align-middle leading-6 font-medium"
        title={row.description ?? undefined}
      >
        {visible(row.name ?? row.definitionId)}
      </Link>
    ),
  },
  {
    key: "id",
    head: t.columns.id,
    className: "!max-w-40 max-2xl:!max-w-28",
    cell: (row) => <span className="font-mono text-xs text-soft">{row.definitionId}</span>,
  },
  { key: "version", head: t.columns.version, end: true, cell: (row) => `v${row.version}` },
  {
    key: "state",
    head: t.filters.state,
    cell: (row) => (
      <span className="flex gap-1.5">
        {row.isPublished ? (
          <Badge tone="good">{t.definitions.published}</Badge>
        ) : (
          <Badge tone="warn">{t.definitions.draft}</Badge>
        )}
        {row.isReadonly && <Badge>{t.definitions.readonly}</Badge>}
      </span>
    ),
  },
  { key: "saved", head: t.columns.saved, cell: (row) => <Time at={savedAt(row)} /> },
];

export function DefinitionsPage() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const page = pageOf(search);
  const labels = useLabels();
  const [managing, setManaging] = useState(false);
  const [published, setPublished] = useState<Published>();
  const [outcome, setOutcome] = useState<Imported | Error>();
  const asked = {
    searchTerm: search.q,
    versionOptions: search.show ?? "Latest",
    label: search.label,
    page,
    pageSize: PAGE_SIZE,
  };
  const query = useQuery({
    queryKey: ["definitions", asked],
    queryFn: ({ signal }) => get<Api["DefinitionPage"]>("/workflow-definitions", asked, signal),
    placeholderData: keepPreviousData,
  });
  const reload = () => {
    setSelected(new Set());
    void client.invalidateQueries({ queryKey: ["definitions"] });
  };
  const mayWrite = can("write:workflow-definitions");
  const isNarrowed = [search.q, search.show, search.label].some(Boolean);
  const take = async (files: readonly File[]) => {
    if (files.length === 0) return;
    try {
      const imported = await importFiles(files);
      if (imported.files.length + imported.leftOut.length > 1) setOutcome(imported);
      else notify(t.definitions.imported(imported.files.length));
    } catch (error) {
      if (error instanceof Error && wrongFiles(error).length > 1) setOutcome(error);
      else complain(error);
    }
    reload();
  };
  const drop = useEffectEvent((files: readonly File[]) => void take(files));
  useEffect(
    () => followDrops(window, { onOver: setOver, take: mayWrite ? (files) => drop(files) : undefined }),
    [mayWrite],
  );
  const find = (ids: string[]) =>
    change({ label: [...new Set(ids)].join(",") || undefined, page: undefined });
  const live = useLive(query.data?.items);
  const running = useRunning(query.data?.items);
  const figures = [
    starterColumn,
    ...(can("read:workflow-instances") ? [runningColumn(running), faultedColumn(running)] : []),
  ];
  // Among published versions only, it would say each twice.
  const versions = search.show === "Published" ? [] : [liveColumn(live)];
  const own = COLUMNS.toSpliced(-1, 0, ...versions, ...figures);
  const columns: Column<Row>[] = own.toSpliced(-1, 0, {
    key: "labels",
    head: t.labels.title,
    className: "!max-w-48 max-2xl:!max-w-28",
    cell: (row) => (
      <span className="flex flex-wrap gap-1 max-2xl:*:max-w-22">
        {withIds(labels, row.labels).map((label) => (
          <LabelChip key={label.id} label={label} onFind={() => find([...idsOf(search.label), label.id])} />
        ))}
      </span>
    ),
  });

  return (
    <div className={`min-h-full ${over ? "bg-accent-soft" : ""}`}>
      <Page
        title={t.rail.definitions}
        note={mayWrite && t.definitions.dropHint}
        actions={
          <>
            {can("read:labels") && <Button onClick={() => setManaging(true)}>{t.labels.title}</Button>}
            {mayWrite && (
              <>
                <input
                  ref={picker}
                  type="file"
                  multiple
                  accept=".json,.yaml,.yml,.zip"
                  aria-label={t.definitions.import}
                  className="hidden"
                  onChange={({ target }) => {
                    void take([...(target.files ?? [])]);
                    // The same file, mended, is a choice again.
                    target.value = "";
                  }}
                />
                <Button icon="upload" onClick={() => picker.current?.click()}>
                  {t.definitions.import}
                </Button>
                <Link to="/definitions/new" className={buttonClass("main")}>
                  <Icon name="plus" />
                  {t.definitions.draw}
                </Link>
              </>
            )}
          </>
        }
      >
        <div className="flex flex-wrap gap-2">
          <SearchField
            className="min-w-56 flex-1"
            label={t.filters.text}
            value={search.q ?? ""}
            hint={t.definitions.searchHint}
            isLive
            onSearch={(q) => change({ q, page: undefined })}
          />
          <Select
            className="w-56"
            label={t.definitions.show}
            hideLabel
            value={search.show ?? "Latest"}
            options={[
              ["Latest", t.definitions.latest],
              ["Published", t.definitions.onlyPublished],
              ["Draft", t.definitions.onlyDrafts],
            ]}
            onChange={(event) =>
              change({
                show: event.target.value === "Latest" ? undefined : event.target.value,
                page: undefined,
              })
            }
          />
          <LabelFilter labels={labels} chosen={idsOf(search.label)} onChange={find} />
        </div>
        <Card>
          <List
            query={query}
            rows={({ items }) => items}
            paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
            empty={isNarrowed ? t.definitions.noMatch : t.definitions.nothing}
            emptyHint={isNarrowed ? t.definitions.noMatchHint : t.definitions.nothingHint}
            bar={
              <DefinitionsBulk
                selected={selected}
                total={query.data?.totalCount ?? 0}
                onDone={reload}
                onPublished={setPublished}
              />
            }
            label={t.rail.definitions}
            columns={labels.length > 0 ? columns : own}
            rowKey={(row) => row.definitionId}
            selected={selected}
            onSelect={setSelected}
          />
        </Card>
        <CopyCommands commands={listLines(search)} />
        {published && <PublishedDialog published={published} onClose={() => setPublished(undefined)} />}
        {outcome && <ImportDialog outcome={outcome} onClose={() => setOutcome(undefined)} />}
        {managing && <LabelsPanel onClose={() => setManaging(false)} />}
      </Page>
    </div>
  );
}
