// A sensor that speaks MQTT, and a page that speaks NATS over WebSocket: each sends one message.
// node listeners.mjs <folder of mqtt> <folder of nats-core> <mqtt url> <websocket url>
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [mqttFolder, natsFolder, mqttUrl, webSocketUrl] = process.argv.slice(2);

const mqtt = createRequire(join(mqttFolder, "x.js"))("mqtt");
const sensor = await mqtt.connectAsync(mqttUrl, { clientId: "kitchen" });
await sensor.publishAsync("sensors/kitchen/temperature", JSON.stringify({ celsius: 31 }), { qos: 1 });
await sensor.endAsync();

// Browsers have it, and Node from version 22 on.
globalThis.WebSocket ??= createRequire(join(mqttFolder, "x.js"))("ws");
const core = createRequire(join(natsFolder, "x.js")).resolve("@nats-io/nats-core");
const { wsconnect } = await import(pathToFileURL(core));
const page = await wsconnect({ servers: webSocketUrl });
page.publish("sensors.hall.temperature", JSON.stringify({ celsius: 12 }));
await page.drain();
console.log("sent");
