import { Link } from "@tanstack/react-router";
import { t } from "../text";
import { Empty } from "../ui/States";

export function NotFound() {
  return (
    <Empty title={t.notFound}>
      <Link to="/" className="link">
        {t.rail.home}
      </Link>
    </Empty>
  );
}
