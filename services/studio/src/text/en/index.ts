import { frame } from "./frame";
import { system } from "./system";
import { validation } from "./validation";
import { work } from "./work";

export const en = { ...frame, ...work, ...system, validation };
