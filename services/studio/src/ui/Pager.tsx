import { useSettings } from "../app/settings";
import { formatCount } from "../lib/format";
import { t } from "../text";
import { Button } from "./Button";

interface Props {
  page: number;
  pageSize: number;
  total: number;
  onPage: (page: number) => void;
}

export function Pager({ page, pageSize, total, onPage }: Props) {
  const { language } = useSettings();
  const number = (value: number) => formatCount(value, language);
  const first = Math.min(page * pageSize + 1, total);
  const last = Math.min((page + 1) * pageSize, total);
  return (
    // A page has several lists: their feet are no landmarks.
    <fieldset aria-label={t.pages} className="flex items-center gap-2 text-sm text-soft">
      <span className="tabular-nums">{t.pageOf(number(first), number(last), number(total))}</span>
      <Button
        tone="quiet"
        icon="left"
        label={t.previousPage}
        disabled={page === 0}
        onClick={() => onPage(page - 1)}
      />
      <Button
        tone="quiet"
        icon="right"
        label={t.nextPage}
        disabled={last >= total}
        onClick={() => onPage(page + 1)}
      />
    </fieldset>
  );
}
