// node tests/browser/designer.mjs http://127.0.0.1:5001 shots
// Draws, saves, publishes and runs a workflow as a person would, on a real server.
// STUDIO=http://localhost:5173/studio tests a page that is served elsewhere.
import { steps } from "./draw.mjs";
import { walk } from "./world.mjs";

await walk(steps);
