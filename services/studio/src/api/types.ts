import type { components } from "./schema";

export type { Json } from "./schema";

/** The shapes of the API, by their names in the OpenAPI document. */
export type Api = components["schemas"];

export type SubStatus = "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted";
