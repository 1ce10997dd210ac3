import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, rm } from "node:fs/promises";
import { onTestFinished } from "vitest";
import { makeSourceRequests } from "../../src/connections/sources/requests.ts";
import { SourceError } from "../../src/connections/sources/failure.ts";
import type { RosterSource, SourceSchool, SourceSettings } from "../../src/connections/sources/source.ts";
import { makeGuardedSender } from "../../src/platform/outbound/guarded-request.ts";
import { makeTemporaryPath } from "../../src/platform/temporary-files.ts";

export type Asked = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
/** Null: never answers. `cutAt`: the connection ends after as many bytes. */
export type Reply = { status?: number; body?: string | Buffer | object; cutAt?: number } | null;

/** A provider that answers as a published contract says, until a test lets it answer otherwise. */
export async function replay(answer: (asked: Asked) => Reply) {
  const asked: Asked[] = [];
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const one = {
      method: req.method!,
      path: req.url!,
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    };
    asked.push(one);
    const reply = answer(one);
    if (reply === null) return;
    const { status = 200, body = "", cutAt } = reply;
    const bytes =
      Buffer.isBuffer(body) || typeof body === "string"
        ? Buffer.from(body as string)
        : Buffer.from(JSON.stringify(body));
    res.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
    if (cutAt === undefined) res.end(bytes);
    else res.write(bytes.subarray(0, cutAt), () => res.destroy());
  };
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export type Given = {
  settings: SourceSettings;
  secret?: string;
  schools: SourceSchool[];
  now: string;
  bytes?: number;
  /** Ends the run. */
  signal?: AbortSignal;
};

export type ReadPerson = {
  pid: string;
  person: { name: { vorname: string; familienname: string }; stammorganisation: { kennung: string | null } };
  personenkontexte: {
    organisation: { kennung: string | null; name: string | null };
    rolle: string;
    gruppen: {
      gruppe: { id: string; bezeichnung: string; typ: string };
      gruppenzugehoerigkeit: { rollen: string[] };
    }[];
  }[];
};

/** Reads the roster without importing it. Errors: SourceError. */
export async function readRoster(source: RosterSource, given: Given): Promise<ReadPerson[]> {
  const { settings, secret = "geheim", schools, now, bytes = 2 ** 24, signal = new AbortController().signal } = given;
  const sender = makeGuardedSender({ timeoutMs: 5000, allowPrivateAddresses: true });
  const files: string[] = [];
  const makeFile = () => {
    files.push(makeTemporaryPath());
    return files.at(-1)!;
  };
  const limits = { bytes, fileBytes: bytes };
  try {
    const tools = {
      requests: makeSourceRequests(sender, { signal, limits }),
      signal,
      limits,
      makeFile,
      now: new Date(now),
    };
    const file = await source.read({ settings, secret, schools, validator: null }, tools);
    if (file === "unchanged") throw new Error("nothing was read");
    return JSON.parse(await readFile(file.path, "utf8")) as ReadPerson[];
  } finally {
    await sender.close();
    for (const path of files) await rm(path, { force: true });
  }
}

/** The code of the failure; "read" if there was none. */
export const failureOf = (reading: Promise<unknown>): Promise<string> =>
  reading.then(
    () => "read",
    (error: unknown) => (error instanceof SourceError ? error.code : `no SourceError: ${String(error)}`),
  );

/** One line for a person: id, name, role and groups. */
export const lineOf = ({ pid, person: { name }, personenkontexte }: ReadPerson): string => {
  const contexts = personenkontexte.map(({ organisation, rolle, gruppen }) => {
    const groups = gruppen.map(
      ({ gruppe, gruppenzugehoerigkeit }) => `${gruppe.bezeichnung} (${gruppenzugehoerigkeit.rollen.join() || "-"})`,
    );
    return [`${rolle} at ${organisation.kennung ?? organisation.name ?? "the school"}`, ...groups].join(", ");
  });
  return `${pid} ${name.vorname} ${name.familienname}: ${contexts.join("; ")}`;
};
