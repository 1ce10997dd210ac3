import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { atFileEnd } from "./file-end.ts";

/** Serves on a free port of a loopback address until the test file ends; answers the address. */
export async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<string> {
  // Idle connections stay open: on a busy machine a client might reuse one just as the server closes it.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}
