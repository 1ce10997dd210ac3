import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { makeMemoryStore, makeSync, type Store, type Sync, type Webhook } from "../../clients/typescript/src/index.ts";
import { makeSqliteStore } from "../../clients/typescript/src/sqlite.ts";
import { json, makeStub, problem, type Stub } from "./stub.ts";

/** What the service shows: groups by id. */
let shown: Map<string, string>;
/** How many of the next readings fail. */
let failing: number;
let stub: Stub;
let sync: Sync;
let errors: unknown[];

const webhook = (id: string, groupId: string, action: "create" | "update" | "delete" = "update"): Webhook => ({
  id,
  isTest: false,
  event: { event: "group", action, groupId },
});
const read = () => stub.calls.map(({ url }) => url.pathname.split("/").at(-1));

describe.each<[string, () => Store]>([
  ["memory", makeMemoryStore],
  ["SQLite", () => makeSqliteStore(new DatabaseSync(":memory:"))],
])("a copy in %s", (_where, makeStore) => {
  let store: Store;

  beforeEach(() => {
    [shown, failing, errors] = [new Map([["a", "5a"]]), 0, []];
    store = makeStore();
    stub = makeStub(({ url }) => {
      if (failing-- > 0) return problem(500, "internal_error");
      const [path, id] = [url.pathname, url.pathname.split("/").at(-1)!];
      if (path.endsWith("/changes")) {
        const after = url.searchParams.get("after");
        return after === "too old" ? problem(410, "cursor_expired") : json({ changes: [], next: "here", more: false });
      }
      if (path.endsWith("/schools")) return json([{ id: "s", name: "Goethe" }]);
      if (path.endsWith("/s/groups"))
        return json([...shown].map(([key, name]) => ({ id: key, name, status: "ACTIVE" })));
      if (path.includes("/schools/")) return json([]);
      return shown.has(id) ? json({ id, name: shown.get(id), members: [] }) : problem(404, "group_not_found");
    });
    sync = makeSync({ client: stub.client, store, retryMs: 1, onError: (error) => errors.push(error) });
  });

  test("a webhook is worked on once, however often it comes, and a test not at all", async () => {
    for (let time = 0; time < 3; time++) await sync.receive(webhook("one", "a"));
    await sync.settled();
    await sync.receive(webhook("one", "a"));
    await sync.receive({ ...webhook("two", "b"), isTest: true });
    await sync.settled();
    expect(read()).toEqual(["a"]);
    expect(await store.get({ type: "group", id: "a" })).toEqual({ type: "group", id: "a", name: "5a" });
  });

  test("a webhook that cannot be worked on stays, and is tried again", async () => {
    failing = 2;
    await sync.receive(webhook("one", "a"));
    expect(await store.listWebhooks(9)).toHaveLength(1);
    await sync.settled();
    expect(errors).toMatchObject([{ code: "internal_error" }, { code: "internal_error" }]);
    expect(await store.listWebhooks(9)).toEqual([]);
    expect(await store.listIds("group")).toEqual(["a"]);
  });

  test("what the service shows counts, and not a webhook that comes late", async () => {
    await sync.receive(webhook("late", "a", "delete"));
    await sync.settled();
    expect(await store.listIds("group")).toEqual(["a"]);
    shown.delete("a");
    await sync.receive(webhook("next", "a"));
    await sync.settled();
    expect(await store.listIds("group")).toEqual([]);
  });

  test("webhooks that a process left behind are worked on by the next one", async () => {
    failing = Infinity;
    const { promise: failed, resolve: onError } = Promise.withResolvers<unknown>();
    const former = makeSync({ client: stub.client, store, onError });
    await former.receive(webhook("one", "a"));
    expect(await failed).toMatchObject({ code: "internal_error" });
    await former.close();
    failing = 0;
    const next = makeSync({ client: stub.client, store });
    next.resume();
    await next.settled();
    expect(await store.listIds("group")).toEqual(["a"]);
  });

  test("everything is loaded at first, and again when the position is too old", async () => {
    expect(await sync.follow()).toEqual({ hasLoaded: true });
    expect(await store.getPosition()).toBe("here");
    expect(await sync.follow()).toEqual({ hasLoaded: false });
    shown = new Map([["b", "5b"]]);
    await store.write({ position: "too old" });
    expect(await sync.follow()).toEqual({ hasLoaded: true });
    expect(await store.listIds("group")).toEqual(["b"]);
  });

  test("a load that breaks off leaves no position, so that it is done again", async () => {
    failing = 0;
    const position = stub.client.getPosition;
    const broken = makeSync({
      client: { ...stub.client, getPosition: async () => position().finally(() => (failing = 1)) },
      store,
    });
    await expect(broken.follow()).rejects.toMatchObject({ status: 500 });
    expect(await store.getPosition()).toBeNull();
    expect(await sync.follow()).toEqual({ hasLoaded: true });
  });

  test("somebody who may come back is kept as the service shows them, until it does not", async () => {
    const id = "p";
    const told = (nr: string): Webhook => ({
      id: nr,
      isTest: false,
      event: { event: "person", action: "delete", personId: id },
    });
    const record = { id, name: null, role: "STUDENT", groups: [], sourceSystemIdentifier: "7", status: "SOFT_DELETED" };
    let isShown = true;
    stub = makeStub(({ url }) =>
      isShown && url.search === "?show-deleted=true" ? json(record) : problem(404, "user_not_found"),
    );
    sync = makeSync({ client: stub.client, store });
    await sync.receive(told("1"));
    await sync.settled();
    expect(await store.get({ type: "person", id })).toEqual({ ...record, type: "person" });
    isShown = false;
    await sync.receive(told("2"));
    await sync.settled();
    expect(await store.listIds("person")).toEqual([]);
  });

  test("what a load reads faster than one by one is loaded, and so is a copy for other scopes", async () => {
    await sync.follow();
    const changes = Array.from({ length: 201 }, (_, nr) => ({ type: "group", action: "update", groupId: `g${nr}` }));
    const told = [...changes, ...changes.slice(1)];
    const scopes = ["urn:schultor:idm:v1:schools:read", "urn:schultor:idm:v1:groups:read"];
    const answer = ({ url }: { url: URL }) =>
      url.pathname.endsWith("/changes")
        ? json({
            changes: url.searchParams.get("after") === "here" ? told : told.slice(1, 3),
            next: "there",
            more: false,
          })
        : url.pathname.endsWith("/schools")
          ? json([])
          : problem(404, "group_not_found");
    stub = makeStub(answer);
    sync = makeSync({ client: stub.client, store });
    expect(await sync.follow()).toEqual({ hasLoaded: true });
    expect(await sync.follow()).toEqual({ hasLoaded: false });
    const fewer = () => makeSync({ client: makeStub(answer, { scopes }).client, store });
    expect(await fewer().follow()).toEqual({ hasLoaded: true });
    expect(await fewer().follow()).toEqual({ hasLoaded: false });
  });
});

test("a write of the SQLite store that fails leaves nothing behind", async () => {
  const store = makeSqliteStore(new DatabaseSync(":memory:"));
  const group = { type: "group", id: "a", name: "5a" } as const;
  await expect(
    store.write({
      put: [
        group,
        { ...group, id: null as unknown as string, name: undefined as unknown as string, type: {} as "group" },
      ],
    }),
  ).rejects.toThrow();
  expect(await store.listIds("group")).toEqual([]);
});
