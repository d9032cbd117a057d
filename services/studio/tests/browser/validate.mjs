// node tests/browser/validate.mjs http://127.0.0.1:5001 shots
// Validates a running cluster from its page: what is offered, how it ends, what is left. It takes some minutes.
import { steps } from "./validation.mjs";
import { walk } from "./world.mjs";

await walk(steps);
