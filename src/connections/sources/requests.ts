import { createWriteStream } from "node:fs";
import { Transform, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { isRefusedTarget, type GuardedSender, type StreamedAnswer } from "../../platform/outbound/guarded-request.ts";
import { findJsonExcess } from "../../platform/text/outside-json.ts";
import { SourceError, type SourceFailure } from "./failure.ts";

type Call = { headers?: Record<string, string>; method?: "GET" | "POST"; body?: string };
type Answer = Pick<StreamedAnswer, "status"> & { header(name: string): string | null };

/** `bytes` is for all answers together, and for what is unpacked from them; `fileBytes` for a file as it is. */
export type SourceLimits = { bytes: number; fileBytes: number };

/** Requests of one run. Errors: SourceError. */
export type SourceRequests = {
  /** Checks the status, and returns the body, which counts towards the limit; the caller reads it or destroys it. */
  open(url: URL, call?: Call): Promise<Answer & { body: Readable }>;
  /** Parses one page: at most 8 MiB and 100,000 values. */
  json(url: URL, call?: Call): Promise<Answer & { value: unknown }>;
  /** Writes the body to `path`, up to the limit of a file. A 304 writes nothing. */
  save(url: URL, path: string, call?: Call): Promise<Answer>;
  /** Fetches an access token with client credentials (RFC 6749 section 4.4), sent with HTTP Basic. */
  token(url: URL, client: { id: string; secret: string; scope?: string }): Promise<string>;
  /** Passes bytes on until they exceed the limit of the run, for what a source unpacks. */
  countBytes(): Transform;
};

const mostPageBytes = 8 * 2 ** 20;
/** Parsing this many takes 30 ms. */
const mostPageValues = 100_000;

export function makeSourceRequests(
  sender: Pick<GuardedSender, "open">,
  { signal, limits }: { signal: AbortSignal; limits: SourceLimits },
): SourceRequests {
  const fetched = { bytes: 0 };
  const count = (counted: { bytes: number }, most: number) =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        counted.bytes += chunk.length;
        if (counted.bytes > most) done(new SourceError("TOO_LARGE", `more than ${most} bytes`));
        else done(null, chunk);
      },
    });

  const open: SourceRequests["open"] = async (url, { headers = {}, method = "GET", body } = {}) => {
    const sent = {
      method,
      headers: { ...headers, "accept-encoding": "identity" },
      ...(body !== undefined && { body }),
    };
    const answer = await sender.open(url, { ...sent, signal }).catch((error: unknown) => {
      throw toSourceError(error, signal);
    });
    const { status } = answer;
    if (status !== 200 && status !== 304) {
      answer.body.on("error", () => undefined).destroy();
      throw refusalOf(readable(answer), url);
    }
    const counted = count(fetched, limits.bytes);
    pipeline(answer.body, counted).catch(() => undefined);
    return { ...readable(answer), body: counted };
  };

  const json: SourceRequests["json"] = async (url, call) => {
    const { body, ...answer } = await open(url, call);
    const bytes = await translated(signal, () => pipeline(body, count({ bytes: 0 }, mostPageBytes), buffer));
    const excess = findJsonExcess(bytes, mostPageValues);
    if (excess !== null) throw new SourceError("TOO_LARGE", `the page of ${url.pathname} ${excess}`);
    return { ...answer, value: parse(bytes, url) };
  };

  return {
    open,
    json,
    async save(url, path, call) {
      const { body, ...answer } = await open(url, call);
      await translated(signal, () =>
        pipeline(body, count({ bytes: 0 }, limits.fileBytes), createWriteStream(path, { mode: 0o600 }), { signal }),
      );
      return answer;
    },
    async token(url, { id, secret, scope }) {
      const { value } = await json(url, {
        method: "POST",
        headers: { ...basic(formEncode(id), formEncode(secret)), "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "client_credentials",
          ...(scope !== undefined && { scope }),
        }).toString(),
      }).catch((error: unknown) => {
        // Token endpoints refuse a client with 400 or 401 (RFC 6749 section 5.2).
        if (error instanceof SourceError && error.status === 400)
          throw new SourceError("REFUSED_CREDENTIALS", error.detail, { cause: error, status: 400 });
        throw error;
      });
      const token = (value as { access_token?: unknown } | null)?.access_token;
      if (typeof token !== "string" || token === "") throw new SourceError("ANSWERED_BADLY", "no access token");
      return token;
    },
    countBytes: () => count({ bytes: 0 }, limits.bytes),
  };
}

const readable = ({ status, headers }: StreamedAnswer): Answer => ({
  status,
  header(name) {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  },
});

/** RFC 7617. */
export const basic = (userName: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${userName}:${password}`).toString("base64")}`,
});

/** RFC 6749 section 2.3.1. */
const formEncode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

function parse(bytes: Buffer, { pathname }: URL): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    // What began as JSON and ended too early was cut.
    const isCut = /^\s*[[{]/.test(bytes.subarray(0, 100).toString("latin1")) && !/[\]}]\s*$/.test(tailOf(bytes));
    throw new SourceError(isCut ? "HALF" : "ANSWERED_BADLY", `${pathname} sent no JSON`, { cause: error });
  }
}

const tailOf = (bytes: Buffer): string => bytes.subarray(-100).toString("latin1");

/** RFC 6750 section 3. */
const lackedScope = /\bscope="([\x21\x23-\x5b\x5d-\x7e ]{1,500})"/;

function refusalOf({ status, header }: Answer, { pathname }: URL): SourceError {
  const code = refusals[status] ?? (status >= 500 ? "UNREACHABLE" : "ANSWERED_BADLY");
  const scope = lackedScope.exec(header("www-authenticate") ?? "")?.[1] ?? null;
  return new SourceError(code, `${pathname} answered ${status}`, { status, scope });
}

const refusals: Readonly<Record<number, SourceFailure>> = {
  401: "REFUSED_CREDENTIALS",
  403: "REFUSED_CREDENTIALS",
  404: "NOT_FOUND",
  410: "NOT_FOUND",
  429: "UNREACHABLE",
};

async function translated<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSourceError(error, signal);
  }
}

/** Codes of undici for an answer whose end did not come, or whose length is another one than it said. */
const cutShort = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "ECONNRESET",
  "HPE_INVALID_EOF_STATE",
]);
const tooSlow = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

export function toSourceError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof SourceError || !(error instanceof Error)) return error;
  const ownCode: unknown = (error as NodeJS.ErrnoException).code;
  // The code of a DOMException, as signals throw, is a number.
  const code = typeof ownCode === "string" ? ownCode : error.name;
  if (signal.aborted || tooSlow.has(code)) return new SourceError("TOO_SLOW", code, { cause: error });
  if (isRefusedTarget(error)) return new SourceError("ADDRESS_REFUSED", error.message, { cause: error });
  if (["ENOSPC", "EACCES", "EROFS"].includes(code)) return error;
  return new SourceError(cutShort.has(code) ? "HALF" : "UNREACHABLE", code, { cause: error });
}
