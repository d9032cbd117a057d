// Observes one instance with Microsoft's own client, and prints what the server calls, a line each.
import { createRequire } from "module";

const [folder, url, id, token, mode] = process.argv.slice(2);
const { HubConnectionBuilder, HttpTransportType, LogLevel } =
    createRequire(folder + "/")("@microsoft/signalr");
const say = (name, value) => console.log(JSON.stringify({ name, value: value ?? null }));
const options = { accessTokenFactory: () => token };
if (mode === "skip") {
    options.skipNegotiation = true;
    options.transport = HttpTransportType.WebSockets;
}
const connection =
    new HubConnectionBuilder().withUrl(url, options).configureLogging(LogLevel.None).build();
for (const name of ["WorkflowExecutionLogUpdatedAsync", "ActivityExecutionLogUpdatedAsync",
    "WorkflowInstanceUpdatedAsync"]) {
    connection.on(name, value => say(name, value));
}
connection.onclose(error => { say("closed", error?.message); process.exit(0); });
try {
    await connection.start();
    await connection.invoke("Nothing").catch(error => say("refused", error.message));
    await connection.invoke("ObserveInstanceAsync", id);
    say("observing");
} catch (error) {
    say("failed", error.message);
    process.exit(1);
}
process.stdin.on("data", () => connection.stop());
