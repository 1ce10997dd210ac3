import { setImmediate } from "node:timers/promises";
import type { CustomFetch, FetchBody } from "openid-client";
import { type Gate, makeGate } from "../platform/concurrency/gate.ts";
import { AppError, makeUnavailable } from "../platform/errors.ts";
import type { GuardedSender } from "../platform/outbound/guarded-request.ts";
import { findJsonExcess } from "../platform/text/outside-json.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";

/** No call takes longer. */
export const callTimeoutMs = 5000;
/** An answer with tokens is smaller: what is signed is decoded twice. */
const mostBytes = { GET: 1024 * 1024, POST: 256 * 1024 };
/** Parsing this many takes 30 ms. */
export const mostValues = 100_000;

/** At most 16 calls to a provider at a time; others wait, at most 1.5 s. A hanging provider blocks no other. */
export const makeCallGate = (): Gate =>
  makeGate({ places: Infinity, placesPerClient: 16, open: Infinity, openPerClient: Infinity, waitMs: 1500 }, () =>
    makeUnavailable("the provider has too many calls to answer"),
  );

const neverLeaves = { hasLeft: () => false, onLeave: () => () => undefined };
const withoutBody = new Set([101, 103, 204, 205, 304]);

const textOf = (body: FetchBody): string =>
  typeof body === "string" || body instanceof URLSearchParams ? body.toString() : "";

let lastTurn: Promise<unknown> = Promise.resolve();

/** Answers that arrive together are each parsed in a turn of the event loop of their own. */
const nextTurn = (): Promise<unknown> => (lastTurn = lastTurn.then(() => setImmediate()));

/** `fetch` for openid-client, in the connection's turn. Errors: UPSTREAM_DOWN; INVALID_RESPONSE for a large answer. */
export function makeGuardedFetch(
  { sender, gate }: { sender: GuardedSender; gate: Gate },
  connectionId: ConnectionId,
): CustomFetch {
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const leave = await gate.enter(connectionId, neverLeaves).catch((error: unknown) => {
      throw error instanceof AppError ? new UpstreamError("UPSTREAM_DOWN", error.internal) : error;
    });
    try {
      const most = mostBytes[method === "POST" ? "POST" : "GET"];
      const sent = { headers: { ...headers, "accept-encoding": "identity" }, mostBytes: most + 1 };
      const answer =
        method === "POST" ? await sender.post(url, { ...sent, body: textOf(body) }) : await sender.get(url, sent);
      if (answer.status >= 500 || answer.status === 429)
        throw new UpstreamError("UPSTREAM_DOWN", `${url.pathname} answered ${answer.status}`);
      await nextTurn();
      const excess =
        answer.start.length > most ? `is larger than ${most / 1024} KiB` : findJsonExcess(answer.start, mostValues);
      if (excess !== null) throw new UpstreamError("INVALID_RESPONSE", `the answer of ${url.pathname} ${excess}`);
      const contents = withoutBody.has(answer.status) ? null : new Uint8Array(answer.start);
      return new Response(contents, {
        status: answer.status,
        headers: answer.contentType === null ? {} : { "content-type": answer.contentType },
      });
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      throw new UpstreamError("UPSTREAM_DOWN", error instanceof Error ? error.message : "", { cause: error });
    } finally {
      leave();
    }
  };
}
