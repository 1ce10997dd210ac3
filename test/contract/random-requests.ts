import fc from "fast-check";
import world from "../../demo/demo.json" with { type: "json" };
import {
  listOperations,
  resolve,
  type OpenApiDocument,
  type Operation,
  type Schema,
} from "../../src/platform/http/index.ts";

export type RandomRequest = {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string | null;
};

type Place = ReturnType<typeof listOperations>[number];
type Parameter = Extract<NonNullable<Operation["parameters"]>[number], { name: string }>;
type AnySchema = Schema & {
  enum?: unknown[];
  items?: AnySchema;
  minItems?: number;
  maxItems?: number;
  oneOf?: AnySchema[];
  anyOf?: AnySchema[];
  allOf?: AnySchema[];
  additionalProperties?: AnySchema | boolean;
};

// What the demo world has, by the names of parameters and properties, so that requests find something.
const ids = (of: { id: string }[]) => of.slice(0, 8).map(({ id }) => id);
const [schools, groups, people] = [ids(world.schools), ids(world.groups), ids(world.people)];
const clients = world.apps.map(({ clientId }) => clientId);
const known: Record<string, readonly string[] | undefined> = {
  schoolId: schools,
  school: schools,
  groupId: groups,
  group: groups,
  personId: people,
  person: people,
  clientId: clients,
  app: clients,
  client_id: clients,
  id: [...schools, ...groups, ...people],
  classId: groups,
  userId: people,
  studentId: people,
  teacherId: people,
  filter: ["status='active'", "dateLastModified>'2026-01-01'", "status!='active' OR sourcedId~'a'"],
  sort: ["sourcedId", "status", "dateLastModified"],
  fields: ["sourcedId", "sourcedId,status"],
  username: world.people.map(({ username }) => username),
  redirect_uri: world.apps.flatMap(({ redirectUris }) => redirectUris),
  post_logout_redirect_uri: world.apps.flatMap(({ postLogoutRedirectUris = [] }) => postLogoutRedirectUris),
  grant_type: ["client_credentials", "authorization_code", "refresh_token"],
  response_type: ["code"],
  scope: ["openid", "openid profile", ...world.apps.flatMap(({ scopes }) => scopes)],
};

const wrong = fc.constantFrom<unknown>(
  ...[
    null,
    "",
    " ",
    "\0",
    "\u202e",
    "%00",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>",
    "🦔".repeat(300),
    "x".repeat(9000),
  ],
  ...[-1, 0, 1.5, 1e21, true, [], {}, [null], { constructor: 1 }, "2026-02-30", "00000000-0000-0000-0000-000000000000"],
);

/** Mostly what the schema describes. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 14, arbitrary: right }, { weight: 1, arbitrary: wrong });

const formats: Record<string, fc.Arbitrary<unknown>> = {
  uuid: fc.oneof(fc.constantFrom(...schools, ...groups, ...people), fc.uuid()),
  "date-time": fc.constantFrom("2026-02-03T08:00:00Z", "2027-01-01T00:00:00Z", "1970-01-01T00:00:00+14:00"),
  date: fc.constantFrom("2026-02-03", "1900-01-01", "9999-12-31"),
  // Nothing listens there.
  uri: fc.constantFrom("http://127.0.0.1:9/hook", "https://127.0.0.1:9/", "com.example.app:/back"),
  email: fc.constantFrom("somebody@school.example"),
};

/** Makes values of a schema, and sometimes others. `depth` ends schemas that contain themselves. */
function valuesOf(document: OpenApiDocument, given: object, name = "", depth = 0): fc.Arbitrary<unknown> {
  const schema = resolve(document, given as AnySchema);
  const inner = (one: object, of = name) => valuesOf(document, one, of, depth + 1);
  const right = (): fc.Arbitrary<unknown> => {
    if (depth > 6) return fc.constant(null);
    if (schema.allOf)
      return fc
        .tuple(...schema.allOf.map((one) => inner(one)))
        .map((parts) => Object.assign({}, ...(parts as object[])) as object);
    if (schema.oneOf ?? schema.anyOf) return fc.oneof(...(schema.oneOf ?? schema.anyOf)!.map((one) => inner(one)));
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.type === "object") {
      const properties = Object.entries(schema.properties ?? {});
      const record = Object.fromEntries(properties.map(([key, one]) => [key, inner(one, key)]));
      return fc.record(record, { requiredKeys: schema.required ?? [] } as { requiredKeys: [] });
    }
    if (schema.type === "array") {
      const { minItems: minLength = 0, maxItems = 3, items = {} } = schema;
      return fc.array(inner(items, name.replace(/s$/, "")), {
        minLength,
        maxLength: Math.max(minLength, Math.min(maxItems, 3)),
      });
    }
    if (schema.type === "boolean") return fc.boolean();
    if (schema.type === "integer" || schema.type === "number")
      return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 2000 });
    return texts(schema, name);
  };
  return mostly(schema.nullable === true ? fc.option(right(), { freq: 5 }) : right());
}

function texts({ format, pattern, minLength = 0, maxLength = 200 }: AnySchema, name: string): fc.Arbitrary<unknown> {
  if (known[name]) return fc.constantFrom(...known[name]);
  const ofFormat = formats[format ?? ""];
  if (ofFormat) return ofFormat;
  if (pattern !== undefined && !pattern.includes("(?")) return fc.stringMatching(new RegExp(pattern, "u"));
  const unit = fc.constantFrom("grapheme" as const, "binary" as const);
  return unit.chain((one) =>
    fc.string({ unit: one, minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }),
  );
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function requestsOf(document: OpenApiDocument, place: Place, authorizations: string[]) {
  const { path, method, operation } = place;
  const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(document, one));
  const given = Object.fromEntries(
    parameters.map((one) => {
      const value = valuesOf(document, one.schema ?? {}, one.name);
      const isAlways = one.in === "path" || one.required === true;
      return [`${one.in} ${one.name}`, isAlways ? value : fc.option(value, { freq: 2, nil: undefined })];
    }),
  );
  return fc
    .record({
      given: fc.record(given),
      body: bodiesOf(document, operation),
      authorization: fc.option(fc.constantFrom(...authorizations), { freq: 20, nil: undefined }),
    })
    .map(({ given, body, authorization }): RandomRequest => {
      const headers: Record<string, string> = {
        ...body?.headers,
        ...(authorization !== undefined && { authorization }),
      };
      const query = new URLSearchParams();
      let target = path;
      for (const one of parameters) {
        const value = (given as Record<string, unknown>)[`${one.in} ${one.name}`];
        if (value === undefined) continue;
        if (one.in === "path") target = target.replace(`{${one.name}}`, encodeURIComponent(asText(value)) || "%20");
        else if (one.in === "query") query.append(one.name, asText(value));
        // Other characters do not pass the client.
        else headers[one.name.toLowerCase()] = asText(value).replaceAll(/[^\x21-\x7e]/g, "x");
      }
      const asked = query.size === 0 ? target : `${target}?${query.toString()}`;
      return {
        method: method.toUpperCase(),
        target: asked.replaceAll("/./", "/x/").replaceAll("/../", "/x/"),
        headers,
        body: body?.text ?? null,
      };
    });
}

type Body = { text: string; headers: Record<string, string> } | null;

function bodiesOf(document: OpenApiDocument, { requestBody }: Operation): fc.Arbitrary<Body> {
  const types = Object.entries(requestBody?.content ?? {});
  if (types.length === 0) return fc.constant(null);
  return fc.oneof(
    ...types.map(([type, { schema = {} }]): fc.Arbitrary<Body> => {
      const value = valuesOf(document, schema);
      const headers = { "content-type": type };
      if (/json$/.test(type)) return value.map((one) => ({ text: JSON.stringify(one), headers }));
      if (type !== "application/x-www-form-urlencoded") return value.map((one) => ({ text: asText(one), headers }));
      return value.map((one) => {
        const fields = Object.entries(typeof one === "object" && one !== null ? one : {});
        return {
          text: new URLSearchParams(fields.map(([key, field]): [string, string] => [key, asText(field)])).toString(),
          headers,
        };
      });
    }),
  );
}

/**
 * The same requests of a document for the same seed, mostly as it describes them, to each operation that is offered.
 * `authorizationsFor` gives the values of the header that an operation is called with.
 */
export function randomRequests(
  document: OpenApiDocument,
  wishes: { seed: number; count: number; authorizationsFor: (operation: Operation) => string[] },
): RandomRequest[] {
  const offered = listOperations(document).filter(({ operation }) => !("501" in operation.responses));
  const perOperation = Math.ceil(wishes.count / offered.length);
  // Fewer requests than operations are spread over the whole document.
  const step = Math.max(1, offered.length / wishes.count);
  const chosen = offered.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const turns = chosen.map((place, at) =>
    fc.sample(requestsOf(document, place, wishes.authorizationsFor(place.operation)), {
      seed: wishes.seed + at,
      numRuns: perOperation,
    }),
  );
  return Array.from({ length: perOperation }, (_, turn) => turns.map((requests) => requests[turn]!))
    .flat()
    .slice(0, wishes.count);
}
