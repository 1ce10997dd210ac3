import { beforeAll, expect, test } from "vitest";
import { listFields, listOperations, loadDocument, resolve, type Schema } from "../../../src/platform/http/index.ts";
import type { OperationId } from "../../../src/sign-on/protocol/contract.ts";
import { askFor, basic, type TestApp } from "../../support/token.ts";
import { schoolsRead, startRuleWorld } from "../../security/rules/world.ts";

// What sign-on.yaml describes of a request, compared with what the service does.

const world = startRuleWorld();
const document = await loadDocument("sign-on", "schultor");
const operations = listOperations(document).map(({ path, method, operation }) => {
  const form = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const query = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
  const required = new Set([
    ...query.filter((parameter) => parameter.required).map(({ name }) => name),
    ...((form && resolve(document, form).required) ?? []),
  ]);
  return { id: operation.operationId as OperationId, path, method, operation, required };
});
const fieldsOf = new Map(operations.map(({ id, operation }) => [id, new Map(listFields(document, operation))]));

type Fields = Record<string, string | readonly string[]>;
type Sent = { fields: Fields; headers?: Record<string, string> };

const backUri = "http://127.0.0.1:4999/after";
let withoutPkce: TestApp;
let withSecretInBody: TestApp;
beforeAll(async () => {
  withoutPkce = await world.makeApp({ pkceRequired: false, postLogoutRedirectUris: [backUri] });
  withSecretInBody = await world.makeApp({ tokenEndpointAuthMethod: "client_secret_post", scopes: ["schools:read"] });
});

const ask = async (app: TestApp, pkce: boolean, more: Fields = {}): Promise<Sent> => {
  const { searchParams } = new URL(askFor(world.service, app, { pkce }).address);
  return { fields: { ...Object.fromEntries(searchParams), ...more } };
};
const askAsApps = [
  () => ask(world.app, true, { response_mode: "fragment", max_age: "3600", ui_locales: "de", acr_values: "x" }),
  () => ask(withoutPkce, false, { login_hint: "somebody", prompt: "login" }),
];
const bearer = async () => ({ authorization: `Bearer ${(await world.tokens()).access_token}` });
const credentials = () => ({ client_id: withSecretInBody.clientId, client_secret: withSecretInBody.clientSecret! });
const ofApp = { grant_type: "client_credentials", scope: schoolsRead };
const withToken = async () => {
  const { body } = await world.token({ ...credentials(), ...ofApp }, { headers: {} });
  return { fields: { ...credentials(), token: body.access_token } };
};
const endSession = [
  async () => ({ fields: { client_id: withoutPkce.clientId, post_logout_redirect_uri: backUri, state: "x" } }),
  async () => ({ fields: { id_token_hint: (await world.tokens()).id_token!, ui_locales: "de" } }),
];

/** Requests that are accepted, as different ones as each operation has. */
const requests: Record<OperationId, (() => Promise<Sent>)[]> = {
  authorize: askAsApps,
  authorizeWithForm: askAsApps,
  issueToken: [
    async () => ({ fields: world.fieldsOf(await world.authorize()), headers: basic(world.app) }),
    async () => {
      const fields = world.fieldsOf(await world.authorize({}, { app: world.spa }), world.spa);
      return { fields: { ...fields, client_id: world.spa.clientId } };
    },
    async () => {
      const { refresh_token: token } = await world.tokens("openid offline_access");
      return { fields: { grant_type: "refresh_token", refresh_token: token! }, headers: basic(world.app) };
    },
    async () => ({ fields: { ...credentials(), ...ofApp } }),
  ],
  introspectToken: [withToken, async () => ({ fields: { token: "x" }, headers: basic(world.app) })],
  revokeToken: [withToken, async () => ({ fields: { token: "x" }, headers: basic(world.app) })],
  getUserinfo: [async () => ({ fields: {}, headers: await bearer() })],
  getUserinfoWithForm: [
    async () => ({ fields: {}, headers: await bearer() }),
    async () => ({ fields: { access_token: (await world.tokens()).access_token } }),
  ],
  endSession,
  endSessionWithForm: endSession,
  getDiscovery: [async () => ({ fields: {} })],
  listKeys: [async () => ({ fields: {} })],
};

const pagesOfErrors = new Set<string>();

/** Null for a request that is accepted, else the error or the status. */
async function refusalOf(id: OperationId, { fields, headers = {} }: Sent): Promise<string | null> {
  const { path, method } = operations.find((one) => one.id === id)!;
  const sent = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) for (const one of [values].flat()) sent.append(name, one);
  const init = method === "get" ? { headers } : { method, headers, body: sent };
  let response = await world.browser.once(method === "get" ? `${path}?${sent.toString()}` : path, init);
  let location = response.headers.get("location");
  if (response.status === 303 && location?.startsWith(path)) {
    response = await world.browser.once(location);
    location = response.headers.get("location");
  }
  const to = location === null ? null : new URL(location, world.service.url);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const answer = isJson
    ? ((await response.json()) as Record<string, string>)
    : Object.fromEntries(new URLSearchParams(to?.hash.slice(1) || to?.search));
  if (answer["error"] === undefined) return response.status < 400 ? null : `status ${response.status}`;
  pagesOfErrors.add(answer["error_uri"]!);
  return `${answer["error"]}: ${answer["error_description"]}`;
}

type Outcome = [operation: string, what: string, refusal: string | null];

/** Sends what `vary` makes of each request; `at` counts the requests of an operation. */
async function outcomesOf(vary: (id: OperationId, fields: Fields, at: number) => Record<string, Fields>) {
  const outcomes: Outcome[] = [];
  for (const { id } of operations)
    for (const [at, make] of requests[id].entries()) {
      let sent = await make();
      for (const what of Object.keys(vary(id, sent.fields, at))) {
        outcomes.push([id, what, await refusalOf(id, { ...sent, fields: vary(id, sent.fields, at)[what]! })]);
        // Codes and refresh tokens are good for one request.
        if (id === "issueToken") sent = await make();
      }
    }
  return outcomes;
}

const refusedOf = (outcomes: Outcome[]) => outcomes.filter(([, , refusal]) => refusal !== null);

/** Parameters of other protocols, and names that are none. */
const unheardOf = [
  ..."resource audience claims claims_locales display authorization_details dpop_jkt logout_hint iss rat hinted".split(
    " ",
  ),
  ..."username password assertion subject_token requested_token_type user_code device_code web_message_uri".split(" "),
  ..."session_state login_hint_token __proto__ constructor resource[] scope[0] xsrf".split(" "),
];

/** sign-on.yaml says what comes of these. */
const describedElsewhere: Partial<Record<OperationId, string[]>> = {
  authorize: ["request", "request_uri", "registration"],
  authorizeWithForm: ["request", "request_uri", "registration"],
  getUserinfo: ["access_token"],
};

test("what sign-on.yaml does not describe is ignored everywhere, however it is sent", async () => {
  const everywhere = [...fieldsOf.values()].flatMap((fields) => [...fields.keys()]);
  const all = new Set([...unheardOf, ...everywhere, ...describedElsewhere.authorize!]);
  const outcomes = await outcomesOf((id, fields) => {
    const ignored = [...all].filter((name) => !fieldsOf.get(id)!.has(name) && !describedElsewhere[id]?.includes(name));
    const send = (...values: string[]) => ({ ...Object.fromEntries(ignored.map((name) => [name, values])), ...fields });
    return {
      once: send("https://☃.example/"),
      twice: send("a", "b"),
      empty: send(""),
      long: send("x".repeat(257)),
      NUL: send("\0"),
    };
  });
  expect(refusedOf(outcomes)).toEqual([]);
});

test("what is described counts as omitted if it is empty", async () => {
  const outcomes = await outcomesOf((id, fields) => {
    const names = [...fieldsOf.get(id)!.keys()];
    return { empty: Object.fromEntries(names.map((name) => [name, [fields[name] ?? "", ""].flat()])) };
  });
  expect(refusedOf(outcomes)).toEqual([]);
});

test("a parameter is required by sign-on.yaml exactly if no request is accepted without it", async () => {
  const outcomes = await outcomesOf((id, fields) =>
    Object.fromEntries(
      [...fieldsOf.get(id)!.keys()].map((left) => [
        left,
        Object.fromEntries(Object.entries(fields).filter(([name]) => name !== left)),
      ]),
    ),
  );
  for (const { id, required } of operations) {
    const of = outcomes.filter(([operation]) => operation === id);
    const needed = [...fieldsOf.get(id)!.keys()].filter((name) =>
      of.every(([, left, refusal]) => left !== name || refusal !== null),
    );
    expect([id, needed.toSorted()]).toEqual([id, [...required].toSorted()]);
  }
});

test("a form is required by sign-on.yaml exactly if no request is accepted without one", async () => {
  for (const { id, operation } of operations.filter((one) => one.operation.requestBody !== undefined)) {
    const refusals = [];
    for (const make of requests[id]) refusals.push(await refusalOf(id, { ...(await make()), fields: {} }));
    const isRequired = operation.requestBody!.required === true;
    expect([id, refusals.every((refusal) => refusal !== null)]).toEqual([id, isRequired]);
  }
});

/** Values that the schema excludes. Longer addresses than 8,000 characters reach no service. */
function excludedBy(schema: Schema, longest: unknown): string[] {
  const { type, format, minimum, enum: values, pattern } = schema;
  return [
    ...(values === undefined ? [] : ["nonsense", `${String(values[0])}_`]),
    ...(type === "integer" ? ["x", "1.5"] : []),
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(format === "uri" ? ["nowhere"] : []),
    ...(pattern === undefined ? [] : ["☃"]),
    ...(typeof longest === "number" && longest < 8000 ? ["x".repeat(longest + 1)] : []),
  ];
}

test("a value that sign-on.yaml excludes is refused", async () => {
  const outcomes = await outcomesOf((id, fields, at) => {
    const limit = operations.find((one) => one.id === id)!.operation["x-max-length"];
    // Parameters of another grant are not looked at.
    const looksAt = (name: string) => name in fields || (at === 0 && id !== "issueToken");
    return Object.fromEntries(
      [...fieldsOf.get(id)!]
        .filter(([name]) => looksAt(name))
        .flatMap(([name, schema]) =>
          excludedBy(schema, schema.maxLength ?? schema["x-max-length"] ?? limit).map((value) => [
            `${name}=${value.slice(0, 20)} (${value.length})`,
            { ...fields, [name]: value },
          ]),
        ),
    );
  });
  const accepted = outcomes.filter(([, , refusal]) => refusal === null).map(([id, what]) => `${id} ${what}`);
  // TokenTypeHint: other values are ignored.
  const hints = ["introspectToken token_type_hint", "revokeToken token_type_hint"];
  expect([...new Set(accepted.map((one) => one.split("=")[0]))]).toEqual(hints);
});

test("every error_uri leads to a page", async () => {
  await refusalOf("issueToken", { fields: {} });
  for (const page of pagesOfErrors) expect([page, (await fetch(page)).status]).toEqual([page, 200]);
});
