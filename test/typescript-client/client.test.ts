import { afterEach, describe, expect, test, vi } from "vitest";
import { ApiError, CursorExpiredError, NetworkError, readAll, TokenError } from "../../clients/typescript/src/index.ts";
import { json, makeStub, problem } from "./stub.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const id = "a0000000-0000-4000-8000-000000000001";
const refusedToken = () => problem(401, "invalid_token", { "www-authenticate": 'Bearer error="invalid_token"' });

/** Lets every wait end at once. Shape: how long each was to take, in milliseconds. */
function withoutWaiting(): unknown[] {
  const waits: unknown[] = [];
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((done: () => void, ms: number) => {
    waits.push(ms);
    queueMicrotask(done);
  }) as typeof setTimeout);
  return waits;
}

describe("tokens", () => {
  test("are fetched once for all who call at the same time, with id and secret encoded as OAuth wants", async () => {
    const { client, calls, tokenCalls } = makeStub(() => json({ id }));
    await Promise.all([client.findSchool(id), client.findPerson(id), client.listPersonenInfo()]);
    expect(tokenCalls).toHaveLength(1);
    expect(atob(tokenCalls[0]!.headers.get("authorization")!.slice(6))).toBe("an+app:s%3A%C3%A9");
    expect(new URLSearchParams(tokenCalls[0]!.body).get("scope")).toMatch(/^urn:schultor:idm:v1:schools:read urn/);
    expect(calls.map(({ headers }) => headers.get("authorization"))).toEqual(Array(3).fill("Bearer token-1"));
  });

  test("are renewed before they end, and not earlier", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { client, calls } = makeStub(() => json({ id }));
    for (const seconds of [0, 3500, 41]) {
      vi.setSystemTime(Date.now() + seconds * 1000);
      await client.findSchool(id);
    }
    expect(calls.map(({ headers }) => headers.get("authorization")!.slice(-1))).toEqual(["1", "1", "2"]);
  });

  test("that the service refuses are replaced once, by one for all who were refused", async () => {
    const { client, tokenCalls } = makeStub(({ headers }) =>
      headers.get("authorization") === "Bearer token-1" ? refusedToken() : json({ id }),
    );
    expect(await Promise.all([client.findSchool(id), client.findSchool(id)])).toEqual([{ id }, { id }]);
    expect(tokenCalls).toHaveLength(2);
  });

  test("that the service goes on refusing are an error, and so is a 401 for another reason", async () => {
    const refusing = makeStub(refusedToken);
    await expect(refusing.client.findSchool(id)).rejects.toMatchObject({ status: 401, code: "invalid_token" });
    expect(refusing.calls).toHaveLength(2);
    const missing = makeStub(() => problem(401, "missing_token", { "www-authenticate": "Bearer" }));
    await expect(missing.client.findSchool(id)).rejects.toMatchObject({ code: "missing_token" });
    expect(missing.calls).toHaveLength(1);
  });

  test("that are not given are an error of their own, and the next call asks again", async () => {
    const { client, tokenCalls } = makeStub(() => json({ id }), {
      token: (_call, nth) =>
        nth === 1
          ? json({ error: "invalid_scope" }, { status: 400, headers: { "x-request-id": "r-9" } })
          : nth === 2
            ? new Response("<html>")
            : json({ access_token: "late", expires_in: 60 }),
    });
    const refused = await client.findSchool(id).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TokenError);
    expect(refused).toMatchObject({ status: 400, code: "invalid_scope", requestId: "r-9" });
    await expect(client.findSchool(id)).rejects.toMatchObject({ name: "TokenError", code: "no_access_token" });
    expect(await client.findSchool(id)).toEqual({ id });
    expect(tokenCalls).toHaveLength(3);
  });

  test("of a caller who gives up still come for the others", async () => {
    const release = Promise.withResolvers<Response>();
    const asked = Promise.withResolvers<undefined>();
    const token = () => {
      asked.resolve(undefined);
      return release.promise;
    };
    const { client, tokenCalls } = makeStub(() => json({ id }), { token });
    const giveUp = new AbortController();
    const [given, other] = [client.findSchool(id, { signal: giveUp.signal }), client.findSchool(id)];
    await asked.promise;
    giveUp.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    release.resolve(json({ access_token: "one", expires_in: 60 }));
    expect(await other).toEqual({ id });
    expect(tokenCalls).toHaveLength(1);
  });

  test("of a person are sent as they are, and not replaced", async () => {
    const { client, calls, tokenCalls } = makeStub(refusedToken);
    await expect(client.getPersonInfo("theirs")).rejects.toMatchObject({ status: 401 });
    expect(calls.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer theirs"]);
    expect(tokenCalls).toEqual([]);
  });
});

describe("Retry-After", () => {
  const busyOnce = (retryAfter: string | null, status = 429) =>
    makeStub((_call, nth) =>
      nth === 1
        ? problem(status, "rate_limited", retryAfter === null ? {} : { "retry-after": retryAfter })
        : json({ id }),
    );

  test.each([
    ["seconds", "7", 429, 7],
    ["a date", "Tue, 03 Feb 2026 08:00:30 GMT", 503, 30],
    ["nothing: a second", null, 503, 1],
    ["nonsense: a second", "-5", 429, 1],
  ])("of %s is waited for", async (_what, retryAfter, status, seconds) => {
    vi.useFakeTimers({ now: new Date("2026-02-03T08:00:00Z"), toFake: ["Date"] });
    const waits = withoutWaiting();
    const { client, calls } = busyOnce(retryAfter, status);
    expect(await client.findSchool(id)).toEqual({ id });
    expect(waits).toEqual([seconds * 1000]);
    expect(calls).toHaveLength(2);
  });

  test("of a date in the past is not waited for", async () => {
    expect(await busyOnce("Tue, 03 Feb 2015 08:00:30 GMT").client.findSchool(id)).toEqual({ id });
  });

  test("that is longer than the bound is not waited for, but told", async () => {
    const { client, calls } = busyOnce("61");
    await expect(client.findSchool(id)).rejects.toMatchObject({ status: 429, retryAfterMs: 61_000 });
    expect(calls).toHaveLength(1);
  });

  test("is followed so many times only, for tokens too", async () => {
    const busy = () => problem(503, "unavailable", { "retry-after": "0" });
    const { client, calls } = makeStub(busy, { maxRetries: 2 });
    await expect(client.findSchool(id)).rejects.toMatchObject({ status: 503, code: "unavailable", requestId: "r-1" });
    expect(calls).toHaveLength(3);
    const noToken = makeStub(() => json({ id }), { token: busy });
    await expect(noToken.client.findSchool(id)).rejects.toMatchObject({ name: "TokenError", status: 503 });
    expect(noToken.tokenCalls).toHaveLength(5);
  });

  test("ends at once when the caller gives up", async () => {
    const { client, firstCall } = busyOnce("60");
    const giveUp = new AbortController();
    const found = client.findSchool(id, { signal: giveUp.signal });
    await firstCall;
    giveUp.abort(new Error("enough"));
    await expect(found).rejects.toThrow("enough");
  });
});

describe("a service that does not answer", () => {
  const refused = () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    throw new TypeError("fetch failed", { cause });
  };

  test("is asked again after growing waits, and the last failure is an error of its own", async () => {
    const waits = withoutWaiting();
    const { client, calls } = makeStub((_call, nth) => (nth < 3 ? refused() : json({ id })));
    expect(await client.findSchool(id)).toEqual({ id });
    expect(waits).toEqual([1000, 2000]);
    expect(calls).toHaveLength(3);
    const down = makeStub(refused, { maxRetries: 1 });
    const error = await down.client.findSchool(id).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      name: "NetworkError",
      code: "connection_failed",
      message: "https://login.example.org cannot be reached: connect ECONNREFUSED 127.0.0.1:9.",
      cause: { message: "fetch failed" },
    });
    expect(down.calls).toHaveLength(2);
  });

  test("is asked again for a token, and where a gateway answers for it", async () => {
    withoutWaiting();
    const token = (_call: unknown, nth: number) =>
      nth === 1 ? refused() : json({ access_token: "late", token_type: "bearer", expires_in: 60 });
    const { client, calls } = makeStub(
      (_call, nth) => (nth < 3 ? new Response("<h1>", { status: nth === 1 ? 502 : 504 }) : json({ id })),
      { token },
    );
    expect(await client.findSchool(id)).toEqual({ id });
    expect(calls).toHaveLength(3);
  });

  test.each(["no answer", "503"])("gets a request that is not idempotent once: %s", async (what) => {
    const { client, calls } = makeStub(() => (what === "503" ? problem(503, "unavailable") : refused()));
    const request = client.idm.request as unknown as (method: string, path: string) => Promise<unknown>;
    await expect(request("post", "/idm/ep/v1/schools")).rejects.toThrow();
    expect(calls).toHaveLength(1);
    withoutWaiting();
    await expect(request("delete", "/idm/ep/v1/schools")).rejects.toThrow();
    expect(calls).toHaveLength(6);
  });

  test("is waited for so long only, with its body, and the caller may give up earlier", async () => {
    const never = () => new Promise<Response>(() => undefined);
    const silent = makeStub(never, { timeoutMs: 20, maxRetries: 0 });
    await expect(silent.client.findSchool(id)).rejects.toMatchObject({
      name: "NetworkError",
      code: "timed_out",
      message: "https://login.example.org did not answer within 20 ms.",
    });
    const stalls = () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode("{")) }));
    const half = makeStub(stalls, { timeoutMs: 20, maxRetries: 0 });
    await expect(half.client.findSchool(id)).rejects.toMatchObject({ code: "timed_out" });
    const { client, calls, firstCall } = makeStub(never);
    const giveUp = new AbortController();
    const found = client.findSchool(id, { signal: giveUp.signal });
    await firstCall;
    giveUp.abort(new Error("enough"));
    await expect(found).rejects.toThrow("enough");
    expect(calls).toHaveLength(1);
  });

  test("at a real closed port is the same error", async () => {
    const options = { fetch: (request: Request) => fetch(request), issuer: "http://127.0.0.1:9", maxRetries: 0 };
    const { client } = makeStub(() => json({}), options);
    await expect(client.findSchool(id)).rejects.toMatchObject({ name: "NetworkError", code: "connection_failed" });
  });
});

describe("errors", () => {
  test("carry status, code and request id; Schulconnex and answers of others too", async () => {
    const schulconnex = {
      code: "403",
      subcode: "00",
      titel: "Fehlende Rechte",
      beschreibung: "Das darf die App nicht.",
    };
    const refused = makeStub(() => json(schulconnex, { status: 403, headers: { "x-request-id": "r-2" } }));
    const error = await refused.client.listPersonenInfo().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 403, code: "403/00", requestId: "r-2", message: "Das darf die App nicht." });
    const proxy = makeStub(() => new Response("<h1>Bad Gateway</h1>", { status: 502 }), { maxRetries: 0 });
    await expect(proxy.client.findSchool(id)).rejects.toMatchObject({ code: "http_502", requestId: null });
  });

  test("are what a 404 is, unless the service says that the record is absent", async () => {
    const absent = makeStub(() => problem(404, "user_not_found"));
    expect(await absent.client.findPerson(id)).toBeNull();
    const hidden = makeStub(() => problem(404, "organization_not_found"));
    expect(await hidden.client.findSchoolRoster(id)).toBeNull();
    const wrongAddress = makeStub(() => problem(404, "path_not_found"));
    await expect(wrongAddress.client.findPerson(id)).rejects.toMatchObject({ code: "path_not_found" });
    const proxy = makeStub(() => new Response("Not Found", { status: 404 }));
    await expect(proxy.client.findPerson(id)).rejects.toMatchObject({ code: "http_404" });
  });

  test("of an operation that openapi-fetch calls are thrown too, and a 304 is none", async () => {
    const { client } = makeStub(() => problem(403, "insufficient_scope"));
    await expect(client.idm.GET("/idm/ep/v1/schools")).rejects.toMatchObject({ code: "insufficient_scope" });
    const unchanged = makeStub(() => new Response(null, { status: 304 }));
    expect((await unchanged.client.idm.GET("/idm/ep/v1/schools")).response.status).toBe(304);
  });
});

describe("lists", () => {
  const page = (names: string[], next: string | null) =>
    json(names, {
      headers: next === null ? {} : { link: `<https://elsewhere.example/x?limit=2&cursor=${next}>; rel="next"` },
    });

  test("are read page by page, at the service whatever the link names, and no further than asked", async () => {
    const { client, calls } = makeStub((_call, nth) => page([`item ${nth}`], nth < 3 ? `c%2F${nth}` : null));
    expect(await readAll(client.listSchoolPeople(id, { limit: 2, showDeleted: true }))).toEqual([
      "item 1",
      "item 2",
      "item 3",
    ]);
    expect(calls.map(({ url }) => url.href.slice(url.origin.length))).toEqual(
      ["", "&cursor=c%2F1", "&cursor=c%2F2"].map(
        (cursor) => `/idm/ep/v1/schools/${id}/people?limit=2&show-deleted=true${cursor}`,
      ),
    );
    expect(new Set(calls.map(({ url }) => url.host))).toEqual(new Set(["login.example.org"]));
    calls.length = 0;
    for await (const _first of client.listSchools()) break;
    expect(calls).toHaveLength(1);
  });

  test("of changes go on while there are more; a position that is too old is an error of its own", async () => {
    const { client, calls } = makeStub(({ url }) => {
      const after = url.searchParams.get("after")!;
      return after === "old"
        ? problem(410, "cursor_expired")
        : json({ changes: [{ cursor: `${after}+` }], next: `${after}+`, more: after === "a" });
    });
    expect(await readAll(client.listChanges({ after: "a" }))).toEqual([{ cursor: "a+" }, { cursor: "a++" }]);
    expect(calls).toHaveLength(2);
    const error = await readAll(client.listChanges({ after: "old" })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CursorExpiredError);
    expect(error).toMatchObject({ status: 410, code: "cursor_expired" });
  });
});
