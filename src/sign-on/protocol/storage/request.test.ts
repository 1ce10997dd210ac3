import { expect, test } from "vitest";
import type { ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { type Artifact, hashId } from "./artifact.ts";
import { beforeChange, committed, consume, findOnlyPut, put, recordSignIn } from "./request.ts";
import { remove, startChange, startRequest, toTokenUse, toWrite, type Consuming, type FoundToken } from "./request.ts";

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

const signIn = { clientId: "app" as ClientId, personId: "p" as PersonId, at, requestId: undefined };

test("a token is used up together with what is issued for it and with the sign-in", () => {
  const request = startRequest();
  consume(request, code, at);
  put(request, artifact("AccessToken", "a"));
  put(request, artifact("RefreshToken", "r"));
  recordSignIn(request, signIn);
  const use = toTokenUse(request.work as Consuming, null);
  expect(use).toMatchObject({ ...key("AuthorizationCode", "code"), at, signIn });
  expect(use.puts.map(({ kind }) => kind)).toEqual(["AccessToken", "RefreshToken"]);
});

test("an artifact that is stored twice is written once", () => {
  const request = startRequest();
  put(request, artifact("Interaction", "i"));
  put(request, { ...artifact("Interaction", "i"), clientId: "other" });
  expect(toWrite(startChange(request)).puts).toMatchObject([{ clientId: "other" }]);
});

test("only an artifact that is alone goes into a batch with those of other requests", () => {
  const request = startRequest();
  put(request, artifact("ClientCredentials", "c"));
  expect(findOnlyPut(startChange(request))).toMatchObject({ kind: "ClientCredentials" });
  remove(request, key("Interaction", "i"));
  expect(findOnlyPut(startChange(request))).toBeNull();
});

test("a step in a wrong order is a bug, and says so", () => {
  const request = startRequest();
  put(request, artifact("AccessToken", "a"));
  expect(() => consume(request, code, at)).toThrow("A request cannot use a token up in the state changing.");
  expect(() => recordSignIn(request, signIn)).toThrow("in the state changing");
  request.work = startRequest().work;
  consume(request, code, at);
  for (const change of [beforeChange, startChange, () => remove(request, key("Interaction", "i"))])
    expect(() => change(request)).toThrow("A request cannot change what is stored in the state consuming.");
  request.work = committed;
  expect(() => put(request, artifact("AccessToken", "a"))).toThrow(
    "A request cannot store an artifact in the state committed.",
  );
});
