import { createServer } from "node:net";

/** The system gives ports from 16,000 on to those who ask for any, so that nobody else gets one below by chance. */
const [least, most] = [10_000, 15_999];
const given = new Set<number>();

/** A port that no program has; no other worker gets it before the program that it is for listens. */
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
