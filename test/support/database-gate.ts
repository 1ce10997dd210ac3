import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

export type DatabaseGate = {
  url: string;
  open(): Promise<void>;
  close(): Promise<void>;
  /** Takes what is sent and answers nothing, as a server that hangs or is cut off; until it is opened again. */
  freeze(): void;
};

function placeOf(url: URL): { host: string; port: number } | { path: string } {
  const host = url.searchParams.get("host") ?? url.hostname;
  const port = Number(url.port || "5432");
  return host.startsWith("/") ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}

/** A way to a database that can be shut and opened again, as if the server went away and came back. */
export async function makeDatabaseGate(databaseUrl: string): Promise<DatabaseGate> {
  const folder = mkdtempSync(join(tmpdir(), "schultor-gate-"));
  chmodSync(folder, 0o700);
  const inside = new URL(databaseUrl);
  const url = new URL(databaseUrl);
  url.searchParams.set("host", folder);
  const path = join(folder, `.s.PGSQL.${url.port || "5432"}`);
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let isFrozen = false;

  const gate: DatabaseGate = {
    url: url.href,
    freeze: () => void (isFrozen = true),
    async open() {
      if (isFrozen) await gate.close();
      isFrozen = false;
      const opened = createServer((outer) => {
        const inner = connect(placeOf(inside));
        for (const [socket, other] of [
          [outer, inner],
          [inner, outer],
        ] as const) {
          sockets.add(socket);
          socket.on("error", () => other.destroy());
          socket.on("close", () => {
            sockets.delete(socket);
            other.destroy();
          });
          socket.on("data", (bytes) => void (isFrozen || other.write(bytes)));
        }
      });
      await new Promise<void>((resolve) => opened.listen(path, resolve));
      server = opened;
    },
    async close() {
      const closed = new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await closed;
      server = null;
    },
  };
  await gate.open();
  atFileEnd(async () => {
    await gate.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return gate;
}
