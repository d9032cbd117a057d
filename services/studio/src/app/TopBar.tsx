import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { post } from "../api/client";
import { definitionQuery, instanceQuery, nodesQuery, versionQuery } from "../api/queries";
import { can, personOf, session } from "../api/session";
import { tabs } from "../api/tabs";
import { canSignIn } from "../api/ways";
import type { TimeMode } from "../lib/format";
import { t } from "../text";
import { buttonClass } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { useAddress } from "./address";
import { useNow } from "./clock";
import { useLiveState } from "./live";
import { PasswordDialog } from "./PasswordDialog";
import { PAGES } from "./pages";
import { usePlace, usePlaceName } from "./place";
import { isDark, settings, useSettings } from "./settings";
import { stepsOf } from "./steps";
import { lostTo, type Unsaved } from "./unsaved";

/** The name of the definition or instance of the page, once the page has read it. */
function useName(list: string, id: string): string | undefined {
  const [{ version: asked }] = useAddress();
  const own = usePlaceName();
  const read = { enabled: false };
  const definition = useQuery({ ...definitionQuery(id, asked ?? "Latest"), ...read }).data;
  const instance = useQuery({ ...instanceQuery(id), ...read }).data;
  const version = useQuery({ ...versionQuery(instance?.definitionVersionId ?? ""), ...read }).data;
  if (list === "definitions") return own ?? definition?.name ?? undefined;
  if (list !== "instances" || !instance) return undefined;
  return instance.name ?? version?.name ?? instance.definitionId;
}

function Breadcrumb() {
  const path = usePlace();
  const [list = "", id = ""] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const page = PAGES.find(({ to }) => to === `/${list}`);
  const steps = stepsOf(path, useName(list, id));
  return (
    <nav
      aria-label={t.breadcrumb}
      className="flex min-w-0 flex-1 basis-16 flex-wrap items-center gap-x-1.5 text-sm"
    >
      <title>
        {[...steps.map(({ word }) => word), page && t.rail[page.key], "Staunch"].filter(Boolean).join(" · ")}
      </title>
      {page && (
        <Link to={page.to} className={steps.length ? "text-soft hover:text-ink" : "font-semibold"}>
          {t.rail[page.key]}
        </Link>
      )}
      {steps.map(({ word, id, isId, isExtra }) => (
        <span
          key={`${word} ${id}`}
          className={`flex max-w-full min-w-0 items-center gap-1.5 ${isExtra ? "max-sm:hidden" : ""}`}
        >
          <Icon name="right" size={12} className="text-soft" />
          <span className={`truncate ${isId ? "font-mono text-xs" : ""}`} title={id ?? word}>
            {word}
          </span>
        </span>
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
  tabs.out(personOf(session.current()));
  session.leave();
  // By then the page is gone, and does not ask once more what is to become of it.
  setTimeout(() => location.reload());
}

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const { time, language } = useSettings();
  const who = session.current();
  const [changing, setChanging] = useState(false);
  const [lost, setLost] = useState<Unsaved>();
  const out = t.me.signOut(who.kind === "user" ? who.name : t.login.key);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-1.5 gap-y-1 border-b border-line bg-raised px-4 py-1 max-sm:gap-x-1 max-sm:px-2">
      <Breadcrumb />
      <button
        type="button"
        onClick={onSearch}
        className={`${buttonClass("plain")} text-soft sm:w-60 sm:justify-start`}
      >
        <Icon name="search" />
        <span className="flex-1 text-left font-normal max-sm:sr-only">{t.search}</span>
        <kbd className="hidden rounded-sm border border-line px-1 text-xs whitespace-nowrap sm:inline">
          {t.control} K
        </kbd>
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
          who.kind === "user" && { word: t.me.changePassword, act: () => setChanging(true) },
          who.kind === "none" && canSignIn() && { word: t.me.signIn, act: () => session.refuse() },
          who.kind !== "none" && {
            word: out,
            act: () => {
              const work = lostTo({ kind: "none" });
              if (work) setLost(work);
              else signOut();
            },
          },
        ]}
      />
      {lost && (
        <Confirm title={out} verb={out} act={async () => signOut()} onClose={() => setLost(undefined)}>
          <p>{t.me.lost(lost.name)}</p>
        </Confirm>
      )}
      {changing && who.kind === "user" && (
        <PasswordDialog name={who.name} onClose={() => setChanging(false)} />
      )}
    </header>
  );
}
