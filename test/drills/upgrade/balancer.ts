import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that hands each request to the next process in turn. */
export type Balancer = {
  url: string;
  /** Which processes get requests from here on. */
  sendTo(ports: readonly number[]): void;
  close(): void;
};

export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: false });
  let [ports, turn] = [[] as readonly number[], 0];
  // A body is read before, so that a process that refuses the connection can be passed over.
  const pass = async (asked: IncomingMessage, answer: ServerResponse) => {
    const body = Buffer.concat((await asked.toArray()) as Buffer[]);
    const tryNext = (left: number) => {
      const port = ports[turn++ % ports.length]!;
      const headers = { ...asked.headers, "x-forwarded-for": asked.socket.remoteAddress ?? "" };
      request({ host: "127.0.0.1", port, agent, method: asked.method!, path: asked.url!, headers })
        .on("response", (passed) => {
          answer.writeHead(passed.statusCode!, passed.headers);
          passed.on("error", () => answer.destroy()).pipe(answer);
        })
        .on("error", (error: NodeJS.ErrnoException) => {
          if (error.code === "ECONNREFUSED" && left > 1) tryNext(left - 1);
          else answer.destroy();
        })
        .end(body);
    };
    tryNext(ports.length);
  };
  const server = createServer((asked, answer) => void pass(asked, answer).catch(() => answer.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    sendTo: (next) => void (ports = next),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
