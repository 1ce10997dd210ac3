import { expect, test } from "vitest";
import { eraseAsAsked } from "../../clients/typescript/src/index.ts";
import { json, makeStub, problem } from "./stub.ts";

const ids = ["1", "2", "3"].map((n) => `e0000000-0000-4000-8000-00000000000${n}`);
const open = ids.map((id, n) => ({ id, personId: `p${n}`, cause: "deleted", state: "open" }));

test("whoever is to be erased is erased and confirmed, with the reason for what is kept", async () => {
  const { client, calls } = makeStub(({ url, body }) => (body === "" ? json(open) : json({ id: url.pathname })));
  const erased: string[] = [];
  const confirmed = await eraseAsAsked(client, async (personId) => {
    erased.push(personId);
    return personId === "p1" ? "legal_claims" : undefined;
  });
  expect([confirmed, erased]).toEqual([3, ["p0", "p1", "p2"]]);
  expect(calls.slice(1).map(({ url, body }) => [url.pathname.split("/").at(-1), JSON.parse(body) as unknown])).toEqual([
    [ids[0], { outcome: "erased" }],
    [ids[1], { outcome: "kept", reason: "legal_claims" }],
    [ids[2], { outcome: "erased" }],
  ]);
});

test("a confirmation is sent again if the service is busy, and none is missed that is not asked for any more", async () => {
  const busy = new Set([ids[0]]);
  const { client, calls } = makeStub(({ url, body }) => {
    const id = url.pathname.split("/").at(-1)!;
    if (body === "") return json(open);
    if (busy.delete(id)) return problem(503, "unavailable", { "retry-after": "0" });
    return id === ids[1] ? problem(404, "erasure_not_found") : json({ id });
  });
  expect(await eraseAsAsked(client, async () => undefined)).toBe(2);
  expect(calls).toHaveLength(5);
});

test("what could not be erased is not confirmed", async () => {
  const { client, calls } = makeStub(() => json(open));
  const broken = eraseAsAsked(client, async () => {
    throw new Error("disk full");
  });
  await expect(broken).rejects.toThrow("disk full");
  expect(calls).toHaveLength(1);
});
