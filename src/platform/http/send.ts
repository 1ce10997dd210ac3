import { hash } from "node:crypto";
import type { Request, Response } from "express";
import type { Done, JsonDone, JsonMade, JsonRead, JsonText } from "./answer.ts";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";
import type { Gate } from "../concurrency/gate.ts";
import { jsonInSlices } from "./exports.ts";
import { makePacedBody, watchBody } from "./paced-body.ts";
import { TemporaryFile } from "../temporary-files.ts";
import { toQuery, sql, type Sql } from "../database/sql.ts";
import { readFor, type ReadTogether, type Reading } from "./reads.ts";
import type { EncryptionKeys } from "../crypto/seal.ts";
import type { BodyCheck } from "./validation.ts";

export type Sending = {
  req: Request;
  res: Response;
  caller: Caller;
  clientId: string;
  reading: Reading;
  check: BodyCheck | null;
  complete: (json: string) => string;
  readTogether: ReadTogether;
  cursorKeys: EncryptionKeys;
};

export async function sendRead({ query, client, id, missing }: JsonRead<unknown>, sending: Sending): Promise<void> {
  const { reading, readTogether, caller } = sending;
  admit(reading.records, sending);
  const [version, body] = await inPlace(reading.records, sending, () => readTogether(query, { client, id, caller }));
  if (body === null) throw missing();
  await sendBody(sending.complete(body), sending, { headers: readVersion(version).headers });
}

export async function sendMade(made: JsonMade<unknown>, sending: Sending): Promise<void> {
  const { lists } = sending.reading;
  admit(lists, sending);
  const [body, version] = await inPlace(lists, sending, () => Promise.all([made.make(), made.readVersion?.()]));
  await sendBody(JSON.stringify(body), sending, { headers: readVersion(version ?? null).headers });
}

/** The version is read first: a text that is newer than its tag is only sent again once. */
export async function sendText({ source }: JsonText<unknown>, sending: Sending): Promise<void> {
  const { reading, caller, req, res } = sending;
  const { version: statement, params, identity, missing } = source;
  admit(reading.lists, sending);
  const held = await inPlace(reading.lists, sending, () =>
    readFor(reading.share, caller, async (client) => {
      const query = { ...toQuery(statement, params), rowMode: "array" as const };
      const { rows } = await client.query<[shown: boolean, version: string | null]>(query);
      const [shown, version] = rows[0]!;
      if (!shown) throw missing!();
      const { tag, headers } = readVersion(version);
      const etag = etagOf(JSON.stringify([identity, tag]));
      if (isNotModified(req, etag)) return { body: null, etag, headers };
      const read = await source.read(client, tag);
      return { body: read.body, etag, headers: { ...headers, ...read.headers(req.originalUrl) } };
    }),
  );
  const { body, etag, headers } = held;
  if (body === null) return void res.writeHead(304, headersOf(etag, headers)).end();
  await sendBody(sending.complete(body), sending, { etag, headers });
}

export async function sendDone({ work }: JsonDone<Done>, sending: Sending): Promise<void> {
  const { staff } = sending.reading;
  const leave = admit(staff, sending);
  const done = await inPlace(staff, sending, work);
  const { status, headers = {}, body } = done.later === undefined ? done : await waitFor(done, leave, sending);
  const { res, check } = sending;
  check?.(body, status);
  if (body instanceof TemporaryFile) return sendFile(body, { status, headers }, sending);
  const type = body === undefined ? {} : { "Content-Type": Buffer.isBuffer(body) ? "application/pdf" : contentType };
  res.writeHead(status, { "Cache-Control": "no-store", ...type, ...headers });
  if (body === undefined || Buffer.isBuffer(body)) return void res.end(body);
  for await (const piece of jsonInSlices(body as object)) res.write(piece);
  res.end();
}

async function sendFile(
  file: TemporaryFile,
  { status, headers }: Required<Pick<Done, "status" | "headers">>,
  { req, res, reading }: Sending,
): Promise<void> {
  const { size, pieces } = await file.take();
  const body = makePacedBody(res, reading.pace);
  const length = { "Content-Type": "application/octet-stream", "Content-Length": size };
  res.writeHead(status, { "Cache-Control": "no-store", ...length, ...headers });
  for await (const piece of pieces) if (req.method !== "HEAD") await body.write(piece);
  await body.end();
}

async function waitFor({ later, ...done }: Done, leave: () => void, sending: Sending): Promise<Done> {
  const { caller, reading } = sending;
  leave();
  const isDue = await later!.wait(caller);
  if (caller.hasLeft()) throw new CallerLeft();
  if (!isDue) return done;
  admit(reading.staff, sending);
  return inPlace(reading.staff, sending, () => later!.work());
}

export function admit(gate: Gate, { res, clientId, caller }: Sending): () => void {
  if (caller.hasLeft()) throw new CallerLeft();
  const leave = gate.admit(clientId);
  res.once("close", leave);
  return leave;
}

export async function inPlace<T>(gate: Gate, { clientId, caller }: Sending, work: () => Promise<T>): Promise<T> {
  const leave = await gate.enter(clientId, caller);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** `headers` say how current the body is. */
export type Held = { body: string; etag?: string; headers: Version["headers"] };

const shortText = 16_384;
export const contentType = "application/json; charset=utf-8";

export async function sendBody(
  text: string,
  { req, res, check, reading }: Sending,
  { etag: known, headers }: Omit<Held, "body">,
): Promise<void> {
  check?.(JSON.parse(text));
  // Encodes a long text only once, for its tag and for sending.
  const body = text.length < shortText || known !== undefined ? text : Buffer.from(text);
  const etag = known ?? etagOf(body);
  if (isNotModified(req, etag)) return void res.writeHead(304, headersOf(etag, headers)).end();
  const bytes = Buffer.byteLength(body);
  res.writeHead(200, { ...headersOf(etag, headers), "Content-Type": contentType, "Content-Length": bytes }).end(body);
  if (text.length >= shortText) await watchBody(res, bytes, reading.pace);
}

export const etagOf = (body: Buffer | string): string => `"${hash("sha1", body, "base64url")}"`;

/** Source: RFC 9110 section 13.1.2: weak comparison, because a proxy may have weakened the tag. */
export function isNotModified(req: Request, etag: string): boolean {
  const made = req.headers["if-none-match"];
  if (made === undefined) return false;
  return made.trim() === "*" || made.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

export const headersOf = (etag: string, headers: Version["headers"]) => ({
  ETag: etag,
  "Cache-Control": "private, no-cache",
  ...headers,
});

/** The headers of a read that say how current it is. */
export const timeHeaders = ["Schultor-Visible-Change", "Schultor-Source-Read"] as const;

export const rfc3339 = (time: Sql): Sql => sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL of a text for `readVersion`. Either time may be null. */
export const versionText = (of: { version: Sql; changedAt: Sql; sourceReadAt: Sql }): Sql =>
  sql`concat(${of.version}, ' ', ${rfc3339(of.changedAt)}, ' ', ${rfc3339(of.sourceReadAt)})`;

/** Equal tags mean equal items. */
export type Version = { tag: string | null; headers: Record<string, string> };

export function readVersion(text: string | null): Version {
  const [tag = null, ...times] = text?.split(" ") ?? [];
  const headers: Record<string, string> = {};
  for (const [index, time] of times.entries()) if (time !== "") headers[timeHeaders[index]!] = time;
  return { tag, headers };
}
