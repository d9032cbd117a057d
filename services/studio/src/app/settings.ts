import { useSyncExternalStore } from "react";
import type { TimeMode } from "../lib/format";

export type Theme = "system" | "light" | "dark";

export interface Settings {
  theme: Theme;
  time: TimeMode;
  language: "en" | "de";
}

const STORE = "staunch.settings";
const listeners = new Set<() => void>();
const dark = typeof matchMedia === "undefined" ? undefined : matchMedia("(prefers-color-scheme: dark)");

function spoken(): Settings["language"] {
  return typeof navigator !== "undefined" && navigator.language.startsWith("de") ? "de" : "en";
}

function read(): Settings {
  const settings: Settings = { theme: "system", time: "local", language: spoken() };
  try {
    return { ...settings, ...(JSON.parse(localStorage.getItem(STORE) ?? "{}") as Partial<Settings>) };
  } catch {
    return settings;
  }
}

let current = read();

export function isDark(): boolean {
  return current.theme === "dark" || (current.theme === "system" && dark?.matches === true);
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  document.documentElement.lang = current.language;
}

function tell(): void {
  applyTheme();
  for (const listener of listeners) listener();
}

export const settings = {
  current: () => current,
  change(part: Partial<Settings>) {
    current = { ...current, ...part };
    localStorage.setItem(STORE, JSON.stringify(current));
    tell();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

dark?.addEventListener("change", () => {
  current = { ...current };
  tell();
});

export function useSettings(): Settings {
  return useSyncExternalStore(settings.subscribe, settings.current, settings.current);
}
