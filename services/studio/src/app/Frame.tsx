import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useCounts } from "../api/queries";
import { can, session } from "../api/session";
import { t } from "../text";
import { keepFocus } from "../ui/focus";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { Page } from "../ui/Page";
import { Denied } from "../ui/States";
import { startLive, useLiveReload } from "./live";
import { Mark } from "./Mark";
import { NatsBar } from "./NatsBar";
import { Palette } from "./Palette";
import { isInBar, lackedAt, offered, PAGES } from "./pages";
import { StaleBar } from "./StaleBar";
import { TopBar } from "./TopBar";

const isAt = (path: string, to: string) => (to === "/" ? path === "/" : path.startsWith(to));

/** On a phone: the pages that have no place in the bar. */
function More({ of, path }: { of: readonly (typeof PAGES)[number][]; path: string }) {
  const navigate = useNavigate();
  if (of.length === 0) return null;
  const here = of.some(({ to }) => isAt(path, to));
  return (
    <div className={`flex h-11 items-center px-3 md:hidden ${here ? "bg-accent-soft text-accent" : ""}`}>
      <Menu
        label={t.rail.more}
        word={t.rail.more}
        tone="quiet"
        items={of.map(({ key, to }) => ({ word: t.rail[key], act: () => void navigate({ to }) }))}
      />
    </div>
  );
}

function Rail() {
  const path = useLocation({ select: (location) => location.pathname });
  const pages = offered(PAGES, can);
  const incidents = useCounts([{ hasIncidents: true }]).data?.[0];
  return (
    <nav
      aria-label={t.rail.label}
      className="flex shrink-0 border-line bg-raised max-md:order-last max-md:justify-between max-md:border-t md:w-14 md:flex-col md:border-r min-[1400px]:md:w-44"
    >
      <Link to="/" className="hidden h-12 items-center gap-2.5 px-4 md:flex" aria-label="Staunch">
        <Mark />
        <span className="hidden font-semibold min-[1400px]:inline">Staunch</span>
      </Link>
      {pages.map(({ key, to, icon }, at) => {
        const here = isAt(path, to);
        const count = key === "incidents" ? incidents : undefined;
        return (
          <Link
            key={key}
            to={to}
            title={t.rail[key]}
            aria-current={here ? "page" : undefined}
            className={`relative flex h-11 items-center gap-3 px-[18px] max-[22rem]:px-3 md:h-10 ${isInBar(at, pages.length) ? "" : "max-md:hidden"} ${here ? "bg-accent-soft font-medium text-accent" : "text-soft hover:bg-sunken hover:text-ink"}`}
          >
            <Icon name={icon} size={20} />
            <span className="text-sm max-[1399px]:sr-only">{t.rail[key]}</span>
            {count !== undefined && count > 0 && (
              <span className="absolute top-0.5 right-0.5 min-w-4 rounded-full bg-faulted px-1 text-center text-[0.6875rem] leading-4 font-medium text-raised min-[1400px]:static min-[1400px]:ml-auto min-[1400px]:px-1.5">
                {count > 99 ? "99+" : count}
              </span>
            )}
          </Link>
        );
      })}
      <More of={pages.filter((_, at) => !isInBar(at, pages.length))} path={path} />
    </nav>
  );
}

/** The page at the address, or what is needed to see it. */
function Inside() {
  const path = useLocation({ select: (location) => location.pathname });
  const page = lackedAt(path, can);
  if (!page) return <Outlet />;
  return (
    <Page title={t.rail[page.key]}>
      <Denied>{t.pageNeeds(page.needs)}</Denied>
    </Page>
  );
}

export function Frame() {
  // Pages that one may see no longer are taken from the rail.
  useSyncExternalStore(session.subscribe, session.permissions);
  const [palette, setPalette] = useState(false);
  useEffect(() => (can("read:workflow-instances") ? startLive() : undefined), []);
  useEffect(keepFocus, []);
  useLiveReload(["counts"]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette(true);
      }
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  return (
    <div className="flex h-full max-md:flex-col">
      <button
        type="button"
        className="sr-only z-50 rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
        onClick={() => document.getElementById("page")?.focus()}
      >
        {t.skip}
      </button>
      <Rail />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <TopBar onSearch={() => setPalette(true)} />
        <StaleBar />
        <NatsBar />
        <main id="page" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
          <Inside />
        </main>
      </div>
      {palette && <Palette onClose={() => setPalette(false)} />}
    </div>
  );
}
