// Publishes one message to NATS, as the `nats` tool does: what a person can send, the walk must be able to send.
import net from "node:net";

export function publish(url, subject, text) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port || 4222), hostname);
    socket.setTimeout(10_000, () => socket.destroy(new Error(`${url} does not answer`)));
    socket.on("error", reject);
    socket.once("connect", () => {
      const size = Buffer.byteLength(text);
      socket.write(`CONNECT {"verbose":false}\r\nPUB ${subject} ${size}\r\n${text}\r\nPING\r\n`);
    });
    let said = "";
    socket.on("data", (part) => {
      said += part;
      if (said.includes("-ERR")) socket.destroy(new Error(said));
      else if (said.includes("PONG")) socket.end(resolve);
    });
  });
}

/** Answers every question on a subject with one text, as a service does, until the returned function is called. */
export function answer(url, subject, text) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port || 4222), hostname);
    socket.on("error", reject);
    socket.once("connect", () => socket.write(`CONNECT {"verbose":false}\r\nSUB ${subject} 1\r\nPING\r\n`));
    let said = "";
    socket.on("data", (part) => {
      said += part;
      const lines = said.split("\r\n");
      said = lines.pop();
      for (const line of lines) {
        const [verb, , , reply] = line.split(" ");
        if (verb === "PONG") resolve(() => socket.destroy());
        if (verb === "PING") socket.write("PONG\r\n");
        if (verb === "MSG") socket.write(`PUB ${reply} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
      }
    });
  });
}
