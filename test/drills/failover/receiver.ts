import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An app's server that notes which events arrived. */
export async function startReceiver(): Promise<{ url: string; arrived: Map<string, string>; close(): void }> {
  const arrived = new Map<string, string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived.set(String(request.headers["webhook-id"]), Buffer.concat(chunks).toString());
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrived,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
