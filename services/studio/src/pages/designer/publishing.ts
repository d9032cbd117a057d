import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { Index } from "../../model/activities";
import type { Types } from "../../model/descriptors";
import { type Change, changesBetween } from "../../model/diff";
import { isMembers, type Json, membersOf, namesOf, objectOf, textOf } from "../../model/json";
import { openDefinition } from "./api";

const isNothing = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isMembers(value) && namesOf(value).length === 0);

/** A definition without what says nothing: the server writes members that an author leaves out. */
export function essence(value: Json): Json {
  if (Array.isArray(value)) return value.map(essence);
  if (!isMembers(value)) return value;
  return objectOf(
    namesOf(value).flatMap((name): [string, Json][] => {
      const kept = essence(value[name] ?? null);
      return isNothing(kept) ? [] : [[name, kept]];
    }),
  );
}

/** What is otherwise in a definition than in another version of it. */
export const changesSince = (before: Json, now: Json, types: Types): Change[] =>
  changesBetween(new Index(essence(before), types), new Index(essence(now), types));

const isPublished = (version: Json | undefined): boolean => membersOf(version)?.isPublished === true;

/** What the server has of a definition; nothing is published where nothing is there. */
export interface Stored {
  latest: Json;
  published: Json | undefined;
}

/** Asks what the server has. It is asked for the published version only where there is one. */
export async function storedOf(definition: string, signal?: AbortSignal): Promise<Stored> {
  const { doc: latest } = await openDefinition(definition, "Latest", signal);
  if (isPublished(latest)) return { latest, published: latest };
  const query = { definitionIds: [definition], versionOptions: "Published" };
  const { items } = await get<Api["DefinitionPage"]>("/workflow-definitions", query, signal);
  const [one] = items;
  if (!one) return { latest, published: undefined };
  return { latest, published: (await openDefinition(definition, String(one.version), signal)).doc };
}

/** What a publication publishes, and the number of the version that is published by it. */
export interface Published {
  what: "first" | "draft" | "changed" | "again";
  version: number;
}

/** What the server would publish now, by the latest version that it has. */
export function toPublish(latest: Json | undefined, isDirty: boolean): Published {
  const held = membersOf(latest);
  if (!held) return { what: "first", version: 1 };
  const version = Number(held.version ?? 0);
  // A version that was published or has run never changes: what was changed becomes the next one.
  const isFixed = isPublished(held) || textOf(held.publishedAt) !== "";
  if (isFixed && isDirty) return { what: "changed", version: version + 1 };
  return { what: isPublished(held) ? "again" : "draft", version };
}
