import { createServer, type Server } from "node:net";

/** Below the ports that systems give to programs that ask for any: from 16,000 or 32,768 on. */
const [least, count] = [10_000, 3000];

/** A port that no program has, nor gets by chance before the one that it is for listens. */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = least + Math.floor(Math.random() * count);
    // Held to the end of this process, so that tests in another one do not find the same port.
    const claim = await listen({ port: port + count, host: "127.0.0.1" });
    if (claim === null) continue;
    claim.unref();
    const free = await listen({ port });
    if (free === null) continue;
    await new Promise((resolve) => free.close(resolve));
    return port;
  }
}

/** Null where somebody listens already. */
const listen = (at: { port: number; host?: string }): Promise<Server | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null)).listen(at, () => resolve(server));
  });
