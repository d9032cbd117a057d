import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { whyQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { StateBadge } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { useRelativeNames } from "./relatives";

function Relative({ of, name }: { of: Api["RelatedInstance"]; name: string }) {
  return (
    <li className="flex items-center gap-3 border-b border-line px-4 py-1.5 last:border-0">
      <span className="w-28">{of.subStatus ? <StateBadge status={of.subStatus} /> : t.instance.gone}</span>
      <Link
        to="/instances/$id"
        params={{ id: of.workflowInstanceId }}
        search={{ tab: "family" }}
        className="link min-w-0 truncate"
        title={of.workflowInstanceId}
      >
        {name}
      </Link>
    </li>
  );
}

const NOBODY = { children: [] };

/** The instance that started this one, and those that it started. */
export function Family({ detail }: { detail: Api["InstanceDetail"] }) {
  const query = useQuery(whyQuery(detail.id));
  const nameOf = useRelativeNames(query.data ?? NOBODY);
  return (
    <Shown query={query}>
      {({ parent, children }) =>
        !parent && children.length === 0 ? (
          <Empty title={t.instance.noFamily} />
        ) : (
          <div className="text-sm">
            {parent && (
              <section>
                <h2 className="border-b border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">
                  {t.instance.parent}
                </h2>
                <ul>
                  <Relative of={parent} name={nameOf(parent.workflowInstanceId)} />
                </ul>
              </section>
            )}
            {children.length > 0 && (
              <section>
                <h2 className="border-b border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">
                  {t.instance.children}
                </h2>
                <ul>
                  {children.map((child) => (
                    <Relative
                      key={child.workflowInstanceId}
                      of={child}
                      name={nameOf(child.workflowInstanceId)}
                    />
                  ))}
                </ul>
                <p className="px-4 py-2">
                  <Link to="/instances" search={{ parent: detail.id }} className="link">
                    {t.instance.childrenList}
                  </Link>
                </p>
              </section>
            )}
          </div>
        )
      }
    </Shown>
  );
}
