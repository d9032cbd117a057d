import type { Text } from "..";
import { frame } from "./frame";
import { system } from "./system";
import { validation } from "./validation";
import { work } from "./work";

export const de: Text = { ...frame, ...work, ...system, validation };
