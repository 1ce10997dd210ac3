import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

const address = "127.0.0.1";

/** Ways to ports, all of which can be cut at once: nothing is refused, nothing arrives. */
export type Relay = {
  /** Answers the port by which `port` is reached. */
  open(port: number): Promise<number>;
  cut(): void;
  heal(): void;
  close(): void;
};

export function makeRelay(): Relay {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let isCut = false;

  const pass = (outer: Socket, port: number): void => {
    // Who connects while the way is cut meets silence.
    const inner = isCut ? null : connect(port, address);
    for (const [socket, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      if (socket === null) continue;
      sockets.add(socket);
      socket.on("error", () => other?.destroy());
      socket.on("data", (bytes) => void (isCut || other?.write(bytes)));
      socket.on("close", () => {
        sockets.delete(socket);
        if (!isCut) other?.destroy();
      });
    }
  };
  return {
    async open(port) {
      const server = createServer((outer) => pass(outer, port));
      servers.push(server);
      await new Promise<void>((done) => server.listen(0, address, done));
      return (server.address() as AddressInfo).port;
    },
    cut: () => void (isCut = true),
    heal() {
      isCut = false;
      // What was lost on the way does not arrive later.
      for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
