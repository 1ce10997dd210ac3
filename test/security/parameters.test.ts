import { expect, test } from "vitest";
import { resolve, type Parameter } from "../../src/platform/http/document.ts";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import { demoApp, demoLogin, idmScopes, makeReader, startDemo } from "../support/api.ts";
import { inBatches } from "../support/in-batches.ts";
import { askFor, getAppToken, getUserTokens } from "../support/token.ts";

// Every query and path parameter of every operation, in spellings that look right and are not those of the contract.
const uuid = "c0000000-0000-4000-8000-000000000002";
const spellings: Record<string, readonly string[]> = {
  boolean: [
    ...["TRUE", "True", "tRue", "FALSE", "False", "1", "0", "yes", "on", "null", "", " true", "true ", "+true"],
    ...["true\n", "true,true", "[true]", '"true"', "ｔｒｕｅ"],
  ],
  integer: [
    ...["1e2", "1E2", "0x10", "0b11", "0o7", " 5", "5 ", "+5", "-5", "-0", "0", "05", "5.0", "5.", ".5", "5,0", "5,5"],
    ...[
      "1_0",
      "5\n",
      "5n",
      "null",
      "true",
      "NaN",
      "Infinity",
      "٥",
      "５",
      "1".repeat(400),
      "9007199254740993",
      "[5]",
      "",
    ],
  ],
  uuid: [
    ...["", "x", ` ${uuid}`, `${uuid} `, `${uuid}\n`, `{${uuid}}`, `urn:uuid:${uuid}`, uuid.replaceAll("-", "")],
    ...[`${uuid},${uuid}`, `${uuid}0`, uuid.slice(1), uuid.replace("c", "ｃ"), uuid.replace("c", "g"), `${uuid}'`],
  ],
  array: [
    ...["", ",", "personen,", ",personen", "personen;gruppen", "personen|gruppen", "personen,alles", "[personen]"],
    "ｐersonen",
  ],
  string: [""],
};
const spelledAs: Record<string, string> = { boolean: "true", integer: "5", uuid, array: "personen" };
const kindOf = ({ schema }: Parameter): string => (schema?.format === "uuid" ? "uuid" : (schema?.type ?? "string"));

const ownIds: Record<string, string> = {
  schools: uuid.replace("c", "a").replace(/2$/, "1"),
  groups: uuid.replace("c", "b").replace(/2$/, "1"),
  users: uuid,
  people: uuid,
};
const fill = (path: string) => path.replace(/(\w+)\/\{\w+\}/, (_all, kind: string) => `${kind}/${ownIds[kind]!}`);

type Place = { path: string; parameters: Parameter[]; isOfUser: boolean };
const documents = await Promise.all(
  ["idm", "schulconnex", "schulconnex-1.7"].map((name) => loadDocument(name, "schultor")),
);
const places: Place[] = documents.flatMap((document) =>
  listOperations(document).flatMap(({ method, path, operation }) => {
    if (method !== "get" || !("200" in operation.responses)) return [];
    const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
    return [{ path, parameters, isOfUser: operation.security!.some((way) => "userContext" in way) }];
  }),
);

const service = await startDemo();
const app = demoApp("demo-lernapp");
const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", ...idmScopes] });
const readers = {
  app: makeReader(service, await getAppToken(service, app, idmScopes)),
  user: makeReader(service, user.access_token),
};
const readerOf = (place: Place) => (place.isOfUser ? readers.user : readers.app);
const asked = places.flatMap((place) =>
  place.parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => ({ place, parameter, name: parameter.name })),
);

test("there are parameters of every kind to try", () => {
  expect(new Set(asked.map(({ parameter }) => kindOf(parameter)))).toEqual(new Set(Object.keys(spellings)));
  expect(asked.length).toBeGreaterThan(15);
});

/** Of all of them, the spellings that are not answered with 400. */
async function findTaken(
  all: { place: Place; parameter?: Parameter }[],
  write: (kind: string, name: string) => readonly string[],
  ask: (place: Place, written: string, name: string) => string,
): Promise<unknown[]> {
  const attempts = all.flatMap(({ place, parameter }) =>
    write(parameter ? kindOf(parameter) : "uuid", parameter?.name ?? "").map((written) => ({
      place,
      written,
      path: ask(place, written, parameter?.name ?? ""),
    })),
  );
  const statuses = await inBatches(attempts, async ({ place, path }) => (await readerOf(place)(path)).status);
  return attempts.flatMap(({ path, written }, n) => (statuses[n] === 400 ? [] : [[path, written, statuses[n]]]));
}

test("the value of a parameter is read in the contract's spelling only", async () => {
  const wrong = await findTaken(
    asked,
    (kind) => spellings[kind]!,
    (place, written, name) => `${fill(place.path)}?${name}=${encodeURIComponent(written)}`,
  );
  expect(wrong).toEqual([]);
  const valueless = await findTaken(
    asked,
    (_kind, name) => [name],
    (place, name) => `${fill(place.path)}?${name}`,
  );
  expect(valueless).toEqual([]);
});

const rightOf = (kind: string) => spelledAs[kind] ?? "x";

test("the name of a parameter is read in the contract's spelling only", async () => {
  const others = (kind: string, name: string) =>
    [`${name}[]`, `${name}[0]`, `${name}[a]`, ` ${name}`, `${name} `, name.toUpperCase(), `${name}\u200b`, `${name}.`]
      .concat("__proto__", "constructor", "toString")
      .map((other) => `${encodeURIComponent(other)}=${rightOf(kind)}`);
  expect(await findTaken(asked, others, (place, written) => `${fill(place.path)}?${written}`)).toEqual([]);
});

test("a parameter is taken as it is right, and once; the values of a list may come one by one", async () => {
  const twice = (name: string, right: string) => [
    `${name}=${right}&${name}=${right}`,
    `${name}=${right}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=${right}`,
  ];
  const answers = await inBatches(asked, async ({ place, parameter, name }) => {
    const kind = kindOf(parameter);
    const queries = [...(kind in spelledAs ? [`${name}=${rightOf(kind)}`] : []), ...twice(name, rightOf(kind))];
    const statuses = [];
    for (const query of queries) statuses.push((await readerOf(place)(`${fill(place.path)}?${query}`)).status);
    return [name, kind, ...statuses];
  });
  const wanted = (kind: string) => [
    ...(kind in spelledAs ? [200] : []),
    ...Array<number>(2).fill(kind === "array" ? 200 : 400),
  ];
  expect(answers).toEqual(asked.map(({ parameter, name }) => [name, kindOf(parameter), ...wanted(kindOf(parameter))]));
});

test("an id in a path is read in the contract's spelling only", async () => {
  const withId = places.filter(({ path }) => path.includes("{")).map((place) => ({ place }));
  const ids = () => spellings["uuid"]!.filter((spelling) => spelling !== "");
  expect(
    await findTaken(withId, ids, ({ path }, written) => path.replace(/\{\w+\}/, encodeURIComponent(written))),
  ).toEqual([]);
});

test("a parameter of the sign-on is read in the contract's spelling only", async () => {
  const wrong = {
    max_age: ["1e2", "0x10", " 5", "5 ", "+5", "-1", "-0", "05", "5.0", "0x0", "00", "Infinity"],
    prompt: ["NONE", "Login", "none login", "login,consent", "create"],
    response_type: ["CODE", "code ", "code token", "token", "none"],
    code_challenge_method: ["s256", "plain", "S256 ", "SHA256"],
  };
  const taken: unknown[] = [];
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const { address } = askFor(service, demoApp("demo-lernapp"), { params: { [name]: value } });
      const { status, headers } = await fetch(address, { redirect: "manual" });
      const location = headers.get("location");
      const error = location === null ? null : new URL(location, service.url).searchParams.get("error");
      if (location === null ? status !== 400 : !/^(invalid_request|unsupported_response_type)$/.test(error ?? ""))
        taken.push([name, value, status, error]);
    }
  expect(taken).toEqual([]);
});
