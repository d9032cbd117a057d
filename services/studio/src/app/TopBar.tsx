import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useEffect, useRef } from "react";
import { post } from "../api/client";
import { nodesQuery } from "../api/queries";
import { can, session } from "../api/session";
import type { TimeMode } from "../lib/format";
import { shortId } from "../lib/format";
import { t } from "../text";
import { buttonClass } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { useNow } from "./clock";
import { useLiveState } from "./live";
import { PAGES } from "./pages";
import { usePlace } from "./place";
import { isDark, settings, useSettings } from "./settings";

const WORDS: Record<string, string> = { edit: t.deeds.edit, new: t.deeds.make };

function Breadcrumb() {
  const path = usePlace();
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const page = PAGES.find(({ to }) => to === `/${parts[0] ?? ""}`);
  const rest = parts.slice(1).map((part) => WORDS[part] ?? part);
  return (
    <nav
      aria-label={t.breadcrumb}
      className="flex min-w-0 flex-1 basis-16 flex-wrap items-center gap-x-1.5 text-sm"
    >
      <title>{[...rest.map(shortId), page && t.rail[page.key], "Staunch"].filter(Boolean).join(" · ")}</title>
      {page && (
        <Link to={page.to} className={rest.length ? "text-soft hover:text-ink" : "font-semibold"}>
          {t.rail[page.key]}
        </Link>
      )}
      {rest.map((part) => (
        <Fragment key={part}>
          <span className="flex max-w-full min-w-0 items-center gap-1.5">
            <Icon name="right" size={12} className="text-soft" />
            <span className="truncate font-mono text-xs" title={part}>
              {shortId(part)}
            </span>
          </span>
        </Fragment>
      ))}
    </nav>
  );
}

/** Whether what is shown is now, and through which node. */
function LiveLight() {
  const state = useLiveState();
  const now = useNow();
  const client = useQueryClient();
  const wasBroken = useRef(false);
  useEffect(() => {
    if (state.is === "broken") wasBroken.current = true;
    if (state.is !== "open" || !wasBroken.current) return;
    wasBroken.current = false;
    // Another node may send them now.
    void client.invalidateQueries({ queryKey: nodesQuery.queryKey });
  }, [state, client]);
  const node = useQuery({ ...nodesQuery, enabled: can("read:nodes") }).data?.node;
  const [colour, word] =
    state.is === "open"
      ? ["bg-finished", node ?? t.live.open]
      : state.is === "broken"
        ? ["bg-waiting", t.live.broken(Math.max(1, Math.ceil((state.until - now) / 1000)))]
        : state.is === "connecting"
          ? ["bg-waiting", t.live.connecting]
          : ["bg-skipped", t.live.idle];
  return (
    <span
      role="status"
      title={t.live.title}
      // On a phone the words have a line of their own: they take no room from the name of the page.
      className={`flex items-center gap-2 px-2 text-xs text-soft max-sm:px-1 ${state.is === "broken" ? "max-sm:order-last max-sm:basis-full" : ""}`}
    >
      <span className={`size-2 shrink-0 rounded-full ${colour}`} />
      <span className={`max-w-40 truncate ${state.is === "broken" ? "max-sm:max-w-full" : "max-sm:sr-only"}`}>
        {word}
      </span>
    </span>
  );
}

const TIME_MODES: TimeMode[] = ["utc", "local", "relative"];

function signOut() {
  if (session.current().kind === "user") void post("/identity/logout").catch(() => undefined);
  session.set({ kind: "none" });
  location.reload();
}

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const { time, language } = useSettings();
  const who = session.current();
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-1.5 gap-y-1 border-b border-line bg-raised px-4 py-1 max-sm:gap-x-1 max-sm:px-2">
      <Breadcrumb />
      <button
        type="button"
        onClick={onSearch}
        className={`${buttonClass("plain")} text-soft sm:w-56 sm:justify-start`}
      >
        <Icon name="search" />
        <span className="flex-1 text-left font-normal max-sm:sr-only">{t.search}</span>
        <kbd className="hidden rounded-sm border border-line px-1 text-xs sm:inline">{t.control} K</kbd>
      </button>
      <LiveLight />
      <Menu
        label={t.time.label}
        word={t.time[time]}
        icon="clock"
        tone="quiet"
        items={TIME_MODES.map((mode) => ({ word: t.time[mode], act: () => settings.change({ time: mode }) }))}
      />
      <Menu
        label={t.theme.label}
        icon={isDark() ? "moon" : "sun"}
        tone="quiet"
        items={(["system", "light", "dark"] as const).map((theme) => ({
          word: t.theme[theme],
          act: () => settings.change({ theme }),
        }))}
      />
      <Menu
        label={t.me.label}
        icon="user"
        tone="quiet"
        items={[
          {
            word: language === "de" ? "English" : "Deutsch",
            act: () => {
              settings.change({ language: language === "de" ? "en" : "de" });
              location.reload();
            },
          },
          who.kind === "none" && { word: t.me.signIn, act: () => session.refuse() },
          who.kind !== "none" && {
            word: t.me.signOut(who.kind === "user" ? who.name : t.login.key),
            act: signOut,
          },
        ]}
      />
    </header>
  );
}
