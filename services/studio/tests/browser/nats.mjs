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

/** Asks one question, such as one of JetStream's API, and gives what the answer says as JSON. */
export function ask(url, subject, text) {
  const { hostname, port } = new URL(url);
  const inbox = "_INBOX.browser.walk";
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port || 4222), hostname);
    socket.setTimeout(10_000, () => socket.destroy(new Error(`nobody answers ${subject}`)));
    socket.on("error", reject);
    socket.once("connect", () => {
      const size = Buffer.byteLength(text);
      socket.write(
        `CONNECT {"verbose":false}\r\nSUB ${inbox} 1\r\nPUB ${subject} ${inbox} ${size}\r\n${text}\r\n`,
      );
    });
    let said = "";
    socket.on("data", (part) => {
      said += part;
      if (said.includes("-ERR")) return socket.destroy(new Error(said));
      const found = /MSG \S+ 1 (?:\S+ )?(\d+)\r\n/.exec(said);
      if (!found) return;
      const body = said.slice(found.index + found[0].length);
      if (Buffer.byteLength(body) < Number(found[1])) return;
      const answer = JSON.parse(Buffer.from(body).subarray(0, Number(found[1])).toString());
      socket.destroy();
      if (answer.error) reject(new Error(`${subject}: ${JSON.stringify(answer.error)}`));
      else resolve(answer);
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
