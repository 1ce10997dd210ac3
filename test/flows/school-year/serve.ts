import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { atFileEnd } from "../../support/file-end.ts";

/** Serves on a free port of the loopback address until the test file ends; answers the address. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
