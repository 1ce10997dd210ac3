import { createServer } from "node:net";

/** Below the ports that systems give to programs that ask for any: from 16,000 or 32,768 on. */
const [least, most] = [10_000, 15_999];
const given = new Set<number>();

/** A port that no program has, nor gets by chance before the one that it is for listens. */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = least + Math.floor(Math.random() * (most - least));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
  });
