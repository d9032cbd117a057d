// node tests/browser/two.mjs http://127.0.0.1:5001 shots http://127.0.0.1:5002
// Two people on two nodes of a cluster edit the same workflow: the second to save is told what changed and by whom,
// and loses nothing. Without a second address, both work at the same node.
import { steps } from "./pair.mjs";
import { walk } from "./world.mjs";

await walk(steps);
