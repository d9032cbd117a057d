import type { Text } from "..";
import { en } from "../en";

export const de: Text = en;
