import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { get } from "../api/client";
import { latestQuery } from "../api/queries";
import { can } from "../api/session";
import type { Api } from "../api/types";
import { shortId } from "../lib/format";
import { stateWord } from "../lib/states";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Dialog } from "../ui/Dialog";
import { Failed } from "../ui/States";
import { commandsHere } from "./commands";
import { COMMANDS, offered, PAGES } from "./pages";
import { settings } from "./settings";

export interface Choice {
  key: string;
  word: string;
  kind: string;
  /** Other words for it, which are found too. */
  also?: string;
  act: () => void;
}

function useFound(text: string) {
  return useQuery({
    queryKey: ["palette", text],
    enabled: text.length > 1,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { searchTerm: text, pageSize: 6 };
      const [definitions, instances] = await Promise.all([
        can("read:workflow-definitions")
          ? get<Api["DefinitionPage"]>(
              "/workflow-definitions",
              { ...query, versionOptions: "Latest" },
              signal,
            )
          : { items: [] },
        can("read:workflow-instances")
          ? get<Api["InstancePage"]>("/workflow-instances", query, signal)
          : { items: [] },
      ]);
      return { definitions: definitions.items, instances: instances.items };
    },
  });
}

/** What one can choose. A list without an option would be none. */
export function Choices({
  choices,
  current,
  onPoint,
  onRun,
}: {
  choices: readonly Choice[];
  current: number;
  onPoint: (at: number) => void;
  onRun: (choice: Choice) => void;
}) {
  if (choices.length === 0)
    return (
      <p role="status" className="mt-2 p-3 text-sm text-soft">
        {t.palette.nothing}
      </p>
    );
  return (
    <div id="palette-list" role="listbox" aria-label={t.search} className="mt-2 max-h-96 overflow-auto">
      {choices.map((choice, index) => (
        <button
          key={choice.key}
          id={`palette-${choice.key}`}
          type="button"
          role="option"
          aria-selected={index === current}
          tabIndex={-1}
          onClick={() => onRun(choice)}
          onMouseMove={() => onPoint(index)}
          className={`flex h-9 w-full items-center gap-3 rounded-md px-3 text-left text-sm ${index === current ? "bg-accent-soft" : ""}`}
        >
          <span className="min-w-0 flex-1 truncate">{visible(choice.word)}</span>
          <span className="text-xs text-soft">{choice.kind}</span>
        </button>
      ))}
    </div>
  );
}

/** Search and commands in one box. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const found = useFound(text.trim());
  // The names of definitions, where a page has read them.
  const latest = useQuery({ ...latestQuery, enabled: false }).data?.items;
  const names = new Map(latest?.map((one) => [one.definitionId, one.name]));

  const commands: Choice[] = [
    ...commandsHere().map(({ word, act }, place) => ({
      key: `here-${place}`,
      word,
      kind: t.palette.here,
      act,
    })),
    ...offered(PAGES, can).map(({ key, to }) => ({
      key,
      word: t.rail[key],
      kind: t.palette.page,
      act: () => void navigate({ to }),
    })),
    ...offered(COMMANDS, can).map(({ key, to }) => ({
      key,
      word: t.palette.commands[key].word,
      also: t.palette.commands[key].also,
      kind: t.palette.command,
      act: () => void navigate({ to }),
    })),
    ...(["light", "dark", "system"] as const).map((theme) => ({
      key: `theme-${theme}`,
      word: `${t.theme.label}: ${t.theme[theme]}`,
      kind: t.palette.command,
      act: () => settings.change({ theme }),
    })),
    ...(["utc", "local", "relative"] as const).map((time) => ({
      key: `time-${time}`,
      word: `${t.time.label}: ${t.time[time]}`,
      kind: t.palette.command,
      act: () => settings.change({ time }),
    })),
  ].filter((one: Choice) =>
    `${one.word} ${one.also ?? ""}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const definitions: Choice[] = (found.data?.definitions ?? []).map((one) => ({
    key: one.id,
    word: one.name ?? one.definitionId,
    kind: t.palette.definition,
    act: () => void navigate({ to: "/definitions/$id", params: { id: one.definitionId } }),
  }));
  const instances: Choice[] = (found.data?.instances ?? []).map((one) => ({
    key: one.id,
    word: `${one.name ?? names.get(one.definitionId) ?? one.definitionId} · ${shortId(one.id)} · ${stateWord(one.subStatus)}`,
    kind: t.palette.instance,
    act: () => void navigate({ to: "/instances/$id", params: { id: one.id } }),
  }));
  const choices = text.trim().length > 1 ? [...definitions, ...instances, ...commands] : commands;
  const current = Math.min(at, choices.length - 1);

  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.act();
  };
  const key = (event: KeyboardEvent) => {
    if (choices.length === 0) return;
    if (event.key === "ArrowDown") setAt((current + 1) % choices.length);
    else if (event.key === "ArrowUp") setAt((current - 1 + choices.length) % choices.length);
    else if (event.key === "Enter") run(choices[current]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={t.search} onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-label={t.search}
        aria-expanded={choices.length > 0}
        aria-controls="palette-list"
        aria-activedescendant={choices[current] ? `palette-${choices[current].key}` : undefined}
        placeholder={t.palette.hint}
        value={text}
        onKeyDown={key}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        className="h-9 w-full rounded-md border border-line-strong bg-paper px-3"
      />
      {choices.length === 0 && found.error ? null : (
        <Choices choices={choices} current={current} onPoint={setAt} onRun={run} />
      )}
      {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
    </Dialog>
  );
}
