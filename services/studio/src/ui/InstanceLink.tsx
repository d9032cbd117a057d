import { Link } from "@tanstack/react-router";
import { shortId } from "../lib/format";

/** The short id of an instance, which leads to it. */
export function InstanceLink({ id }: { id: string }) {
  return (
    <Link to="/instances/$id" params={{ id }} className="link font-mono text-xs" title={id}>
      {shortId(id)}
    </Link>
  );
}
