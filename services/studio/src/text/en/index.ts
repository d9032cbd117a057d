import { frame } from "./frame";
import { system } from "./system";
import { work } from "./work";

export const en = { ...frame, ...work, ...system };
