import { Link } from "@tanstack/react-router";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { served } from "../../lib/shell";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Icon } from "../../ui/Icon";
import { Duration, Left, Time } from "../../ui/Time";
import { useActivityNames } from "./names";
import { neededBy } from "./needs";
import { OfferButton } from "./OfferButton";
import { offerOf } from "./offers";
import { idsIn, useRelativeNames } from "./relatives";
import { partsOf, placesOf } from "./sentence";

/** The answer of the server, with names for ids, and times as the reader wants to see them. */
function Sentence({ why, version }: { why: Api["Why"]; version: string }) {
  const names = useActivityNames(version);
  const relativeName = useRelativeNames(why);
  return partsOf(why.answer, names, idsIn(why)).map(({ key, time, ago, left, activity, instance, words }) => {
    if (ago) return <Duration key={key} from={ago} />;
    if (left) return <Left key={key} until={left} />;
    if (time) return <Time key={key} at={time} stands />;
    if (instance)
      return (
        <Link
          key={key}
          to="/instances/$id"
          params={{ id: instance }}
          className="link underline"
          title={instance}
        >
          {relativeName(instance)}
        </Link>
      );
    if (!activity) return visible(words);
    return (
      <span key={key} title={activity} className="font-medium">
        {words}
      </span>
    );
  });
}

/** Why the instance is where it is, and what would move it. */
export function Why({
  why,
  version,
  detail,
}: {
  why: Api["Why"];
  version: string;
  detail: Api["InstanceDetail"];
}) {
  const names = useActivityNames(version);
  const places = placesOf(
    why.findings.map(({ says }) => says),
    names,
  );
  const offered = why.findings
    .flatMap(({ actions }, at) => actions.map((action) => ({ action, place: places[at] })))
    .filter(({ action }) => {
      const permission = neededBy(action);
      return permission === undefined || can(permission);
    })
    .map((one) => ({ ...one, offer: offerOf(one.action, detail.id) }));
  return (
    <section
      aria-label={t.instance.why}
      className="flex shrink-0 flex-wrap items-start gap-x-4 gap-y-1 border-b border-line bg-sunken px-4 py-1.5 text-sm"
    >
      <p className="flex min-w-0 flex-1 basis-96 items-start gap-2 py-1">
        <Icon name="search" className="mt-0.5 text-soft" />
        <span className="min-w-0 break-words">
          <span className="font-medium">{t.instance.why} </span>
          <Sentence why={why} version={version} />
        </span>
      </p>
      {offered.length > 0 && (
        <details className="max-w-full">
          <summary className="cursor-pointer py-1 text-xs text-soft hover:text-ink">
            {t.instance.moves(offered.length)}
          </summary>
          <ul className="mt-1 max-w-2xl space-y-2 pb-2">
            {offered.map(({ action, place, offer }) => (
              <li
                key={`${place ?? ""}${action.what}${action.staunch ?? action.curl ?? ""}`}
                className="space-y-1"
              >
                <p className="text-xs font-medium">{place ? `${place}: ${action.what}` : action.what}</p>
                {offer && <OfferButton offer={offer} detail={detail} />}
                <CopyCommands
                  commands={{ ...action, staunch: action.staunch ? served(action.staunch) : undefined }}
                />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
