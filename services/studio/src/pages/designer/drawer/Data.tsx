import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { visible } from "../../../lib/visible";
import { setMember } from "../../../model/commands";
import {
  addDeclaration,
  type DeclarationKind,
  removeDeclaration,
  setDeclaration,
} from "../../../model/declarations";
import { literalText } from "../../../model/expressions";
import { type Json, listOf, membersOf, textOf } from "../../../model/json";
import { type Renaming, renameInScripts, scriptsThatUse, withRename } from "../../../model/renames";
import { Button } from "../../../ui/Button";
import { loadVariableTypes } from "../api";
import { focusAdded } from "../editors/added";
import { useStudio, useView } from "../store";
import { w } from "../words";

const BOX = "h-7 w-full min-w-20 rounded-md border border-line-strong/60 bg-raised px-1.5 text-sm";

const STORED = "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core";
const MEMORY = "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core";

/** After a rename: the scripts that use the old name, which only a person can want to change. */
function InScripts({ kind, from, to }: Renaming) {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const names = listOf(membersOf(doc)?.[kind]).map((one) => textOf(membersOf(one)?.name));
  const count = names.includes(from) ? 0 : scriptsThatUse(doc, kind, from);
  if (count === 0) return null;
  return (
    <div role="status" className="mt-2 flex flex-wrap items-center gap-2 text-sm text-waiting">
      <p className="min-w-0 flex-1 basis-60">{visible(w.usedInScripts(count, from))}</p>
      {to !== "" && names.includes(to) && (
        <Button
          onClick={() => studio.do(renameInScripts(studio.get().history.doc, kind, from, to, w.did.rename))}
        >
          {visible(w.changeScripts(to))}
        </Button>
      )}
    </div>
  );
}

function Declarations({ kind, title, add }: { kind: DeclarationKind; title: string; add: string }) {
  const studio = useStudio();
  const list = useView((state) => membersOf(state.history.doc)?.[kind]);
  const types = useQuery({
    queryKey: ["descriptors", "variables"],
    queryFn: ({ signal }) => loadVariableTypes(signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [before, setBefore] = useState("");
  const renamings = useView((state) => state.renamings);
  const typeMember = kind === "variables" ? "typeName" : "type";
  const set = (at: number, member: string, value: Json | undefined) =>
    studio.do(setDeclaration(studio.get().index, kind, at, member, value, `${w.did.set} ${title}`));
  const rename = (from: string, to: string) => {
    if (from !== to) studio.set({ renamings: withRename(studio.get().renamings, { kind, from, to }) });
  };
  const items = listOf(list).map((one) => membersOf(one) ?? {});
  return (
    <section data-rows="" className="min-w-0 p-3">
      <div className="mb-2 flex items-center gap-2">
        <h2 className="flex-1 text-xs font-semibold text-soft">{title}</h2>
        <Button
          icon="plus"
          onClick={(event) => {
            studio.do(addDeclaration(studio.get().index, kind, w.did.declare));
            focusAdded(event.currentTarget);
          }}
        >
          {add}
        </Button>
      </div>
      {items.length > 0 && (
        <table className="w-full text-sm">
          <thead className="text-left text-xs text-soft">
            <tr>
              <th className="font-medium">{w.name}</th>
              <th className="w-36 font-medium">{w.type}</th>
              <th className="w-10 font-medium">{w.isList}</th>
              {kind === "variables" && <th className="font-medium">{w.defaultValue}</th>}
              {kind === "variables" && <th className="w-36 font-medium">{w.storage}</th>}
              {kind !== "variables" && <th className="font-medium">{w.description}</th>}
              <th className="w-8">
                <span className="sr-only">{w.remove}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item, at) => {
              const name = textOf(item.name);
              const type = textOf(item[typeMember]);
              const driver = textOf(item.storageDriverTypeName);
              const known = types.data ?? ["Object", "String", "Int32", "Boolean"];
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: a name changes while it is typed
                <tr key={at}>
                  <td className="py-0.5 pr-1">
                    <input
                      data-first=""
                      aria-label={`${title}: ${w.name}`}
                      className={BOX}
                      value={name}
                      onFocus={() => setBefore(name)}
                      onChange={(event) => set(at, "name", event.target.value)}
                      onBlur={() => rename(before, name)}
                    />
                  </td>
                  <td className="pr-1">
                    <select
                      aria-label={`${name}: ${w.type}`}
                      className={BOX}
                      value={type}
                      onChange={(event) => set(at, typeMember, event.target.value)}
                    >
                      {[...new Set([...known, type])].map((one) => (
                        <option key={one}>{one}</option>
                      ))}
                    </select>
                  </td>
                  <td className="text-center">
                    <input
                      aria-label={`${name}: ${w.isList}`}
                      type="checkbox"
                      className="size-4 accent-(--accent)"
                      checked={item.isArray === true}
                      onChange={(event) => set(at, "isArray", event.target.checked)}
                    />
                  </td>
                  {kind === "variables" ? (
                    <>
                      <td className="px-1">
                        <input
                          aria-label={`${name}: ${w.defaultValue}`}
                          className={BOX}
                          value={literalText(item.value)}
                          onChange={(event) => set(at, "value", event.target.value || undefined)}
                        />
                      </td>
                      <td className="pr-1">
                        <select
                          aria-label={`${name}: ${w.storage}`}
                          className={BOX}
                          value={driver}
                          onChange={(event) =>
                            set(at, "storageDriverTypeName", event.target.value || undefined)
                          }
                        >
                          {/* One that names no driver is kept with the instance, too. */}
                          <option value={driver === "" ? "" : STORED}>{w.storages.instance}</option>
                          <option value={MEMORY}>{w.storages.memory}</option>
                          {![STORED, MEMORY, ""].includes(driver) && <option value={driver}>{driver}</option>}
                        </select>
                      </td>
                    </>
                  ) : (
                    <td className="px-1">
                      <input
                        aria-label={`${name}: ${w.description}`}
                        className={BOX}
                        value={textOf(item.description)}
                        onChange={(event) => set(at, "description", event.target.value)}
                      />
                    </td>
                  )}
                  <td>
                    <Button
                      tone="quiet"
                      icon="close"
                      label={w.removeItem(name)}
                      onClick={() => studio.do(removeDeclaration(studio.get().index, kind, at, w.did.remove))}
                    />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {renamings
        .filter((one) => one.kind === kind)
        .map((one) => (
          <InScripts key={one.from} {...one} />
        ))}
    </section>
  );
}

/** Variables, inputs, outputs and outcomes of the workflow. */
export function Data() {
  const studio = useStudio();
  const outcomes = useView((state) => membersOf(state.history.doc)?.outcomes);
  return (
    <div className="grid gap-x-4 min-[1900px]:grid-cols-2">
      <Declarations kind="variables" title={w.variables} add={w.addVariable} />
      <Declarations kind="inputs" title={w.inputs} add={w.addInput} />
      <Declarations kind="outputs" title={w.outputs} add={w.addOutput} />
      <section className="p-3">
        <label className="text-xs font-semibold text-soft">
          {w.outcomes}
          <textarea
            rows={3}
            className="mt-2 block w-full rounded-md border border-line-strong/60 bg-raised p-2 text-sm font-normal text-ink"
            value={listOf(outcomes).map(String).join("\n")}
            onChange={(event) => {
              const lines = event.target.value === "" ? [] : event.target.value.split("\n");
              studio.do(
                setMember(
                  studio.get().index,
                  { path: [] },
                  ["outcomes"],
                  lines,
                  `${w.did.set} ${w.outcomes}`,
                ),
              );
            }}
          />
        </label>
        <p className="mt-1 text-xs text-soft">{w.outcomesHint}</p>
      </section>
    </div>
  );
}
