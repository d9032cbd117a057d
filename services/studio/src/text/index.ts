import { settings } from "../app/settings";
import { de } from "./de";
import { en } from "./en";

export type Text = typeof en;

/** The words of the page; another language begins with the next load. */
export const t: Text = settings.current().language === "de" ? de : en;
export const language = settings.current().language;
