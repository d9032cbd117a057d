import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { instancesQuery } from "../../api/queries";
import { t } from "../../text";
import { Icon } from "../../ui/Icon";
import { Card } from "../../ui/Panel";
import { Empty, Shown } from "../../ui/States";
import { InstanceTable } from "../instances/InstanceTable";

/** What a person has to look at: instances with incidents, the newest first, and dead letters. */
export function NeedsYou({ letters }: { letters: number }) {
  const query = useQuery({
    ...instancesQuery({ hasIncidents: true, orderBy: "UpdatedAt", page: 0, pageSize: 10 }, "needs-you"),
    refetchInterval: 15_000,
  });
  return (
    <Card
      title={t.home.needsYou}
      actions={
        <Link to="/incidents" className="link text-sm">
          {t.home.allIncidents}
        </Link>
      }
    >
      {letters > 0 && (
        <p className="flex items-center gap-2 border-b border-line px-4 py-2 text-sm">
          <Icon name="messages" className="text-faulted" />
          <Link to="/messages" className="link">
            {t.home.letters(letters)}
          </Link>
        </p>
      )}
      <Shown query={query} rows={5}>
        {(page) =>
          page.items.length === 0 ? (
            <Empty title={t.home.nothingNeeded} />
          ) : (
            <InstanceTable rows={page.items} />
          )
        }
      </Shown>
    </Card>
  );
}
