import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Transform } from "node:stream";

/** Stands between the service and PostgreSQL's socket. */
export type Relay = {
  port: number;
  /** Ends every connection. Shape: answers how many there were. */
  cut(): number;
  /** Holds every piece of an answer for so long. */
  delay(ms: number): void;
  close(): void;
};

export async function startRelay(findSocket: () => string): Promise<Relay> {
  const open = new Set<Socket>();
  let delayMs = 0;
  const slow = () =>
    new Transform({
      transform(chunk, _encoding, done) {
        if (delayMs === 0) done(null, chunk);
        else void sleep(delayMs).then(() => done(null, chunk));
      },
    });
  const server = createServer((socket) => {
    const behind = connect(findSocket());
    for (const one of [socket, behind]) {
      open.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        open.delete(one);
        socket.destroy();
        behind.destroy();
      });
    }
    socket.pipe(behind);
    behind.pipe(slow()).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      const count = open.size / 2;
      for (const socket of open) socket.destroy();
      return count;
    },
    delay: (ms) => void (delayMs = ms),
    close: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
