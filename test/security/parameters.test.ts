import { beforeAll, expect, test } from "vitest";
import { resolve, type Parameter } from "../../src/platform/http/document.ts";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import { demoApp, demoLogin, idmScopes, makeReader, startDemo, type Reader } from "../support/api.ts";
import { askFor, getAppToken, getUserTokens } from "../support/token.ts";
import type { TestService } from "../support/service.ts";

// Every query and path parameter of every operation, in spellings that look right and are not those of the contract.
const uuid = "c0000000-0000-4000-8000-000000000002";
const spellings: Record<string, readonly string[]> = {
  boolean: [
    "TRUE",
    "True",
    "tRue",
    "FALSE",
    "False",
    "1",
    "0",
    "yes",
    "on",
    "null",
    "",
    " true",
    "true ",
    "+true",
    "true\n",
    "true,true",
    "[true]",
    '"true"',
    "ｔｒｕｅ",
  ],
  integer: [
    "1e2",
    "1E2",
    "0x10",
    "0b11",
    "0o7",
    " 5",
    "5 ",
    "+5",
    "-5",
    "-0",
    "0",
    "05",
    "5.0",
    "5.",
    ".5",
    "5,0",
    "5,5",
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
  uuid: [
    "",
    "x",
    ` ${uuid}`,
    `${uuid} `,
    `${uuid}\n`,
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    uuid.replaceAll("-", ""),
    `${uuid},${uuid}`,
    `${uuid}0`,
    uuid.slice(1),
    uuid.replace("c", "ｃ"),
    uuid.replace("c", "g"),
    `${uuid}'`,
  ],
  array: [
    "",
    ",",
    "personen,",
    ",personen",
    "personen;gruppen",
    "personen|gruppen",
    "personen,alles",
    "[personen]",
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

let service: TestService;
let readers: { app: Reader; user: Reader };
beforeAll(async () => {
  service = await startDemo();
  const app = demoApp("demo-lernapp");
  const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", ...idmScopes] });
  readers = {
    app: makeReader(service, await getAppToken(service, app, idmScopes)),
    user: makeReader(service, user.access_token),
  };
});
const readerOf = (place: Place) => (place.isOfUser ? readers.user : readers.app);
const asked = places.flatMap((place) =>
  place.parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => ({ place, parameter, name: parameter.name, path: place.path })),
);

test("there are parameters of every kind to try", () => {
  expect(new Set(asked.map(({ parameter }) => kindOf(parameter)))).toEqual(
    new Set(["boolean", "integer", "uuid", "array", "string"]),
  );
  expect(asked.length).toBeGreaterThan(15);
});

test.each(asked)("$name of $path is read in its own spelling only", async ({ place, parameter, name }) => {
  const kind = kindOf(parameter);
  const read = readerOf(place);
  const ask = async (query: string) => (await read(`${fill(place.path)}?${query}`)).status;
  const right = spelledAs[kind];
  if (right !== undefined) expect(await ask(`${name}=${right}`)).toBe(200);
  const answers: [string, number][] = [];
  for (const spelling of spellings[kind]!)
    answers.push([spelling, await ask(`${name}=${encodeURIComponent(spelling)}`)]);
  expect(answers.filter(([, status]) => status !== 400)).toEqual([]);
  expect(await ask(name)).toBe(400);
});

test.each(asked)(
  "the name $name of $path is read in its own spelling only, and once",
  async ({ place, parameter, name }) => {
    const kind = kindOf(parameter);
    const right = spelledAs[kind] ?? "x";
    const read = readerOf(place);
    const names = [
      `${name}[]`,
      `${name}[0]`,
      `${name}[a]`,
      ` ${name}`,
      `${name} `,
      name.toUpperCase(),
      `${name}\u200b`,
      `${name}.`,
      "__proto__",
      "constructor",
      "toString",
    ];
    const answers: [string, number][] = [];
    for (const other of names)
      answers.push([other, (await read(`${fill(place.path)}?${encodeURIComponent(other)}=${right}`)).status]);
    expect(answers.filter(([, status]) => status !== 400)).toEqual([]);
    const twice = [
      `${name}=${right}&${name}=${right}`,
      `${name}=${right}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=${right}`,
    ];
    // Values of a list may come one by one.
    for (const query of twice)
      expect((await read(`${fill(place.path)}?${query}`)).status).toBe(kind === "array" ? 200 : 400);
  },
);

test.each(places.filter(({ path }) => path.includes("{")))(
  "the id in $path is read in its own spelling only",
  async (place) => {
    const read = readerOf(place);
    const answers: [string, number][] = [];
    for (const spelling of spellings["uuid"]!) {
      if (spelling === "") continue;
      answers.push([spelling, (await read(place.path.replace(/\{\w+\}/, encodeURIComponent(spelling)))).status]);
    }
    expect(answers.filter(([, status]) => status !== 400)).toEqual([]);
  },
);

test.each([
  ...["1e2", "0x10", " 5", "5 ", "+5", "-1", "-0", "05", "5.0", "0x0", "00", "Infinity"].map(
    (value) => ["max_age", value] as const,
  ),
  ...["NONE", "Login", "none login", "login,consent", "create"].map((value) => ["prompt", value] as const),
  ...["CODE", "code ", "code token", "token", "none"].map((value) => ["response_type", value] as const),
  ...["s256", "plain", "S256 ", "SHA256"].map((value) => ["code_challenge_method", value] as const),
])("the sign-on refuses %s=%j", async (name, value) => {
  const { address } = askFor(service, demoApp("demo-lernapp"), { params: { [name]: value } });
  const response = await fetch(address, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) expect(response.status).toBe(400);
  else expect(new URL(location).searchParams.get("error")).toMatch(/^(invalid_request|unsupported_response_type)$/);
});
