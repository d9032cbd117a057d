import { language } from "../../../text";
import { de } from "./de";
import { en } from "./en";

/** The words of the designer; they load with it. */
export const w: typeof en = language === "de" ? de : en;
