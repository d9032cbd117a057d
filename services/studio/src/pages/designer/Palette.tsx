import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { activityTypesQuery } from "../../graph/words";
import { type ActivityType, shortType } from "../../model/descriptors";
import { glyphOf } from "./cards";
import { addType } from "./deeds";
import { Glyph } from "./Glyph";
import { DRAGGED } from "./handlers";
import { groupsOf, onRecent, recentText, remember } from "./offers";
import { useStudio, useView } from "./store";
import { w } from "./words";

interface Props {
  id: string;
  isDraggable?: boolean;
  autoFocus?: boolean;
  onChoose: (type: ActivityType) => void;
}

/** Names that more than one type has. */
function doubleNames(types: readonly ActivityType[]): ReadonlySet<string> {
  const names = types.map((type) => type.displayName);
  return new Set(names.filter((name, at) => names.indexOf(name) !== at));
}

/** A search field and the activities that fit, by category. Arrows choose, Enter adds, Esc empties the field. */
export function Offers({ id, isDraggable, autoFocus, onChoose }: Props) {
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const known = useView((state) => state.index.types);
  const recent = useSyncExternalStore(onRecent, recentText);
  const types = useMemo(() => known.offered(), [known]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the groups begin with the recent ones
  const groups = useMemo(() => groupsOf(types, search), [types, search, recent]);
  // A palette that opens asks what there is now.
  useQuery({ ...activityTypesQuery, staleTime: 2000 });
  const doubles = useMemo(() => doubleNames(types), [types]);
  const all = groups.flatMap((group) => group.types);
  const choose = (type: ActivityType) => {
    remember(type.typeName);
    onChoose(type);
  };
  const key = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && all.length > 0) {
      event.preventDefault();
      const next = (at + step + all.length) % all.length;
      setAt(next);
      list.current?.querySelectorAll("[role=option]")[next]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      const type = all[at];
      if (type) choose(type);
    } else if (event.key === "Escape" && search && !event.nativeEvent.isComposing) {
      event.preventDefault();
      setSearch("");
      setAt(0);
    }
  };
  let number = -1;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <input
        id={id}
        type="search"
        role="combobox"
        aria-label={w.search}
        aria-expanded={all.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={all[at] ? `${id}-${at}` : undefined}
        placeholder={w.search}
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: the list opens where somebody asked for it, to type
        autoFocus={autoFocus}
        value={search}
        onChange={(event) => {
          setSearch(event.target.value);
          setAt(0);
        }}
        onKeyDown={key}
        className="m-2 h-8 rounded-md border border-line-strong/60 bg-raised px-2 text-sm placeholder:text-soft"
      />
      {groups.length === 0 && (
        <p role="status" className="flex-1 px-5 py-2 text-sm text-soft">
          {w.noMatch}
        </p>
      )}
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label={w.palette}
        // A list without an option is none.
        hidden={groups.length === 0}
        className="min-h-0 flex-1 overflow-auto pb-2"
      >
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own
          <div key={group.name} role="group" aria-label={group.name || w.search}>
            {group.name && <p className="px-3 pt-2 pb-0.5 text-xs font-medium text-soft">{group.name}</p>}
            {group.types.map((type) => {
              number += 1;
              const mine = number;
              return (
                <div
                  key={type.typeName}
                  id={`${id}-${mine}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={mine === at}
                  title={type.description ?? undefined}
                  draggable={isDraggable}
                  onDragStart={(event) => {
                    event.dataTransfer.setData(DRAGGED, type.typeName);
                    event.dataTransfer.effectAllowed = "copy";
                    remember(type.typeName);
                  }}
                  onClick={() => choose(type)}
                  onKeyDown={(event) => event.key === "Enter" && choose(type)}
                  data-type={type.typeName}
                  className={`mx-1 flex h-8 cursor-pointer items-center gap-2 rounded-md px-2 text-sm select-none hover:bg-sunken ${mine === at && (search || autoFocus) ? "bg-accent-soft" : ""}`}
                >
                  <span className="text-soft">
                    <Glyph of={glyphOf(type)} size={16} />
                  </span>
                  <span className="truncate">{type.displayName}</span>
                  {doubles.has(type.displayName) && (
                    <span className="ml-auto truncate text-xs text-soft">{shortType(type.typeName)}</span>
                  )}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}

export const SEARCH = "designer-search";

/** The activities that can be added. */
export function Palette() {
  const studio = useStudio();
  return (
    <Offers
      id={SEARCH}
      isDraggable
      onChoose={(type) => {
        addType(studio, type);
        studio.set({ over: undefined });
      }}
    />
  );
}
