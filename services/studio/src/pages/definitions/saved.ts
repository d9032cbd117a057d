/** When a version was saved last. A server of an earlier version only knows when it was first. */
export const savedAt = (version: { savedAt?: string | null; createdAt?: string | null }) =>
  version.savedAt ?? version.createdAt;
