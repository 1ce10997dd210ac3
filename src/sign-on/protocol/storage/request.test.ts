import { expect, test } from "vitest";
import type { ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { type Artifact, hashId } from "./artifact.ts";
import {
  beforeChange,
  beforeConsume,
  beforePut,
  startRequest,
  whileConsuming,
  changeSession,
  committed,
  consume,
  endSession,
  findOnlyPut,
  type FoundToken,
  keepSession,
  put,
  reading,
  recordSignIn,
  remove,
  toTokenUse,
  toWrite,
} from "./request.ts";

const at = new Date("2026-02-03T08:00:00Z");
const key = (kind: string, id: string) => ({ kind, idHash: hashId(id) });

const artifact = (kind: string, id: string): Artifact => ({
  ...key(kind, id),
  payload: {},
  clientId: "app",
  personId: null,
  generation: null,
  cardId: null,
  upstreamSessionId: null,
  grantId: null,
  sessionUid: null,
  expiresAt: at,
});

const code: FoundToken = {
  ...key("AuthorizationCode", "code"),
  clientId: "app",
  personId: "p",
  grantId: "g",
  scope: "openid",
  idTokenClaims: [],
};

const change = {
  uid: "s",
  idHash: hashId("new"),
  payload: {},
  personId: null,
  generation: null,
  cardId: null,
  upstreamSessionId: null,
  expiresAt: at,
};

test("a token is used up together with what is issued for it and with the sign-in", () => {
  const consuming = consume(reading, code, at);
  put(consuming, artifact("AccessToken", "a"));
  put(consuming, artifact("RefreshToken", "r"));
  const signIn = { clientId: "app" as ClientId, personId: "p" as PersonId, at, requestId: undefined };
  const use = toTokenUse(recordSignIn(consuming, signIn), null);
  expect(use).toMatchObject({ ...key("AuthorizationCode", "code"), at, signIn });
  expect(use.puts.map(({ kind }) => kind)).toEqual(["AccessToken", "RefreshToken"]);
});

test("an artifact that is stored twice is written once", () => {
  const changing = put(put(reading, artifact("Interaction", "i")), {
    ...artifact("Interaction", "i"),
    clientId: "other",
  });
  expect([...changing.puts.values()]).toMatchObject([{ clientId: "other" }]);
});

test("a session that is destroyed and saved again has changed, and one that is destroyed last has ended", () => {
  const changed = changeSession(endSession(reading, "s"), change);
  expect(toWrite(changed).session).toEqual({ kind: "changed", change });
  expect(toWrite(endSession(changed, "s")).session).toEqual({ kind: "ended", uid: "s" });
  const kept = keepSession(endSession(reading, "s"));
  expect(kept.state === "changing" && toWrite(kept).session).toEqual({ kind: "kept" });
  expect(keepSession(reading)).toBe(reading);
});

test("only an artifact that is alone goes into a batch with those of other requests", () => {
  const alone = beforeChange({ ...startRequest(), work: put(reading, artifact("ClientCredentials", "c")) });
  expect(alone.state === "changing" && findOnlyPut(alone)).toMatchObject({ kind: "ClientCredentials" });
  expect(alone.state === "changing" && findOnlyPut(remove(alone, key("Interaction", "i")))).toBeNull();
});

test("a step in a wrong order is a bug, and says so", () => {
  const request = startRequest();
  request.work = put(reading, artifact("AccessToken", "a"));
  expect(() => beforeConsume(request)).toThrow("A request cannot use a token up in the state changing.");
  expect(() => whileConsuming(request)).toThrow("in the state changing");
  request.work = consume(reading, code, at);
  expect(() => beforeChange(request)).toThrow("A request cannot change what is stored in the state consuming.");
  request.work = committed;
  expect(() => beforePut(request)).toThrow("A request cannot store an artifact in the state committed.");
});

test("a step in a wrong order does not compile", () => {
  const signIn = { clientId: "app" as ClientId, personId: "p" as PersonId, at, requestId: undefined };
  const neverCalled = () => {
    const consuming = consume(reading, code, at);
    const changing = remove(reading, key("Interaction", "i"));
    // @ts-expect-error A token is used up before anything else is written.
    consume(changing, code, at);
    // @ts-expect-error A request that uses up a token removes nothing.
    remove(consuming, key("Interaction", "i"));
    // @ts-expect-error A sign-in is recorded with the code that it used up.
    recordSignIn(changing, signIn);
    // @ts-expect-error After the commit nothing is stored.
    put(committed, artifact("AccessToken", "a"));
  };
  expect(neverCalled).toBeTypeOf("function");
});
