import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { definitionQuery, useCounts, versionsQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { formatCount } from "../../lib/format";
import { curl, quoted, staunch, token } from "../../lib/shell";
import { visible } from "../../lib/visible";
import { language, t } from "../../text";
import { Code, CopyButton, CopyCommands, pretty } from "../../ui/Code";
import { later } from "../../ui/later";
import { Facts } from "../../ui/Panel";
import { Badge, Version } from "../../ui/State";
import { Shown } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { Time } from "../../ui/Time";
import { Arguments } from "./Arguments";
import { DefinitionActions } from "./DefinitionActions";
import { figuresQuery, LastHour } from "./LastHour";
import { References } from "./References";
import { savedAt } from "./saved";
import { seesLabels, VersionLabels } from "./VersionLabels";
import { Versions } from "./Versions";

const Graph = later(async () => (await import("../../graph/Graph")).Graph);

/** How many of its instances there are in a state, each number with its list. */
function Figures({ definition }: { definition: string }) {
  const base = { definitionId: definition };
  const counts = useCounts([
    { ...base, status: "Running" },
    { ...base, hasIncidents: true },
    { ...base, subStatus: "Finished" },
  ]).data;
  const links = [
    [t.definitions.unfinished, { state: "Pending,Executing,Suspended" }],
    [t.definitions.withIncidents, { incidents: "yes" }],
    [t.states.finished, { state: "Finished" }],
  ] as const;
  return (
    <ul className="flex gap-4 text-sm">
      {links.map(([word, search], at) => (
        <li key={word}>
          <Link to="/instances" search={{ definition, ...search }} className="link">
            <span className="font-semibold tabular-nums">
              {counts ? formatCount(counts[at] ?? 0, language) : "…"}
            </span>{" "}
            {word}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function About({
  definition,
  version,
  live,
}: {
  definition: Api["FullDefinition"];
  version?: Api["DefinitionSummary"];
  /** The version that is published, if it is not this one. */
  live?: Pick<Api["DefinitionSummary"], "version">;
}) {
  const name = definition.definitionId;
  return (
    <div className="space-y-4 p-4">
      <Facts
        facts={[
          [
            t.columns.id,
            <code key="id" className="font-mono text-xs">
              {name}
            </code>,
          ],
          [
            t.definitions.versionId,
            <code key="version" className="font-mono text-xs">
              {definition.id}
            </code>,
          ],
          [t.columns.description, definition.description ?? "–"],
          version && seesLabels() && [t.labels.title, <VersionLabels key="labels" version={version} />],
          [t.columns.saved, <Time key="saved" at={savedAt(definition)} />],
          [t.definitions.publishedAt, <Time key="published" at={definition.publishedAt} />],
          live && [
            t.definitions.live,
            <Link
              key="live"
              to="/definitions/$id"
              params={{ id: name }}
              search={{ version: String(live.version) }}
              className="link"
            >
              v{live.version}
            </Link>,
          ],
          [t.definitions.usable, definition.options.usableAsActivity ? t.yes : t.no],
          [
            t.definitions.onIncident,
            definition.options.incidentStrategyType?.split(",")[0]?.split(".").at(-1) ?? "–",
          ],
          [
            t.definitions.activation,
            definition.options.activationStrategyType?.split(",")[0]?.split(".").at(-1) ?? "–",
          ],
        ]}
      />
      <Arguments definition={definition} />
      <CopyCommands
        commands={{
          staunch: staunch(`workflow get ${quoted(name)}`),
          nats: `nats sub ${quoted(`staunch.event.${token(name)}.>`)}`,
          curl: curl(`/workflow-definitions/${encodeURIComponent(name)}`),
        }}
      />
    </div>
  );
}

function Body({ definition }: { definition: Api["FullDefinition"] }) {
  const [search, change] = useAddress();
  const versions = useQuery(versionsQuery(definition.definitionId));
  const published = definition.isPublished ? definition : versions.data?.find((one) => one.isPublished);
  const tabs = [
    { key: "about", word: t.definitions.about },
    { key: "hour", word: t.hour.title },
    { key: "versions", word: t.definitions.versions, count: versions.data?.length },
    { key: "references", word: t.definitions.references },
    { key: "source", word: t.definitions.source },
  ];
  const tab = tabs.find(({ key }) => key === search.tab)?.key ?? "about";
  const compared = tab === "versions" ? search.compare : undefined;
  const before = useQuery({
    ...definitionQuery(definition.definitionId, compared),
    enabled: compared !== undefined,
  }).data;
  const figures = useQuery({ ...figuresQuery(definition.definitionId), enabled: tab === "hour" }).data;
  const notes = useMemo(
    () =>
      tab === "hour" && figures
        ? new Map(figures.items.map((one) => [one.activityId, `${formatCount(one.started, language)} ×`]))
        : undefined,
    [tab, figures],
  );
  return (
    <>
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-raised px-4 py-2.5">
        <div className="min-w-0">
          <h1 className="flex items-center gap-2 text-lg font-semibold">
            <span className="truncate">{visible(definition.name ?? definition.definitionId)}</span>
            <Badge>
              <Version of={definition.version} />
            </Badge>
            {definition.isPublished ? (
              <Badge tone="good">{t.definitions.published}</Badge>
            ) : definition.isLatest ? (
              <Badge tone="warn">{t.definitions.draft}</Badge>
            ) : (
              <Badge>{t.definitions.earlier}</Badge>
            )}
          </h1>
          <p className="flex items-center gap-1 font-mono text-xs text-soft">
            {definition.definitionId}
            <CopyButton text={definition.definitionId} />
          </p>
        </div>
        <Figures definition={definition.definitionId} />
        <div className="ml-auto">
          <DefinitionActions definition={definition} live={published?.version} />
        </div>
      </header>
      <div className="flex min-h-0 flex-1 flex-col lg:flex-row">
        <section
          aria-label={t.graph.label}
          className="min-h-80 min-w-0 flex-[1.4] border-line max-lg:border-b lg:border-r"
        >
          <Graph
            root={definition.root}
            before={compared === undefined ? undefined : before?.root}
            notes={notes}
            selected={search.activity}
            onSelect={(activity) => change({ activity })}
          />
        </section>
        <section aria-label={t.details} className="flex min-h-0 min-w-0 flex-1 flex-col bg-raised">
          <Tabs label={t.details} tabs={tabs} current={tab} onChange={(next) => change({ tab: next })}>
            {tab === "about" && (
              <About
                definition={definition}
                version={versions.data?.find((one) => one.id === definition.id)}
                live={published?.id === definition.id ? undefined : published}
              />
            )}
            {tab === "hour" && (
              <LastHour
                definition={definition.definitionId}
                root={definition.root}
                activity={search.activity}
                onActivity={(activity) => change({ activity })}
              />
            )}
            {tab === "versions" && (
              <Versions
                current={definition}
                compared={search.compare}
                onVersion={(version) => change({ version: String(version) })}
                onCompare={(compared) => change({ compare: compared })}
              />
            )}
            {tab === "references" && <References definition={definition} />}
            {tab === "source" && (
              <div className="p-4">
                <Code text={pretty(definition)} label={t.definitions.source} tall />
              </div>
            )}
          </Tabs>
        </section>
      </div>
    </>
  );
}

export function DefinitionPage() {
  const { id } = useParams({ strict: false });
  const [search] = useAddress();
  const query = useQuery(definitionQuery(id ?? "", search.version ?? "Latest"));
  return (
    <div className="flex h-full flex-col">
      <Shown query={query} rows={10}>
        {(definition) => <Body definition={definition} />}
      </Shown>
    </div>
  );
}
